/**
 * What an execute costs beside DuckDB's own reading of the same file, and how much the API process grows meanwhile.
 * `node bench/execute.ts [megabytes]`
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

const large = join(folder, 'large.json')
const small = join(folder, 'small.json')
await writeRows(large, megabytes)
await writeRows(small, 5)
const upstream = createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  createReadStream(request.url === '/large' ? large : small).pipe(response)
})
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
const host = `127.0.0.1:${(upstream.address() as AddressInfo).port}`
const service = await startService(join(folder, 'data'), { SLUICE_OUTBOUND_ALLOW: host, SLUICE_LOG_LEVEL: 'warn' })
try {
  const { id: projectId } = (await post(service, '/v1/projects', { name: 'bench' })) as { id: string }
  await execute(service, projectId, '/small')
  const bare = await bareDuckDb()
  const before = residentMegabytes(service.pid)
  const peak = watchPeak(service.pid)
  const begin = performance.now()
  await execute(service, projectId, '/large')
  const seconds = (performance.now() - begin) / 1000
  const ratio = seconds / bare
  console.log(
    `${megabytes} MB of JSON: execute ${seconds.toFixed(2)} s, DuckDB alone ${bare.toFixed(2)} s: ${ratio.toFixed(2)}x (goal 1.5)`,
  )
  console.log(`the API process grew by ${(peak.stop() - before).toFixed(0)} MB (goal 64)`)
  const tree = watchPeakOfTree(service.pid)
  const statuses = await Promise.all(Array.from({ length: 20 }, () => execute(service, projectId, '/small')))
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

async function writeRows(path: string, size: number): Promise<void> {
  function* rows(): Generator<string> {
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
  await pipeline(Readable.from(rows()), createWriteStream(path))
  console.log(`${path.split('/').at(-1)}: ${((await stat(path)).size / 1e6).toFixed(0)} MB`)
}

async function bareDuckDb(): Promise<number> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' })
  const connection = await instance.connect()
  const begin = performance.now()
  await connection.run(
    `COPY (SELECT * FROM read_json_auto('${large}', sample_size = -1)) TO '${folder}/bare.parquet' (FORMAT parquet, COMPRESSION zstd)`,
  )
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
