/**
 * What recording usage costs, and how reports do on a large table: `node bench/usage.ts [millions of raw rows] [days]
 * [folder]`, on a PostgreSQL of its own. A folder that is named is kept, and used as it is where it is filled already:
 * 100 million rows take a quarter of an hour. Goals: recording < 5 % of a call, the slowest dashboard query < 1 s,
 * 10 million calls a day.
 */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config, Limits } from '../server/config.ts'
import type { Observation } from '../server/observe.ts'
import { openDatabase } from '../server/store/index.ts'
import { holdWordKeepers } from '../server/questions/index.ts'
import { keepUsage, listRequests, openUsage, reportUsage } from '../server/usage/index.ts'

const millions = Number(process.argv[2] ?? 2)
const days = Number(process.argv[3] ?? 7)
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const projectId = 'prj_bench'
const yearDays = 393

const kept = process.argv[4]
if (kept !== undefined) await mkdir(kept, { recursive: true })
const dataDir = kept ?? (await mkdtemp(join(tmpdir(), 'sluice-bench-')))
await chmod(dataDir, 0o711)
const observe = (event: Observation): void => {
  if (event.kind === 'fault') console.error(event.error)
}
const store = await openDatabase({ dataDir, connections: 4, timeoutMs: 600_000, observe })
const now = (): number => Date.now()
const usage = openUsage({
  store,
  holdWordKeepers,
  observe,
  now,
  queueLength: 1_000_000,
  closeTimeoutMs: 5_000,
  flushMs: 3_600_000,
})
try {
  const made = { id: projectId, name: 'Bench' }
  const isFilled = await store.db
    .insertInto('projects')
    .values(made)
    .onConflict((same) => same.doNothing())
    .returning('id')
    .execute()
  if (isFilled.length > 0) {
    await recording()
    await fill()
  }
  await condense()
  await fillYear()
  await condense()
  await store.pool.query('vacuum analyze request_batches, usage_rollups, usage_questions')
  await size('condensed')
  await dashboards()
} finally {
  await usage.close()
  await store.close()
  if (kept === undefined) await rm(dataDir, { recursive: true, force: true })
}

function call(index: number, of = projectId): Observation {
  return {
    kind: 'query-answered',
    requestId: `req_01JD${String(index).padStart(22, '0')}`,
    entry: 'direct',
    projectId: of,
    environment: index % 10 === 0 ? 'staging' : 'production',
    query: `query_${index % 20}`,
    version: 1 + (index % 2),
    keyId: `key_${String(index % 5).padStart(26, '0')}`,
    code: index % 50 === 0 ? 'invalid_query' : null,
    reason: index % 50 === 0 ? 'missing_slots' : null,
    totalMs: 1 + (index % 97) / 3,
    queueMs: 0.2,
    sqlMs: 1 + (index % 97) / 4,
    rows: index % 30,
    bytes: 1_000,
    cache: null,
  }
}

/** The cost on the path of a call, then that of writing, per call, in the process that answers. */
async function recording(): Promise<void> {
  const count = 200_000
  const events = Array.from({ length: count }, (_, index) => call(index))
  await usage.flush()
  const before = process.cpuUsage()
  const begin = performance.now()
  for (const event of events) usage.observe(event)
  const observedMs = performance.now() - begin
  const beginWrite = performance.now()
  await usage.flush()
  const writtenMs = performance.now() - beginWrite
  const { user, system } = process.cpuUsage(before)
  const cpuUs = (user + system) / count
  console.log(`observing        ${((observedMs * 1000) / count).toFixed(2)} µs a call, on its path`)
  console.log(`writing          ${Math.round((count / writtenMs) * 1000).toLocaleString('en')} calls/s in one flush`)
  console.log(`CPU              ${cpuUs.toFixed(1)} µs a call in this process, writing included`)
  await size('after 200,000 calls')
}

/** Raw rows of a week by SQL, in the shape the recorder writes, and the minutes that belong to them. */
async function fill(): Promise<void> {
  const end = Math.floor(now() / dayMs) * dayMs
  const count = millions * 1_000_000
  const stepMs = (days * dayMs) / count
  const begin = performance.now()
  // Any call makes the partitions of its day and month; these are nobody's and are gone with the truncation.
  for (let day = 0; day <= days; day += 1) {
    const past = openUsage({
      store,
      holdWordKeepers,
      observe,
      now: () => end - day * dayMs,
      queueLength: 10,
      closeTimeoutMs: 5_000,
      flushMs: 3_600_000,
    })
    past.observe(call(1))
    await past.close()
  }
  await store.pool.query('truncate request_batches, usage_rollups')
  // An hour at a time: what is put together fits the memory, and no statement runs into its limit.
  const hourly = Math.floor(count / days / 24)
  for (let hour = 0; hour < days * 24; hour += 1) {
    const from = new Date(end - days * dayMs + hour * hourMs)
    await store.pool.query(
      `insert into request_batches
       select date_trunc('second', at), $2, case when i % 10 = 0 then 'staging' else 'production' end, 'query_' || i % 20,
         1 + i % 2, case when i % 20 = 7 then 'question' else 'direct' end, 'key_' || lpad((i % 5)::text, 26, '0'),
         case when i % 50 = 0 then 400 when i % 100 = 7 then 422 else 200 end as status,
         case when i % 50 = 0 or i % 100 = 7 then 'invalid_query' end,
         case when i % 50 = 0 then 'missing_slots' when i % 100 = 7 then 'no_match' end, null,
         array_agg('req_01JD' || lpad(n::text, 22, '0')), array_agg(extract(milliseconds from at)::int % 1000),
         array_agg(1000 + n % 97 * 333), array_agg(1000 + n % 97 * 250), array_agg(n % 30), array[1000],
         case when i % 20 = 7 then 1500 end,
         case when i % 20 = 7 then 'How many orders came from region ' || (max(n) / 20 * 7919) % 2003 || '?' end, null
       from (select n, n % 100 as i, $1::timestamptz + make_interval(secs => (n - $4) * $3::float8 / 1000) as at
               from generate_series($4::bigint, $4 + $5 - 1) as n) as calls
       group by date_trunc('second', at), i, case when i % 20 = 7 then n end`,
      [from, projectId, stepMs, hour * hourly, hourly],
    )
  }
  for (let day = 0; day < days; day += 1) {
    const from = new Date(end - (days - day) * dayMs)
    // 100 kinds of calls in every minute, 30 different times each: far more than a project usually has.
    await store.pool.query(
      `insert into usage_rollups select $2, 'minute', $1::timestamptz + make_interval(mins => m), m * 100 + k,
         case when k % 10 = 0 then 'staging' else 'production' end, 'query_' || k % 20, 1 + k % 2,
         'key_' || lpad((k / 20)::text, 26, '0'), case when k % 20 = 7 then 'question' else 'direct' end,
         case when k % 50 = 0 then 400 when k = 7 then 422 else 200 end,
         case when k % 50 = 0 or k = 7 then 'invalid_query' else '' end,
         case when k % 50 = 0 then 'missing_slots' when k = 7 then 'no_match' else '' end, '',
         $3::bigint, 10.5 * $3::bigint, 8 * $3::bigint, 15 * $3::bigint, 1000 * $3::bigint,
         array(select b::smallint from generate_series(20, 49) b), array(select ($3::bigint / 30 + 1) from generate_series(20, 49))
       from generate_series(0, 1439) m, generate_series(0, 99) k`,
      [from, projectId, Math.max(1, Math.floor(count / days / 1440 / 100))],
    )
  }
  const elapsedMs = performance.now() - begin
  console.log(
    `filled           ${count.toLocaleString('en')} requests and ${(days * 144_000).toLocaleString('en')} minutes in ${Math.round(elapsedMs / 1000)} s`,
  )
  await size('filled')
}

/** The days before, by day: 100 kinds of calls with 200 different times each, and their sums by day and hour. */
async function fillYear(): Promise<void> {
  const end = Math.floor(now() / dayMs) * dayMs - days * dayMs
  const there = await store.pool.query("select 1 from usage_rollups where grain = 'day' and start < $1 limit 1", [
    new Date(end),
  ])
  if (there.rowCount !== 0) return
  for (let back = 0; back < yearDays; back += 28) {
    const past = openUsage({
      store,
      holdWordKeepers,
      observe,
      now: () => end - back * dayMs,
      queueLength: 10,
      closeTimeoutMs: 5_000,
      flushMs: 3_600_000,
    })
    past.observe(call(1, 'prj_nobody'))
    await past.close()
  }
  await store.pool.query("delete from usage_rollups where project_id = 'prj_nobody'")
  const insert = (grain: string, kinds: number, query: string, hours = 24): Promise<unknown> =>
    store.pool.query(
      `insert into usage_rollups select $2, $3, $1::timestamptz - make_interval(hours => d * ${hours}), d * 100 + k,
         case when k % 10 = 0 then 'staging' else 'production' end, ${query}, 1, 'key_' || lpad((k / 20)::text, 26, '0'), 'direct', 200, '', '',
         '', 100000, 1050000, 800000, 1500000, 100000000,
         array(select b::smallint from generate_series(0, 199) b), array(select 500 from generate_series(0, 199))
       from generate_series(1, ${(yearDays * 24) / hours}) d, generate_series(0, $4 - 1) k`,
      [new Date(end), projectId, grain, kinds],
    )
  await insert('day', 100, "'query_' || k % 20")
  await insert('day-sum', 4, "''")
  await insert('hour-sum', 4, "''", 1)
}

/** What the housekeeping of every hour does, for all of it at once. */
async function condense(): Promise<void> {
  const begin = performance.now()
  const limits = { requestRetentionDays: 30, rollupRetentionDays: 500 } as Limits
  await keepUsage({ store, now, config: { limits } as Config })
  console.log(`condensed        in ${((performance.now() - begin) / 1000).toFixed(1)} s`)
}

async function size(when: string): Promise<void> {
  const { rows } = await store.pool.query<{ parent: string; bytes: number; rows: number }>(
    `select i.inhparent::regclass::text as parent, sum(pg_total_relation_size(i.inhrelid))::bigint as bytes
       from pg_inherits i where i.inhparent in ('request_batches'::regclass, 'usage_rollups'::regclass, 'usage_questions'::regclass) group by 1 order by 1`,
  )
  for (const { parent, bytes } of rows) {
    const counting = parent === 'request_batches' ? 'sum(cardinality(ids))' : 'count(*)'
    const { rows: counted } = await store.pool.query<{ count: number }>(
      `select coalesce(${counting}, 0)::bigint as count from ${parent}`,
    )
    const count = counted[0]?.count ?? 0
    const each = count === 0 ? 0 : Math.round(bytes / count)
    console.log(
      `size ${when}  ${parent}: ${count.toLocaleString('en')} rows, ${(bytes / 1e6).toFixed(0)} MB, ${each} MB a million`,
    )
  }
}

async function dashboards(): Promise<void> {
  const app = { store, usage, now }
  const caller = { kind: 'system', requestId: null } as const
  const to = new Date(Math.floor(now() / dayMs) * dayMs)
  const back = (ms: number): Date => new Date(to.getTime() - ms)
  const metrics = (spanMs: number, interval?: '1m' | '5m' | '1h' | '1d', filter: object = {}) =>
    reportUsage(app, caller, { projectId, from: back(spanMs), to, interval, ...filter })
  const requests = (filter: object = {}) => listRequests(app, caller, { projectId, limit: 50, ...filter })
  const keyId = `key_${'3'.padStart(26, '0')}`
  const asked: Array<[string, () => Promise<unknown>]> = [
    ['metrics, last hour by minute', () => metrics(hourMs)],
    ['metrics, a day', () => metrics(dayMs)],
    ['metrics, a day of one query', () => metrics(dayMs, undefined, { query: 'query_3' })],
    ['metrics, a day of one key', () => metrics(dayMs, undefined, { keyId })],
    ['metrics, a day of an environment', () => metrics(dayMs, undefined, { environment: 'staging' })],
    ['metrics, a day by 5 minutes', () => metrics(dayMs, '5m')],
    ['metrics, a day by minute', () => metrics(dayMs, '1m')],
    ['metrics, a day by minute of one key', () => metrics(dayMs, '1m', { keyId })],
    ['metrics, a day and 17 minutes', () => metrics(dayMs + 17 * 60_000)],
    ['metrics, a week by hour', () => metrics(7 * dayMs, '1h')],
    ['metrics, a week by hour in Kolkata', () => metrics(7 * dayMs, '1h', { timeZone: 'Asia/Kolkata' })],
    ['metrics, 30 days by day', () => metrics(30 * dayMs, '1d')],
    ['metrics, 400 days by day', () => metrics(400 * dayMs, '1d')],
    ['metrics, 400 days in Berlin', () => metrics(400 * dayMs, '1d', { timeZone: 'Europe/Berlin' })],
    ['requests, first page', () => requests()],
    ['requests, failed of one query', () => requests({ query: 'query_0', outcome: 'failed' })],
    ['requests, of one key, a week ago', () => requests({ keyId, to: back(6 * dayMs) })],
    ['requests, none to be found', () => requests({ error: 'never' })],
    ['requests, none of a status, a day', () => requests({ status: 503, from: back(dayMs), to })],
    ['requests, unanswered questions', () => requests({ entry: 'question', status: 422 })],
  ]
  for (const [name, ask] of asked) {
    const times: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const begin = performance.now()
      await ask()
      times.push(performance.now() - begin)
    }
    const [fastest = 0, median = 0, slowest = 0] = times.toSorted((left, right) => left - right)
    console.log(`${name.padEnd(36)} median ${median.toFixed(0)} ms (${fastest.toFixed(0)} to ${slowest.toFixed(0)})`)
  }
}
