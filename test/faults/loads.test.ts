import { rm } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { operatorToken } from '../harness/app.ts'
import { makeDataDir } from '../harness/data-dir.ts'
import { killAll, postmasterTree, processTree, startService, type ServiceProcess } from '../harness/process.ts'
import { openSource, type Source } from '../harness/source.ts'

type Row = { id: number; at: number; name: string }
type Body = Record<string, unknown>

let dataDir: string
let source: Source
let service: ServiceProcess
let started: ServiceProcess[]
beforeEach(async () => {
  started = []
  dataDir = await makeDataDir()
  source = await openSource()
  service = await start()
})
afterEach(async () => {
  killAll([...started.flatMap(({ pid }) => processTree(pid)), ...postmasterTree(dataDir)])
  await source.close()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
})

async function start(): Promise<ServiceProcess> {
  const next = await startService(dataDir, { SLUICE_OUTBOUND_ALLOW: source.host, SLUICE_LOG_LEVEL: 'error' })
  started.push(next)
  return next
}

/** As the machine would: no process of it gets to say another word. The database is another machine's. */
async function kill(): Promise<void> {
  killAll(processTree(service.pid))
  await service.exited
}

async function call(method: string, path: string, body?: Body): Promise<Body> {
  const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' }
  const answer = await fetch(`${service.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Body
}

async function makeSource(settings: Body): Promise<{ projectId: string; path: string }> {
  const projectId = String((await call('POST', '/v1/projects', { name: 'Shop' }))['id'])
  const datasources = `/v1/projects/${projectId}/datasources`
  const body = { name: 'Orders', kind: 'http_api', config: { url: source.url, method: 'GET' }, ...settings }
  return { projectId, path: `${datasources}/${String((await call('POST', datasources, body))['id'])}` }
}

async function jobEnds(jobId: string): Promise<void> {
  const status = async () => (await call('GET', `/v1/jobs/${jobId}`))['status']
  await expect.poll(status, { timeout: 90_000, interval: 50 }).toMatch(/succeeded|failed|cancelled/)
  expect(await status()).toBe('succeeded')
}

/** All rows that the table serves, however many. */
async function served(projectId: string, path: string): Promise<Row[]> {
  const versions = (await call('GET', `${path}/versions`))['data'] as Array<{ status: string; data_object_id: string }>
  const id = versions.find(({ status }) => status === 'live')?.data_object_id
  const rows: Row[] = []
  for (let cursor: string | null = '0'; cursor !== null;) {
    const page = await call('GET', `/v1/projects/${projectId}/data-objects/${id}/rows?limit=1000&cursor=${cursor}`)
    rows.push(...(page['data'] as Row[]))
    cursor = page['next_cursor'] as string | null
  }
  return rows
}

const sorted = (rows: Row[]) => rows.toSorted((left, right) => left.id - right.id)

test('a load goes on page by page after kill -9: every row once, and no page asked twice but the one under way', async () => {
  const pages = 60
  const rowsPerPage = 7
  const asked = new Map<number, number>()
  source.handle((request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page'))
    asked.set(page, (asked.get(page) ?? 0) + 1)
    const rows = Array.from({ length: page > pages ? 0 : rowsPerPage }, (_, index) => {
      const id = (page - 1) * rowsPerPage + index
      return { id, at: id, name: `row ${id}` }
    })
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(rows))
    }, 40)
  })
  const load = { mode: 'merge', primary_key: ['id'], cursor: { field: 'at', parameter: 'since' } }
  const { projectId, path } = await makeSource({ load, pagination: { type: 'page' } })
  const job = String((await call('POST', `${path}/refresh`))['id'])
  // A job has three attempts.
  const kills = [5, 41]
  for (const page of kills) {
    await expect.poll(() => asked.has(page), { timeout: 60_000, interval: 5 }).toBe(true)
    await kill()
    service = await start()
  }
  await jobEnds(job)
  const expected = Array.from({ length: pages * rowsPerPage }, (_, id) => ({ id, at: id, name: `row ${id}` }))
  expect(sorted(await served(projectId, path))).toEqual(expected)
  const again = [...asked.values()].reduce((sum, times) => sum + times - 1, 0)
  expect([...asked.keys()].toSorted((left, right) => left - right)).toEqual(
    Array.from({ length: pages + 1 }, (_, index) => index + 1),
  )
  expect(Math.max(...asked.values())).toBeLessThanOrEqual(1 + kills.length)
  expect(again).toBeLessThanOrEqual(kills.length)
})

test('a kill at any moment of a merge repeats the load, and neither loses nor doubles a row', async () => {
  const upstream = new Map<number, Row>()
  let clock = 0
  const write = (id: number) => void upstream.set(id, { id, at: ++clock, name: `row ${id} of ${clock}` })
  for (let id = 0; id < 200; id += 1) write(id)
  source.handle((request, response) => {
    const since = Number(new URL(request.url ?? '', 'http://x').searchParams.get('since') ?? 0)
    const rows = [...upstream.values()].filter(({ at }) => at >= since)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(rows))
  })
  const load = { mode: 'merge', primary_key: ['id'], cursor: { field: 'at', parameter: 'since' } }
  const { projectId, path } = await makeSource({ load, keep_versions: 3 })
  await jobEnds(String((await call('POST', `${path}/refresh`))['id']))
  for (const afterMs of [0, 40, 120]) {
    for (let count = 0; count < 25; count += 1) write((clock * 7) % 220)
    const job = String((await call('POST', `${path}/refresh`))['id'])
    await wait(afterMs)
    await kill()
    service = await start()
    await jobEnds(job)
    expect(sorted(await served(projectId, path)), `killed after ${afterMs} ms`).toEqual(sorted([...upstream.values()]))
  }
  const versions = (await call('GET', `${path}/versions`))['data'] as Array<{ row_count: number; last_value: string }>
  expect(versions[0]).toMatchObject({ row_count: upstream.size, last_value: String(clock) })
})
