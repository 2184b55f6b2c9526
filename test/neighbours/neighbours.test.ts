import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openInstallation, type Installation, type Project } from '../harness/installation.ts'
import { attacked, crowd, programmed, type Attack } from './attack.ts'

const count = {
  sql: 'SELECT count(*) AS orders FROM orders',
  description: 'How many orders there are',
  examples: [{ question: 'how many orders are there' }, { question: 'number of orders' }],
}

let stage: Installation
let bad: Project
let good: Project
beforeAll(async () => {
  stage = await openInstallation()
  const endless = 'SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE i * j = -'
  bad = await stage.project({
    order_count: count,
    large: { sql: "SELECT i, repeat('x', 600) AS x FROM range(100000) t(i)" },
    ...Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`endless_${at}`, { sql: endless + (at + 1) }])),
  })
  good = await stage.project({ order_count: count })
  for (const project of [bad, good]) {
    for (let at = 0; at < 5; at += 1) await (await stage.call(project, 'order_count')).text()
    await (await stage.ask(project, 'number of orders')).text()
  }
}, 120_000)
// Undefined where it did not start.
afterAll(() => (stage as Installation | undefined)?.close())

const goodCall = () => stage.call(good, 'order_count')
const goodQuestion = () => stage.ask(good, 'number of orders')

test('nothing', async () => {
  expect(await attacked(stage, 'quiet', () => [], { call: goodCall, question: goodQuestion })).toEqual([])
}, 60_000)

test('a flood of questions', async () => {
  let asked = 0
  const flood: Attack = (over) =>
    crowd(60, over, async () => {
      asked += 1
      await (await stage.ask(bad, `how many orders are there ${asked}`, over)).text()
    })
  expect(await attacked(stage, 'flood of questions', flood, { call: goodCall, question: goodQuestion })).toEqual([])
}, 60_000)

/** Callers in a process of their own who ask for 60 MB each, again and again, and read it or do not. */
function askForLarge(reads: 'yes' | 'no'): Attack {
  return (over) => programmed('large-readers.ts', [new URL(stage.url).port, bad.secret, '24', reads])(over)
}

test('24 answers of 60 MB at once', async () => {
  const calls = { call: goodCall, question: goodQuestion }
  expect(await attacked(stage, 'large answers', askForLarge('yes'), calls)).toEqual([])
}, 90_000)

test('24 who ask for 60 MB and read nothing', async () => {
  const calls = { call: goodCall, question: goodQuestion }
  expect(await attacked(stage, 'slow readers', askForLarge('no'), calls)).toEqual([])
}, 90_000)

test('200 event streams of one caller', async () => {
  const path = `/v1/projects/${bad.projectId}/jobs/events`
  const token = { name: 'x', role: 'viewer', project_id: bad.projectId }
  const secret = String((await stage.manage('POST', '/v1/management-tokens', token))['secret'])
  const streams: Attack = (over) =>
    Array.from({ length: 200 }, async () => {
      const headers = { authorization: `Bearer ${secret}` }
      const answer = await fetch(stage.url + path, { headers, signal: over })
      for await (const chunk of answer.body ?? []) void chunk
    })
  const other = String(
    (await stage.manage('POST', '/v1/management-tokens', { ...token, project_id: good.projectId }))['secret'],
  )
  const open = async () => {
    const leaving = new AbortController()
    const headers = { authorization: `Bearer ${other}` }
    const url = `${stage.url}/v1/projects/${good.projectId}/jobs/events`
    const { status } = await fetch(url, { headers, signal: leaving.signal })
    leaving.abort()
    return new Response('', { status })
  }
  expect(await attacked(stage, 'event streams', streams, { call: goodCall, 'event stream': open })).toEqual([])
}, 60_000)

test('twelve endless queries of a project, one and the same or each another', async () => {
  const own = () => stage.call(bad, 'order_count')
  const same: Attack = (over) => crowd(12, over, async () => (await stage.call(bad, 'endless_0', {}, over)).text())
  expect(await attacked(stage, 'one endless query', same, { 'own other query': own, neighbour: goodCall })).toEqual([])
  const each: Attack = (over) =>
    crowd(12, over, async (at) => (await stage.call(bad, `endless_${at}`, {}, over)).text())
  expect(
    await attacked(stage, 'twelve endless queries', each, { 'own other query': own, neighbour: goodCall }),
  ).toEqual([])
}, 120_000)

test('tables of 5,000 columns, more than there are jobs at once, are prepared', async () => {
  const wide = Array.from({ length: 200 }, (_, row) =>
    Object.fromEntries(Array.from({ length: 5_000 }, (_, column) => [`c${column}`, `${row} ${column}`])),
  )
  const jobs: string[] = []
  // Four run at once in a process; that a project has six waiting must not keep the next one's from running.
  for (let at = 0; at < 6; at += 1) jobs.push(await stage.fetchTable(bad.projectId, `wide_${at}`, wide))
  const startedMs = performance.now()
  const small = await stage.fetchTable(good.projectId, 'small', [{ id: 1 }])
  const preparing: Attack = (over) => [stateOf(jobs[0] ?? '', over)]
  const until = AbortSignal.timeout(120_000)
  const smallMs = stateOf(small, until).then(() => Math.round(performance.now() - startedMs))
  expect(await attacked(stage, 'wide tables', preparing, { call: goodCall, question: goodQuestion })).toEqual([])
  const tookMs = await smallMs
  process.stdout.write(`wide tables: a small table was ready after ${tookMs} ms\n`)
  expect(tookMs).toBeLessThan(10_000)
}, 180_000)

test('models that never end, and one that would fill the disk: whoever calls, asks, loads or builds is not delayed', async () => {
  const models = (of: Project) => `/v1/projects/${of.projectId}/models`
  const pairs = 'orders o, range(10000000) a(i), range(10000000) b(j)'
  const hostile = Array.from({ length: 6 }, (_, at) => ({
    name: `endless_${at}`,
    sql: `SELECT count(*) AS n FROM ${pairs} WHERE i * j = ${at - 100}`,
  }))
  const wide = { name: 'endless_rows', sql: `SELECT o.id, i, j, repeat('x', 500) AS x FROM ${pairs}` }
  for (const model of [...hostile, wide]) await stage.manage('POST', models(bad), model)
  const building: Attack = () => []
  // Its neighbour builds a model of its own, and loads a table, while those run.
  const startedMs = performance.now()
  await stage.manage('POST', models(good), { name: 'few', sql: 'SELECT id FROM orders LIMIT 3' })
  const loaded = await stage.fetchTable(good.projectId, 'beside_models', [{ id: 1 }])
  const until = AbortSignal.timeout(120_000)
  const builtMs = rowsOf(`${models(good)}/few`, until).then(() => Math.round(performance.now() - startedMs))
  const calls = { call: goodCall, question: goodQuestion }
  expect(await attacked(stage, 'endless models', building, calls)).toEqual([])
  await stateOf(loaded, until)
  const tookMs = await builtMs
  process.stdout.write(`endless models: the model of a neighbour was built after ${tookMs} ms\n`)
  expect(tookMs).toBeLessThan(20_000)
  for (const { name } of [...hostile, wide]) await stage.manage('DELETE', `${models(bad)}/${name}`)
}, 180_000)

async function rowsOf(path: string, until: AbortSignal): Promise<void> {
  while (!until.aborted && (await stage.manage('GET', path))['row_count'] === null) await wait(100)
  if (until.aborted) throw new Error(`${path} was not built`)
}

async function stateOf(jobId: string, until: AbortSignal): Promise<unknown> {
  while (!until.aborted) {
    const { status } = await stage.manage('GET', `/v1/jobs/${jobId}`)
    if (status === 'succeeded') return status
    if (status === 'failed') throw new Error(`the job ${jobId} failed`)
    await wait(100)
  }
  return undefined
}
