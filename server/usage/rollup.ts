import type { App } from '../app.ts'
import type { Database } from '../store/index.ts'
import { dropPartitions } from './partitions.ts'

/** The pieces that reports are cut into each have figures of their own; finest first. */
export const grains = ['minute', 'five', 'hour', 'day'] as const
export type Grain = (typeof grains)[number]
type Condensed = Exclude<Grain, 'minute'>

export const grainMs: Record<Grain, number> = { minute: 60_000, five: 300_000, hour: 3_600_000, day: 86_400_000 }

/** Minutes of this age are taken to be complete: every replica has written them. */
const settleMs = 5 * 60_000
/** Written anew each time, for replicas that were held up longer than that. */
const again: Record<Condensed, number> = { five: grainMs.hour, hour: 2 * grainMs.hour, day: 2 * grainMs.day }
/** Of one statement. */
const chunkMs: Record<Condensed, number> = { five: grainMs.hour, hour: 12 * grainMs.hour, day: 7 * grainMs.day }

/** Any two numbers; locks with two keys meet no others of ours but these. */
const lock = '(1936356709, 3)'

/** Makes five minutes of minutes, hours of those and days of hours, and drops what has had its time. */
export async function keepUsage(app: Pick<App, 'store' | 'now' | 'config'>): Promise<void> {
  const { store, config, now } = app
  await condense(store, now(), { grain: 'five', source: 'minute' })
  await condense(store, now(), { grain: 'hour', source: 'five' })
  await condense(store, now(), { grain: 'day', source: 'hour' })
  const { requestRetentionDays, rollupRetentionDays } = config.limits
  await dropPartitions(store, 'requests', new Date(now() - requestRetentionDays * grainMs.day))
  await dropPartitions(store, 'usage_rollups', new Date(now() - rollupRetentionDays * grainMs.day))
}

async function condense(
  store: Pick<Database, 'pool'>,
  at: number,
  { grain, source }: { grain: Condensed; source: Grain },
): Promise<void> {
  const end = Math.floor((at - settleMs) / grainMs[grain]) * grainMs[grain]
  let from = await beginning(store, grain, source)
  while (from !== undefined && from < end) {
    const to = Math.min(from + chunkMs[grain], end)
    await condenseChunk(store, { grain, source, from, to })
    from = to
  }
}

/** Where to begin: a little before where the last time ended, else with the first minute there is. */
async function beginning(store: Pick<Database, 'pool'>, grain: Condensed, source: Grain): Promise<number | undefined> {
  const { rows } = await store.pool.query<{ until: Date | null; first: Date | null }>(
    `select (select until from usage_progress where grain = $1) as until,
            (select min(start) from usage_rollups where grain = $2) as first`,
    [grain, source],
  )
  const { until, first } = rows[0] ?? { until: null, first: null }
  const from = until === null ? first?.getTime() : until.getTime() - again[grain]
  return from === undefined ? undefined : Math.floor(from / grainMs[grain]) * grainMs[grain]
}

type Chunk = { grain: Condensed; source: Grain; from: number; to: number }

async function condenseChunk(store: Pick<Database, 'pool'>, { grain, source, from, to }: Chunk): Promise<void> {
  const client = await store.pool.connect()
  try {
    await client.query('begin')
    await client.query(`select pg_advisory_xact_lock${lock}`)
    const range = [new Date(from), new Date(to)]
    await client.query('delete from usage_rollups where grain = $3 and start >= $1 and start < $2', [...range, grain])
    await client.query(condenseText, [...range, grain, source, grainMs[grain] / 1000])
    await client.query(
      `insert into usage_progress values ($1, $2)
         on conflict (grain) do update set until = greatest(usage_progress.until, excluded.until)`,
      [grain, range[1]],
    )
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  } finally {
    client.release()
  }
}

const kinds = 'environment, query, version, key_id, entry, status, error, reason, cache'

/** Buckets are added up under a hash of the kind: grouping a million of them by nine columns takes ten times as long. */
const condenseText = `
  with source as materialized (
    select *, date_bin(make_interval(secs => $5), start, 'epoch'::timestamptz) as period, hashtextextended(concat_ws(chr(10), ${kinds}), 0) as kind
      from usage_rollups where grain = $4 and start >= $1 and start < $2),
  sums as (
    select project_id, period, kind, ${kinds}, sum(calls)::bigint as calls, sum(total_ms) as total_ms,
           sum(sql_ms) as sql_ms, sum(rows)::bigint as rows, sum(bytes)::bigint as bytes
      from source group by project_id, period, kind, ${kinds}),
  shapes as (
    select project_id, period, kind, array_agg(bucket) as buckets, array_agg(count) as counts
      from (select project_id, period, kind, bucket, sum(count)::bigint as count
              from source, unnest(buckets, counts) as each(bucket, count)
             group by project_id, period, kind, bucket) as merged
     group by project_id, period, kind)
  insert into usage_rollups
    (project_id, grain, start, writer, ${kinds}, calls, total_ms, sql_ms, rows, bytes, buckets, counts)
  select project_id, $3, period, row_number() over (), ${kinds}, calls, total_ms, sql_ms, rows, bytes,
         coalesce(buckets, '{}'), coalesce(counts, '{}')
    from sums left join shapes using (project_id, period, kind)`
