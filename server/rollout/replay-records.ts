import type { Selectable, Transaction } from 'kysely'
import { resealColumn, type Vault } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import { newId } from '../ids.ts'
import { restoredVersion, storedVersion, type VersionPair } from '../queries/index.ts'
import type { Database, ReplayReport, Tables } from '../store/index.ts'
import { comparedCalls, sayCounts, totalOf } from './counts.ts'
import type { ComparedCall } from './run-call.ts'

/** A replay without what is compared with what. */
export type ReplayRecord = Omit<Selectable<Tables['replays']>, 'plan'>

export const replayColumns = [
  'id',
  'projectId',
  'environment',
  'kind',
  'releaseId',
  'jobId',
  'status',
  'total',
  'counts',
  'createdAt',
  'createdBy',
  'finishedAt',
] as const

/** Calls of one replay that are kept to be opened; of more it is known how many there were. */
export const maxReplayedCalls = 200

export const resealReplayCalls = resealColumn('replayCalls', 'sealedDetails')

export async function insertReplay(
  transaction: Transaction<Tables>,
  replay: Pick<ReplayRecord, 'projectId' | 'environment' | 'kind' | 'releaseId' | 'createdBy'> & {
    plan: VersionPair[]
  },
): Promise<string> {
  const id = newId('replay')
  const { plan, ...rest } = replay
  await transaction
    .insertInto('replays')
    .values({
      ...rest,
      id,
      jobId: null,
      status: 'running',
      plan: writePlan(plan),
      total: null,
      counts: '{}',
      finishedAt: null,
    })
    .execute()
  return id
}

/** The record of what is compared behind a release that is tried out: made by whoever has something to write first. */
export async function ensureReplay(
  transaction: Transaction<Tables>,
  {
    id,
    projectId,
    environment,
    kind,
    releaseId,
  }: Pick<ReplayRecord, 'id' | 'projectId' | 'environment' | 'kind'> & { releaseId: string },
): Promise<void> {
  await transaction
    .insertInto('replays')
    .values({
      id,
      projectId,
      environment,
      kind,
      releaseId,
      jobId: null,
      status: 'running',
      plan: '[]',
      total: null,
      counts: '{}',
      createdBy: 'system',
      finishedAt: null,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

function writePlan(plan: VersionPair[]): string {
  return JSON.stringify(
    plan.map(({ name, before, after }) => ({ name, before: storedVersion(before), after: storedVersion(after) })),
  )
}

export async function readPlan({ db }: Pick<Database, 'db'>, replayId: string): Promise<VersionPair[]> {
  const row = await db.selectFrom('replays').select('plan').where('id', '=', replayId).executeTakeFirst()
  const plan = (row?.plan ?? []) as Array<{ name: string; before: unknown; after: unknown }>
  return plan.map(({ name, before, after }) => {
    return { name, before: restoredVersion(before), after: restoredVersion(after) }
  })
}

export async function readReplay({ db }: Pick<Database, 'db'>, id: string): Promise<ReplayRecord | undefined> {
  return db.selectFrom('replays').select(replayColumns).where('id', '=', id).executeTakeFirst()
}

/** A call that was not equal, with what it takes to see why. */
export type ReplayedCall = Omit<Selectable<Tables['replayCalls']>, 'id' | 'replayId' | 'sealedDetails'> & {
  /** Slots of the query. */
  slotNames: string[]
  details: Omit<CallDetails, 'redacted'>
}

export type CallDetails = ComparedCall & {
  parameters: Record<string, unknown>
  /** Slots whose values the project keeps out. */
  redacted: string[]
  times: number
}

/** A call as it is kept, from what it came to on two versions. */
export function replayedCall(
  { name, before, after }: VersionPair,
  { calledAt, keyId, ...details }: ReplayedCall['details'] & Pick<ReplayedCall, 'calledAt' | 'keyId'>,
): ReplayedCall {
  return {
    query: name,
    outcome: details.outcome,
    beforeVersion: before.number,
    afterVersion: after.number === 0 ? null : after.number,
    calledAt,
    keyId,
    slotNames: Object.keys(before.slots.properties),
    details,
  }
}

/** Without what the project keeps out at this moment; none comes in behind a change of that. */
export async function keepCalls(
  { transaction, vault }: { transaction: Transaction<Tables>; vault: Vault },
  { projectId, replayId }: { projectId: string; replayId: string },
  calls: ReplayedCall[],
): Promise<void> {
  if (calls.length === 0) return
  const settings = await transaction
    .selectFrom('replaySettings')
    .select('redactedSlots')
    .where('projectId', '=', projectId)
    .forShare()
    .executeTakeFirst()
  const isRedacted = (slot: string): boolean => settings?.redactedSlots.includes(slot) === true
  const rows = calls.map(({ details, slotNames, ...call }) => {
    const parameters = Object.fromEntries(Object.entries(details.parameters).filter(([name]) => !isRedacted(name)))
    const stored: CallDetails = { ...details, parameters, redacted: slotNames.filter(isRedacted) }
    return { ...call, id: newId('replayCall'), replayId, sealedDetails: vault.seal(stored) }
  })
  await transaction.insertInto('replayCalls').values(rows).execute()
}

/** A running replay is kept, however long it takes. */
export async function forgetOldReplays(app: { store: Database; now: Clock; config: Config }): Promise<void> {
  const before = new Date(app.now() - app.config.limits.replayRetentionDays * 86_400_000)
  await app.store.db.deleteFrom('replays').where('createdAt', '<', before).where('kind', '=', 'replay').execute()
  await app.store.db.deleteFrom('replays').where('finishedAt', '<', before).execute()
}

/** A replay as people are told of it. */
export function reportOf({ counts, total, projectId: _projectId, ...record }: ReplayRecord): ReplayReport {
  const all = totalOf(counts)
  const queries = Object.entries(counts).map(([name, own]) => ({ name, ...own, calls: comparedCalls(own) }))
  return { ...record, ...all, recorded: total, calls: comparedCalls(all), summary: sayCounts(all), queries }
}
