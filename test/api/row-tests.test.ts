import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openModelProject, type ModelProject } from '../harness/models.ts'

let t: TestApp
let p: ModelProject
beforeAll(async () => {
  t = await openTestApp()
  await t.app.jobs.start()
})
afterAll(() => t.close())
beforeEach(async () => {
  p = await openModelProject(t)
  await p.load('orders', [
    { id: 1, country: 'DE', total: 10.5, day: '2026-01-01' },
    { id: 2, country: 'FR', total: 5, day: '2026-01-02' },
  ])
  await p.settled()
  const sql =
    'select country, sum(total) as revenue, max(day) as last_day from orders where country = $country group by 1'
  await expectStatus(201, t.operator.post(`${p.path}/queries`, { name: 'revenue', sql }))
})

const given = {
  orders: [
    { id: 1, country: 'DE', total: 1.25, day: '2026-03-01' },
    { id: 2, country: 'DE', total: 2, day: '2026-03-02' },
    { id: 3, country: 'FR', total: 4, day: '2026-03-03' },
  ],
}
const parameters = { country: 'DE' }
const run = async (body: Record<string, unknown>) =>
  (await expectStatus(200, t.operator.post(`${p.path}/tests/run`, body))).body
const one = async (test: Record<string, unknown>, more: Record<string, unknown> = {}) => {
  const { results } = await run({ tests: [{ name: 'one', query: 'revenue', given, parameters, ...test }], ...more })
  return results[0]
}

describe('a test with rows', () => {
  test('runs on the given rows under the columns of the real table, and on nothing else', async () => {
    expect(
      await one({ expect: [{ country: 'DE', revenue: 3.25, last_day: '2026-03-02' }], exact: true }),
    ).toMatchObject({
      passed: true,
      message: null,
    })
    expect(await one({ given: {}, expect: [] })).toMatchObject({ passed: true })
    const csv = 'id,country,total,day\n7,DE,100,2026-05-05\n'
    expect(await one({ given: { orders: csv }, expect: [{ revenue: 100 }] })).toMatchObject({ passed: true })
  })

  test('says which rows are missing and which came instead', async () => {
    const wrong = await one({ expect: [{ country: 'DE', revenue: 4 }] })
    expect(wrong).toMatchObject({
      passed: false,
      message: 'Rows differ: 1 expected and not there, 1 there and not expected.',
      missing: [{ country: 'DE', revenue: 4 }],
      unexpected: [{ country: 'DE', revenue: 3.25, last_day: '2026-03-02' }],
    })
    expect(await one({ expect: [{ country: 'DE' }], exact: true })).toMatchObject({ passed: false })
    const sql = 'select id from orders order by id desc'
    const queries = [{ name: 'revenue', sql }]
    const list = { parameters: {}, expect: [{ id: 1 }, { id: 2 }, { id: 3 }] }
    expect(await one(list, { queries })).toMatchObject({ passed: true })
    expect(await one({ ...list, ordered: true }, { queries })).toMatchObject({
      passed: false,
      message: 'The rows are in another order.',
    })
  })

  test('expects an error, and refuses rows that the table would not take', async () => {
    expect(await one({ parameters: {}, error: 'missing_slots' })).toMatchObject({ passed: true })
    expect(await one({ error: 'missing_slots' })).toMatchObject({ passed: false })
    const word = await one({ given: { orders: [{ id: 1, total: 'much' }] }, expect: [] })
    expect(word).toMatchObject({ passed: false })
    expect(word.message).toContain('total is DECIMAL')
    const other = await one({ given: { orders: [{ id: 1, price: 2 }] }, expect: [] })
    expect(other.message).toContain('no column price')
    const none = await one({ given: { nothing: [] }, expect: [] })
    expect(none.message).toContain('nothing')
  })

  test('tests a model as it is saved, or as it would be', async () => {
    await p.create('days', 'select day, count(*) as orders from orders group by 1')
    await p.settled()
    const days = { name: 'days_count', model: 'days', given, expect: [{ day: '2026-03-01', orders: 1 }] }
    const saved = await run({ tests: [days] })
    expect(saved.results[0]).toMatchObject({ passed: false, missing: [] })
    const sql = "select day, count(*) as orders from orders where day < '2026-03-02' group by 1"
    const models = [{ name: 'days', sql }]
    expect((await run({ tests: [days], models })).results[0]).toMatchObject({ passed: true })
  })
})

test('saved tests are part of the definition, and a release that would not pass them is refused', async () => {
  const own = { name: 'germany', query: 'revenue', given, parameters, expect: [{ revenue: 3.25 }] }
  await expectStatus(200, t.operator.put(`${p.path}/tests`, own))
  expect((await run({})).passed).toBe(1)
  const release = { environment: 'production', queries: 'all' }
  await expectStatus(200, t.operator.post(`${p.path}/releases`, release))
  const { body: read } = await expectStatus(200, t.operator.get(`${p.path}/definition`))
  expect(read.tests).toMatchObject([own])
  const put = await expectStatus(200, t.operator.put(`${p.path}/definition`, read))
  expect(put.body.plan.every(({ action }: { action: string }) => action === 'unchanged')).toBe(true)
  const { body: query } = await t.operator.get(`${p.path}/queries/revenue`)
  const sql = query.sql.replace('sum(total)', 'max(total)')
  await expectStatus(200, t.operator.put(`${p.path}/queries/revenue`, { sql }))
  const refused = await t.operator.post(`${p.path}/releases`, release)
  expect(refused).toMatchObject({ status: 409, body: { reason: 'test_failed', details: [{ field: 'germany' }] } })
  await expectStatus(200, t.operator.post(`${p.path}/releases`, { ...release, force: true }))
  await expectStatus(204, t.operator.delete(`${p.path}/tests/germany`))
  expect((await t.operator.get(`${p.path}/tests`)).body.data).toEqual([])
})

test('models are part of the definition, in any order, also over tables that have no data yet', async () => {
  const { body: read } = await expectStatus(200, t.operator.get(`${p.path}/definition`))
  const models = [
    { name: 'top', sql: 'select max(orders) as most from days' },
    { name: 'days', sql: 'select day, count(*) as orders from orders group by 1', description: 'Orders by day' },
  ]
  const wanted = { ...read, models }
  const check = await expectStatus(200, t.operator.put(`${p.path}/definition?check=true`, wanted))
  expect(check.body.plan.filter(({ kind }: { kind: string }) => kind === 'model')).toMatchObject([
    { name: 'days', action: 'create', refused: null },
    { name: 'top', action: 'create', refused: null },
  ])
  expect((await t.operator.get(`${p.path}/models`)).body.data).toEqual([])
  await expectStatus(200, t.operator.put(`${p.path}/definition`, wanted))
  await p.settled()
  expect(await p.rows('select most from top')).toEqual([{ most: 1 }])
  const again = (await expectStatus(200, t.operator.get(`${p.path}/definition`))).body
  expect(again.models.map(({ name }: { name: string }) => name)).toEqual(['days', 'top'])
  expect(again.connections.map(({ table_name: name }: { table_name: string }) => name)).toEqual(['orders'])
  const unchanged = await expectStatus(200, t.operator.put(`${p.path}/definition`, again))
  expect(unchanged.body.plan.every(({ action }: { action: string }) => action === 'unchanged')).toBe(true)
  const connections = [...again.connections, { table_name: 'refunds', kind: 'file' }]
  const late = [
    ...again.models,
    { name: 'net', sql: 'select o.id from orders o anti join gone g on g.id = o.id' },
    // It has a part called like a model that reads it.
    { name: 'gone', sql: 'with net as (select id from refunds) select id from net' },
  ]
  await expectStatus(200, t.operator.put(`${p.path}/definition`, { ...again, connections, models: late }))
  await p.settled()
  expect(await p.model('net')).toMatchObject({ status: 'new', problem: null, reads: ['gone'] })
  expect((await p.jobs('rebuild_model')).every(({ status }) => status === 'succeeded')).toBe(true)
  await p.load('refunds', [{ id: 2 }])
  await p.settled()
  expect(await p.rows('select id from net')).toEqual([{ id: 1 }])
})

describe('tests are bounded, in what they hold and in what they show', () => {
  test('a result of more rows than a test may expect is none, and long rows are counted, not shown', async () => {
    const wide = { name: 'wide', sql: 'select id, repeat($word, 5000) as words from orders' }
    const results = async (count: number) => {
      const rows = Array.from({ length: count }, (_, id) => ({ id, country: 'DE', total: 1, day: '2026-01-01' }))
      const long = { name: 'long', query: 'wide', given: { orders: rows }, parameters: { word: 'ab' }, expect: [] }
      return (await run({ tests: [long], queries: [wide] })).results[0]
    }
    expect(await results(3)).toMatchObject({
      message: 'Rows differ: 3 there and not expected.',
      unexpected: [{ id: 0 }],
    })
    const rows = Array.from({ length: 1_000 }, (_, id) => ({ id }))
    const all = {
      name: 'all',
      query: 'twice',
      given: { orders: rows },
      expect: [],
    }
    const twice = { name: 'twice', sql: 'select id from orders union all select id from orders' }
    expect((await run({ tests: [all], queries: [twice] })).results[0]).toMatchObject({
      passed: false,
      message: expect.stringContaining('more than 1000 rows'),
    })
  })

  test('a thousand rows in any order meet those that are expected, each once', async () => {
    const rows = Array.from({ length: 1_000 }, (_, id) => ({ id, country: id % 2 === 0 ? 'DE' : null, total: id % 3 }))
    const shuffled = { name: 'shuffled', sql: 'select id, country, total from orders order by total, id desc' }
    const all = { name: 'all', query: 'shuffled', given: { orders: rows }, expect: rows }
    const tests = [
      all,
      { ...all, name: 'exact', exact: true },
      { ...all, name: 'ordered', ordered: true },
      { ...all, name: 'some', expect: rows.map(({ id, total }) => (id < 500 ? { id } : { total })) },
      { ...all, name: 'twice', expect: [{ id: 1 }, { id: 1 }] },
    ]
    const messages: unknown[] = []
    for (const test of tests) messages.push((await run({ tests: [test], queries: [shuffled] })).results[0].message)
    expect(messages).toEqual([
      null,
      null,
      'The rows are in another order.',
      null,
      'Rows differ: 1 expected and not there, 999 there and not expected.',
    ])
  })

  test('tests of a project hold 16 MB together', async () => {
    const csv = `id,country,total,day\n${'7,DE,100,2026-05-05\n'.repeat(48_000)}`
    const saved = (at: number) =>
      t.operator.put(`${p.path}/tests`, { name: `t${at}`, query: 'revenue', given: { orders: csv }, expect: [] })
    for (let at = 0; at < 16; at += 1) await expectStatus(200, saved(at))
    const { status, body } = await saved(16)
    expect([status, body.reason]).toEqual([409, 'quota_exceeded'])
    await expectStatus(200, saved(15))
    expect((await expectStatus(200, t.operator.get(`${p.path}/tests`))).body.data).toHaveLength(16)
  })
})

test('tests that come after the time of one run are not run, and say so', async () => {
  const short = await openTestApp()
  try {
    const project = await openModelProject(short)
    await project.load('orders', [{ id: 1 }])
    const sql = 'SELECT id FROM orders'
    await expectStatus(201, short.operator.post(`${project.path}/queries`, { name: 'which', sql }))
    Object.assign(short.app.config.limits, { executeTimeoutMs: 100 })
    const tests = Array.from({ length: 100 }, (_, at) => ({ name: `one_${at}`, query: 'which', expect: [] }))
    const { body } = await expectStatus(200, short.operator.post(`${project.path}/tests/run`, { tests }))
    expect(body.passed + body.failed).toBe(100)
    expect(body.results[0].passed).toBe(true)
    expect(body.results[99].message).toBe(
      'It was not run: the tests before it took more than 0.1 s. Run fewer at once.',
    )
  } finally {
    await short.close()
  }
})
