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
})

const countries = ['DE', 'FR', 'IT', 'ES']
const orders = Array.from({ length: 3_000 }, (_, id) => ({
  id,
  country: countries[id % 4] ?? '',
  total: id % 7,
  day: '2026-01-02',
}))
const country = { type: 'string', enum: countries, 'x-synonyms': { DE: ['germany'], FR: ['france'] } }
const revenue = {
  name: 'revenue',
  description: 'Revenue of a country, optionally since a day',
  sql: 'select country, sum(total) as revenue from orders where country = $country and ($since is null or day >= $since) group by 1',
  slots: {
    type: 'object',
    properties: { country, since: { type: 'string', format: 'date', description: 'First day.' } },
    required: ['country'],
  },
  examples: [
    { question: 'revenue in Germany', parameters: { country: 'DE' } },
    { question: 'what did we sell in France since January 2026', parameters: { country: 'FR', since: '2026-01-01' } },
    { question: 'turnover of Italy', parameters: { country: 'IT' } },
  ],
}
const given = {
  orders: [
    { id: 1, country: 'DE', total: 2, day: '2026-03-01' },
    { id: 2, country: 'DE', total: 3, day: '2026-04-01' },
    { id: 3, country: 'FR', total: 4, day: '2026-03-03' },
  ],
}
const run = async (body: Record<string, unknown>) =>
  (await expectStatus(200, t.operator.post(`${p.path}/tests/run`, body))).body.results
const put = (body: Record<string, unknown>) => t.operator.put(`${p.path}/tests`, body)
const release = (more: Record<string, unknown> = {}) =>
  t.operator.post(`${p.path}/releases`, { environment: 'production', queries: 'all', ...more })
const loadOrders = async () => {
  await p.load('orders', orders)
  await p.settled()
}

describe('a test of a question', () => {
  beforeEach(async () => {
    await loadOrders()
    await expectStatus(201, t.operator.post(`${p.path}/queries`, revenue))
  })

  test('goes where the question goes, with the values that it says, on the day that is given', async () => {
    const one = { name: 'one', query: 'revenue', given, question: 'revenue in Germany', expect: [{ revenue: 5 }] }
    const since = { ...one, name: 'since', question: 'revenue in Germany since last month', asked_on: '2026-05-10' }
    const refused = { name: 'refused', given, question: 'how is the weather in Rome', error: 'no_match' }
    const passed = await run({ tests: [one, { ...since, expect: [{ revenue: 3 }] }, refused] })
    expect(passed).toMatchObject([
      { passed: true, message: null },
      { passed: true, message: null },
      { passed: true, message: null },
    ])
    const wrong = await run({
      tests: [
        { ...one, error: 'no_match', expect: null },
        { ...refused, question: 'revenue in Germany' },
      ],
    })
    expect(wrong).toMatchObject([
      { passed: false, message: 'It gave 1 rows, and no_match was expected.' },
      { passed: false, message: 'revenue answers it, and no_match was expected.' },
    ])
    const other = {
      name: 'orders_of',
      sql: 'select id from orders where country = $country',
      slots: { type: 'object', properties: { country } },
    }
    const queries = [
      {
        ...other,
        description: 'The orders of a country',
        examples: [{ question: 'list the orders of Germany', parameters: { country: 'DE' } }],
      },
    ]
    expect(await run({ tests: [{ ...one, query: 'orders_of' }], queries })).toMatchObject([
      { passed: false, message: 'The question goes to revenue, not to orders_of.' },
    ])
  })

  test('is for a query alone, and a day is for a question', async () => {
    await p.create('days', 'select day from orders')
    const bad = { name: 'x', given, expect: [] }
    expect((await put({ ...bad, model: 'days', question: 'what days' })).status).toBe(400)
    expect((await put({ ...bad, query: 'revenue', asked_on: '2026-01-01' })).status).toBe(400)
    expect((await put({ ...bad, question: 'which' })).status).toBe(400)
    await p.settled()
  })

  test('holds a release of another query that would take it', async () => {
    await expectStatus(200, release())
    const own = { name: 'germany', query: 'revenue', given, question: 'german money', error: 'no_match' }
    const { query: _query, ...anyQuery } = own
    await expectStatus(200, put(anyQuery))
    const money = {
      name: 'money',
      sql: 'select sum(total) as money from orders',
      examples: [{ question: 'german money' }],
    }
    await expectStatus(201, t.operator.post(`${p.path}/queries`, money))
    const refused = await release()
    expect(refused).toMatchObject({ status: 409, body: { reason: 'test_failed', details: [{ field: 'germany' }] } })
    await expectStatus(200, release({ force: true }))
  })
})

describe('tests of models', () => {
  const days = {
    name: 'by_day',
    model: 'days',
    given,
    expect: [
      { day: '2026-03-01', orders: 1 },
      { day: '2026-03-03', orders: 1 },
      { day: '2026-04-01', orders: 1 },
    ],
  }
  const sql = 'select day, count(*) as orders from orders group by 1'
  const wrong = 'select day, sum(total) as orders from orders group by 1'
  const change = (text: string, more: Record<string, unknown> = {}) =>
    t.operator.put(`${p.path}/models/days`, { sql: text, ...more })

  test('hold a change of their model, and a release of what reads it', async () => {
    await loadOrders()
    await p.create('days', sql)
    await p.create('busy', 'select max(orders) as most from days')
    await p.settled()
    await expectStatus(200, put(days))
    const refused = await change(wrong)
    expect(refused).toMatchObject({ status: 409, body: { reason: 'test_failed', details: [{ field: 'by_day' }] } })
    expect(refused.body.message).toContain('Save it with force')
    expect((await p.model('days')).sql).toBe(sql)
    await expectStatus(200, change(wrong, { force: true }))
    await p.settled()
    await expectStatus(201, t.operator.post(`${p.path}/queries`, { name: 'most', sql: 'select most from busy' }))
    expect(await release()).toMatchObject({ status: 409, body: { reason: 'test_failed' } })
    await expectStatus(200, change(sql))
    await p.settled()
    await expectStatus(200, release())
  })

  test('are run with a definition, in which both may change at once', async () => {
    await loadOrders()
    const { body: read } = await expectStatus(200, t.operator.get(`${p.path}/definition`))
    const wanted = { ...read, models: [{ name: 'days', sql }], tests: [days] }
    await expectStatus(200, t.operator.put(`${p.path}/definition`, wanted))
    await p.settled()
    const other = { ...wanted, models: [{ name: 'days', sql: wrong }] }
    const check = await expectStatus(200, t.operator.put(`${p.path}/definition?check=true`, other))
    const entry = check.body.plan.find(({ kind }: { kind: string }) => kind === 'model')
    expect(entry).toMatchObject({ name: 'days', refused: { reason: 'test_failed' } })
    expect(await t.operator.put(`${p.path}/definition`, other)).toMatchObject({
      status: 409,
      body: { reason: 'test_failed' },
    })
    expect((await p.model('days')).sql).toBe(sql)
    const both = { ...other, tests: [{ ...days, expect: [{ orders: 2 }, { orders: 3 }, { orders: 4 }] }] }
    await expectStatus(200, t.operator.put(`${p.path}/definition`, both))
    await expectStatus(200, t.operator.put(`${p.path}/definition?force=true`, wanted))
    await p.settled()
  })
})

test('tests that a release does not reach within the time of all together hold it, and are named', async () => {
  await loadOrders()
  await expectStatus(201, t.operator.post(`${p.path}/queries`, revenue))
  const one = { query: 'revenue', given, parameters: { country: 'DE' }, expect: [{ revenue: 5 }] }
  const tests = Array.from({ length: 60 }, (_, at) => ({ ...one, name: `test_${String(at).padStart(2, '0')}` }))
  const { body: read } = await expectStatus(200, t.operator.get(`${p.path}/definition`))
  await expectStatus(200, t.operator.put(`${p.path}/definition?force=true`, { ...read, tests }))
  const { executeTimeoutMs } = t.app.config.limits
  Object.assign(t.app.config.limits, { executeTimeoutMs: 50 })
  try {
    const { body } = await expectStatus(409, release())
    expect(body.message).toMatch(
      /^The test test_\d\d and \d+ more were not reached: the tests before took too long together\. Deploy with force/,
    )
    expect(body.details).toHaveLength(20)
    expect(body.details.at(-1).message).toBe(
      'It was not run: the tests before it took more than 0.05 s. Run fewer at once.',
    )
  } finally {
    Object.assign(t.app.config.limits, { executeTimeoutMs })
  }
  await expectStatus(200, release())
})

describe('a test of the last recorded call', () => {
  const fromCall = (body: Record<string, unknown>) => t.operator.post(`${p.path}/tests/from-call`, body)
  const call = async (parameters: Record<string, unknown>) => {
    const permissions = [{ project_id: p.projectId, environments: '*' }]
    const made = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'test', permissions }))
    const caller = t.withToken(made.body.secret)
    await expectStatus(200, caller.post('/v1/queries/revenue', parameters))
  }
  beforeEach(async () => {
    await loadOrders()
    await p.load(
      'names',
      countries.map((code) => ({ code, name: `The land of ${code}` })),
    )
    await p.settled()
    const sql = `select n.name, sum(o.total) as revenue from orders o join names n on n.code = o.country
      where o.country = $country and ($since is null or day >= $since) group by 1 -- of one`
    await expectStatus(201, t.operator.post(`${p.path}/queries`, { ...revenue, sql }))
    await expectStatus(200, release())
  })

  test('has its values, a few rows that matter, and what they give; it passes, and fails once the SQL is another', async () => {
    expect(await fromCall({ query: 'revenue' })).toMatchObject({ status: 409, body: { reason: 'not_recording' } })
    await expectStatus(200, t.operator.put(`${p.path}/replay-settings`, { recording: true }))
    expect(await fromCall({ query: 'revenue' })).toMatchObject({ status: 409, body: { reason: 'not_recording' } })
    expect((await fromCall({ query: 'nothing' })).status).toBe(404)
    await expect.poll(() => t.app.callWatch.isOn).toBe(true)
    await call({ country: 'IT', since: '2026-01-01' })
    const { body } = await expectStatus(200, fromCall({ query: 'revenue' }))
    expect(body).toMatchObject({ name: 'revenue_call', query: 'revenue', exact: true })
    expect(body.parameters).toMatchObject({ country: 'IT', since: '2026-01-01' })
    expect(body.given.orders.length).toBeGreaterThan(0)
    expect(body.given.orders.length).toBeLessThanOrEqual(10)
    expect(body.given.orders[0]).toMatchObject({ country: expect.any(String), total: expect.any(Number) })
    expect(body.given.orders[0]).not.toHaveProperty('id')
    expect(body.expect).toMatchObject([{ name: 'The land of IT' }])
    expect(await run({})).toMatchObject([{ name: 'revenue_call', passed: true }])
    const again = await expectStatus(200, fromCall({ query: 'revenue', save: false }))
    expect(again.body.name).toBe('revenue_call_2')
    expect((await t.operator.get(`${p.path}/tests`)).body.data).toHaveLength(1)
    const { body: query } = await t.operator.get(`${p.path}/queries/revenue`)
    await expectStatus(200, t.operator.put(`${p.path}/queries/revenue`, { sql: query.sql.replace('sum(', 'count(') }))
    expect(await run({})).toMatchObject([{ name: 'revenue_call', passed: false }])
  })
})
