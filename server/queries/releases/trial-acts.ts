import type { Transaction } from 'kysely'
import { recordAct, requireRole, type Caller } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import { Failure } from '../../failure.ts'
import { lockEnvironment } from '../../projects/index.ts'
import type { Database, ReleaseStatus, Tables, TrialState } from '../../store/index.ts'
import type { DeployGate } from '../deployed/deploy-gate.ts'
import type { Deployments } from '../deployed/deployments.ts'
import { applyHere } from './release.ts'
import { keepActs, putDeployments } from './rows.ts'
import { lockTrial, readTrials, readTrialVersions, type TrialRow } from '../deployed/trial-rows.ts'

type Parts = { store: Database; deployments: Deployments; deployGate: Pick<DeployGate, 'settle'> }

/** A trial with the numbers of its versions and of those that they are to replace. */
export type TrialRecord = TrialRow & {
  versions: Array<{ name: string; version: number | null; previousVersion: number | null }>
}

export async function listTrials({ store }: { store: Pick<Database, 'db'> }): Promise<TrialRecord[]> {
  const trials = await readTrials(store.db)
  if (trials.length === 0) return []
  const releases = await store.db
    .selectFrom('releases')
    .select(['id', 'queries'])
    .where(
      'id',
      'in',
      trials.map(({ releaseId }) => releaseId),
    )
    .execute()
  const queries = new Map(releases.map((release) => [release.id, release.queries]))
  return trials.map((trial) => ({ ...trial, versions: queries.get(trial.releaseId) ?? [] }))
}

/** `released`: it answers everyone from now on. `rolled_back`: nobody. Either way it happens once; false where it has. */
export async function endTrial(
  app: Parts,
  caller: Caller,
  {
    releaseId,
    as,
    because,
    at,
  }: { releaseId: string; as: 'released' | 'rolled_back'; because: string | null; at: Date },
): Promise<boolean> {
  const trial = await app.store.db.transaction().execute(async (transaction) => {
    const found = await lockTrial(transaction, releaseId)
    if (found === undefined) return undefined
    await lockEnvironment(transaction, found)
    if (as === 'released') await putForAll(transaction, caller, found)
    else await record(transaction, caller, found, { action: 'release.rolled_back', details: { because } })
    const { share } = found
    await writeState(transaction, found, { status: as, endedAt: at.toISOString(), because, percent: share / 100 })
    await transaction.deleteFrom('trials').where('releaseId', '=', releaseId).execute()
    return found
  })
  if (trial === undefined) return false
  await applyHere(app, trial)
  return true
}

/** A finished trial is deployed as any release is: with the acts of its queries and one entry in the audit log. */
async function putForAll(transaction: Transaction<Tables>, caller: Caller, trial: TrialRow): Promise<void> {
  const { releaseId, projectId, environment } = trial
  const put = await readTrialVersions(transaction, releaseId)
  await putDeployments(transaction, caller, { projectId, environment, put })
  const release = await transaction
    .selectFrom('releases')
    .selectAll()
    .where('id', '=', releaseId)
    .executeTakeFirstOrThrow()
  await keepActs(transaction, caller, { ...release, releaseId })
}

/** False where it has another share by now, or none any more. */
export async function stepTrial(
  app: Parts,
  caller: Caller,
  { releaseId, from, to, at }: { releaseId: string; from: number; to: number; at: Date },
): Promise<boolean> {
  const trial = await app.store.db.transaction().execute(async (transaction) => {
    const found = await lockTrial(transaction, releaseId)
    if (found === undefined || found.share !== from) return undefined
    await transaction
      .updateTable('trials')
      .set({ share: to, steppedAt: at, kind: 'canary' })
      .where('releaseId', '=', releaseId)
      .execute()
    const details = { percent: to / 100, previous_percent: from / 100 }
    await record(transaction, caller, found, { action: 'release.stepped', details })
    const state = { status: 'canary' as const, percent: to / 100, steppedAt: at.toISOString() }
    await writeState(transaction, { ...found, kind: 'canary' }, state)
    return found
  })
  if (trial === undefined) return false
  await applyHere(app, trial)
  return true
}

/** The figures of a trial so far, for its page. */
export async function noteTrial(
  { store }: { store: Database },
  { releaseId, ...seen }: { releaseId: string } & Pick<TrialState, 'queries' | 'compared' | 'judgedAt'>,
): Promise<void> {
  await store.db.transaction().execute(async (transaction) => {
    const trial = await lockTrial(transaction, releaseId)
    if (trial !== undefined) await writeState(transaction, trial, seen)
  })
}

async function writeState(
  transaction: Transaction<Tables>,
  { releaseId, kind }: TrialRow,
  { status, ...change }: Partial<TrialState> & { status?: ReleaseStatus },
): Promise<void> {
  const row = await transaction
    .selectFrom('releases')
    .select(['canary', 'shadow'])
    .where('id', '=', releaseId)
    .forUpdate()
    .executeTakeFirstOrThrow()
  const state = JSON.stringify({ ...(row[kind] ?? row.shadow), ...change })
  await transaction
    .updateTable('releases')
    .set({ [kind]: state, ...(status !== undefined && { status }) })
    .where('id', '=', releaseId)
    .execute()
}

function record(
  transaction: Transaction<Tables>,
  caller: Caller,
  { releaseId, projectId, environment }: TrialRow,
  { action, details }: { action: string; details: Record<string, unknown> },
): Promise<void> {
  return recordAct(transaction, caller, { action, target: releaseId, projectId, details: { environment, ...details } })
}

/** Gives a release that is tried out this share of the calls; without one, or with all of it, it answers everyone. */
export async function continueRelease(
  app: Parts & { now: Clock },
  caller: Caller,
  { projectId, releaseId, percent = 100 }: { projectId: string; releaseId: string; percent?: number | undefined },
): Promise<void> {
  await requireRole(app, caller, projectId, 'editor')
  const trial = (await readTrials(app.store.db)).find((each) => each.releaseId === releaseId)
  if (trial?.projectId !== projectId) throw await notRunning(app, { projectId, releaseId })
  const at = new Date(app.now())
  const to = Math.round(percent * 100)
  const isDone =
    to >= everyone
      ? await endTrial(app, caller, { releaseId, as: 'released', because: null, at })
      : await stepTrial(app, caller, { releaseId, from: trial.share, to, at })
  if (isDone) return
  throw new Failure('conflict', {
    reason: 'changed_meanwhile',
    message: 'The release moved on meanwhile. Look at it again.',
  })
}

/** Parts of ten thousand. */
const everyone = 10_000

async function notRunning(
  app: Parts,
  { projectId, releaseId }: { projectId: string; releaseId: string },
): Promise<Failure> {
  const release = await app.store.db
    .selectFrom('releases')
    .select('status')
    .where('id', '=', releaseId)
    .where('projectId', '=', projectId)
    .executeTakeFirst()
  if (release === undefined) return new Failure('not_found', { message: `There is no release ${releaseId}.` })
  return new Failure('conflict', {
    reason: 'release_ended',
    message: `The release is ${release.status.replace('_', ' ')}: it is not being tried out.`,
  })
}
