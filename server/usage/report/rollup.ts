import { underLock, type Database } from '../../store/index.ts'
import { rejectedText } from '../stored/call.ts'
import { dropPartitions } from '../stored/partitions.ts'
import { grainMs, grainOf, type Grain, type Stored } from '../stored/grains.ts'
import { countQuestions } from './questions.ts'
import { noteProgress } from '../stored/progress.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'

/** Each is made of the one that its source names, in this order. */
const steps: Array<{ stored: Stored; source: Stored }> = [
  { stored: 'hour', source: 'minute' },
  { stored: 'day', source: 'hour' },
  { stored: 'minute-sum', source: 'minute' },
  { stored: 'hour-sum', source: 'minute-sum' },
  { stored: 'day-sum', source: 'hour-sum' },
]

/** Minutes of this age are taken to be complete: every replica has written them. */
const settleMs = 5 * 60_000
/** Periods this far back are written anew each time, for replicas that were held up longer than that. */
const againMs: Record<Grain, number> = { minute: grainMs.hour, hour: 2 * grainMs.hour, day: 2 * grainMs.day }
/** The longest time that one statement condenses. */
const chunkMs: Record<Grain, number> = { minute: grainMs.hour, hour: 3 * grainMs.hour, day: 7 * grainMs.day }

/** Makes hours of minutes and days of hours, and drops partitions whose retention is over. */
export async function keepUsage(app: { store: Database; now: Clock; config: Config }): Promise<void> {
  const { store, config, now } = app
  for (const step of steps) await condense(store, now(), step)
  await countQuestions(store, now() - settleMs)
  const { requestRetentionDays, rollupRetentionDays } = config.limits
  await dropPartitions(store, 'request_batches', new Date(now() - requestRetentionDays * grainMs.day))
  await dropPartitions(store, 'usage_questions', new Date(now() - requestRetentionDays * grainMs.day))
  await dropPartitions(store, 'usage_rollups', new Date(now() - rollupRetentionDays * grainMs.day))
}

type Step = (typeof steps)[number]

async function condense(store: Pick<Database, 'pool'>, at: number, step: Step): Promise<void> {
  const grain = grainOf(step.stored)
  const size = grainMs[grain]
  const end = Math.floor((at - settleMs) / size) * size
  let from = await beginning(store, step)
  while (from !== undefined && from < end) {
    const to = Math.min(from + chunkMs[grain], end)
    await condenseChunk(store, { ...step, from, to })
    from = to
  }
}

/** The start of the next run: a little before where the last one ended, else the first figures that there are. */
async function beginning(store: Pick<Database, 'pool'>, { stored, source }: Step): Promise<number | undefined> {
  const progress = await store.pool.query<{ until: Date }>('select until from usage_progress where grain = $1', [
    stored,
  ])
  const until = progress.rows[0]?.until.getTime()
  const grain = grainOf(stored)
  const size = grainMs[grain]
  if (until !== undefined) return Math.floor((until - againMs[grain]) / size) * size
  // This reads all figures there are, once in the life of an installation.
  const { rows } = await store.pool.query<{ first: Date | null }>(
    'select min(start) as first from usage_rollups where grain = $1',
    [source],
  )
  const first = rows[0]?.first?.getTime()
  return first === undefined ? undefined : Math.floor(first / size) * size
}

type Chunk = Step & { from: number; to: number }

async function condenseChunk(store: Pick<Database, 'pool'>, { stored, source, from, to }: Chunk): Promise<void> {
  const range = [new Date(from), new Date(to)]
  const text = condenseText(stored.endsWith('-sum') ? summed : kinds)
  await underLock(store, 'figures', async (client) => {
    await client.query('delete from usage_rollups where grain = $3 and start >= $1 and start < $2', [...range, stored])
    await client.query(text, [...range, stored, source, grainMs[grainOf(stored)] / 1000])
    await noteProgress(client, stored, to)
  })
}

type Kind = Record<(typeof kindColumns)[number], string>
const kindColumns = [
  'environment',
  'query',
  'version',
  'key_id',
  'entry',
  'status',
  'error',
  'reason',
  'cache',
] as const
const columns = kindColumns.join(', ')

/** Every column that calls are counted by. */
const kinds = Object.fromEntries(kindColumns.map((column) => [column, column])) as Kind
/** The same with one status for all that are turned away, all that fail and all that are answered. */
const summed: Kind = {
  environment: 'environment',
  query: "''",
  version: '0',
  key_id: "''",
  entry: "''",
  status: `case when ${rejectedText} then 429 when status >= 400 then 400 else 200 end::smallint`,
  error: "''",
  reason: "''",
  cache: "''",
}

/** Buckets are added up under a hash of the kind: grouping a million of them by nine columns takes ten times as long. */
const condenseText = (kind: Kind): string => `
  with source as materialized (
    select *, hashtextextended(concat_ws(chr(10), ${columns}), 0) as kind
      from (select project_id, date_bin(make_interval(secs => $5), start, 'epoch'::timestamptz) as period,
                   ${kindColumns.map((column) => `${kind[column]} as ${column}`).join(', ')},
                   calls, total_ms, sql_ms, rows, bytes, buckets, counts
              from usage_rollups where grain = $4 and start >= $1 and start < $2) as those),
  sums as (
    select project_id, period, kind, ${columns}, sum(calls)::bigint as calls, sum(total_ms) as total_ms,
           sum(sql_ms) as sql_ms, sum(rows)::bigint as rows, sum(bytes)::bigint as bytes
      from source group by project_id, period, kind, ${columns}),
  shapes as (
    select project_id, period, kind, array_agg(bucket) as buckets, array_agg(count) as counts
      from (select project_id, period, kind, bucket, sum(count)::bigint as count
              from source, unnest(buckets, counts) as each(bucket, count)
             group by project_id, period, kind, bucket) as merged
     group by project_id, period, kind)
  insert into usage_rollups
    (project_id, grain, start, writer, ${columns}, calls, total_ms, sql_ms, rows, bytes, buckets, counts)
  select project_id, $3, period, row_number() over (), ${columns}, calls, total_ms, sql_ms, rows, bytes,
         coalesce(buckets, '{}'), coalesce(counts, '{}')
    from sums left join shapes using (project_id, period, kind)`
