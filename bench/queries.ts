/**
 * Direct calls over HTTP beside bare DuckDB and bare Fastify, in one run: `node bench/queries.ts`. Ratios are what
 * counts; the machine may be busy. Goals: lookups ≥ 0.8× bare DuckDB, a kept answer ≥ 0.6× a bare Fastify route, 1M rows
 * streamed in bounded memory, the first byte within 200 ms (the reader's own start included).
 */
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { fastify } from 'fastify'
import { openApp, type App } from '../server/app.ts'
import { readConfig } from '../server/config.ts'
import { buildHttp } from '../server/http/index.ts'
import { putTable } from '../test/harness/tables.ts'

const rowCount = 1_000_000
const connections = 32
const roundMs = 2_000
const rounds = 3

const dataDir = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
await chmod(dataDir, 0o711)
const operator = 'operator-token-of-the-bench'
const config = readConfig({
  SLUICE_DATA_DIR: dataDir,
  SLUICE_MANAGEMENT_TOKEN: operator,
  SLUICE_EXAMPLE: 'off',
  SLUICE_LOG_LEVEL: 'silent',
})
if ('mistakes' in config) throw new Error(config.mistakes.join('\n'))
const app = await openApp(config)
const http = await buildHttp(app)
await http.listen({ port: 0, host: '127.0.0.1' })
const { port } = http.server.address() as AddressInfo

const projectId = await prepare(app)
const { secret } = await manage('/v1/api-keys', {
  name: 'bench',
  plan: 'unlimited',
  permissions: [{ project_id: projectId, environments: '*' }],
})

const lookups: number[][] = []
const kept: number[][] = []
const bare = await openBareRoute()
for (let round = 0; round < rounds; round += 1) {
  const inProcess = await bareLookups(app)
  const overHttp = await load(port, '/v1/queries/lookup', rowCount)
  lookups.push([overHttp, inProcess])
  kept.push([await load(port, '/v1/queries/kept'), await load(bare.port, '/')])
}
report('lookup over HTTP / bare DuckDB in-process', lookups, 0.8)
report('kept answer / bare Fastify route, same bytes', kept, 0.6)
await streamed()
await bare.close()
await http.close()
await app.close()
await rm(dataDir, { recursive: true, force: true })
process.exit(0)

function report(name: string, pairs: number[][], goal: number): void {
  const ratios = pairs.map(([ours = 0, theirs = 1]) => ours / theirs).toSorted((left, right) => left - right)
  const shown = pairs.map((pair) => pair.map((rate) => rate.toFixed(0)).join(' / ')).join(', ')
  console.log(`${name}: ${ratios[Math.floor(ratios.length / 2)]?.toFixed(2)}× (goal ${goal}; a second: ${shown})`)
}

async function prepare(app: App): Promise<string> {
  const { id } = await manage('/v1/projects', { name: 'Bench' })
  await putTable(app, id, { name: 'data', rows: rows(), native: true })
  const path = `/v1/projects/${id}/queries`
  await manage(path, { name: 'lookup', sql: 'SELECT * FROM data WHERE id = $id' })
  await manage(path, { name: 'kept', sql: 'SELECT * FROM data WHERE id < 20 ORDER BY id', cache_seconds: 3600 })
  await manage(path, { name: 'everything', sql: 'SELECT * FROM data' })
  for (const name of ['lookup', 'kept', 'everything']) await manage(`${path}/${name}/deploy`, {})
  return id
}

function* rows(): Generator<object> {
  const regions = ['north', 'south', 'east', 'west']
  for (let id = 0; id < rowCount; id += 1) {
    yield { id, name: `name ${id}`, price: ((id * 7) % 1000) / 10, active: id % 2 === 0, region: regions[id % 4] }
  }
}

async function manage(path: string, body: object): Promise<{ id: string; secret: string }> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operator}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()) as { id: string; secret: string }
}

/** The same native table, prepared once for each of as many connections. */
async function bareLookups(app: App): Promise<number> {
  const { tables } = await app.catalogs.get(projectId)
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const opener = await instance.connect()
  await opener.run(`ATTACH '${tables[0]?.nativePath}' AS native (READ_ONLY)`)
  const { rows } = await named(opener, 'SELECT table_name FROM duckdb_tables() LIMIT 1')
  const statements = await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = await instance.connect()
      return connection.prepare(`SELECT * FROM native.${String(rows[0]?.[0])} WHERE id = $1::BIGINT`)
    }),
  )
  let calls = 0
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
  instance.closeSync()
  return (calls * 1_000) / roundMs
}

async function named(connection: Awaited<ReturnType<DuckDBInstance['connect']>>, sql: string) {
  return { rows: await (await connection.run(sql)).getRows() }
}

/** A route of bare Fastify that answers with the bytes of the kept answer. */
async function openBareRoute() {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/queries/kept`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  const server = fastify()
  server.post('/', async (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes))
  await server.listen({ port: 0, host: '127.0.0.1' })
  return { port: (server.server.address() as AddressInfo).port, close: () => server.close() }
}

/** All rows as NDJSON; who reads them is another process, so that this one's memory is the server's. */
async function streamed(): Promise<void> {
  const script = `const answer = await fetch(process.argv[1], { method: 'POST', headers: { authorization: process.argv[2], accept: 'application/x-ndjson' } })
    const startedMs = Number(process.argv[3]); let first; let rows = 0
    for await (const part of answer.body) { first ??= Date.now() - startedMs; for (const byte of part) rows += byte === 10 ? 1 : 0 }
    console.log(first + ' ms to the first byte, ' + rows + ' rows in ' + (Date.now() - startedMs) + ' ms')`
  // The table was made in this process too, so what it held before is told beside the peak.
  const beforeBytes = process.memoryUsage.rss()
  let peakBytes = beforeBytes
  const watch = setInterval(() => (peakBytes = Math.max(peakBytes, process.memoryUsage.rss())), 50)
  const url = `http://127.0.0.1:${port}/v1/queries/everything`
  const args = ['--input-type=module', '-e', script, url, `Bearer ${secret}`, String(Date.now())]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const part of child.stdout) text += String(part)
  clearInterval(watch)
  console.log(
    `1M rows streamed: ${text.trim()}, this process at most ${Math.round(peakBytes / 1e6)} MB (goals 200, 200)`,
  )
}

async function load(at: number, path: string, most = 0): Promise<number> {
  const args = [String(at), path, secret, String(connections), String(roundMs), String(most)]
  const child = spawn(process.execPath, [join(import.meta.dirname, 'load.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const part of child.stdout) text += String(part)
  return Number(text)
}
