import type { Database } from '../../store/index.ts'
import { batchMs } from '../stored/batches.ts'
import { rejectedText } from '../stored/call.ts'
import { addLatency, bucketText, percentile, round, type Latencies } from '../stored/latencies.ts'
import type { Range } from './range.ts'
import { grainMs, grainOf, grains, type Grain, type Stored } from '../stored/grains.ts'
import { readTimesBy, type Source } from './times.ts'

/** Calls that were counted together. `requests` holds neither those rejected nor previews. */
export type Figures = {
  requests: number
  errors: number
  rejected: number
  totalMs: number
  rows: number
  bytes: number
}

export const noFigures: Figures = { requests: 0, errors: 0, rejected: 0, totalMs: 0, rows: 0, bytes: 0 }

/** As people read them. */
export function countsOf({ requests, errors, rejected, totalMs }: Figures) {
  const averageMs = requests === 0 ? null : round(totalMs / requests)
  return { requests, errors, rejected, errorRate: share(errors, requests), averageMs }
}

export function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

export type Filter = {
  projectIds: readonly string[]
  environment?: string | undefined
  query?: string | undefined
  keyId?: string | undefined
  version?: number | undefined
  entry?: string | undefined
  status?: number | undefined
  outcome?: 'answered' | 'failed' | undefined
}

/** Figures by one column; the columns that they are not grouped by are null. */
export type Group = Figures & {
  by: keyof typeof groupings
  query: string | null
  version: number | null
  keyId: string | null
  environment: string | null
  projectId: string | null
  entry: string | null
  status: number | null
  error: string | null
  reason: string | null
  cache: string | null
}

export type Times = { byPiece: Map<number, Latencies>; byQuery: Map<string, Latencies> }

type Piece = { stored: Stored; from: number; to: number }

/** Groupings of a report, as grouping sets of one statement. */
const groupings = {
  all: '()',
  query: '(query)',
  version: '(query, version)',
  key: '(key_id)',
  environment: '(environment)',
  project: '(project_id)',
  outcome: '(entry, status, error, reason)',
  cache: '(cache)',
} as const
const columns = ['query', 'version', 'key_id', 'environment', 'project_id', 'entry', 'cache'] as const
/** `grouping(…)` has one bit a column, set where the column was not grouped by. */
const groupingOf = new Map<number, keyof typeof groupings>(
  Object.entries(groupings).map(([by, text]) => {
    const names = new Set(text.match(/\w+/g))
    const bits = columns.reduce((sum, column) => sum * 2 + (names.has(column) ? 0 : 1), 0)
    return [bits, by as keyof typeof groupings]
  }),
)

/** `summed`: whatever the query and key. */
type Asked = { filter: Filter; range: Range; coarsest: Grain; summed?: boolean }

export const sums = `
  coalesce(sum(calls) filter (where not ${rejectedText}), 0)::bigint as requests,
  coalesce(sum(calls) filter (where status >= 400 and not ${rejectedText}), 0)::bigint as errors,
  coalesce(sum(calls) filter (where ${rejectedText}), 0)::bigint as rejected,
  coalesce(sum(total_ms) filter (where not ${rejectedText}), 0) as "totalMs",
  coalesce(sum(rows), 0)::bigint as rows, coalesce(sum(bytes), 0)::bigint as bytes`

/** Counted by everything but time, from the coarsest figures there are. */
export async function readGroups(store: Pick<Database, 'pool'>, filter: Filter, range: Range): Promise<Group[]> {
  const { text, values } = await sourceOf(store, { filter, range, coarsest: 'day' })
  const { rows } = await store.pool.query<Omit<Group, 'by'> & { bits: number }>(
    `with calls as (${text})
     select grouping(${columns.join(', ')}) as bits, query, version, key_id as "keyId", environment,
            project_id as "projectId", entry, status, error, reason, cache, ${sums}
       from calls group by grouping sets (${Object.values(groupings).join(', ')})`,
    values,
  )
  return rows.flatMap(({ bits, ...row }) => {
    const by = groupingOf.get(bits)
    return by === undefined ? [] : [{ ...row, by }]
  })
}

/** Counted by the pieces of the range, from figures no coarser than those. */
export async function readPieces(
  store: Pick<Database, 'pool'>,
  filter: Filter,
  range: Range,
): Promise<Map<number, Figures>> {
  const { text, values } = await sourceOf(store, { filter, range, coarsest: range.coarsest, summed: true })
  const { rows } = await store.pool.query<Figures & { piece: number }>(
    `with calls as (${text}) select piece, ${sums} from calls group by piece`,
    values,
  )
  return new Map(rows.map(({ piece, ...figures }) => [piece, figures]))
}

export async function readTimes(store: Pick<Database, 'pool'>, filter: Filter, range: Range): Promise<Times> {
  const bySeries = await sourceOf(store, { filter, range, coarsest: range.coarsest, summed: true })
  const whole = await sourceOf(store, { filter, range, coarsest: 'day' })
  const [pieces, queries] = await Promise.all([
    readTimesBy<number>(store, bySeries, 'piece'),
    readTimesBy<string>(store, whole, 'query'),
  ])
  return { byPiece: pieces, byQuery: queries }
}

type WindowFilter = { projectId: string; environment?: string | null; query?: string | null }
type Window = { from: Date; to: Date }

/** The calls that each count of an alert holds. */
const countFilters = {
  requests: 'true',
  errors: 'status >= 400',
  asked: "entry = 'question'",
  unanswered: "entry = 'question' and status = 422",
  answered: "entry = 'question' and status < 400",
  flagged: "entry = 'question' and status < 400 and reason = 'unexpressed'",
}
export type CallCounts = Record<keyof typeof countFilters, number>
export const callCountsText = Object.entries(countFilters)
  .map(([name, filter]) => `coalesce(sum(calls) filter (where ${filter}), 0)::bigint as ${name}`)
  .join(', ')

/** Figures of one version of a query in an exact window. */
export type VersionFigures = { query: string; version: number; calls: number; errors: number; p95Ms: number | null }

/** Figures of each version of each query in one environment. */
export async function figuresByVersion(
  store: Pick<Database, 'pool'>,
  filter: { projectId: string; environment: string },
  window: Window,
): Promise<VersionFigures[]> {
  const { text, values } = await windowOf(store, filter, window)
  const counted = await store.pool.query<Omit<VersionFigures, 'p95Ms'>>(
    `with calls as (${text}) select query, version, sum(calls)::bigint as calls,
            coalesce(sum(calls) filter (where status >= 400), 0)::bigint as errors
       from calls where version is not null group by query, version`,
    values,
  )
  const buckets = await store.pool.query<{ query: string; version: number; bucket: number; count: number }>(
    `with calls as (${text}) select query, version, bucket, sum(count)::bigint as count
       from calls, unnest(buckets, counts) as each(bucket, count)
      where version is not null group by query, version, bucket`,
    values,
  )
  return counted.rows.map((row) => {
    const times: Latencies = new Map()
    for (const { query, version, bucket, count } of buckets.rows) {
      if (query === row.query && version === row.version) addLatency(times, bucket, count)
    }
    return { ...row, p95Ms: percentile(times, 0.95) }
  })
}

type CallsByKey = { query: string; environment: string; keyId: string; calls: number; failed: number }

/** Callers beyond this many are no list that anybody reads. */
const maxCallers = 20_000

/** Calls by key, query and environment in an exact window, and how many of them failed on the server's side. */
export async function callsByKey(
  store: Pick<Database, 'pool'>,
  projectId: string,
  window: Window,
): Promise<CallsByKey[]> {
  const { text, values } = await windowOf(store, { projectId }, window)
  const { rows } = await store.pool.query<CallsByKey>(
    `with calls as (${text}) select query, environment, key_id as "keyId", sum(calls)::bigint as calls,
            coalesce(sum(calls) filter (where status >= 500), 0)::bigint as failed
       from calls where query <> '' and version is not null
      group by query, environment, key_id order by sum(calls) desc limit ${maxCallers}`,
    values,
  )
  return rows
}

/**
 * The coarsest figures that fit into the window, and of the minute in which it begins the single calls. The minute in
 * which it ends has nothing later yet. Value 4 is the beginning.
 */
export async function windowOf(
  store: Pick<Database, 'pool'>,
  filter: WindowFilter,
  { from, to }: Window,
  stored: readonly Grain[] = grains.toReversed(),
): Promise<Source> {
  const until = await readProgress(store)
  const whole = Math.ceil(from.getTime() / grainMs.minute) * grainMs.minute
  const end = Math.floor(to.getTime() / grainMs.minute + 1) * grainMs.minute
  const pieces = cover({ from: whole, to: end }, until, { stored })
  const values: unknown[] = [
    filter.projectId,
    filter.environment ?? null,
    filter.query ?? null,
    from,
    new Date(Math.min(whole, to.getTime())),
  ]
  const texts = pieces.map(({ stored, from: begin, to: stop }) => {
    values.push(new Date(begin), new Date(stop))
    return `select start, query, version, environment, key_id, status, entry, reason, calls, buckets, counts from usage_rollups
      where project_id = $1 and grain = '${stored}' and start >= $${values.length - 1} and start < $${values.length}
        and not ${rejectedText} and ($2::text is null or environment = $2) and ($3::text is null or query = $3)`
  })
  texts.push(`select at, query, version, coalesce(environment, '') as environment, coalesce(key_id, '') as key_id, status, entry,
      coalesce(reason, '') as reason, 1 as calls,
      array[${bucketText('total_ms')}] as buckets, array[1::bigint] as counts from requests
    where project_id = $1 and start > $4::timestamptz - interval '${batchMs} ms' and start < $5 and at >= $4 and at < $5
      and not ${rejectedText} and entry <> 'preview'
      and ($2::text is null or environment = $2) and ($3::text is null or (query = $3 and version is not null))`)
  return { text: texts.join(' union all '), values }
}

/** Up to when each kind of figures is complete. */
async function readProgress({ pool }: Pick<Database, 'pool'>): Promise<Map<Stored, number>> {
  const { rows } = await pool.query<{ grain: Stored; until: Date }>('select grain, until from usage_progress')
  return new Map(rows.map(({ grain, until }) => [grain, until.getTime()]))
}

export async function sourceOf(
  store: Pick<Database, 'pool'>,
  { filter, range, coarsest, summed = false }: Asked,
): Promise<Source> {
  const until = await readProgress(store)
  const fitting = grains.slice(0, grains.indexOf(coarsest) + 1).toReversed()
  const { query, keyId, version, entry, status, outcome } = filter
  const isSummed = summed && [query, keyId, version, entry, status, outcome].every((each) => each === undefined)
  const pieces = cover({ from: range.from.getTime(), to: range.to.getTime() }, until, {
    stored: isSummed ? [...fitting.map((grain): Stored => `${grain}-sum`), 'minute'] : fitting,
  })
  const values: unknown[] = [
    filter.projectIds,
    range.starts,
    filter.environment ?? null,
    query ?? null,
    keyId ?? null,
    version ?? null,
    entry ?? null,
    status ?? null,
  ]
  const texts = pieces.map(({ stored, from, to }) => {
    values.push(new Date(from), new Date(to))
    const last = values.length
    return `select *, width_bucket(start, $2::timestamptz[]) - 1 as piece from usage_rollups
      where project_id = any($1) and grain = '${stored}' and start >= $${last - 1} and start < $${last}
        and ($3::text is null or environment = $3) and ($4::text is null or query = $4)
        and ($5::text is null or key_id = $5) and ($6::int is null or version = $6)
        and ($7::text is null or entry = $7) and ($8::int is null or status = $8)
        ${outcomeText(outcome)}`
  })
  return { text: texts.join(' union all '), values }
}

/** A further condition in SQL. */
export function outcomeText(outcome: Filter['outcome']): string {
  return outcome === undefined ? '' : outcome === 'answered' ? 'and status < 400' : 'and status >= 400'
}

/** The span in the coarsest figures that are complete, finer ones at its ends. */
export function cover(
  { from, to }: { from: number; to: number },
  until: ReadonlyMap<Stored, number>,
  { stored }: { stored: readonly Stored[] },
): Piece[] {
  const [coarsest = 'minute', ...finer] = stored
  if (from >= to) return []
  if (finer.length === 0) return [{ stored: coarsest, from, to }]
  const size = grainMs[grainOf(coarsest)]
  const begin = Math.ceil(from / size) * size
  const end = Math.floor(Math.min(to, until.get(coarsest) ?? 0) / size) * size
  const rest = (from: number, to: number): Piece[] => cover({ from, to }, until, { stored: finer })
  if (begin >= end) return rest(from, to)
  return [...rest(from, begin), { stored: coarsest, from: begin, to: end }, ...rest(end, to)]
}
