/**
 * The engine beside bare DuckDB, in one run, as the service is started: `node --expose-gc bench/engine.ts`. Ratios are what
 * counts; the machine may be busy.
 * Goals: lookups ≥ 0.8×, 100,000 rows ≤ 1.3×, 1M rows streamed with < 200 MB here, < 400 MB there, first byte < 200 ms.
 */
import { readFile, mkdtemp, rm } from 'node:fs/promises'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DuckDBPreparedStatement } from '@duckdb/node-api'
import { openEngine, type Engine } from '../server/data/index.ts'
import { engineOptions } from '../test/harness/engine-options.ts'

const rowCount = 1_000_000
const connections = 32
const roundMs = 1_500
const rounds = 5
const [executors = 2, concurrency = 2] = process.argv.slice(2).map(Number)

const dir = await mkdtemp(join(tmpdir(), 'bench-'))
const parquetPath = join(dir, 'data.parquet')
const nativePath = join(dir, 'data.duckdb')

// Made in another process: DuckDB's memory here would hide what the engine's front needs.
execFileSync(process.execPath, [
  '--no-warnings',
  join(import.meta.dirname, 'engine-data.ts'),
  parquetPath,
  String(rowCount),
])

const engine = await openEngine({
  ...engineOptions,
  runDir: join(dir, 'run'),
  executors,
  concurrencyPerExecutor: concurrency,
  memoryBytes: 1024 ** 3,
  queueLength: 1_000,
  timeoutMs: 60_000,
})
await engine.buildNative({ parquetPath, nativePath })
const catalog = {
  version: '1',
  tables: [{ name: 'data', parquetPath, nativePath, columns: [{ name: 'id', type: 'BIGINT' }] }],
}

console.log(`${executors} executors × ${concurrency} calls`)
await streamed(engine)

const { DuckDBInstance } = await import('@duckdb/node-api')
const bare = await DuckDBInstance.create(':memory:', { threads: '1' })
const opener = await bare.connect()
await opener.run(`ATTACH '${nativePath}' AS native (READ_ONLY)`)
await opener.run('CREATE VIEW data AS SELECT * FROM native.data')
await lookups()
await largeJson()
await engine.close(5_000)
await rm(dir, { recursive: true, force: true })
process.exit(0)

/** Processor time of this process and of every executor, in ms: fair also on a machine that others use. */
async function cpuMs(): Promise<{ here: number; there: number }> {
  const { user, system } = process.cpuUsage()
  let there = 0
  for (const { pid } of engine.health().executors) {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
    there += (Number(fields[11]) + Number(fields[12])) * 10
  }
  return { here: (user + system) / 1_000, there }
}

/** Processor time of `work`, in ms. */
async function cost(work: () => Promise<unknown>): Promise<{ here: number; there: number }> {
  const before = await cpuMs()
  await work()
  const after = await cpuMs()
  return { here: after.here - before.here, there: after.there - before.there }
}

/** Calls per second of `call` with 32 callers. */
async function rate(callers: number, call: (caller: number) => Promise<void>): Promise<number> {
  const untilMs = performance.now() + roundMs
  let calls = 0
  const loop = async (caller: number): Promise<void> => {
    while (performance.now() < untilMs) {
      await call(caller)
      calls += 1
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, caller) => loop(caller)))
  return (calls * 1_000) / roundMs
}

async function lookups(): Promise<void> {
  const sql = 'SELECT * FROM data WHERE id = $id'
  const statements: DuckDBPreparedStatement[] = []
  for (let index = 0; index < connections; index += 1) {
    const connection = await bare.connect()
    statements.push(await connection.prepare(sql.replace('$id', '$id::BIGINT')))
  }
  const randomId = (): number => Math.floor(Math.random() * rowCount)
  const bareCall = async (caller: number): Promise<void> => {
    const statement = statements[caller]
    if (statement === undefined) return
    statement.bindBigInt(1, BigInt(randomId()))
    JSON.stringify(await (await statement.run()).getRowObjectsJson())
  }
  const engineCall = async (): Promise<void> => {
    const slots = [{ name: 'id', type: 'integer' as const, value: randomId() }]
    await engine.read('bench', catalog, { sql, slots, maxRows: 1_000, maxBytes: 1_000_000 })
  }
  const ratios: number[] = []
  const spent = { bare: 0, here: 0, there: 0, bareCalls: 0, engineCalls: 0 }
  for (let round = 0; round < rounds; round += 1) {
    let bareRate = 0
    let engineRate = 0
    const bareCost = await cost(async () => (bareRate = await rate(connections, bareCall)))
    const engineCost = await cost(async () => (engineRate = await rate(connections, engineCall)))
    ratios.push(engineRate / bareRate)
    console.log(
      `lookups  bare ${bareRate.toFixed(0)}/s  engine ${engineRate.toFixed(0)}/s  ratio ${(engineRate / bareRate).toFixed(2)}`,
    )
    // The first round prepares statements.
    if (round === 0) continue
    spent.bare += bareCost.here
    spent.here += engineCost.here
    spent.there += engineCost.there
    spent.bareCalls += (bareRate * roundMs) / 1_000
    spent.engineCalls += (engineRate * roundMs) / 1_000
  }
  const perCall = (ms: number, calls: number): string => `${((ms * 1_000) / calls).toFixed(0)} µs`
  const { bare: bareMs, here, there, bareCalls, engineCalls } = spent
  console.log(
    `lookups  processor time: bare ${perCall(bareMs, bareCalls)}, engine ${perCall(here, engineCalls)} here + ${perCall(there, engineCalls)} there`,
  )
  console.log(`lookups  median ratio ${median(ratios).toFixed(2)} (goal ≥ 0.8)`)
}

async function largeJson(): Promise<void> {
  const sql = 'SELECT * FROM data WHERE id < 100000'
  const connection = await bare.connect()
  const statement = await connection.prepare(`SELECT string_agg(to_json(r)::VARCHAR, ',') FROM (${sql}) r`)
  const ratios: number[] = []
  for (let round = 0; round < rounds + 1; round += 1) {
    let startedMs = performance.now()
    const text = (await statement.run()).getChunk(0).getColumnVector(0).getItem(0)
    const bareMs = performance.now() - startedMs
    startedMs = performance.now()
    const answer = await engine.read('bench', catalog, { sql, slots: [], maxRows: 200_000, maxBytes: 1e8 })
    const engineMs = performance.now() - startedMs
    if (answer.rowCount !== 100_000 || typeof text !== 'string') throw new Error('rows are missing')
    if (round === 0) continue
    ratios.push(engineMs / bareMs)
    console.log(
      `100,000 rows  bare ${bareMs.toFixed(0)} ms  engine ${engineMs.toFixed(0)} ms  ${(answer.bytes.length / 1e6).toFixed(1)} MB`,
    )
  }
  const bareCost = await cost(async () => {
    for (let round = 0; round < 10; round += 1) (await statement.run()).getChunk(0).getColumnVector(0).getItem(0)
  })
  const engineCost = await cost(async () => {
    for (let round = 0; round < 10; round += 1)
      await engine.read('bench', catalog, { sql, slots: [], maxRows: 200_000, maxBytes: 1e8 })
  })
  const { here, there } = engineCost
  console.log(
    `100,000 rows  processor time: bare ${(bareCost.here / 10).toFixed(0)} ms, engine ${(here / 10).toFixed(0)} here + ${(there / 10).toFixed(0)} there, ratio ${((here + there) / bareCost.here).toFixed(2)}`,
  )
  console.log(`100,000 rows  median ratio ${median(ratios).toFixed(2)} (goal ≤ 1.3)`)
}

async function streamed(running: Engine): Promise<void> {
  const startedMs = performance.now()
  let firstMs = 0
  let bytes = 0
  let peakHere = 0
  let peakThere = 0
  const stream = await running.stream('fresh', catalog, {
    sql: 'SELECT * FROM data',
    slots: [],
    maxRows: 1e9,
    maxBytes: 1e10,
  })
  let chunks = 0
  for await (const chunk of stream.chunks) {
    if (bytes === 0) firstMs = performance.now() - startedMs
    bytes += chunk.bytes.length
    chunks += 1
    if (chunks % 20 === 0) {
      peakHere = Math.max(peakHere, process.memoryUsage.rss())
      const pids = running.health().executors.flatMap(({ pid }) => (pid === null ? [] : [pid]))
      for (const pid of pids) peakThere = Math.max(peakThere, await rssOf(pid))
    }
  }
  const elapsedMs = performance.now() - startedMs
  const mb = (size: number): string => `${(size / 1e6).toFixed(0)} MB`
  console.log(
    `1M rows streamed  ${mb(bytes)} in ${elapsedMs.toFixed(0)} ms, first byte ${firstMs.toFixed(0)} ms (goal < 200)`,
  )
  console.log(`  here ${mb(peakHere)} (goal < 200), executor ${mb(peakThere)} (goal < 400)`)
}

async function rssOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
}

function median(values: number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0
}
