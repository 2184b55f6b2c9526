import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { openQuestions } from '../harness/questions.ts'

let { t, q, ask } = {} as Awaited<ReturnType<typeof openQuestions>>
beforeAll(async () => {
  ;({ t, q, ask } = await openQuestions())
}, 90_000)
afterAll(() => t.close())

describe('a question of which the nearest query leaves something out', () => {
  test.each([
    ['Which orders came from the south and were paid by card?', 'orders_in_region', 'paid by card'],
    ['average amount of the orders from the north', 'orders_in_region', 'average'],
    ['which orders from the east were cancelled', 'orders_in_region', 'cancelled'],
  ])('422 unexpressed for %j, with the words, and logged as that', async (question, query, words) => {
    const { status, body } = await ask(question, { explain: true })
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { error: 'invalid_query', reason: 'unexpressed', query_used: query, candidates: [{ name: query }, {}] },
    })
    const said: string[] = body.unexpressed.map(({ start, end }: { start: number; end: number }) =>
      question.slice(start, end),
    )
    expect(said).toEqual(body.unexpressed.map(({ text }: { text: string }) => text))
    expect(said.join(' ')).toContain(words)
    expect(body.message).toContain(said[0])
    expect(body.routing.unexpressed).toEqual(body.unexpressed)
    const logged = await t.operator.get(`/v1/projects/${q.projectId}/questions?outcome=unexpressed&limit=1`)
    expect(logged.body.data).toMatchObject([{ text: question, outcome: 'unexpressed', query }])
  })

  test('what it likely leaves out is said beside the answer', async () => {
    const { status, body } = await ask('biggest orders of our customers')
    expect({ status, body }).toMatchObject({ status: 200, body: { query_used: 'biggest_orders' } })
    expect(JSON.stringify(body.unexpressed)).toContain('our customers')
    const strict = await ask('biggest orders of our customers', { strict: true })
    expect(strict).toMatchObject({ status: 422, body: { reason: 'unexpressed' } })
  })

  test('is counted as flagged and marked in the log of requests', async () => {
    const path = `/v1/projects/${q.projectId}`
    const before = (await t.operator.get(`${path}/metrics`)).body.questions
    const flagged = await expectStatus(200, ask('biggest orders of our customers'))
    await expectStatus(200, ask('What are the biggest orders?'))
    const after = (await t.operator.get(`${path}/metrics`)).body.questions
    expect(after.answered - before.answered).toBe(2)
    expect(after.flagged - before.flagged).toBe(1)
    const log = (await t.operator.get(`${path}/requests?entry=question&limit=2`)).body.data
    expect(log).toMatchObject([
      { status: 200, error: null, reason: null },
      { id: flagged.headers['x-request-id'], status: 200, error: null, reason: 'unexpressed' },
    ])
    const { text } = await t.app.prometheus.render()
    expect(text).toMatch(/^sluice_flagged_answers_total\{entry="question"\} [1-9]/m)
  })

  const question = 'which orders from the east were cancelled'

  test('a stream is refused the same way before it begins', async () => {
    expect(await ask(question, { stream: true })).toMatchObject({ status: 422, body: { reason: 'unexpressed' } })
  })

  test('partial answers, and says it in the answer, in the head of a stream and in a header', async () => {
    const whole = await ask(question, { partial: true })
    const [left] = whole.body.unexpressed
    expect(left).toMatchObject({ text: expect.stringContaining('cancelled'), kind: expect.any(String) })
    expect(whole).toMatchObject({ status: 200, body: { parameters: { region: 'east' }, row_count: 10 } })
    expect(decodeURIComponent(String(whole.headers['x-sluice-unexpressed']))).toBe(left.text)
    const stream = await ask(question, { partial: true, stream: true })
    const meta = String(stream.body)
      .split('\n')
      .find((line) => line.startsWith('data: '))
    expect(JSON.parse(meta?.slice(6) ?? '{}')).toMatchObject({ type: 'meta', unexpressed: whole.body.unexpressed })
    const lines = await ask(question, { partial: true }, { accept: 'application/x-ndjson' })
    expect(lines.headers['x-sluice-unexpressed']).toBe(whole.headers['x-sluice-unexpressed'])
  })

  test('who names the query is answered and told, unless strict', async () => {
    const named = { query_name: 'orders_in_region' }
    expect((await ask(question, named)).body).toMatchObject({ row_count: 10, unexpressed: [{}] })
    expect(await ask(question, { ...named, strict: true })).toMatchObject({
      status: 422,
      body: { reason: 'unexpressed' },
    })
  })

  test('who gives values for what was missing is answered and told', async () => {
    const given = await ask('top 21 orders by amount', { parameters: { count: 2 } })
    expect(given.body).toMatchObject({ row_count: 2, unexpressed: [{ text: '21' }] })
  })

  test('strict and partial together are 400', async () => {
    expect(await ask(question, { strict: true, partial: true })).toMatchObject({
      status: 400,
      body: { error: 'invalid_query', reason: 'invalid_field', details: [{ field: 'partial' }] },
    })
  })

  test('the trial of an author says the same', async () => {
    const tried = await t.operator.post(`/v1/projects/${q.projectId}/ask`, { question, run: true })
    expect(tried.body).toMatchObject({
      outcome: 'unexpressed',
      query_used: 'orders_in_region',
      unexpressed: [{ text: expect.stringContaining('cancelled') }],
    })
    expect(tried.body.data).toBeUndefined()
  })
})

test('an example with other values is answered without a word', async () => {
  const { body } = await ask('list what was ordered in the north', { strict: true, explain: true })
  expect(body).toMatchObject({ query_used: 'orders_in_region', parameters: { region: 'north' } })
  expect(body.unexpressed).toBeUndefined()
  expect(body.routing.unexpressed).toEqual([])
})

describe('confidence', () => {
  test('is a share in the answer, its candidates and the log', async () => {
    const { body } = await ask('orders in the east', { explain: true })
    expect(body.confidence).toBeGreaterThan(0.5)
    expect(body.confidence).toBeLessThanOrEqual(1)
    expect(body.routing).toMatchObject({ confidence: body.confidence, threshold: 0.3 })
    const [best, other] = body.routing.candidates
    expect(best.confidence).toBe(body.confidence)
    expect(best.confidence + other.confidence).toBeLessThanOrEqual(1)
    const logged = await t.operator.get(`/v1/projects/${q.projectId}/questions?outcome=answered&limit=1`)
    expect(logged.body.data[0].confidence).toBeCloseTo(body.confidence, 2)
  })

  test('below the setting of the project is refused with what it is, in the next question', async () => {
    const path = `/v1/projects/${q.projectId}/questions/settings`
    const settings = { log: 'full', retention_days: 30 }
    await expectStatus(200, t.operator.put(path, { ...settings, min_confidence: 0.99 }))
    expect((await t.operator.get(path)).body).toEqual({ ...settings, min_confidence: 0.99 })
    await expect.poll(async () => (await ask('whatever the east ordered')).status, { timeout: 60_000 }).toBe(422)
    const { body } = await ask('whatever the east ordered', { explain: true })
    expect(body).toMatchObject({
      reason: 'unsure',
      query_used: 'orders_in_region',
      confidence: body.routing.confidence,
      unexpressed: expect.any(Array),
      candidates: [{ name: 'orders_in_region' }, {}],
      routing: { threshold: 0.99, verdict: 'unsure' },
    })
    expect(body.message).toContain('this project answers from 99 % on')
    const log = await t.operator.get(`/v1/projects/${q.projectId}/questions?outcome=unsure&limit=1`)
    expect(log.body.data).toMatchObject([{ text: 'whatever the east ordered', query: 'orders_in_region' }])
    expect((await ask('whatever the east ordered', { partial: true })).status).toBe(200)
    expect((await ask('whatever the east ordered', { query_name: 'orders_in_region' })).status).toBe(200)
    await expectStatus(200, t.operator.put(path, settings))
    await expect.poll(async () => (await ask('whatever the east ordered')).status, { timeout: 60_000 }).toBe(200)
  })

  test('a setting beyond a share is 400', async () => {
    const path = `/v1/projects/${q.projectId}/questions/settings`
    expect((await t.operator.put(path, { log: 'full', retention_days: 30, min_confidence: 1.5 })).status).toBe(400)
  })
})
