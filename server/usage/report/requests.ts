import type { requestEntry } from '../../../api/usage.ts'
import type { Value } from '../../../api/wire-codec.ts'
import { invalidField } from '../../failure.ts'
import { requireRole, type Caller } from '../../access/index.ts'
import { pageAfter, type Page, type Database } from '../../store/index.ts'
import { batchMs } from '../stored/batches.ts'

import { outcomeText } from './figures.ts'
import { seekMinutes, type Sought } from './seek.ts'
import type { Usage } from '../record/record.ts'
import type { Clock } from '../../clock.ts'

/** One call in the log. */
export type RequestEntry = Value<typeof requestEntry>

/** Columns of an entry, as the view `requests` has them. */
export const entryColumns = `at, id, environment, query, version, entry, key_id as "keyId", status, error, reason,
  total_ms as "totalMs", route_ms as "routeMs", queue_ms as "queueMs", sql_ms as "sqlMs", rows, bytes, cache,
  question, confidence`

export type RequestsInput = Sought & { limit: number; cursor?: string | undefined }

type Parts = { store: Database; usage: Usage; now: Clock }

/** Calls of the log, newest first. */
export async function listRequests(app: Parts, caller: Caller, input: RequestsInput): Promise<Page<RequestEntry>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  if (input.from !== undefined && input.to !== undefined && input.from >= input.to) {
    throw invalidField('from', 'must be before to')
  }
  await app.usage.flush()
  const cursorOf = ({ at, id }: RequestEntry): string => `${at.getTime()} ${id}`
  return pageAfter((after, limit) => find(app, input, { limit, before: positionOf(after) }), input, cursorOf)
}

type Bounds = { limit: number; before?: Position | undefined; withoutPreviews?: boolean }

/** Unfiltered calls are read directly; with a filter, figures tell which minutes to read. */
async function find(
  app: { store: Database },
  input: RequestsInput,
  { limit, before }: Bounds,
): Promise<RequestEntry[]> {
  const { projectId, from, to, limit: _limit, cursor: _cursor, ...filters } = input
  const isFiltered = Object.values(filters).some((each) => each !== undefined)
  if (!isFiltered || input.entry === 'preview') return read(app, input, { limit, before })
  const end = before === undefined ? to : new Date(Math.min(before.at.getTime() + 1, to?.getTime() ?? Infinity))
  const sought = { projectId, from, to: end, ...filters }
  const calls: RequestEntry[] = []
  for await (const span of seekMinutes(app.store, sought)) {
    const within = { from: latestOf(from, span.from), to: earliestOf(end, span.to) }
    const bounds = { limit: limit - calls.length, before, withoutPreviews: true }
    calls.push(...(await read(app, { ...sought, ...within }, bounds)))
    if (calls.length >= limit) break
  }
  if (input.entry !== undefined) return calls
  const previews = await read(app, { ...sought, entry: 'preview' }, { limit, before })
  return [...calls, ...previews]
    .toSorted((left, right) => right.at.getTime() - left.at.getTime() || (left.id < right.id ? 1 : -1))
    .slice(0, limit)
}

function latestOf(one: Date | undefined, other: Date): Date {
  return one !== undefined && one > other ? one : other
}

function earliestOf(one: Date | undefined, other: Date): Date {
  return one !== undefined && one < other ? one : other
}

type Position = { at: Date; id: string }

function positionOf(after: string | undefined): Position | undefined {
  if (after === undefined) return undefined
  const [at = '', id = ''] = after.split(' ')
  return { at: new Date(Number(at)), id }
}

async function read(
  { store }: { store: Database },
  input: Omit<RequestsInput, 'limit' | 'cursor'>,
  { limit, before, withoutPreviews = false }: Bounds,
): Promise<RequestEntry[]> {
  const { projectId, environment, query, keyId, entry, status, error, from, to, version } = input
  const sought = [projectId, environment, query, keyId, entry, status, error, from, to]
  const values = [...sought, before?.at, before?.id, limit, version]
  const { rows } = await store.pool.query<RequestEntry>(
    readText({ outcome: input.outcome, withoutPreviews }),
    values.map((value) => value ?? null),
  )
  return rows
}

type Wanted = { outcome: RequestsInput['outcome']; withoutPreviews: boolean }

/**
 * The newest batches, as many as calls are wanted, hold enough calls. Others as new as those are in batches that began
 * at most a second earlier, so nothing older is read.
 */
function readText({ outcome, withoutPreviews }: Wanted): string {
  const batch = `project_id = $1 and ($2::text is null or environment = $2) and ($3::text is null or query = $3)
    and ($4::text is null or key_id = $4) and ($5::text is null or entry = $5)
    and ($6::int is null or status = $6) and ($7::text is null or error = $7)
    and ($13::int is null or version = $13)
    and start < coalesce($9::timestamptz, 'infinity') ${outcomeText(outcome)}
    ${withoutPreviews ? "and entry <> 'preview'" : ''}`
  return `with oldest as (
      select case when count(*) = $12 then min(start) else $8 end - interval '${batchMs} ms' as start
        from (select start from request_batches
               where ${batch} and start >= coalesce($8::timestamptz, '-infinity')
                 and start < coalesce($10::timestamptz, 'infinity')
               order by start desc limit $12) as newest)
    select ${entryColumns}
      from requests
     where ${batch} and start > coalesce((select start from oldest), '-infinity')
       and start <= coalesce($10::timestamptz, 'infinity')
       and at >= coalesce($8::timestamptz, '-infinity') and at < coalesce($9::timestamptz, 'infinity')
       and ($10::timestamptz is null or at < $10 or (at = $10 and id < $11))
     order by at desc, id desc limit $12`
}

const tailMs = 1_000
/** Replicas write up to a second apart: this far back a look may still find something new. */
const overlapMs = 10_000
const maxAtOnce = 200

/** Every further call as it is written, until the returned function is called. */
export async function tailRequests(
  app: Parts,
  caller: Caller,
  input: Omit<RequestsInput, 'from' | 'to' | 'limit' | 'cursor'> & {
    onRequest: (entry: RequestEntry) => void
    /** More calls came at once than are sent. */
    onGap: () => void
    onEnd: () => void
  },
): Promise<() => void> {
  await requireRole(app, caller, input.projectId, 'viewer')
  await app.usage.flush()
  const begun = app.now()
  let sent = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const look = async (): Promise<void> => {
    const from = new Date(Math.max(begun, app.now() - overlapMs))
    // One more than are sent, to see whether any is left out.
    const found = await read(app, { ...input, from }, { limit: maxAtOnce + 1 })
    const shown = found.slice(0, maxAtOnce)
    const keyOf = ({ at, id }: RequestEntry): string => `${at.getTime()} ${id}`
    const last = found.slice(maxAtOnce - 1)
    if (last.length === 2 && !last.some((entry) => sent.has(keyOf(entry))) && !stopped) input.onGap()
    for (const entry of shown.toReversed()) if (!sent.has(keyOf(entry)) && !stopped) input.onRequest(entry)
    sent = new Set(shown.map(keyOf))
  }
  const again = (): void => {
    if (stopped) return
    timer = setTimeout(() => {
      look().then(again, () => input.onEnd())
    }, tailMs)
  }
  again()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
