import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { openQuestions } from '../harness/questions.ts'

let { t, q, ask } = {} as Awaited<ReturnType<typeof openQuestions>>
let path: string
beforeAll(async () => {
  ;({ t, q, ask } = await openQuestions())
  path = `/v1/projects/${q.projectId}`
  await q.deploy({
    name: 'orders_count',
    description: 'How many orders a region had',
    sql: 'SELECT count(*) AS n FROM orders WHERE region = $region',
    slots: {
      type: 'object',
      properties: { region: { type: 'string', enum: ['north', 'south', 'east'] } },
      required: ['region'],
    },
    examples: [
      { question: 'how many orders did the north have', parameters: { region: 'north' } },
      { question: 'number of orders in the south', parameters: { region: 'south' } },
      { question: 'count the orders of the east', parameters: { region: 'east' } },
    ],
  })
  await q.deploy({
    name: 'returns_count',
    description: 'How many parcels of a region came back',
    sql: 'SELECT count(*) AS n FROM orders WHERE region = $region AND amount < 0',
    slots: {
      type: 'object',
      properties: { region: { type: 'string', enum: ['north', 'south', 'east'] } },
      required: ['region'],
    },
    examples: [
      { question: 'how many parcels came back from the north', parameters: { region: 'north' } },
      { question: 'parcels that returned from the south', parameters: { region: 'south' } },
    ],
  })
}, 90_000)
afterAll(() => t.close())

const partial = { partial: true }

/** Asks for an answer whatever it leaves out, and gives what to report it by. */
async function answered(question: string): Promise<{ used: string; requestId: string }> {
  const { body, headers } = await expectStatus(200, ask(question, partial))
  return { used: body.query_used, requestId: String(headers['x-request-id']) }
}

function report(requestId: string, body: Record<string, unknown>) {
  return t.operator.post(`${path}/questions/${requestId}/report`, body)
}

describe('a wrong answer that is reported', () => {
  test('is an evaluation case at once, is heeded once confirmed, and is forgotten when removed', async () => {
    const wrong = 'how many orders did the north have from resellers'
    const { used, requestId } = await answered(wrong)
    expect(used).toBe('orders_count')
    const { body: made } = await expectStatus(
      201,
      report(requestId, { expected_query: null, note: 'resellers are not in the data' }),
    )
    expect(made).toMatchObject({
      question: wrong,
      not_query: 'orders_count',
      meant_query: null,
      status: 'reported',
      request_id: requestId,
      confirmed_at: null,
    })
    const { body: cases } = await t.operator.get(`${path}/evaluations`)
    expect(cases.data).toContainEqual(
      expect.objectContaining({ id: made.evaluation_id, question: wrong, expected_query: null, source: 'reported' }),
    )
    expect((await answered(wrong)).used).toBe('orders_count')

    const { body: confirmed } = await expectStatus(200, t.operator.post(`${path}/counter-examples/${made.id}/confirm`))
    expect(confirmed).toMatchObject({ status: 'confirmed' })
    for (const question of [
      wrong,
      'How many orders did the south have from resellers?',
      'how many orders from resellers did the east have',
    ]) {
      const { body } = await expectStatus(422, ask(question, partial))
      expect(body).toMatchObject({
        reason: 'no_match',
        message: expect.stringContaining('wrong answer to such a question'),
      })
      expect(body.message).not.toContain(wrong)
    }
    for (const question of [
      'how many orders did the north have',
      'number of orders in the east',
      'count the orders of the south',
    ]) {
      expect((await answered(question)).used).toBe('orders_count')
    }
    expect((await t.operator.get(`${path}/evaluations`)).body.data).toContainEqual(
      expect.objectContaining({ id: made.evaluation_id, source: 'confirmed' }),
    )

    await expectStatus(204, t.operator.delete(`${path}/counter-examples/${made.id}`))
    expect((await answered(wrong)).used).toBe('orders_count')
    const { body: acts } = await t.operator.get(`/v1/audit?project_id=${q.projectId}`)
    const actions = (acts.data as Array<{ action: string; target: string }>).filter(({ target }) => target === made.id)
    expect(actions.map(({ action }) => action)).toEqual([
      'question.report_deleted',
      'question.report_confirmed',
      'question.reported',
    ])
  })

  test('may say which query was meant: it answers from then on', async () => {
    const wrong = 'number of orders in the south that were sent home again'
    const { requestId } = await answered(wrong)
    const { body: made } = await expectStatus(201, report(requestId, { expected_query: 'returns_count' }))
    await expectStatus(200, t.operator.post(`${path}/counter-examples/${made.id}/confirm`))
    const { body } = await expectStatus(200, ask('number of orders in the north that were sent home again'))
    expect(body).toMatchObject({ query_used: 'returns_count', parameters: { region: 'north' } })
    expect((await answered('number of orders in the south')).used).toBe('orders_count')
  })

  test('holds no deployment before it is confirmed', async () => {
    const wrong = 'how many orders did the east have in the rain'
    const { requestId } = await answered(wrong)
    await expectStatus(201, report(requestId, { expected_query: 'returns_count' }))
    const check = { environment: 'production', check: true }
    const { body } = await expectStatus(200, t.operator.post(`${path}/queries/orders_count/deploy`, check))
    expect(JSON.stringify(body.routing.regressions)).not.toContain('in the rain')
  })
})

describe('what cannot be reported', () => {
  test('404 a request that asked nothing here', async () => {
    const { status } = await report('req_01HZZZZZZZZZZZZZZZZZZZZZZZ', { expected_query: null })
    expect(status).toBe(404)
  })

  test('400 a query that does not exist, and the one that answered', async () => {
    const { requestId } = await answered('how many orders did the east have')
    for (const expected of ['nothing_like_it', 'orders_count']) {
      const { status, body } = await report(requestId, { expected_query: expected })
      expect({ status, body }).toMatchObject({ status: 400, body: { details: [{ field: 'expected_query' }] } })
    }
  })

  test('409 the same question twice', async () => {
    const { requestId } = await answered('how many orders did the east have at night')
    await expectStatus(201, report(requestId, { expected_query: null }))
    expect((await report(requestId, { expected_query: null })).status).toBe(409)
  })

  test('400 a question whose words are not kept', async () => {
    await expectStatus(200, t.operator.put(`${path}/questions/settings`, { log: 'redacted', retention_days: 30 }))
    const { requestId } = await answered('how many orders did the east have on ice')
    const { status, body } = await report(requestId, { expected_query: null })
    expect({ status, body }).toMatchObject({ status: 400, body: { details: [{ field: 'request_id' }] } })
    await expectStatus(200, t.operator.put(`${path}/questions/settings`, { log: 'full', retention_days: 30 }))
  })
})
