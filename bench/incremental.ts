/**
 * What a refresh costs by the number of rows that are new, beside loading everything again, for append and merge; and
 * what reading costs afterwards beside one file. Time is that of the job, processor time that of every process until
 * nothing is left to do in the background. `node bench/incremental.ts [rows]`
 */
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { operatorToken } from '../test/harness/app.ts'
import { endService, installationTree, startService } from '../test/harness/process.ts'

const rowCount = Number(process.argv[2] ?? 1_000_000)
const newRows = [0, 1_000, 10_000, 100_000].filter((count) => count * 5 <= rowCount)
const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' }
const ticksPerSecond = 100

type Cost = { seconds: number; processorSeconds: number }
type Body = Record<string, unknown>

const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
await chmod(folder, 0o711)
const dataDir = join(folder, 'data')

/** What the next request gets: rows from one number on, each with its place in time. */
let answer: () => Generator<string> = function* none() {
  yield '[]'
}
const upstream = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  for (const text of answer()) response.write(text)
  response.end()
})
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
const host = `127.0.0.1:${(upstream.address() as AddressInfo).port}`
const service = await startService(dataDir, { SLUICE_OUTBOUND_ALLOW: host, SLUICE_LOG_LEVEL: 'warn' })
try {
  for (const mode of ['append', 'merge'] as const) await measure(mode)
} finally {
  await endService(service)
  upstream.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
}

async function measure(mode: 'append' | 'merge'): Promise<void> {
  const { id: projectId } = await call('POST', '/v1/projects', { name: mode })
  const config = { url: `http://${host}/`, method: 'GET' }
  const load = { mode, cursor: { field: 'at', parameter: 'since' }, ...(mode === 'merge' && { primary_key: ['id'] }) }
  const body = { name: 'Orders', kind: 'http_api', config, load }
  const { id } = await call('POST', `/v1/projects/${String(projectId)}/datasources`, body)
  const path = `/v1/projects/${String(projectId)}/datasources/${String(id)}`
  answer = () => rows(rowCount, (index) => index)
  await refresh(String(projectId), path)
  // The second time nothing is cold.
  const whole = await refresh(String(projectId), path, true)
  console.log(`${mode}: everything, ${rowCount} rows: ${shown(whole)}`)
  const alone = await reading(String(projectId))
  let next = rowCount
  for (const count of newRows) {
    const first = next
    // Half of what merges is there already, all over the table.
    const known = mode === 'merge' ? Math.floor(count / 2) : 0
    const step = Math.floor(rowCount / Math.max(1, known))
    answer = () => rows(count, (index) => (index < known ? index * step : first + index - known), first)
    next += count
    const cost = await refresh(String(projectId), path)
    const share = (part: number, all: number) => `${((part / all) * 100).toFixed(1)} %`
    console.log(
      `${mode}: ${count} new: ${shown(cost)}: ${share(cost.seconds, whole.seconds)} of the time and ${share(cost.processorSeconds, whole.processorSeconds)} of the processor time of everything`,
    )
    const times = await reading(String(projectId))
    const ratios = Object.entries(times).map(([name, ms]) => `${name} ${(ms / (alone[name] ?? ms)).toFixed(2)}x`)
    console.log(`${mode}: ${count} new: reading beside one file: ${ratios.join(', ')}`)
  }
}

function* rows(count: number, idOf: (index: number) => number, from = 0): Generator<string> {
  let text = '['
  for (let index = 0; index < count; index += 1) {
    const id = idOf(index)
    text += `${index === 0 ? '' : ','}{"id":${id},"at":${from + index},"name":"customer ${id % 5_000}","region":"${id % 2 === 0 ? 'north' : 'south'}","amount":${(id % 100_000) / 100}}`
    if (text.length < 262_144) continue
    yield text
    text = ''
  }
  yield `${text}]`
}

async function refresh(projectId: string, path: string, full = false): Promise<Cost> {
  const before = processorSeconds()
  const { id } = await call('POST', `${path}/refresh`, { full })
  let job: Body = {}
  for (let tries = 0; tries < 60_000 && job['finished_at'] === undefined; tries += 1) {
    const found = await call('GET', `/v1/jobs/${String(id)}`)
    if (found['status'] === 'succeeded') job = found
    else if (found['status'] === 'failed') throw new Error(JSON.stringify(found))
    else await wait(5)
  }
  const seconds = (Date.parse(String(job['finished_at'])) - Date.parse(String(job['started_at']))) / 1_000
  await settled(projectId)
  return { seconds, processorSeconds: processorSeconds() - before }
}

async function settled(projectId: string): Promise<void> {
  for (let tries = 0; tries < 6_000; tries += 1) {
    const { data } = (await call('GET', `/v1/projects/${projectId}/jobs?limit=200`)) as {
      data: Array<{ status: string }>
    }
    if (data.every(({ status }) => status !== 'queued' && status !== 'running')) return
    await wait(20)
  }
  throw new Error('the background does not come to rest')
}

/** The best of several, in milliseconds as the service tells them. */
async function reading(projectId: string): Promise<Record<string, number>> {
  const statements = {
    sum: 'select sum(amount) as total from orders',
    groups: 'select name, sum(amount) as total from orders group by name order by total desc limit 10',
    lookup: 'select * from orders where id = 4321',
  }
  const times: Record<string, number> = {}
  for (const [name, sql] of Object.entries(statements)) {
    const path = `/v1/projects/${projectId}/queries`
    await call('POST', path, {
      name,
      sql,
      description: '',
      slots: { type: 'object', properties: {} },
      examples: [],
    }).catch(() => undefined)
    for (let tries = 0; tries < 12; tries += 1) {
      const started = performance.now()
      await call('POST', `${path}/${name}/preview`, { parameters: {} })
      times[name] = Math.min(times[name] ?? Number.POSITIVE_INFINITY, performance.now() - started)
    }
  }
  return times
}

function shown({ seconds, processorSeconds: busy }: Cost): string {
  return `${seconds.toFixed(2)} s, ${busy.toFixed(2)} s of processor time`
}

/** Of the service, its executors and its database, those that have ended included. */
function processorSeconds(): number {
  const ticks = installationTree(service.pid, dataDir).map((pid) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
      return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    } catch {
      return 0
    }
  })
  return ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond
}

async function call(method: string, path: string, body?: Body): Promise<Body> {
  const answered = await fetch(`${service.url}${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answered.ok) throw new Error(`${method} ${path}: ${answered.status} ${await answered.text()}`)
  return (await answered.json()) as Body
}
