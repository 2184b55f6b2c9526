import { labelOf, requireRole, type Caller } from '../../access/index.ts'
import { Failure } from '../../failure.ts'
import { newestFirst, type Database, type Page, type ReleaseStatus } from '../../store/index.ts'
import type { NewTrial } from './start-trial.ts'
import { endTrial } from './trial-acts.ts'
import { makeRelease, type Move, type ReleaseParts } from './release.ts'
import { readVersion } from '../drafts/versions.ts'
import { compareContracts, type Change } from '../slots/compatibility.ts'
import type { ReleaseReport } from './report.ts'
import { findChanged, findPromoted, findTargets, type Wanted } from './targets.ts'

type Why = { message?: string | undefined; commit?: string | undefined }
type Gate = { check?: boolean | undefined; force?: boolean | undefined }

/** Makes any number of queries answer in an environment as one act, or none of them. */
export async function releaseQueries(
  app: ReleaseParts,
  caller: Caller,
  input: Gate &
    Why & { projectId: string; environment: string; queries: readonly Wanted[] | 'all'; trial?: NewTrial | undefined },
): Promise<ReleaseReport> {
  const { projectId, queries, trial } = input
  await requireRole(app, caller, projectId, 'editor')
  const targets =
    queries === 'all' ? await findChanged(app.store, input) : await findTargets(app.store, projectId, queries)
  return makeRelease(app, caller, { ...moveOf(input), act: 'release', targets, trial })
}

/** The report of releasing some drafts, without storing anything of it. */
export async function checkRelease(
  app: ReleaseParts,
  caller: Caller,
  { projectId, environment, names }: { projectId: string; environment: string; names: string[] },
): Promise<ReleaseReport> {
  await requireRole(app, caller, projectId, 'editor')
  const wanted = names.map((name) => ({ name }))
  const targets = await findTargets(app.store, projectId, wanted)
  return makeRelease(app, caller, { projectId, environment, act: 'release', targets, check: true })
}

/** Makes one environment answer with every version of another. */
export async function promoteEnvironment(
  app: ReleaseParts,
  caller: Caller,
  input: Gate & Why & { projectId: string; from: string; to: string; prune: boolean },
): Promise<ReleaseReport> {
  const { projectId, from, to } = input
  await requireRole(app, caller, projectId, 'editor')
  if (from === to) {
    const details = [{ field: 'to', message: 'is the environment that is promoted; name another' }]
    throw new Failure('invalid_request', { reason: 'invalid_field', details })
  }
  const targets = await findPromoted(app.store, input)
  return makeRelease(app, caller, {
    ...moveOf({ ...input, environment: to }),
    act: 'promote',
    promotedFrom: from,
    targets,
  })
}

/** Makes answer again what did before a release, as a release of its own. Breaking changes do not stop it. */
export async function rollbackRelease(
  app: ReleaseParts,
  caller: Caller,
  input: Gate & Why & { projectId: string; releaseId: string },
): Promise<ReleaseReport> {
  const { projectId, releaseId, force } = input
  await requireRole(app, caller, projectId, 'editor')
  const release = await readRelease(app, input)
  if (release.status === 'canary' || release.status === 'shadow') return endTried(app, caller, input)
  if (release.status !== 'released') throw notReleased(release)
  const moved = release.queries.filter(({ version, previousVersion }) => version !== previousVersion)
  const wanted = moved.map(({ name, previousVersion }) =>
    previousVersion === null ? { name, remove: true } : { name, version: previousVersion },
  )
  const targets = await findTargets(app.store, projectId, wanted)
  const strange = targets.find(({ draft }) => !moved.some(({ queryId }) => queryId === draft.id))
  if (strange !== undefined) {
    const message = `${strange.draft.name} was deleted and made anew since; it has no version from before.`
    throw new Failure('conflict', { reason: 'changed_meanwhile', message })
  }
  const mustHave = new Map(moved.map(({ queryId, version }) => [queryId, version]))
  return makeRelease(app, caller, {
    ...moveOf({ ...input, environment: release.environment, force: true }),
    act: 'rollback',
    rollsBack: releaseId,
    targets,
    ...(force !== true && { mustHave }),
  })
}

/** Rolling a trial back ends it: the versions before it never stopped serving. */
async function endTried(
  app: ReleaseParts,
  caller: Caller,
  input: Gate & Why & { projectId: string; releaseId: string },
): Promise<ReleaseReport> {
  if (input.check === true) return planEnd(app, await readRelease(app, input))
  const because = input.message ?? `${labelOf(caller)} took it back.`
  const at = new Date(app.now())
  await endTrial(app, caller, { releaseId: input.releaseId, as: 'rolled_back', because, at })
  return readRelease(app, input)
}

/** The end of a trial changes this for the callers that it serves: the way back, not the way there. */
async function planEnd(app: { store: Database }, trial: ReleaseReport): Promise<ReleaseReport> {
  const queries = await Promise.all(
    trial.queries.map(async ({ queryId, name, version, previousVersion, callers }) => {
      const [now, next] = await Promise.all([
        version === null ? null : readVersion(app, queryId, { name, number: version }),
        previousVersion === null ? null : readVersion(app, queryId, { name, number: previousVersion }),
      ])
      const gone: Change = { level: 'breaking', message: 'it stops answering' }
      const compared = next === null ? { compatibility: gone.level, changes: [gone] } : compareContracts(now, next)
      return { queryId, name, version: previousVersion, previousVersion: version, ...compared, callers }
    }),
  )
  const routing = { checked: 0, regressions: [] }
  return {
    ...trial,
    act: 'rollback',
    status: 'checked',
    rollsBack: trial.id,
    queries,
    routing,
    replay: null,
    canary: null,
    shadow: null,
  }
}

function moveOf(input: Gate & Why & { projectId: string; environment: string }): Omit<Move, 'act' | 'targets'> {
  const { projectId, environment, check, force, message, commit } = input
  return { projectId, environment, check, force, message, commit, keepCheck: true }
}

function notReleased({ status, id }: ReleaseReport): Failure {
  const why = status === 'rolled_back' ? 'has been rolled back already' : 'changed nothing that could be rolled back'
  return new Failure('conflict', { reason: 'changed_meanwhile', message: `The release ${id} ${why}.` })
}

export async function findRelease(
  app: { store: Database },
  caller: Caller,
  input: { projectId: string; releaseId: string },
): Promise<ReleaseReport> {
  await requireRole(app, caller, input.projectId, 'viewer')
  return readRelease(app, input)
}

async function readRelease(
  app: { store: Database },
  { projectId, releaseId }: { projectId: string; releaseId: string },
): Promise<ReleaseReport> {
  const row = await app.store.db
    .selectFrom('releases')
    .selectAll()
    .where('projectId', '=', projectId)
    .where('id', '=', releaseId)
    .executeTakeFirst()
  if (row === undefined) throw new Failure('not_found', { message: `The project has no release ${releaseId}.` })
  return row
}

/** A release as lists show it. */
export type ReleaseSummary = Omit<ReleaseReport, 'id' | 'queries' | 'routing' | 'replay' | 'canary' | 'shadow'> & {
  id: string
  queryCount: number
  queryNames: string[]
  version: number | null
  breakingCount: number
}

type Filter = {
  projectId: string
  environment?: string | undefined
  query?: string | undefined
  status?: ReleaseStatus | undefined
  from?: Date | undefined
  to?: Date | undefined
  limit: number
  cursor?: string | undefined
}

const maxNamed = 20

/** Newest first; what was only checked is listed where it is asked for. */
export async function listReleases(
  app: { store: Database },
  caller: Caller,
  input: Filter,
): Promise<Page<ReleaseSummary>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const { environment, query, status, from, to } = input
  const page = await newestFirst(
    app.store.db
      .selectFrom('releases')
      .select([...summaryColumns, 'queries'])
      .where('projectId', '=', input.projectId)
      .$if(environment !== undefined, (rows) => rows.where('environment', '=', environment ?? ''))
      .$if(query !== undefined, (rows) => rows.where((row) => row(row.val(query ?? ''), '=', row.fn.any('queryNames'))))
      .$if(status !== undefined, (rows) => rows.where('status', '=', status ?? 'released'))
      .$if(status === undefined, (rows) => rows.where('status', '!=', 'checked'))
      .$if(from !== undefined, (rows) => rows.where('createdAt', '>=', from ?? new Date(0)))
      .$if(to !== undefined, (rows) => rows.where('createdAt', '<', to ?? new Date(0))),
    input,
  )
  const items = page.items.map(({ queries, ...row }) => {
    const { queryNames } = row
    const version = queries.length === 1 ? (queries[0]?.version ?? null) : null
    return { ...row, version, queryCount: queryNames.length, queryNames: queryNames.toSorted().slice(0, maxNamed) }
  })
  return { ...page, items }
}

const summaryColumns = [
  'id',
  'projectId',
  'environment',
  'status',
  'act',
  'message',
  'commit',
  'forced',
  'promotedFrom',
  'rollsBack',
  'rolledBackBy',
  'queryNames',
  'breakingCount',
  'createdAt',
  'createdBy',
] as const satisfies Array<keyof ReleaseSummary>

const checkedDays = 7

/** Checks are looked at when they are made, and soon after. */
export async function forgetOldChecks(app: { store: Pick<Database, 'db'>; now: () => number }): Promise<void> {
  await app.store.db
    .deleteFrom('releases')
    .where('status', '=', 'checked')
    .where('createdAt', '<', new Date(app.now() - checkedDays * 86_400_000))
    .execute()
}
