/**
 * What an execute costs beside DuckDB's own reading of the same file, as JSON and as CSV, and how much the API process
 * grows meanwhile. `node bench/execute.ts [megabytes]`
 */
import { DuckDBInstance } from '@duckdb/node-api'
import { createReadStream, createWriteStream, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { operatorToken } from '../test/harness/app.ts'
import { processTree, startService, type ServiceProcess } from '../test/harness/process.ts'

const megabytes = Number(process.argv[2] ?? 100)
const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' }
const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
await chmod(folder, 0o711)

type Format = { name: 'JSON' | 'CSV'; path: string; type: string; read: (path: string) => string; goal: number }
const formats: Format[] = [
  {
    name: 'JSON',
    path: '/large.json',
    type: 'application/json',
    read: (path) => `read_json_auto('${path}', sample_size = -1)`,
    goal: 1.5,
  },
  {
    name: 'CSV',
    path: '/large.csv',
    type: 'text/csv',
    read: (path) => `read_csv('${path}', sample_size = -1)`,
    goal: 2,
  },
]
await writeRows('/large.json', megabytes, jsonRows)
await writeRows('/large.csv', megabytes, csvRows)
await writeRows('/small.json', 5, jsonRows)
const upstream = createServer(({ url = '' }, response) => {
  response.writeHead(200, { 'content-type': url.endsWith('csv') ? 'text/csv' : 'application/json' })
  createReadStream(join(folder, url)).pipe(response)
})
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
const host = `127.0.0.1:${(upstream.address() as AddressInfo).port}`
const service = await startService(join(folder, 'data'), { SLUICE_OUTBOUND_ALLOW: host, SLUICE_LOG_LEVEL: 'warn' })
try {
  const { id: projectId } = (await post(service, '/v1/projects', { name: 'bench' })) as { id: string }
  await execute(service, projectId, '/small.json')
  for (const { name, path, read, goal } of formats) {
    // The better of two: the machine is shared.
    const source = read(join(folder, path))
    const bare = Math.min(await bareDuckDb(source, 1), await bareDuckDb(source, 1))
    const onTwo = Math.min(await bareDuckDb(source, 2), await bareDuckDb(source, 2))
    const before = residentMegabytes(service.pid)
    const peak = watchPeak(service.pid)
    const seconds = Math.min(await timed(service, projectId, path), await timed(service, projectId, path))
    console.log(
      `${megabytes} MB of ${name}: execute ${seconds.toFixed(2)} s, DuckDB alone ${bare.toFixed(2)} s on one thread: ${(seconds / bare).toFixed(2)}x (goal ${goal}); ${onTwo.toFixed(2)} s on two: ${(seconds / onTwo).toFixed(2)}x`,
    )
    console.log(`the API process grew by ${(peak.stop() - before).toFixed(0)} MB (goal 64)`)
  }
  const tree = watchPeakOfTree(service.pid)
  const statuses = await Promise.all(Array.from({ length: 20 }, () => execute(service, projectId, '/small.json')))
  console.log(
    `20 executes of 5 MB at once: ${statuses.length} good; the largest executor reached ${tree.stop().toFixed(0)} MB`,
  )
} finally {
  service.kill('SIGTERM')
  await service.exited
  upstream.close()
  upstream.closeAllConnections()
  await rm(folder, { recursive: true, force: true })
}

function* jsonRows(size: number): Generator<string> {
  yield '['
  for (let id = 0, bytes = 0; bytes < size * 1e6; id += 1) {
    const row = {
      id,
      name: `Customer ${id}`,
      region: ['north', 'south'][id % 2],
      total: id / 100,
      at: '2026-01-02T03:04:05Z',
      tags: ['a', 'b'],
      nested: { x: id, y: 'text'.repeat(8) },
    }
    const text = `${id === 0 ? '' : ','}${JSON.stringify(row)}`
    bytes += text.length
    yield text
  }
  yield ']'
}

function* csvRows(size: number): Generator<string> {
  yield 'id,name,region,total,at,paid,note\n'
  for (let id = 0, bytes = 0; bytes < size * 1e6; id += 1) {
    const note = id % 5 === 0 ? '"with a comma, and ""quotes"""' : 'text'.repeat(8)
    const text = `${id},Customer ${id},${id % 2 === 0 ? 'north' : 'south'},${(id / 100).toFixed(2)},2026-01-02T03:04:05Z,${id % 3 === 0},${note}\n`
    bytes += text.length
    yield text
  }
}

async function writeRows(name: string, size: number, rows: (size: number) => Generator<string>): Promise<void> {
  await pipeline(Readable.from(rows(size)), createWriteStream(join(folder, name)))
  console.log(`${name}: ${((await stat(join(folder, name))).size / 1e6).toFixed(0)} MB`)
}

/** On a service that has nothing else to do: what was executed before is prepared in the background. */
async function timed(service: ServiceProcess, projectId: string, path: string): Promise<number> {
  await untilIdle(service, projectId)
  const begin = performance.now()
  await execute(service, projectId, path)
  return (performance.now() - begin) / 1000
}

async function untilIdle(service: ServiceProcess, projectId: string): Promise<void> {
  for (let tries = 0; tries < 120; tries += 1) {
    const answer = await fetch(`${service.url}/v1/projects/${projectId}/jobs?limit=100`, { headers })
    const { data } = (await answer.json()) as { data: { status: string }[] }
    if (data.every(({ status }) => status !== 'queued' && status !== 'running')) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error('the jobs of the project did not end within a minute')
}

/** An executor has one thread. */
async function bareDuckDb(source: string, threads: number): Promise<number> {
  const instance = await DuckDBInstance.create(':memory:', { threads: String(threads) })
  const connection = await instance.connect()
  const begin = performance.now()
  await connection.run(`COPY (SELECT * FROM ${source}) TO '${folder}/bare.parquet' (FORMAT parquet, COMPRESSION zstd)`)
  const seconds = (performance.now() - begin) / 1000
  connection.closeSync()
  instance.closeSync()
  return seconds
}

async function execute(service: ServiceProcess, projectId: string, path: string): Promise<unknown> {
  const url = `http://${host}${path}`
  return post(service, '/v1/http/execute-request', {
    project_id: projectId,
    datasource_id: `ds_${Math.random()}`,
    connect_spec: { name: 'rows', id: 'http_api', config: {} },
    url,
    method: 'GET',
  })
}

async function post(service: ServiceProcess, path: string, body: object): Promise<unknown> {
  const answer = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

function residentMegabytes(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

function watchPeak(pid: number): { stop: () => number } {
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, residentMegabytes(pid))), 20)
  return { stop: () => (clearInterval(timer), peak) }
}

function watchPeakOfTree(pid: number): { stop: () => number } {
  let peak = 0
  const timer = setInterval(() => {
    for (const child of processTree(pid).slice(1)) peak = Math.max(peak, residentMegabytes(child))
  }, 100)
  return { stop: () => (clearInterval(timer), peak) }
}
