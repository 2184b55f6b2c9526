import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { orders, putTable } from '../harness/tables.ts'

let t: TestApp
let q: QueryProject
beforeAll(async () => {
  t = await openTestApp()
  q = await openQueryProject(t)
  await q.deploy({
    name: 'kept',
    sql: 'SELECT count(*) AS n, random() AS r FROM orders WHERE $region IS NULL OR region = $region',
    cache_seconds: 60,
  })
})
afterAll(() => t.close())

const call = (body: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  q.caller.post('/v1/queries/kept', body, headers)

test('the same call again is a hit with the same bytes, other slots are a miss', async () => {
  const first = await call({ region: 'north' })
  expect(first.headers).toMatchObject({ 'x-cache': 'miss', etag: expect.stringMatching(/^W\/"/) })
  const again = await call({ region: 'north' })
  expect(again.headers).toMatchObject({ 'x-cache': 'hit', etag: first.headers['etag'] })
  expect(again.body).toEqual(first.body)
  expect((await call({ region: 'south' })).headers['x-cache']).toBe('miss')
  expect((await call({ region: null })).headers['x-cache']).toBe('miss')
  expect((await call({})).headers['x-cache']).toBe('hit')
})

test('304 for what the caller has; 200 when it changed', async () => {
  const first = await call({ region: 'east' })
  const known = { 'if-none-match': String(first.headers['etag']) }
  expect(await call({ region: 'east' }, known)).toMatchObject({ status: 304, body: '' })
  expect((await call({ region: 'east' }, { 'if-none-match': '"other", *' })).status).toBe(304)
  expect((await call({ region: 'north' }, known)).status).toBe(200)
})

test('Cache-Control: no-cache runs the query, and other formats too', async () => {
  await call({ region: 'east' })
  const first = await call({ region: 'east' }, { 'cache-control': 'no-cache' })
  const second = await call({ region: 'east' }, { 'cache-control': 'no-cache' })
  expect([first.headers['x-cache'], second.headers['x-cache']]).toEqual(['bypass', 'bypass'])
  expect(first.body.data).not.toEqual(second.body.data)
  expect((await call({ region: 'east' }, { accept: 'text/csv' })).headers['x-cache']).toBe('bypass')
})

test('it is forgotten when its time is over', async () => {
  const before = await call({ region: 'north' })
  t.advance(61_000)
  const after = await call({ region: 'north' })
  expect(after.headers['x-cache']).toBe('miss')
  expect(after.body.data[0].r).not.toBe(before.body.data[0].r)
})

test('new data of a table it reads is a miss; another table’s is not; a new version is', async () => {
  await call({ region: 'south' })
  await putTable(t.app, q.projectId, { name: 'other', rows: [{ a: 1 }] })
  expect((await call({ region: 'south' })).headers['x-cache']).toBe('hit')
  await putTable(t.app, q.projectId, { name: 'orders', rows: orders(60) })
  const fresh = await call({ region: 'south' })
  expect([fresh.headers['x-cache'], fresh.body.data[0].n]).toEqual(['miss', 20])
  await q.deploy({
    name: 'kept',
    sql: 'SELECT 1 AS n, random() AS r FROM orders WHERE region = $region OR $region IS NULL',
    cache_seconds: 60,
  })
  expect((await call({ region: 'south' })).headers['x-cache']).toBe('miss')
})

test('identical calls at the same time run the query once', async () => {
  await q.deploy({
    name: 'slow',
    sql: 'SELECT random() AS r, count(*) AS n FROM range(3000000) t(i) WHERE i % 7 = $rest',
    cache_seconds: 60,
  })
  const answers = await Promise.all(Array.from({ length: 8 }, () => q.caller.post('/v1/queries/slow', { rest: 3 })))
  expect(new Set(answers.map((answer) => answer.body.data[0].r)).size).toBe(1)
  const apart = await Promise.all([1, 2].map((rest) => q.caller.post('/v1/queries/slow', { rest })))
  expect(new Set(apart.map((answer) => answer.body.data[0].r)).size).toBe(2)
})

test('a failure is not kept', async () => {
  await q.deploy({
    name: 'failing',
    sql: 'SELECT CAST($text AS INTEGER) AS n',
    slots: { type: 'object', properties: { text: { type: 'string' } } },
    cache_seconds: 60,
  })
  for (let count = 0; count < 2; count += 1) {
    const answer = await q.caller.post('/v1/queries/failing', { text: 'x' })
    expect([answer.status, answer.headers['x-cache']]).toEqual([400, undefined])
  }
})
