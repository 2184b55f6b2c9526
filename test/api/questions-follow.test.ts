import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, type Client } from '../harness/app.ts'
import { openQuestions } from '../harness/questions.ts'

let { t, q, ask } = {} as Awaited<ReturnType<typeof openQuestions>>
beforeAll(async () => {
  ;({ t, q, ask } = await openQuestions())
  await q.deploy({
    name: 'orders_between',
    description: 'Orders of a region with an amount between two bounds',
    sql: 'SELECT id, amount FROM orders WHERE region = $region AND amount >= $min_amount ORDER BY id LIMIT $count',
    slots: {
      type: 'object',
      properties: {
        region: { type: 'string', enum: ['north', 'south', 'east'] },
        min_amount: { type: 'integer', description: 'least amount' },
        count: { type: 'integer', minimum: 1, maximum: 50, default: 10, description: 'how many orders' },
      },
      required: ['region', 'min_amount'],
    },
    examples: [
      { question: 'top 5 orders above 20 in the north', parameters: { region: 'north', min_amount: 20, count: 5 } },
      { question: 'orders above 50 in the south', parameters: { region: 'south', min_amount: 50 } },
      { question: 'orders worth at least 30 in the east', parameters: { region: 'east', min_amount: 30 } },
    ],
  })
}, 90_000)
afterAll(() => t.close())

async function first(question: string): Promise<{ id: string; parameters: Record<string, unknown> }> {
  const { status, body, headers } = await ask(question)
  expect({ status, used: body.query_used }).toEqual({ status: 200, used: 'orders_between' })
  return { id: String(headers['x-request-id']), parameters: body.parameters }
}

describe('a question that follows another', () => {
  test.each([
    ['and in the south?', { region: 'south' }],
    ['same for the east', { region: 'east' }],
    ['what about the east instead?', { region: 'east' }],
    ['top 20 instead', { count: 20 }],
  ])('%j changes what it names and keeps the rest', async (question, change) => {
    const { id, parameters } = await first('top 5 orders above 20 in the north')
    expect(parameters).toEqual({ region: 'north', min_amount: 20, count: 5 })
    const { status, body } = await ask(question, { follows: id })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        query_used: 'orders_between',
        parameters: { ...parameters, ...change },
        follows: { request_id: id, changed: Object.keys(change) },
      },
    })
  })

  test('goes on in a trial from the query and values that its author names', async () => {
    const follows = { query_name: 'orders_between', parameters: { region: 'north', min_amount: 20, count: 5 } }
    const trial = (question: string) => t.operator.post(`/v1/projects/${q.projectId}/ask`, { question, follows })
    const { body } = await expectStatus(200, trial('and in the south?'))
    expect(body).toMatchObject({
      outcome: 'answered',
      query_used: 'orders_between',
      parameters: { region: 'south', min_amount: 20, count: 5 },
      follows: { changed: ['region'] },
    })
    const alone = await expectStatus(200, trial('orders worth at least 30 in the east'))
    expect(alone.body).toMatchObject({ parameters: { region: 'east', min_amount: 30 } })
    expect(alone.body.follows).toEqual({ changed: null })
  })

  test('goes on from a follow-up as well', async () => {
    const { id } = await first('orders above 50 in the south')
    const second = await ask('and in the north?', { follows: id })
    const third = await ask('only the top 3', { follows: String(second.headers['x-request-id']) })
    expect(third.body.parameters).toEqual({ region: 'north', min_amount: 50, count: 3 })
  })

  test('starts anew where it stands on its own', async () => {
    const { id } = await first('top 5 orders above 20 in the north')
    const { body } = await ask('What are the biggest orders?', { follows: id })
    expect(body).toMatchObject({ query_used: 'biggest_orders', parameters: { count: 3 } })
    expect(body.follows).toEqual({ request_id: id, changed: null })
  })

  test('is refused where it says what the query knows nothing of', async () => {
    const { id } = await first('top 5 orders above 20 in the north')
    expect((await ask('and those paid by card?', { follows: id })).status).toBe(422)
  })
})

describe('404', () => {
  const refused = {
    status: 404,
    body: { error: 'not_found', message: expect.stringContaining('Ask the whole question') },
  }

  test('for a request of another key, and for none at all', async () => {
    const { id } = await first('orders above 50 in the south')
    const permissions = [{ project_id: q.projectId, environments: '*' }]
    const made = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'other', permissions }))
    const other: Client = t.withToken(made.body.secret)
    const body = { query: 'and in the north?', project_id: q.projectId, follows: id }
    expect(await other.post('/v1/query', body)).toMatchObject(refused)
    expect(await ask('and in the north?', { follows: 'req_none' })).toMatchObject(refused)
  })

  test('for what the project does not keep', async () => {
    const { id } = await first('orders above 50 in the south')
    const path = `/v1/projects/${q.projectId}/questions/settings`
    await expectStatus(200, t.operator.put(path, { log: 'redacted', retention_days: 30 }))
    expect(await ask('and in the north?', { follows: id })).toMatchObject(refused)
    await expectStatus(200, t.operator.put(path, { log: 'full', retention_days: 30 }))
  })
})
