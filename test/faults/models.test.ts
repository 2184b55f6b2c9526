import { rm } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { operatorToken } from '../harness/app.ts'
import { makeDataDir } from '../harness/data-dir.ts'
import { killAll, postmasterTree, processTree, startService, type ServiceProcess } from '../harness/process.ts'

type Row = Record<string, number>
type Body = Record<string, unknown>

let dataDir: string
let service: ServiceProcess
let started: ServiceProcess[]
let projectId: string
beforeEach(async () => {
  started = []
  dataDir = await makeDataDir()
  service = await start()
  projectId = String((await call('POST', '/v1/projects', { name: 'Shop' }))['id'])
})
afterEach(async () => {
  killAll([...started.flatMap(({ pid }) => processTree(pid)), ...postmasterTree(dataDir)])
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
})

async function start(): Promise<ServiceProcess> {
  const next = await startService(dataDir, { SLUICE_LOG_LEVEL: 'error' })
  started.push(next)
  return next
}

/** As the machine would: no process of it gets to say another word. */
async function killAndStart(): Promise<void> {
  killAll(processTree(service.pid))
  await service.exited
  service = await start()
}

async function call(method: string, path: string, body?: Body | Row[]): Promise<Body> {
  const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' }
  const answer = await fetch(`${service.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Body
}
const inProject = (method: string, path: string, body?: Body | Row[]) =>
  call(method, `/v1/projects/${projectId}/${path}`, body)

async function rowsOf(sql: string): Promise<Row[]> {
  return (await inProject('POST', 'queries/run', { sql, parameters: {} }))['data'] as Row[]
}

async function settled(): Promise<void> {
  const busy = async () => {
    const { data } = (await inProject('GET', 'jobs?limit=200')) as { data: Array<{ status: string }> }
    return data.filter(({ status }) => status === 'queued' || status === 'running').length
  }
  await expect.poll(busy, { timeout: 120_000, interval: 50 }).toBe(0)
}

test('a kill at any moment of a rebuild loses nothing: every model ends as its tables say, and answers fit together', async () => {
  const load = { mode: 'merge', primary_key: ['id'] }
  const table = { name: 'orders', kind: 'file', table_name: 'orders', load }
  const files = `datasources/${String((await inProject('POST', 'datasources', table))['id'])}/files?filename=rows.json`
  const truth = new Map<number, Row>()
  const write = (from: number, count: number, value: number) => {
    const rows = Array.from({ length: count }, (_, at) => ({ id: from + at, part: (from + at) % 5, value }))
    for (const row of rows) truth.set(row.id, row)
    return inProject('POST', files, rows)
  }
  await write(0, 300, 1)
  await settled()
  // Long enough to be met in the middle: a product of rows with themselves.
  const slow = `select part, sum(value)::bigint as total, count(*)::bigint as rows from orders
    cross join (select max(a.i * b.j) as m from range(9000) a(i), range(20000) b(j)) where m > 0 group by part`
  await inProject('POST', 'models', { name: 'parts', sql: slow })
  const merged = 'select id, part, value from {{new rows of orders}}'
  await inProject('POST', 'models', { name: 'copies', sql: merged, load })
  await inProject('POST', 'models', { name: 'whole', sql: 'select sum(total)::bigint as total from parts' })
  await settled()
  for (const [round, afterMs] of [0, 150, 500, 1_200].entries()) {
    await write(round * 40, 100, round + 2)
    await wait(afterMs)
    await killAndStart()
    // Before its builds have come again: what serves belongs together.
    const [both] = await rowsOf(
      'select (select sum(value) from orders)::bigint as o, (select total from whole) as w, (select sum(total) from parts)::bigint as p',
    )
    expect([both?.['w'], both?.['p']], `killed after ${afterMs} ms`).toEqual([both?.['o'], both?.['o']])
    await settled()
    const expected = [...truth.values()].toSorted((left, right) => (left['id'] ?? 0) - (right['id'] ?? 0))
    expect(await rowsOf('select id, part, value from copies order by id'), `after ${afterMs} ms`).toEqual(expected)
    const total = expected.reduce((sum, row) => sum + (row['value'] ?? 0), 0)
    expect(await rowsOf('select total from whole')).toEqual([{ total }])
    const { data } = (await inProject('GET', 'models')) as { data: Body[] }
    expect(data.map(({ name, status, behind, problem }) => ({ name, status, behind, problem }))).toEqual(
      ['copies', 'parts', 'whole'].map((name) => ({ name, status: 'ready', behind: [], problem: null })),
    )
  }
}, 400_000)
