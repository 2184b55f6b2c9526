import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
let origin: string
beforeAll(async () => {
  t = await openTestApp()
  origin = await t.listen()
  q = await openQueryProject(t)
  await q.deploy({
    name: 'order_count',
    description: 'How many orders there are',
    sql: 'SELECT count(*) AS orders FROM orders',
    examples: [{ question: 'how many orders are there' }, { question: 'number of orders' }],
    rate_limit: { per_minute: 1, burst: 1 },
  })
})
// Each test finds the query's own limit unused, and what it says is the first that was told.
beforeEach(() => {
  t.advance(600_000)
  t.observations.length = 0
})
afterAll(() => t.close())

const told = () =>
  t.observations.flatMap((event) =>
    event.kind === 'query-answered'
      ? [{ entry: event.entry, query: event.query, code: event.code, keyId: event.keyId, requestId: event.requestId }]
      : [],
  )
const ask = () => q.caller.post('/v1/query', { query: 'how many orders are there', project_id: q.projectId })

test("a direct call over the query's own limit is told once, as what it was answered with", async () => {
  await expectStatus(200, q.caller.post('/v1/queries/order_count'))
  const refused = await expectStatus(429, q.caller.post('/v1/queries/order_count'))
  expect(refused.headers['ratelimit']).toContain('"order_count"')
  expect(told()).toMatchObject([
    { entry: 'direct', query: 'order_count', code: null },
    { entry: 'direct', query: 'order_count', code: 'rate_limit_exceeded', requestId: refused.body.request_id },
  ])
})

test("a question over the query's own limit is told once, and is not in the log of questions as answered", async () => {
  await expectStatus(200, ask())
  const refused = await expectStatus(429, ask())
  expect(refused.headers['ratelimit']).toContain('"order_count"')
  expect(told()).toMatchObject([
    { entry: 'question', query: 'order_count', code: null },
    { entry: 'question', query: 'order_count', code: 'rate_limit_exceeded', requestId: refused.body.request_id },
  ])
  const logged = await expectStatus(200, t.operator.get(`/v1/projects/${q.projectId}/questions`))
  expect(logged.body.data.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['answered'])
})

test('a call that no verb has seen, of a malformed body or a version that is no number, is told once', async () => {
  await expectStatus(400, q.caller.post('/v1/query', { project_id: q.projectId }))
  await expectStatus(400, q.caller.post('/v1/queries/order_count', {}, { 'x-sluice-version': 'latest' }))
  await expectStatus(404, q.caller.post('/v1/queries/order_count', {}, { 'x-sluice-version': '9' }))
  expect(told()).toMatchObject([
    { entry: 'question', query: null, code: 'invalid_query' },
    { entry: 'direct', query: 'order_count', code: 'invalid_query' },
    { entry: 'direct', query: 'order_count', code: 'query_not_found' },
  ])
})

test('a caller who hangs up is told as that, not as our failure', async () => {
  const endless = 'SELECT count(*) AS n FROM range(100000000000) AS a(i) WHERE i % 7 = 3'
  await q.deploy({ name: 'endless', sql: endless })
  t.observations.length = 0
  for (const accept of ['application/json', 'text/csv']) {
    const leaving = new AbortController()
    const headers = { authorization: `Bearer ${q.secret}`, accept }
    const call = fetch(`${origin}/v1/queries/endless`, { method: 'POST', headers, signal: leaving.signal })
    await expect.poll(() => t.app.engine.health().executors.some(({ calls }) => calls > 0)).toBe(true)
    leaving.abort()
    await expect(call).rejects.toThrow('aborted')
    await expect.poll(() => t.app.engine.health().executors.every(({ calls }) => calls === 0)).toBe(true)
  }
  await expect.poll(told).toMatchObject([
    { entry: 'direct', query: 'endless', code: 'cancelled' },
    { entry: 'direct', query: 'endless', code: 'cancelled' },
  ])
  expect(t.observations.filter(({ kind }) => kind === 'request-failed' || kind === 'fault')).toEqual([])
})

test('a body that breaks off is told as a caller who hung up, not as a busy service', async () => {
  const { port } = new URL(origin)
  t.observations.length = 0
  const head = [
    'POST /v1/queries/order_count HTTP/1.1',
    'host: sluice',
    `authorization: Bearer ${q.secret}`,
    'content-type: application/json',
    'content-length: 100',
  ]
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  const arrived = once(t.http.server, 'request') as Promise<[IncomingMessage]>
  socket.write(`${head.join('\r\n')}\r\n\r\n{"limit":`)
  const [request] = await arrived
  // Until the service has begun to read the body.
  await expect.poll(() => request.readableFlowing).not.toBeNull()
  socket.destroy()
  await expect.poll(told).toMatchObject([{ entry: 'direct', query: 'order_count', code: 'cancelled' }])
  expect(t.observations.filter(({ kind }) => kind === 'request-failed' || kind === 'fault')).toEqual([])
})

test('a run that fails is told once, with its own code', async () => {
  await q.deploy({ name: 'broken', sql: 'SELECT CAST($word::VARCHAR AS INTEGER) AS number' })
  t.observations.length = 0
  await expectStatus(400, q.caller.post('/v1/queries/broken', { word: 'x' }))
  await expectStatus(400, q.caller.post('/v1/queries/broken', { word: 'x' }, { accept: 'text/csv' }))
  expect(told()).toMatchObject([
    { entry: 'direct', query: 'broken', code: 'invalid_query' },
    { entry: 'direct', query: 'broken', code: 'invalid_query' },
  ])
})
