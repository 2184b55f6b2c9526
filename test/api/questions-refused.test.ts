import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { biggest, inRegion, openQuestions, region } from '../harness/questions.ts'

let { t, q, ask } = {} as Awaited<ReturnType<typeof openQuestions>>
beforeAll(async () => {
  ;({ t, q, ask } = await openQuestions())
}, 90_000)
afterAll(() => t.close())

describe('422', () => {
  test('no_match names the nearest', async () => {
    const { status, body } = await ask('How tall is Mount Everest?', { explain: true })
    expect({ status, error: body.error, reason: body.reason }).toEqual({
      status: 422,
      error: 'invalid_query',
      reason: 'no_match',
    })
    expect(body.candidates.length).toBeGreaterThan(0)
    expect(body.message).toContain(`The nearest are ${body.candidates[0].name}`)
    expect(body.candidates[0]).toEqual({
      name: expect.any(String),
      description: expect.any(String),
      score: expect.any(Number),
      confidence: expect.any(Number),
      example: expect.any(String),
    })
    expect(body.routing.confidence).toBeGreaterThanOrEqual(0)
    expect(body.routing.confidence).toBeLessThan(0.5)
  })

  test('missing_slots tells what was found and what is missing, and the same call with it gets through', async () => {
    const { status, body } = await ask('Which orders came from the region?', { query_name: 'orders_in_region' })
    expect({ status, body }).toMatchObject({
      status: 422,
      body: {
        error: 'invalid_query',
        reason: 'missing_slots',
        query_used: 'orders_in_region',
        parameters: {},
        schema: { type: 'object', properties: { region }, required: ['region'] },
        details: [{ field: 'region', message: 'is required' }],
      },
    })
    const again = { query_name: body.query_used, parameters: { ...body.parameters, region: 'east' } }
    expect((await ask('Which orders came from the region?', again)).body).toMatchObject({
      query_used: 'orders_in_region',
      parameters: { region: 'east' },
      row_count: 10,
    })
  })

  test.each([
    ['orders NOT from the north', 'region', 'NOT from the north'],
    ['which orders did not come from the south?', 'region', 'not come from the south'],
    ['all orders except the east', 'region', 'except the east'],
    ['the smallest orders', 'biggest_orders', 'smallest'],
  ])('no_match for %j, which no query answers, with what stands against the nearest', async (question, ...said) => {
    const { status, body } = await ask(question)
    expect({ status, reason: body.reason, used: body.query_used }).toEqual({
      status: 422,
      reason: 'no_match',
      used: undefined,
    })
    for (const words of said) expect(body.message).toContain(words)
    const logged = await t.operator.get(`/v1/projects/${q.projectId}/questions?outcome=refused&limit=1`)
    expect(logged.body.data).toMatchObject([{ text: question, outcome: 'no_match' }])
  })

  test('a query that the caller names does not take what the question leaves out either, unless it is given', async () => {
    const named = { query_name: 'orders_in_region' }
    const { status, body } = await ask('orders not from the north', named)
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { reason: 'missing_slots', parameters: {}, details: [{ field: 'region' }] },
    })
    expect(body.details[0].message).toContain('not from the north')
    const given = await ask('orders not from the north', { ...named, parameters: { region: 'south' } })
    expect(given.body).toMatchObject({ parameters: { region: 'south' }, row_count: 10 })
  })

  test.each([
    ['top 0 orders by amount', 'must be at least 1'],
    ['top 21 orders by amount', 'must be at most 20'],
    ['top 1e9 orders by amount', 'must be at most 20'],
    ['top -3 orders by amount', 'must be at least 1'],
    ['top 2.5 orders by amount', 'must be a whole number'],
  ])('missing_slots for %j: the default must not stand in for what was said', async (question, message) => {
    const { status, body } = await ask(question)
    expect({ status, body }).toMatchObject({
      status: 422,
      body: {
        reason: 'missing_slots',
        query_used: 'biggest_orders',
        parameters: {},
        details: [{ field: 'count', message }],
        schema: { properties: { count: { maximum: 20 } }, required: ['count'] },
      },
    })
    expect(body.message).toContain(`count ${message}`)
    expect((await ask(question, { parameters: { count: 2 } })).body).toMatchObject({ row_count: 2 })
    expect(body.message).toContain('Null leaves out count.')
    const left = await ask(question, { parameters: { count: null }, query_name: body.query_used })
    expect(left.body).toMatchObject({ parameters: { count: 3 }, row_count: 3 })
  })

  test('null leaves an optional slot out whatever the question says, and is no value of a required one', async () => {
    await expectStatus(201, t.operator.post(`/v1/projects/${q.projectId}/environments`, { name: 'null' }))
    const there = { 'x-sluice-environment': 'null' }
    const slots = { type: 'object', properties: { region, count: biggest.slots.properties.count }, required: [] }
    const sql = 'SELECT id FROM orders WHERE $region IS NULL OR region = $region ORDER BY id LIMIT $count'
    await q.deploy({ ...inRegion, sql, slots }, 'null')
    const several = 'orders from the north and the south'
    const refused = await ask(several, {}, there)
    expect(refused.body).toMatchObject({ reason: 'missing_slots', details: [{ field: 'region' }] })
    expect(refused.body.message).toContain('Null leaves out region.')
    for (const question of [several, 'orders from the north']) {
      const { body } = await ask(question, { parameters: { region: null } }, there)
      expect(body).toMatchObject({ query_used: 'orders_in_region', parameters: { region: null, count: 3 } })
    }
    const trial = { question: several, environment: 'null', parameters: { region: null } }
    const tried = await t.operator.post(`/v1/projects/${q.projectId}/ask`, trial)
    expect(tried.body).toMatchObject({ outcome: 'answered', query_used: 'orders_in_region', parameters: {} })
    for (const question of [several, 'orders from the north']) {
      expect(await ask(question, { parameters: { region: null } })).toMatchObject({
        status: 422,
        body: { reason: 'missing_slots', parameters: {}, details: [{ field: 'region' }] },
      })
    }
  })

  test('missing_slots for two values of a slot that takes one, and one of them gets through', async () => {
    const { body } = await ask('orders from the north and the south')
    expect(body).toMatchObject({
      reason: 'missing_slots',
      query_used: 'orders_in_region',
      parameters: {},
      details: [{ field: 'region', message: expect.stringContaining('north, south') }],
    })
    const again = await ask('orders from the north and the south', { parameters: { region: 'south' } })
    expect(again.body).toMatchObject({ parameters: { region: 'south' } })
  })

  test('ambiguous names the candidates, and query_name settles it', async () => {
    const examples = ['list the customers by name', 'which customers are there?', 'all our customers, please']
    const twin = { description: 'Customers by name', examples: examples.map((question) => ({ question })) }
    await q.deploy(inRegion, 'development')
    await q.deploy(biggest, 'development')
    await q.deploy({ name: 'customers_a', sql: "SELECT 'a' AS x", ...twin }, 'development')
    await q.deploy({ name: 'customers_b', sql: "SELECT 'b' AS x", ...twin }, 'development')
    const there = { 'x-sluice-environment': 'development' }
    const { status, body } = await ask('list the customers by name', {}, there)
    expect({ status, reason: body.reason }).toEqual({ status: 422, reason: 'ambiguous' })
    expect(body.candidates.map(({ name }: { name: string }) => name).toSorted()).toEqual(['customers_a', 'customers_b'])
    expect(body.candidates[0].example).toBe('list the customers by name')
    const settled = await ask('list the customers by name', { query_name: 'customers_b' }, there)
    expect(settled.body).toMatchObject({ query_used: 'customers_b', data: [{ x: 'b' }] })
  })
})
