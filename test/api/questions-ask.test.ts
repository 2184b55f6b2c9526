import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, type Client } from '../harness/app.ts'
import { inRegion, openQuestions } from '../harness/questions.ts'

let { t, q, ask } = {} as Awaited<ReturnType<typeof openQuestions>>
beforeAll(async () => {
  ;({ t, q, ask } = await openQuestions())
}, 90_000)
afterAll(() => t.close())

async function keyOf(permission: Record<string, unknown>, more: Record<string, unknown> = {}): Promise<Client> {
  const permissions = [{ project_id: q.projectId, environments: '*', ...permission }]
  const body = { name: 'k', plan: 'unlimited', permissions, ...more }
  return t.withToken((await expectStatus(201, t.operator.post('/v1/api-keys', body))).body.secret)
}

describe('200', () => {
  test('answers exactly as specified, and with what may be added', async () => {
    const answer = await ask('Which orders came from the south?')
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'x-sluice-query': 'orders_in_region',
        'x-sluice-version': '1',
      },
      body: {
        query_used: 'orders_in_region',
        parameters: { region: 'south' },
        row_count: 10,
        truncated: false,
        version: 1,
        as_of: expect.stringMatching(/Z$/),
      },
    })
    expect(answer.body.data[0]).toEqual({ id: 2, amount: 3 })
    expect(Number.isInteger(answer.body.execution_time_ms)).toBe(true)
    expect(answer.body.routing).toBeUndefined()
  })

  test('parameters are exactly what was bound, defaults included', async () => {
    expect((await ask('What are the biggest orders?')).body).toMatchObject({ parameters: { count: 3 }, row_count: 3 })
    expect((await ask('top 4 orders by amount')).body).toMatchObject({ parameters: { count: 4 }, row_count: 4 })
  })

  test('explain says why', async () => {
    const { body } = await ask('Which orders came from the south?', { explain: true })
    expect(body.routing).toMatchObject({
      candidates: [{ name: 'orders_in_region', description: inRegion.description, example: expect.any(String) }, {}],
      matched_example: expect.any(String),
      sources: { region: { start: 27, end: 32, text: 'south' } },
      confidence: expect.any(Number),
      threshold: expect.any(Number),
      margin: expect.any(Number),
      encoder: 'neural',
      decided_by: 'router',
    })
  })

  test('the same question gives the same answer and asks the database nothing', async () => {
    const first = await ask('Which orders came from the east?', { explain: true })
    const trips = async (): Promise<number> => {
      const before = t.app.store.roundTrips()
      const again = await ask('Which orders came from the east?', { explain: true })
      expect({ ...again.body.routing, routing_time_ms: 0 }).toEqual({ ...first.body.routing, routing_time_ms: 0 })
      return t.app.store.roundTrips() - before
    }
    await expect.poll(trips).toBe(0)
  })

  test('a query that is deployed again, moved or removed is so for the next question', async () => {
    await q.deploy({ ...inRegion, sql: 'SELECT 7 AS seven FROM orders WHERE region = $region LIMIT 1' }, 'staging')
    const staging = await ask('Which orders came from the south?', {}, { 'x-sluice-environment': 'staging' })
    expect(staging.body).toMatchObject({ data: [{ seven: 7 }], version: 2 })
    expect((await ask('Which orders came from the south?')).body).toMatchObject({ version: 1 })
    await expectStatus(200, t.operator.post(`${q.path}/orders_in_region/undeploy`, { environment: 'staging' }))
    expect(await ask('Which orders came from the south?', {}, { 'x-sluice-environment': 'staging' })).toMatchObject({
      status: 422,
      body: { reason: 'no_match', candidates: [] },
    })
  })

  test('says once how it went, with the question and its confidence, and the log leaves the words out', async () => {
    await ask('Which orders came from the north?')
    const last = t.observations.findLast((each) => each.kind === 'query-answered')
    expect(last).toMatchObject({
      entry: 'question',
      query: 'orders_in_region',
      code: null,
      rows: 10,
      question: { text: 'Which orders came from the north?', confidence: expect.any(Number) },
    })
  })
})

/** What each event of a stream says; its kind and the type within agree. */
function eventsOf(body: unknown): Array<Record<string, unknown>> {
  return String(body)
    .split('\n\n')
    .filter((event) => event.startsWith('event: '))
    .map((event) => {
      const [kind, data = 'null'] = event.slice('event: '.length).split('\ndata: ')
      const said = JSON.parse(data) as Record<string, unknown>
      expect(said['type']).toBe(kind)
      return said
    })
}

async function logged(environment: string): Promise<unknown[]> {
  const path = `/v1/projects/${q.projectId}/questions?environment=${environment}`
  const { body } = await expectStatus(200, t.operator.get(path))
  return body.data.map(({ text, outcome }: Record<string, unknown>) => ({ text, outcome }))
}

test('a question whose run fails is not logged as answered, one that is answered is', async () => {
  await expectStatus(201, t.operator.post(`/v1/projects/${q.projectId}/environments`, { name: 'endless' }))
  const there = { 'x-sluice-environment': 'endless' }
  const examples = [{ question: 'count for ever' }, { question: 'how many pairs are there' }]
  const endless = {
    name: 'endless',
    description: 'Counts pairs of numbers',
    sql: 'SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE i * j = -1',
    timeout_ms: 300,
    examples,
  }
  await q.deploy(endless, 'endless')
  expect(await ask('count for ever', {}, there)).toMatchObject({ status: 504, body: { error: 'query_timeout' } })
  expect(await logged('endless')).toEqual([])
  await q.deploy({ ...endless, sql: 'SELECT 1 AS n FROM range(3)', timeout_ms: null }, 'endless')
  expect(await ask('count for ever', {}, there)).toMatchObject({ status: 200, body: { row_count: 3 } })
  expect(await ask('count for ever', { stream: true }, there)).toMatchObject({ status: 200 })
  const answered = { text: 'count for ever', outcome: 'answered' }
  expect(await logged('endless')).toEqual([answered, answered])
})

describe('a stream', () => {
  test('of a million rows comes as events: meta, rows, done', async () => {
    await expectStatus(201, t.operator.post(`/v1/projects/${q.projectId}/environments`, { name: 'numbers' }))
    const numbers = {
      name: 'many_numbers',
      description: 'A million numbers',
      sql: 'SELECT i FROM range(1000000) t(i)',
      examples: [{ question: 'count to a million' }, { question: 'give me a million numbers' }],
    }
    await q.deploy(numbers, 'numbers')
    const there = { 'x-sluice-environment': 'numbers' }
    const { headers, body } = await ask('count to a million', { stream: true, explain: true }, there)
    expect(headers['content-type']).toBe('text/event-stream; charset=utf-8')
    const events = eventsOf(body)
    expect(events[0]).toMatchObject({ type: 'meta', query_used: 'many_numbers', parameters: {}, routing: {} })
    expect(events.at(-1)).toMatchObject({ type: 'done', row_count: 1_000_000, truncated: false })
    const rows = events
      .filter(({ type }) => type === 'rows')
      .reduce((sum, event) => sum + (event['rows'] as unknown[]).length, 0)
    expect(rows).toBe(1_000_000)
  })

  test('that fails midway ends with the error and never looks complete', async () => {
    await expectStatus(201, t.operator.post(`/v1/projects/${q.projectId}/environments`, { name: 'broken' }))
    const broken = {
      name: 'broken_numbers',
      description: 'Numbers that end in an error',
      sql: "SELECT repeat('x', 100) AS x, CASE WHEN i < 90000 THEN i ELSE CAST('x' || i AS BIGINT) END AS n FROM range(99000) r(i)",
      max_rows: 1_000_000,
      examples: [{ question: 'count until it breaks' }, { question: 'give me the broken numbers' }],
    }
    await q.deploy(broken, 'broken')
    const there = { 'x-sluice-environment': 'broken' }
    const { status, body } = await ask('count until it breaks', { stream: true }, there)
    expect(status).toBe(200)
    const events = eventsOf(body)
    expect(events[0]).toMatchObject({ type: 'meta', query_used: 'broken_numbers' })
    expect(events.some(({ type }) => type === 'rows')).toBe(true)
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      error: 'invalid_query',
      message: expect.any(String),
      request_id: expect.stringMatching(/^req_/),
    })
    expect(events.some(({ type }) => type === 'done')).toBe(false)
    expect(t.observations.findLast((each) => each.kind === 'query-answered')).toMatchObject({
      query: 'broken_numbers',
      code: 'invalid_query',
    })
    expect(await logged('broken')).toEqual([])
  })

  test('also by Accept, as events or a row a line; a refusal before it keeps its status', async () => {
    const events = await ask('What are the biggest orders?', {}, { accept: 'text/event-stream' })
    expect(events.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    expect(eventsOf(events.body)).toMatchObject([
      {
        type: 'meta',
        query_used: 'biggest_orders',
        version: 1,
        parameters: { count: 3 },
        columns: [{ name: 'id' }, {}],
      },
      { type: 'rows', rows: [{}, {}, {}] },
      { type: 'done', row_count: 3, truncated: false, execution_time_ms: expect.any(Number) },
    ])
    const lines = await ask('What are the biggest orders?', {}, { accept: 'application/x-ndjson' })
    expect(lines.headers).toMatchObject({ 'x-sluice-query': 'biggest_orders' })
    expect(String(lines.body).trim().split('\n')).toHaveLength(3)
    expect(await ask('Who won the world cup?', { stream: true })).toMatchObject({
      status: 422,
      body: { error: 'invalid_query' },
    })
  })
})

describe('400', () => {
  test.each([
    ['an empty question', { query: '' }],
    ['a question of spaces', { query: ' \n\t ' }],
    ['2,001 characters', { query: 'x'.repeat(2_001) }],
    ['a question that is no text', { query: 7 }],
    ['no project', { project_id: undefined }],
    ['an unknown field', { queyr: 'x' }],
    ['an unknown time zone', { time_zone: 'Mars/Olympus' }],
    ['stream that is no boolean', { stream: 'yes' }],
  ])('%s', async (_, wrong) => {
    expect(await ask('Which orders came from the north?', wrong)).toMatchObject({
      status: 400,
      body: { error: 'invalid_query', reason: 'invalid_field', details: [{ field: Object.keys(wrong)[0] }] },
    })
  })

  test('parameters that the query has no slot for, or that are not good', async () => {
    const question = 'Which orders came from the north?'
    expect(await ask(question, { parameters: { colour: 'red' } })).toMatchObject({
      status: 400,
      body: { error: 'invalid_query', reason: 'unknown_slots' },
    })
    expect(await ask(question, { parameters: { region: 'west' } })).toMatchObject({
      status: 400,
      body: { error: 'invalid_query', reason: 'invalid_slots' },
    })
  })

  test('a project in the header that differs from the body', async () => {
    const answer = await ask('Which orders came from the north?', {}, { 'x-sluice-project': 'prj_other' })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_query', reason: 'invalid_field' } })
  })
})

describe('401 and 403', () => {
  test('401 without a key and with a management token', async () => {
    const body = { query: 'x', project_id: q.projectId }
    expect(await t.anonymous.post('/v1/query', body)).toMatchObject({ status: 401 })
    expect(await t.operator.post('/v1/query', body)).toMatchObject({ status: 401, body: { reason: 'wrong_kind' } })
  })

  test('403 is the same for a project that does not exist and one the key cannot see', async () => {
    const hidden = await t.project('Hidden')
    const [one, other] = await Promise.all(
      [hidden, 'prj_nowhere'].map((projectId) => ask('Which orders?', { project_id: projectId })),
    )
    expect(one?.status).toBe(403)
    expect({ ...one?.body, request_id: '' }).toEqual({ ...other?.body, request_id: '' })
  })

  test('a key limited to some queries is routed among those only, and hears of no other', async () => {
    const limited = await keyOf({ queries: ['biggest_orders'] })
    const body = { project_id: q.projectId, explain: true }
    const answer = await limited.post('/v1/query', { ...body, query: 'Which orders came from the north?' })
    expect(answer).toMatchObject({ status: 422, body: { reason: 'no_match' } })
    expect(JSON.stringify(answer.body)).not.toContain('orders_in_region')
    expect(JSON.stringify(answer.body)).not.toContain('north')
    const good = await limited.post('/v1/query', { ...body, query: 'What are the biggest orders?' })
    expect(good.body).toMatchObject({ query_used: 'biggest_orders' })
    const pinned = { ...body, query: 'x', query_name: 'orders_in_region' }
    expect(await limited.post('/v1/query', pinned)).toMatchObject({ status: 403 })
  })

  test('to a limited key a question that another query answers looks like one that none does', async () => {
    const limited = await keyOf({ queries: ['biggest_orders'] })
    const refusal = async (query: string) => {
      const { body } = await limited.post('/v1/query', { query, project_id: q.projectId, explain: true })
      const { routing, candidates, request_id: _, ...said } = body
      const numbers = { score: 0, routing_time_ms: 0 }
      const veiled = { ...routing, ...numbers, candidates: [{ ...routing.candidates[0], ...numbers }] }
      return { ...said, routing: veiled, candidates: [{ ...candidates[0], ...numbers }] }
    }
    expect(await refusal('Which orders came from the north?')).toEqual(await refusal('Which nights are moonless?'))
    const [newest] = (await t.operator.get(`/v1/projects/${q.projectId}/questions?limit=1`)).body.data
    expect(newest.confidence).toEqual(expect.any(Number))
  })

  test('what a key fixes stands; a question for another value is refused', async () => {
    const fixed = await keyOf({}, { fixed_parameters: { region: 'north' } })
    const body = { project_id: q.projectId }
    const own = await fixed.post('/v1/query', { ...body, query: 'Which orders came from the north?' })
    expect(own.body).toMatchObject({ parameters: { region: 'north' } })
    const other = await fixed.post('/v1/query', { ...body, query: 'Which orders came from the south?' })
    expect(other).toMatchObject({ status: 400, body: { reason: 'invalid_slots', details: [{ field: 'region' }] } })
  })
})

describe('404', () => {
  test('for a query that the caller names and that is not deployed', async () => {
    const answer = await ask('Which orders?', { query_name: 'nothing' })
    expect(answer).toMatchObject({ status: 404, body: { error: 'query_not_found' } })
  })
})
