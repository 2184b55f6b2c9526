import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
let path: string
beforeAll(async () => {
  t = await openTestApp({}, { isShared: true })
  q = await openQueryProject(t)
  path = `/v1/projects/${q.projectId}`
  await q.deploy(inRegion)
  await q.deploy({
    name: 'biggest_orders',
    description: 'The orders with the highest amounts',
    sql: 'SELECT id, amount FROM orders ORDER BY amount DESC LIMIT 3',
    examples: ['What are the biggest orders?', 'top orders by amount', 'the largest orders'].map((question) => ({
      question,
    })),
  })
}, 90_000)
afterAll(() => t.close())

const slots = {
  type: 'object',
  properties: { region: { type: 'string', enum: ['north', 'south', 'east'] } },
  required: ['region'],
}
const inRegion = {
  name: 'orders_in_region',
  description: 'The orders that came from a region',
  sql: 'SELECT id FROM orders WHERE region = $region ORDER BY id',
  slots,
  examples: [
    { question: 'Which orders came from the north?', parameters: { region: 'north' } },
    { question: 'show orders of the south', parameters: { region: 'south' } },
    { question: 'list what was ordered in the east', parameters: { region: 'east' } },
  ],
}

function ask(query: string) {
  return q.caller.post('/v1/query', { query, project_id: q.projectId })
}

describe('POST …/ask', () => {
  test('200 says what would be chosen and runs nothing', async () => {
    const { status, body } = await t.operator.post(`${path}/ask`, { question: 'Which orders came from the south?' })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        outcome: 'answered',
        query_used: 'orders_in_region',
        parameters: { region: 'south' },
        routing: { decided_by: 'router' },
      },
    })
    expect(body.data).toBeUndefined()
    expect((await t.operator.get(`${path}/questions`)).body.data).toEqual([])
  })

  test('200 with run gives the rows too; a refusal is an answer here', async () => {
    const ran = await t.operator.post(`${path}/ask`, { question: 'the largest orders', run: true })
    expect(ran.body).toMatchObject({ query_used: 'biggest_orders', row_count: 3, parameters: {} })
    expect(ran.body.data).toHaveLength(3)
    const refused = await t.operator.post(`${path}/ask`, { question: 'How tall is Mount Everest?', explain: false })
    expect(refused).toMatchObject({ status: 200, body: { outcome: 'no_match', query_used: null } })
    expect(refused.body.message).toContain('No deployed query answers this question.')
    const opposed = await t.operator.post(`${path}/ask`, { question: 'Which orders did not come from the south?' })
    expect(opposed.body).toMatchObject({
      outcome: 'no_match',
      message: expect.stringContaining('not come from the south'),
    })
    expect(ran.body.message).toBeNull()
    expect(refused.body.routing).toBeUndefined()
  })

  test('200 with a draft that takes part as if it were deployed', async () => {
    const draft = {
      name: 'unpaid_orders',
      description: 'Orders that nobody has paid yet',
      sql: 'SELECT id FROM orders WHERE NOT paid ORDER BY id',
      examples: [{ question: 'which orders are not paid?' }, { question: 'open invoices' }],
    }
    await expectStatus(201, t.operator.post(q.path, draft))
    const question = 'which orders are not paid?'
    const asked = await t.operator.post(`${path}/ask`, { question, draft: 'unpaid_orders', run: true })
    expect(asked.body).toMatchObject({ outcome: 'answered', query_used: 'unpaid_orders', row_count: 15 })
    const without = await t.operator.post(`${path}/ask`, { question })
    expect(without.body.query_used).not.toBe('unpaid_orders')
  })

  test('403 for a viewer with a draft, 404 for a stranger and for a query that is not there', async () => {
    const viewer = await t.member(q.projectId, 'viewer')
    expect((await viewer.post(`${path}/ask`, { question: 'the largest orders' })).status).toBe(200)
    expect((await viewer.post(`${path}/ask`, { question: 'x', draft: 'unpaid_orders' })).status).toBe(403)
    const stranger = await t.member(await t.project('Other'), 'owner')
    expect((await stranger.post(`${path}/ask`, { question: 'x' })).status).toBe(404)
    expect((await t.operator.post(`${path}/ask`, { question: 'x', query_name: 'nothing' })).status).toBe(404)
  })
})

describe('…/evaluations', () => {
  test('are written, changed, listed, run and deleted; a run keeps its results', async () => {
    const cases = [
      {
        question: 'orders from the east please',
        expected_query: 'orders_in_region',
        expected_parameters: { region: 'east' },
      },
      { question: 'Who won the world cup?', expected_query: null },
      { question: 'the largest orders', expected_query: 'orders_in_region' },
    ]
    const made = []
    for (const body of cases) made.push((await expectStatus(201, t.operator.post(`${path}/evaluations`, body))).body)
    expect(made[0]).toMatchObject({ ...cases[0], source: 'written', created_by: 'operator' })
    const run = await expectStatus(201, t.operator.post(`${path}/evaluations/run`, {}))
    expect(run.body).toMatchObject({ environment: 'production', total: 3, passed: 2, query: null })
    expect(run.body.results[2]).toMatchObject({
      passed: false,
      expected: { query: 'orders_in_region' },
      got: { outcome: 'answered', query: 'biggest_orders' },
    })
    const wrong = `${path}/evaluations/${made[2].id}`
    const better = { question: 'the largest orders', expected_query: 'biggest_orders' }
    expect((await t.operator.put(wrong, better)).body).toMatchObject(better)
    expect((await t.operator.post(`${path}/evaluations/run`, {})).body.passed).toBe(3)
    expect((await t.operator.get(`${path}/evaluations/runs`)).body.data).toHaveLength(2)
    expect((await t.operator.get(`${path}/evaluations/runs/${run.body.id}`)).body.results).toHaveLength(3)
    expect((await t.operator.delete(wrong)).status).toBe(204)
    expect((await t.operator.get(`${path}/evaluations`)).body.data).toHaveLength(2)
  })

  test('409 for a question that is there; 400 for an unknown query; 404 for an unknown case', async () => {
    const body = { question: 'Who won the world cup?', expected_query: null }
    const answer = await t.operator.post(`${path}/evaluations`, body)
    expect(answer).toMatchObject({ status: 409, body: { reason: 'name_taken' } })
    const unknown = await t.operator.post(`${path}/evaluations`, { question: 'x', expected_query: 'nothing' })
    expect(unknown).toMatchObject({ status: 400, body: { details: [{ field: 'expected_query' }] } })
    expect((await t.operator.delete(`${path}/evaluations/cas_nothing`)).status).toBe(404)
  })

  test('one beyond those that are run at each deployment is refused, not kept unheeded', async () => {
    const other = await t.operator.post('/v1/projects', { name: 'Many cases' })
    const { id } = other.body
    await t.app.store.pool.query(
      `insert into evaluation_cases (id, project_id, question, source, created_by)
       select 'cas_many' || n, $1, 'question ' || n, 'written', 'test' from generate_series(1, 2000) n`,
      [id],
    )
    const beyond = await t.operator.post(`/v1/projects/${id}/evaluations`, {
      question: 'one more',
      expected_query: null,
    })
    expect(beyond).toMatchObject({
      status: 400,
      body: { details: [{ message: expect.stringContaining('at most 2000') }] },
    })
  })

  test('a deployment that fails one is refused, and one that goes through keeps the results of its version', async () => {
    const football = {
      name: 'cups',
      description: 'Who won the world cup',
      sql: "SELECT 'nobody' AS winner",
      examples: [{ question: 'Who won the world cup?' }, { question: 'winner of the last world cup' }],
    }
    await expectStatus(201, t.operator.post(q.path, football))
    const refused = await t.operator.post(`${q.path}/cups/deploy`, {})
    expect(refused).toMatchObject({ status: 409, body: { reason: 'routing_regression' } })
    expect(refused.body.routing.regressions).toEqual([
      { question: 'Who won the world cup?', query: null, taken_by: 'cups', source: 'evaluation' },
    ])
    await expectStatus(200, t.operator.post(`${q.path}/cups/deploy`, { force: true }))
    const runs = await t.operator.get(`${path}/evaluations/runs?query=cups`)
    expect(runs.body.data).toEqual([expect.objectContaining({ query: 'cups', version: 1, total: 2, passed: 1 })])
    await expectStatus(200, t.operator.post(`${q.path}/cups/undeploy`, { environment: 'production' }))
  })
})

describe('…/questions', () => {
  test('every question is there with its outcome, newest first and by outcome', async () => {
    await ask('Which orders came from the south?')
    await ask('Which colours are in stock?')
    const all = await t.operator.get(`${path}/questions`)
    expect(all.body.data.slice(0, 2)).toMatchObject([
      { text: 'Which colours are in stock?', outcome: 'no_match', environment: 'production' },
      {
        text: 'Which orders came from the south?',
        outcome: 'answered',
        query: 'orders_in_region',
        parameters: { region: 'south' },
        confidence: expect.any(Number),
        key_id: expect.stringMatching(/^key_/),
        request_id: expect.stringMatching(/^req_/),
      },
    ])
    const refused = await t.operator.get(`${path}/questions?outcome=refused`)
    expect(refused.body.data.map((each: { text: string }) => each.text)).toEqual(['Which colours are in stock?'])
    expect((await t.operator.get(`${path}/questions?environment=staging`)).body.data).toEqual([])
    const answered = await t.operator.get(`${path}/questions?query=orders_in_region`)
    expect(answered.body.data.length).toBeGreaterThan(0)
    expect(answered.body.data.every((each: { query: string }) => each.query === 'orders_in_region')).toBe(true)
  })

  test('unanswered ones are grouped by what they mean, asked most first', async () => {
    for (const question of [
      'Which colours are in stock?',
      'what colours are in stock',
      'When do we close on Sunday?',
    ]) {
      await ask(question)
    }
    const { body } = await t.operator.get(`${path}/questions/unanswered`)
    expect(body.data).toHaveLength(2)
    expect(body.data[0]).toMatchObject({ question: 'Which colours are in stock?', count: 3, outcomes: { no_match: 3 } })
    expect(body.data[0].questions).toHaveLength(2)
  })

  test('one call makes examples of a query, a case or a draft of a group, which is then done with', async () => {
    const resolve = (body: Record<string, unknown>) => t.operator.post(`${path}/questions/resolve`, body)
    await ask('stuff people in the east wanted, quickly')
    const examples = await resolve({
      questions: ['stuff people in the east wanted, quickly'],
      as: 'example',
      query: 'orders_in_region',
    })
    expect(examples).toMatchObject({ status: 200, body: { resolved: 1 } })
    expect(examples.body.query.examples.at(-1)).toEqual({
      question: 'stuff people in the east wanted, quickly',
      parameters: { region: 'east' },
    })
    const colours = ['Which colours are in stock?', 'what colours are in stock']
    const draft = await resolve({ questions: colours, as: 'draft', query: 'colours' })
    expect(draft).toMatchObject({ status: 200, body: { resolved: 3, query: { name: 'colours', deployments: [] } } })
    expect(draft.body.query.examples).toHaveLength(2)
    const kept = await resolve({ questions: ['When do we close on Sunday?'], as: 'evaluation' })
    expect(kept.body.evaluations).toMatchObject([{ expected_query: null, source: 'missed' }])
    expect((await t.operator.get(`${path}/questions/unanswered`)).body.data).toEqual([])
    const right = { questions: ['Which orders came from the south?'], as: 'evaluation', query: 'orders_in_region' }
    expect((await resolve(right)).body.evaluations).toMatchObject([{ source: 'confirmed' }])
    expect(await resolve({ questions: ['x'], as: 'example' })).toMatchObject({
      status: 400,
      body: { details: [{ field: 'query' }] },
    })
  })

  test('an example has the values that were said, not those that were read, and none without a required one', async () => {
    await expectStatus(
      201,
      t.operator.post(`${path}/queries`, {
        name: 'latest_of_region',
        sql: 'select * from orders where region = $region limit $count',
        description: 'The latest orders of one region.',
        slots: {
          properties: { region: { type: 'string' }, count: { type: 'integer', default: 20 } },
          required: ['region'],
        },
      }),
    )
    const teach = (question: string, parameters?: Record<string, unknown>) =>
      t.operator.post(`${path}/questions/resolve`, {
        questions: [question],
        as: 'example',
        query: 'latest_of_region',
        ...(parameters && { parameters }),
      })
    const unsaid = await teach('latest orders of shop 3')
    expect(unsaid).toMatchObject({ status: 400, body: { details: [{ field: 'parameters.region' }] } })
    expect((await t.operator.get(`${path}/queries/latest_of_region`)).body.examples).toEqual([])
    const taught = await teach('latest orders of shop 3', { region: 'north', count: null })
    expect(taught.body.query.examples).toEqual([
      { question: 'latest orders of shop 3', parameters: { region: 'north' } },
    ])
    // Said again with other values, it is put right and not there twice.
    const corrected = await teach('latest orders of shop 3', { region: 'south', count: 3 })
    expect(corrected.body.query.examples).toEqual([
      { question: 'latest orders of shop 3', parameters: { region: 'south', count: 3 } },
    ])
  })

  test('the same question twice is one example, and one with a NUL is as it is kept', async () => {
    const questions = ['eastern orders, once', 'eastern orders, once', 'eastern\0orders, twice']
    await ask('eastern\0orders, twice')
    const answer = await t.operator.post(`${path}/questions/resolve`, {
      questions,
      as: 'example',
      query: 'orders_in_region',
      parameters: { region: 'east' },
    })
    expect(answer).toMatchObject({ status: 200, body: { resolved: 1 } })
    const added = answer.body.query.examples.map(({ question }: { question: string }) => question)
    expect(added.filter((text: string) => text.startsWith('eastern'))).toEqual([
      'eastern orders, once',
      'eastern orders, twice',
    ])
  })

  test('of examples that two people add at the same time none is lost', async () => {
    const add = (question: string) =>
      t.operator.post(`${path}/questions/resolve`, {
        questions: [question],
        as: 'example',
        query: 'orders_in_region',
        parameters: { region: 'north' },
      })
    const texts = ['northern ones of today', 'southern ones of today', 'eastern ones of today']
    const answers = await Promise.all(texts.map(async (text) => ({ text, status: (await add(text)).status })))
    const { body } = await t.operator.get(`${path}/queries/orders_in_region`)
    const there = body.examples.map(({ question }: { question: string }) => question)
    const taken = answers.filter(({ status }) => status === 200).map(({ text }) => text)
    expect(taken.length).toBeGreaterThan(0)
    expect(there).toEqual(expect.arrayContaining(taken))
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
  })

  test('a project may keep no texts, or nothing', async () => {
    const settings = `${path}/questions/settings`
    expect((await t.operator.get(settings)).body).toEqual({ log: 'full', retention_days: 90, min_confidence: 0.3 })
    await expectStatus(200, t.operator.put(settings, { log: 'redacted', retention_days: 7 }))
    await ask('Which orders came from the south?')
    const redacted = (await t.operator.get(`${path}/questions`)).body.data
    expect(redacted[0]).toMatchObject({ outcome: 'answered', text: null, parameters: null })
    expect(redacted.every((each: { text: string | null }) => each.text === null)).toBe(true)
    await expectStatus(200, t.operator.put(settings, { log: 'off', retention_days: 7 }))
    await ask('Which orders came from the south?')
    await ask('Which nights are moonless?')
    expect((await t.operator.get(`${path}/questions`)).body.data).toEqual([])
    expect((await t.operator.get(`${path}/questions/unanswered`)).body.data).toEqual([])
    const { data: calls } = (await t.operator.get(`${path}/requests?entry=question&limit=2`)).body
    expect(calls).toMatchObject([{ question: null }, { question: null }])
    await t.app.questionLog.flush()
    const rows = await t.app.store.db
      .selectFrom('questions')
      .select('id')
      .where('projectId', '=', q.projectId)
      .execute()
    expect(rows).toEqual([])
    const editor = await t.member(q.projectId, 'editor')
    expect((await editor.put(settings, { log: 'full', retention_days: 7 })).status).toBe(403)
  })
})
