import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { openDuckDb } from '../data.ts'
import { openBenchApp } from '../installation.ts'
import { undisturbed } from '../others.ts'
import { median, ratioOf, type Figure } from '../report.ts'
import type { Bench, Row } from '../row.ts'

const [factCount, sideCount, changedCount] = [10_000_000, 100_000, 10_000]
const rounds = 3
const joined =
  'SELECT o.id, o.total, o.quantity, c.country, c.segment FROM orders o JOIN customers c ON c.id = o.customer'
const key = { mode: 'merge', primary_key: ['id'] }

type Made = Awaited<ReturnType<typeof openBenchApp>>

/** Tables made of tables: all of a join, beside DuckDB that writes the same file; and what changed, beside all of it. */
export const models: Row = {
  name: 'models',
  async measure(bench) {
    const made = await openBenchApp({ tables: [], queries: [] })
    try {
      await made.app.jobs.start()
      return [await rebuild(bench, made), await merge(bench, made)]
    } finally {
      await made.close()
      await made.remove()
    }
  },
}

/** A join of ten million rows with a hundred thousand, by a job as by hand, beside a COPY of the same statement. */
async function rebuild({ scale, worlds, say }: Bench, made: Made): Promise<Figure> {
  const folder = await worlds.folder()
  const [facts, sides] = [Math.round(factCount * scale), Math.round(sideCount * scale)]
  const { connection, close } = await openDuckDb(availableParallelism())
  const parquet = '(FORMAT parquet, COMPRESSION zstd)'
  const [orders, customers, out] = ['orders', 'customers', 'joined'].map((name) => join(folder, `${name}.parquet`))
  await connection.run(`COPY (SELECT i::BIGINT AS id, (hash(i) % ${sides})::BIGINT AS customer, (i % 5) + 1 AS quantity,
    (hash(i) % 100000) / 100.0::DOUBLE AS total FROM range(${facts}) t(i)) TO '${orders}' ${parquet}`)
  await connection.run(`COPY (SELECT i::BIGINT AS id, ['DE', 'FR', 'IT', 'ES'][1 + (i % 4)::INT] AS country,
    'segment ' || (i % 20) AS segment FROM range(${sides}) t(i)) TO '${customers}' ${parquet}`)
  await made.putParquet({ name: 'orders', path: String(orders) })
  await made.putParquet({ name: 'customers', path: String(customers) })
  await made.manage(`/v1/projects/${made.projectId}/models`, { name: 'joined', sql: joined })
  await settled(made)
  say(`${facts} rows joined with ${sides}`)
  const bare = joined.replace('orders o', `'${orders}' o`).replace('customers c', `'${customers}' c`)
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    const [mine, plain] = await undisturbed(async () => {
      const startedMs = performance.now()
      await connection.run(`COPY (${bare}) TO '${out}' ${parquet}`)
      const bareMs = performance.now() - startedMs
      return [await build(made, 'joined'), bareMs] as const
    })
    ours.push(mine)
    theirs.push(plain)
  }
  close()
  return {
    what: 'rebuild of a model: a join of 10M with 100,000 rows',
    against: `bare DuckDB that writes the same Parquet file, ${availableParallelism()} threads`,
    ours: secondsText(ours),
    theirs: secondsText(theirs),
    value: ratioOf(ours, theirs),
    unit: '×',
    goal: null,
  }
}

/** Ten thousand rows of a million change: the merge of those, beside a full build of the same model. */
async function merge({ scale, say }: Bench, made: Made): Promise<Figure> {
  const [all, changed] = [Math.round((factCount / 10) * scale), Math.round(changedCount * scale)]
  const path = `/v1/projects/${made.projectId}`
  const table = { name: 'sales', kind: 'file', table_name: 'sales', load: key }
  const { id } = await made.manage(`${path}/datasources`, table)
  const load = async (from: number, count: number, value: number): Promise<void> => {
    const rowOf = (at: number) => ({ id: at, customer: (at * 7_919) % sideCount, total: value, quantity: at % 9 })
    const rows = Array.from({ length: count }, (_, at) => rowOf(from + at))
    await made.manage(`${path}/datasources/${id}/files?filename=rows.json`, rows)
    await settled(made)
  }
  for (let from = 0; from < all; from += 250_000) await load(from, Math.min(250_000, all - from), 1)
  const sql =
    'SELECT o.id, o.total, o.quantity, c.country FROM {{new rows of sales}} o JOIN customers c ON c.id = o.customer'
  await made.manage(`${path}/models`, { name: 'sold', sql, load: key })
  await settled(made)
  say(`${changed} of ${all} rows changed`)
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    theirs.push(await build(made, 'sold', true))
    await load((round * changed * 3) % Math.max(1, all - changed), changed, round + 2)
    ours.push(await lastBuildMs(made, 'sold'))
  }
  return {
    what: '10,000 of 1M rows changed and merged into a model',
    against: 'a full build of the same model',
    ours: secondsText(ours),
    theirs: secondsText(theirs),
    value: ratioOf(ours, theirs),
    unit: '×',
    goal: { less: 1 },
  }
}

function secondsText(times: number[]): string {
  return `${(median(times) / 1_000).toFixed(2)} s`
}

/** What the job took, by its own times. */
async function build(made: Made, name: string, full = false): Promise<number> {
  await made.manage(`/v1/projects/${made.projectId}/models/${name}/rebuild`, { full })
  await settled(made)
  return lastBuildMs(made, name)
}

async function lastBuildMs(made: Made, name: string): Promise<number> {
  const { id } = await made.manage(`/v1/projects/${made.projectId}/models/${name}`)
  const { data } = await made.manage(`/v1/projects/${made.projectId}/jobs?limit=200`)
  const built = data.filter((job) => job['job_type'] === 'rebuild_model' && job['source_id'] === id)
  const endedMs = (job: (typeof built)[number] | undefined) => Date.parse(String(job?.['finished_at']))
  const [last] = built.toSorted((one, other) => endedMs(other) - endedMs(one))
  if (last?.['status'] !== 'succeeded') throw new Error(`${name} was not built: ${JSON.stringify(last)}`)
  return endedMs(last) - Date.parse(String(last['started_at']))
}

async function settled(made: Made): Promise<void> {
  for (;;) {
    const { data } = await made.manage(`/v1/projects/${made.projectId}/jobs?limit=200`)
    if (data.every(({ status }) => status !== 'queued' && status !== 'running')) return
    await wait(20)
  }
}
