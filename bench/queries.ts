/**
 * Direct calls over HTTP beside bare DuckDB and bare Fastify, in one run: `node bench/queries.ts`. Ratios are what
 * counts; the machine may be busy. Goals: lookups ≥ 0.8× bare DuckDB, a kept answer ≥ 0.6× a bare Fastify route, 1M rows
 * streamed with the API process under 200 MB, the first byte within 200 ms of the request. The first stream after a start
 * opens the project's data and is told apart.
 */
import { spawn } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { DuckDBInstance } from '@duckdb/node-api'
import { fastify } from 'fastify'
import { inTurns, load, median, openBenchApp, startServer } from './serve.ts'

const rowCount = 1_000_000
const connections = 32
const roundMs = 2_000
const rounds = 5
const turns = 150
const port = 4497

const bench = await openBenchApp({
  table: { name: 'data', rows: rows() },
  queries: [
    { name: 'lookup', sql: 'SELECT * FROM data WHERE id = $id' },
    { name: 'kept', sql: 'SELECT * FROM data WHERE id < 20 ORDER BY id', cache_seconds: 3600 },
    { name: 'everything', sql: 'SELECT * FROM data' },
  ],
})
const { secret, projectId } = bench
const { tables } = await bench.app.catalogs.get(projectId)
const copyPath = tables[0]?.copy && bench.app.files.pathOf(tables[0].copy)
await bench.close()
const server = await startServer(bench.dataDir, port)
const authorization = `Bearer ${secret}`

try {
  await streamed('first after a start')
  await streamed('again')
  const lookups: Pair[] = []
  // The first round warms both sides up.
  for (let round = 0; round <= rounds; round += 1) {
    const inProcess = await bareLookups()
    lookups.push([await ours('lookup', rowCount), inProcess])
  }
  report('lookup over HTTP / bare DuckDB in-process', lookups.slice(1), 0.8)
  await keptAnswers()
} finally {
  await server.close()
  await bench.remove()
}
process.exit(0)

type Side = { rate: number; apiMicros: number; othersMicros: number }
type Pair = [ours: Side, theirs: Side]

async function ours(name: string, most = 0): Promise<Side> {
  const before = await server.cpuMs()
  const rate = await load({ port, path: `/v1/queries/${name}`, secret }, { forMs: roundMs, most })
  const after = await server.cpuMs()
  // The load's own half second of warming up is answered too.
  const calls = (rate * (roundMs + 500)) / 1_000
  return {
    rate,
    apiMicros: ((after.api - before.api) * 1_000) / calls,
    othersMicros: ((after.others - before.others) * 1_000) / calls,
  }
}

function report(name: string, pairs: Pair[], goal: number): void {
  const ratio = median(pairs.map(([mine, theirs]) => mine.rate / theirs.rate))
  const shown = pairs.map(([mine, theirs]) => `${mine.rate.toFixed(0)} / ${theirs.rate.toFixed(0)}`).join(', ')
  console.log(`${name}: ${ratio.toFixed(2)}× (goal ${goal}; a second: ${shown})`)
  const part = (pick: (pair: Pair) => number): string => median(pairs.map(pick)).toFixed(0)
  console.log(
    `  processor time of a call: ${part(([mine]) => mine.apiMicros)} µs API + ${part(([mine]) => mine.othersMicros)} µs executors and database; bare ${part(([, theirs]) => theirs.apiMicros)} µs`,
  )
}

function* rows(): Generator<object> {
  const regions = ['north', 'south', 'east', 'west']
  for (let id = 0; id < rowCount; id += 1) {
    yield { id, name: `name ${id}`, price: ((id * 7) % 1000) / 10, active: id % 2 === 0, region: regions[id % 4] }
  }
}

/** The same native table, prepared once for each of as many connections. */
async function bareLookups(): Promise<Side> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const opener = await instance.connect()
  await opener.run(`ATTACH '${copyPath}' AS native (READ_ONLY)`)
  const statements = await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = await instance.connect()
      return connection.prepare(`SELECT * FROM native.data WHERE id = $1::BIGINT`)
    }),
  )
  let calls = 0
  const before = process.cpuUsage()
  const untilMs = performance.now() + roundMs
  await Promise.all(
    statements.map(async (statement) => {
      while (performance.now() < untilMs) {
        statement.bindBigInt(1, BigInt(Math.floor(Math.random() * rowCount)))
        await (await statement.run()).getRowObjects()
        calls += 1
      }
    }),
  )
  const { user, system } = process.cpuUsage(before)
  instance.closeSync()
  return { rate: (calls * 1_000) / roundMs, apiMicros: (user + system) / calls, othersMicros: 0 }
}

/** In turns with a route of bare Fastify that answers with the bytes of the kept answer. */
async function keptAnswers(): Promise<void> {
  const path = '/v1/queries/kept'
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers: { authorization } })
  const bytes = Buffer.from(await answer.arrayBuffer())
  const bare = fastify()
  bare.post('/', async (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes))
  await bare.listen({ port: 0, host: '127.0.0.1' })
  const { port: at } = bare.server.address() as AddressInfo
  const [mine, theirs] = await inTurns(secret, turns, [
    { port, path, pid: server.apiPid },
    { port: at, path: '/', pid: process.pid },
  ])
  await bare.close()
  const ratios = mine.map(({ rate }, index) => rate / (theirs[index]?.rate ?? 0)).toSorted((a, b) => a - b)
  const quarter = (part: number): string => (ratios[Math.floor((ratios.length * part) / 4)] ?? 0).toFixed(2)
  const middle = (list: typeof mine, of: 'rate' | 'micros'): string => median(list.map((turn) => turn[of])).toFixed(0)
  console.log(
    `kept answer / bare Fastify route, same bytes: ${quarter(2)}× (goal 0.6; half of ${turns} turns between ${quarter(1)} and ${quarter(3)}; a second: ${middle(mine, 'rate')} / ${middle(theirs, 'rate')})`,
  )
  console.log(`  processor time of a call: ${middle(mine, 'micros')} µs API; bare ${middle(theirs, 'micros')} µs`)
}

/** All rows as NDJSON, to a reader in a process of its own. */
async function streamed(when: string): Promise<void> {
  const script = `const startedMs = Date.now(); let first; let rows = 0
    const answer = await fetch(process.argv[1], { method: 'POST', headers: { authorization: process.argv[2], accept: 'application/x-ndjson' } })
    for await (const part of answer.body) { first ??= Date.now() - startedMs; for (const byte of part) rows += byte === 10 ? 1 : 0 }
    console.log(first + ' ms to the first byte, ' + rows + ' rows in ' + (Date.now() - startedMs) + ' ms')`
  const beforeMb = await server.apiMb()
  let peakMb = beforeMb
  const watch = setInterval(() => void server.apiMb().then((mb) => (peakMb = Math.max(peakMb, mb))), 50)
  const url = `http://127.0.0.1:${port}/v1/queries/everything`
  const args = ['--input-type=module', '-e', script, url, authorization]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const part of child.stdout) text += String(part)
  clearInterval(watch)
  console.log(
    `1M rows streamed, ${when}: ${text.trim()}; the API process ${beforeMb.toFixed(0)} MB before, at most ${peakMb.toFixed(0)} MB (goals 200 ms, 200 MB)`,
  )
}
