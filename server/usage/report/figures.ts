import type { Database } from '../../store/index.ts'
import { batchMs } from '../stored/batches.ts'
import { rejectedText } from '../stored/call.ts'
import { addLatency, bucketText, percentile, type Latencies } from '../stored/latencies.ts'
import type { Range } from './range.ts'
import { grainMs, grains, storedMs, type Grain, type Stored } from '../grains.ts'
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

/** Counted by one thing; what it was not counted by is null. */
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

/** What everything is counted by, as grouping sets of one statement. */
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
  const { text, values } = await sourceOf(store, { filter, range, coarsest: 'span' })
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
  const whole = await sourceOf(store, { filter, range, coarsest: 'span' })
  const [pieces, queries] = await Promise.all([
    readTimesBy<number>(store, bySeries, 'piece'),
    readTimesBy<string>(store, whole, 'query'),
  ])
  return { byPiece: pieces, byQuery: queries }
}

type Run = (text: string, values: unknown[]) => Promise<Array<Record<string, unknown>>>
type WindowFilter = { projectId: string; environment?: string | undefined; query?: string | undefined }
type Window = { from: Date; to: Date }

/** Calls, errors and questions of an exact window, for an alert. */
export async function countWindow(run: Run, filter: WindowFilter, window: Window) {
  const { text, values } = await windowOf(run, filter, window)
  const [counts = {}] = await run(
    `with calls as (${text}) select coalesce(sum(calls), 0)::bigint as requests,
            coalesce(sum(calls) filter (where status >= 400), 0)::bigint as errors,
            coalesce(sum(calls) filter (where entry = 'question'), 0)::bigint as asked,
            coalesce(sum(calls) filter (where entry = 'question' and status = 422), 0)::bigint as unanswered,
            coalesce(sum(calls) filter (where entry = 'question' and status < 400), 0)::bigint as answered,
            coalesce(sum(calls) filter (where entry = 'question' and status < 400 and reason = 'unexpressed'), 0)::bigint
              as flagged
       from calls`,
    values,
  )
  const number = (name: string): number => Number(counts[name] ?? 0)
  return {
    requests: number('requests'),
    errors: number('errors'),
    asked: number('asked'),
    unanswered: number('unanswered'),
    answered: number('answered'),
    flagged: number('flagged'),
  }
}

/** How the versions of queries did in an exact window. */
export type VersionFigures = { query: string; version: number; calls: number; errors: number; p95Ms: number | null }

/** Of one environment, each version of each query by itself. */
export async function figuresByVersion(
  store: Pick<Database, 'pool'>,
  filter: { projectId: string; environment: string },
  window: Window,
): Promise<VersionFigures[]> {
  const run: Run = async (text, values) => (await store.pool.query<Record<string, unknown>>(text, values)).rows
  const { text, values } = await windowOf(run, filter, window)
  const counted = await run(
    `with calls as (${text}) select query, version, sum(calls)::bigint as calls,
            coalesce(sum(calls) filter (where status >= 400), 0)::bigint as errors
       from calls where version is not null group by query, version`,
    values,
  )
  const buckets = await run(
    `with calls as (${text}) select query, version, bucket, sum(count)::bigint as count
       from calls, unnest(buckets, counts) as each(bucket, count)
      where version is not null group by query, version, bucket`,
    values,
  )
  return counted.map((row) => {
    const times: Latencies = new Map()
    for (const each of buckets) {
      if (each['query'] !== row['query'] || each['version'] !== row['version']) continue
      addLatency(times, Number(each['bucket']), Number(each['count']))
    }
    return {
      query: String(row['query']),
      version: Number(row['version']),
      calls: Number(row['calls']),
      errors: Number(row['errors']),
      p95Ms: percentile(times, 0.95),
    }
  })
}

/** Beyond this many, who called what is no longer a list that anybody reads. */
const maxCallers = 20_000

/** Which key called which query where in an exact window, and how many of the calls the service failed. */
export async function callsByKey(
  store: Pick<Database, 'pool'>,
  projectId: string,
  window: Window,
): Promise<Array<{ query: string; environment: string; keyId: string; calls: number; failed: number }>> {
  const run: Run = async (text, values) => (await store.pool.query<Record<string, unknown>>(text, values)).rows
  const { text, values } = await windowOf(run, { projectId }, window)
  const rows = await run(
    `with calls as (${text}) select query, environment, key_id, sum(calls)::bigint as calls,
            coalesce(sum(calls) filter (where status >= 500), 0)::bigint as failed
       from calls where query <> '' and version is not null
      group by query, environment, key_id order by sum(calls) desc limit ${maxCallers}`,
    values,
  )
  return rows.map((row) => ({
    query: String(row['query']),
    environment: String(row['environment']),
    keyId: String(row['key_id']),
    calls: Number(row['calls']),
    failed: Number(row['failed']),
  }))
}

/** With which confidence questions were answered in an exact window, on average, and how many. */
export async function confidenceOfWindow(
  run: Run,
  { projectId, environment, query }: WindowFilter,
  { from, to }: Window,
): Promise<{ answers: number; confidence: number }> {
  const [found = {}] = await run(
    `select count(confidence)::bigint as answers, coalesce(avg(confidence), 0) as confidence
       from requests
      where project_id = $1 and ($2::text is null or environment = $2) and ($3::text is null or query = $3)
        and entry = 'question' and status < 400
        and start > $4::timestamptz - interval '${batchMs} ms' and start <= $5 and at >= $4 and at <= $5`,
    [projectId, environment ?? null, query ?? null, from, to],
  )
  return { answers: Number(found['answers'] ?? 0), confidence: Number(found['confidence'] ?? 0) }
}

/** How long the calls of an exact window took. */
export async function timesOfWindow(run: Run, filter: WindowFilter, window: Window): Promise<Latencies> {
  const { text, values } = await windowOf(run, filter, window)
  const buckets = await run(
    `with calls as (${text}) select bucket, sum(count)::bigint as count
       from calls, unnest(buckets, counts) as each(bucket, count) group by bucket`,
    values,
  )
  const times: Latencies = new Map()
  for (const row of buckets) addLatency(times, Number(row['bucket']), Number(row['count']))
  return times
}

/**
 * The coarsest figures that fit into the window, and of the minute in which it begins the single calls. The minute in
 * which it ends has nothing later yet.
 */
async function windowOf(run: Run, filter: WindowFilter, { from, to }: Window): Promise<Source> {
  const rows = (await run('select grain, until from usage_progress', [])) as Array<{ grain: Stored; until: Date }>
  const until = new Map(rows.map((row) => [row.grain, row.until.getTime()]))
  const whole = Math.ceil(from.getTime() / grainMs.minute) * grainMs.minute
  const end = Math.floor(to.getTime() / grainMs.minute + 1) * grainMs.minute
  const pieces = cover({ from: whole, to: end }, until, { stored: grains.toReversed() })
  const values: unknown[] = [
    filter.projectId,
    filter.environment ?? null,
    filter.query ?? null,
    from,
    new Date(Math.min(whole, to.getTime())),
  ]
  const texts = pieces.map(({ stored, from: begin, to: stop }) => {
    values.push(new Date(begin), new Date(stop))
    return `select query, version, environment, key_id, status, entry, reason, calls, buckets, counts from usage_rollups
      where project_id = $1 and grain = '${stored}' and start >= $${values.length - 1} and start < $${values.length}
        and not ${rejectedText} and ($2::text is null or environment = $2) and ($3::text is null or query = $3)`
  })
  texts.push(`select query, version, coalesce(environment, '') as environment, coalesce(key_id, '') as key_id, status, entry,
      coalesce(reason, '') as reason, 1 as calls,
      array[${bucketText('total_ms')}] as buckets, array[1::bigint] as counts from requests
    where project_id = $1 and start > $4::timestamptz - interval '${batchMs} ms' and start < $5 and at >= $4 and at < $5
      and not ${rejectedText} and entry <> 'preview'
      and ($2::text is null or environment = $2) and ($3::text is null or (query = $3 and version is not null))`)
  return { text: texts.join(' union all '), values }
}

export async function sourceOf(
  store: Pick<Database, 'pool'>,
  { filter, range, coarsest, summed = false }: Asked,
): Promise<Source> {
  const { rows } = await store.pool.query<{ grain: Stored; until: Date }>('select grain, until from usage_progress')
  const until = new Map(rows.map((row) => [row.grain, row.until.getTime()]))
  const fitting = grains.slice(0, grains.indexOf(coarsest) + 1).toReversed()
  const { query, keyId, version, entry, status, outcome } = filter
  const isSummed = summed && [query, keyId, version, entry, status, outcome].every((each) => each === undefined)
  const pieces = cover({ from: range.from.getTime(), to: range.to.getTime() }, until, {
    stored: isSummed ? [...fitting.flatMap(sumOf), 'minute'] : fitting,
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
        ${outcome === undefined ? '' : outcomeTexts[outcome]}`
  })
  return { text: texts.join(' union all '), values }
}

const outcomeTexts = { answered: 'and status < 400', failed: 'and status >= 400' }

function sumOf(grain: Grain): Stored[] {
  return grain === 'span' ? [] : [`${grain}-sum`]
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
  const size = storedMs(coarsest)
  const begin = Math.ceil(from / size) * size
  const end = Math.floor(Math.min(to, until.get(coarsest) ?? 0) / size) * size
  const rest = (from: number, to: number): Piece[] => cover({ from, to }, until, { stored: finer })
  if (begin >= end) return rest(from, to)
  return [...rest(from, begin), { stored: coarsest, from: begin, to: end }, ...rest(end, to)]
}
