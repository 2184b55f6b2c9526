import { requireRole, type Caller, type Vault } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { pageAfter, type Database, type Page, type ReplayOutcome } from '../store/index.ts'
import { readReplay, replayColumns, type CallDetails, type ReplayRecord } from './replay-records.ts'

export type ReplayCallEntry = {
  id: string
  query: string
  outcome: ReplayOutcome
  beforeVersion: number
  afterVersion: number | null
  calledAt: Date
  keyId: string | null
}

export type ReplayCall = ReplayCallEntry & CallDetails

type OfReplay = { projectId: string; replayId: string }

export async function findReplay(app: { store: Database }, caller: Caller, input: OfReplay): Promise<ReplayRecord> {
  await requireRole(app, caller, input.projectId, 'viewer')
  return requireReplay(app, input)
}

/** Newest first. */
export async function listReplays(
  app: { store: Database },
  caller: Caller,
  input: { projectId: string; limit: number; cursor?: string | undefined },
): Promise<Page<ReplayRecord>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  return pageAfter(
    (after, limit) =>
      app.store.db
        .selectFrom('replays')
        .select(replayColumns)
        .where('projectId', '=', input.projectId)
        .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    input,
    (record) => record.id,
  )
}

/** The calls that were not equal, in the order in which they were run. */
export async function listReplayCalls(
  app: { store: Database },
  caller: Caller,
  input: OfReplay & {
    outcome?: ReplayOutcome | undefined
    query?: string | undefined
    limit: number
    cursor?: string | undefined
  },
): Promise<Page<ReplayCallEntry>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const { id } = await requireReplay(app, input)
  const { outcome, query: name } = input
  return pageAfter(
    (after, limit) =>
      app.store.db
        .selectFrom('replayCalls')
        .select(['id', 'query', 'outcome', 'beforeVersion', 'afterVersion', 'calledAt', 'keyId'])
        .where('replayId', '=', id)
        .$if(outcome !== undefined, (query) => query.where('outcome', '=', outcome ?? 'different'))
        .$if(name !== undefined, (query) => query.where('query', '=', name ?? ''))
        .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
        .orderBy('id')
        .limit(limit)
        .execute(),
    input,
    (entry) => entry.id,
  )
}

/** One of them, with its values and rows that differ. For editors: values of callers are not for everyone who may look. */
export async function findReplayCall(
  app: { store: Database; vault: Vault },
  caller: Caller,
  input: OfReplay & { callId: string },
): Promise<ReplayCall> {
  await requireRole(app, caller, input.projectId, 'editor')
  const { id } = await requireReplay(app, input)
  const row = await app.store.db
    .selectFrom('replayCalls')
    .selectAll()
    .where('replayId', '=', id)
    .where('id', '=', input.callId)
    .executeTakeFirst()
  if (row === undefined) throw new Failure('not_found', { message: `The replay has no call ${input.callId}.` })
  const { sealedDetails, replayId: _replayId, ...entry } = row
  const { redacted = [], ...details } = app.vault.open(sealedDetails) as Omit<CallDetails, 'redacted'> &
    // Calls that were kept by earlier versions do not say it.
    Partial<Pick<CallDetails, 'redacted'>>
  return { ...details, redacted, ...entry }
}

async function requireReplay({ store }: { store: Database }, { projectId, replayId }: OfReplay): Promise<ReplayRecord> {
  const found = await readReplay(store, replayId)
  if (found?.projectId === projectId) return found
  throw new Failure('not_found', { message: `There is no replay ${replayId}.` })
}
