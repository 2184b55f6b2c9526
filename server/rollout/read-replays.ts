import type { Selectable } from 'kysely'
import { requireRole, type Caller, type Vault } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { newestFirst, pageOf, type Database, type Page, type ReplayOutcome, type Tables } from '../store/index.ts'
import { readReplay, replayColumns, type CallDetails, type ReplayedCall, type ReplayRecord } from './replay-records.ts'

type CallRow = { id: string } & Omit<ReplayedCall, 'slotNames' | 'details'>

/** Values of callers are not for everyone who may look: viewers get null. */
export type ReplayCallEntry = CallRow & {
  parameters: Record<string, unknown> | null
  beforeRows: number | null
  afterRows: number | null
}

export type ReplayCall = CallRow & CallDetails & Rows

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
  return newestFirst(
    app.store.db.selectFrom('replays').select(replayColumns).where('projectId', '=', input.projectId),
    input,
  )
}

/** The calls that were not equal, in the order in which they were run. */
export async function listReplayCalls(
  app: { store: Database; vault: Vault },
  caller: Caller,
  input: OfReplay & {
    outcome?: ReplayOutcome | undefined
    query?: string | undefined
    limit: number
    cursor?: string | undefined
  },
): Promise<Page<ReplayCallEntry>> {
  const isViewer = (await requireRole(app, caller, input.projectId, 'viewer')) === 'viewer'
  const { id } = await requireReplay(app, input)
  const { outcome, query: name } = input
  const calls = app.store.db
    .selectFrom('replayCalls')
    .selectAll()
    .where('replayId', '=', id)
    .$if(outcome !== undefined, (query) => query.where('outcome', '=', outcome ?? 'different'))
    .$if(name !== undefined, (query) => query.where('query', '=', name ?? ''))
  const page = await pageOf(calls, input, 'id')
  const items = page.items.map((row): ReplayCallEntry => {
    const { parameters, beforeRows, afterRows, ...call } = openCall(app.vault, row)
    const { id: callId, query, beforeVersion, afterVersion, calledAt, keyId } = call
    const entry = { id: callId, query, outcome: row.outcome, beforeVersion, afterVersion, calledAt, keyId }
    return { ...entry, parameters: isViewer ? null : parameters, beforeRows, afterRows }
  })
  return { ...page, items }
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
  return openCall(app.vault, row)
}

function openCall(vault: Vault, row: Selectable<Tables['replayCalls']>): CallRow & CallDetails & Rows {
  const { sealedDetails, replayId: _replayId, ...entry } = row
  const { redacted = [], ...details } = vault.open(sealedDetails) as Omit<CallDetails, 'redacted'> &
    // Calls that were kept by earlier versions do not say it.
    Partial<Pick<CallDetails, 'redacted'>>
  const { before, after } = details
  return { ...details, redacted, ...entry, beforeRows: rowsOf(before), afterRows: rowsOf(after) }
}

type Rows = Pick<ReplayCallEntry, 'beforeRows' | 'afterRows'>

function rowsOf(ran: CallDetails['before']): number | null {
  return ran === null || 'error' in ran ? null : ran.rowCount
}

async function requireReplay({ store }: { store: Database }, { projectId, replayId }: OfReplay): Promise<ReplayRecord> {
  const found = await readReplay(store, replayId)
  if (found?.projectId === projectId) return found
  throw new Failure('not_found', { message: `There is no replay ${replayId}.` })
}
