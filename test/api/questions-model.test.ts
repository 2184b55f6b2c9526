import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { describeError } from '../../server/log.ts'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { openSource, type Source } from '../harness/source.ts'

let t: TestApp
let model: Source
let q: QueryProject
let asked: Array<{ headers: IncomingMessage['headers']; body: string }> = []
beforeAll(async () => {
  model = await openSource()
  t = await openTestApp(
    {
      SLUICE_OUTBOUND_ALLOW: model.host,
      SLUICE_LLM_BASE_URL: `http://${model.host}/v1`,
      SLUICE_LLM_MODEL: 'tiny',
      SLUICE_LLM_API_KEY: 'secret-of-the-model',
      // So long that forty questions come together on a busy machine.
      SLUICE_LANGUAGE_MODEL_TIMEOUT_MS: '5000',
    },
    { bounds: { questionWaitMs: 20_000 } },
  )
  q = await openQueryProject(t)
  const examples = ['list the customers by name', 'which customers are there?', 'all our customers, please']
  const twin = { description: 'Customers by name', examples: examples.map((question) => ({ question })) }
  await q.deploy({ name: 'customers_a', sql: "SELECT 'a' AS x", ...twin })
  await q.deploy({ name: 'customers_b', sql: "SELECT 'b' AS x", ...twin })
  await q.deploy({
    name: 'orders_noted',
    description: 'Orders whose note holds a text',
    sql: 'SELECT $note AS note, count(*) AS n FROM orders',
    slots: { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] },
    examples: [{ question: 'Which orders are noted?' }, { question: 'search the notes of orders' }],
  })
  await q.deploy({
    name: 'orders_about',
    description: 'Orders about something',
    sql: 'SELECT $text AS text, count(*) AS n FROM orders',
    slots: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    examples: [
      { question: 'orders about porcelain', parameters: { text: 'porcelain' } },
      { question: 'which orders are about gifts', parameters: { text: 'gifts' } },
    ],
  })
  await q.deploy({
    name: 'order_count',
    description: 'How many orders there are',
    sql: 'SELECT count(*) AS n FROM orders',
    examples: [
      { question: 'How many orders are there?' },
      { question: 'number of orders' },
      { question: 'count orders' },
    ],
  })
}, 90_000)
afterAll(async () => {
  await t.close()
  await model.close()
})
beforeEach(() => {
  asked = []
})

/** The endpoint answers with this; what it was asked is kept. */
function answers(respond: (response: ServerResponse) => void): void {
  model.handle((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      asked.push({ headers: request.headers, body: Buffer.concat(pieces).toString() })
      respond(response)
    })
  })
}

function chooses(choice: unknown): void {
  const content = typeof choice === 'string' ? choice : JSON.stringify(choice)
  answers((response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }))
  })
}

function ask(query: string, more: Record<string, unknown> = {}) {
  return q.caller.post('/v1/query', { query, project_id: q.projectId, explain: true, ...more })
}

const ambiguous = 'list the customers by name'

/** A byte now and then: no single wait is long. */
function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write(' '), 50)
  response.on('close', () => clearInterval(timer))
}

describe('a language model', () => {
  test('settles what is ambiguous, and sees the question, the schemas and no row', async () => {
    chooses({ query: 'customers_b', parameters: {} })
    const { body } = await ask(ambiguous)
    expect(body).toMatchObject({ query_used: 'customers_b', data: [{ x: 'b' }], routing: { decided_by: 'model' } })
    expect(asked).toHaveLength(1)
    expect(asked[0]?.headers.authorization).toBe('Bearer secret-of-the-model')
    const sent = JSON.parse(asked[0]?.body ?? '')
    expect(sent).toMatchObject({ model: 'tiny', temperature: 0 })
    const told = JSON.parse(sent.messages[1].content)
    expect(Object.keys(told).toSorted()).toEqual(['queries', 'question', 'time_zone', 'today'])
    expect(told.question).toBe(ambiguous)
    expect(told.queries.map(({ name }: { name: string }) => name).toSorted()).toEqual(['customers_a', 'customers_b'])
    for (const query of told.queries) {
      expect(Object.keys(query).toSorted()).toEqual(['description', 'examples', 'name', 'parameters'])
    }
    const offered = sent.response_format.json_schema.schema.properties.query.enum
    expect(offered.toSorted()).toEqual(['customers_a', 'customers_b', null].toSorted())
    expect(asked[0]?.body).not.toContain('SELECT')
  })

  test('fills an open text from the words of the question, and nothing it made up', async () => {
    chooses({ query: 'orders_noted', parameters: { note: 'fragile glass' } })
    const named = { query_name: 'orders_noted' }
    const filled = await ask('Which orders are noted as fragile glass?', named)
    expect(filled.body).toMatchObject({ parameters: { note: 'fragile glass' }, routing: { decided_by: 'model' } })
    chooses({ query: 'orders_noted', parameters: { note: 'made up' } })
    const made = await ask('search the notes of orders', named)
    expect(made).toMatchObject({ status: 422, body: { reason: 'missing_slots', query_used: 'orders_noted' } })
    expect(JSON.stringify(made.body)).not.toContain('made up')
  })

  test('is not asked where the router is sure, whether of an answer or of a refusal', async () => {
    chooses({ query: 'customers_a', parameters: {} })
    expect((await ask('How many orders are there?')).body).toMatchObject({ query_used: 'order_count' })
    expect((await ask('Who won the world cup?')).body).toMatchObject({ reason: 'no_match' })
    expect((await ask('Which orders are noted as fragile?', { parameters: { note: 'x' } })).status).toBe(200)
    expect(asked).toEqual([])
  })

  test('does not overrule what the question says against a value', async () => {
    chooses({ query: 'orders_about', parameters: { text: 'glass' } })
    const answer = await ask('orders not about glass', { query_name: 'orders_about' })
    expect(answer).toMatchObject({
      status: 422,
      body: {
        reason: 'missing_slots',
        details: [{ field: 'text', message: expect.stringContaining('not about glass') }],
      },
    })
    expect(asked).toEqual([])
  })

  test('that names the offered query with values of other kinds gives none of them', async () => {
    chooses({ query: 'orders_noted', parameters: { note: ['search'], nothing: 'orders', __proto__: 'notes' } })
    const answer = await ask('search the notes of orders', { query_name: 'orders_noted' })
    expect(answer).toMatchObject({ status: 422, body: { reason: 'missing_slots', parameters: {} } })
    expect(asked).toHaveLength(1)
  })

  test.each([
    ['hangs', () => answers(() => undefined)],
    ['answers 500', () => answers((response) => void response.writeHead(500).end('{}'))],
    ['talks nonsense', () => chooses('I would say customers_b, probably.')],
    ['answers something else than a completion', () => answers((response) => void response.end('{"ok":true}'))],
    ['names a query that was not offered', () => chooses({ query: 'order_count', parameters: {} })],
    ['names none', () => chooses({ query: null, parameters: {} })],
    ['closes the connection', () => answers((response) => void response.destroy())],
    ['breaks off midway', () => answers((response) => void (response.write('{"choices":['), response.destroy()))],
    ['drips without end', () => answers(drip)],
    [
      'sends elsewhere',
      () => answers((response) => void response.writeHead(302, { location: `http://${model.host}/other` }).end()),
    ],
    ['gives no text', () => answers((response) => void response.end('{"choices":[{"message":{"content":null}}]}'))],
    ['gives no choice', () => answers((response) => void response.end('{"choices":[]}'))],
    ['gives no object', () => chooses('null')],
    ['gives parameters that are a list', () => chooses({ query: 'customers_b', parameters: ['a'] })],
    ['answers without end', () => answers((response) => void response.end('x'.repeat(200_000)))],
  ])('that %s leaves the answer of the router', async (_, prepare) => {
    prepare()
    expect(await ask(ambiguous)).toMatchObject({
      status: 422,
      body: { reason: 'ambiguous', routing: { decided_by: 'router' } },
    })
    expect(asked).toHaveLength(1)
  })

  test.each([ambiguous, { [ambiguous]: 1 }])(
    'that repeats the question (%j) brings no word of it into the log',
    async (said) => {
      t.observations.length = 0
      chooses(said)
      expect((await ask(ambiguous)).status).toBe(422)
      const faults = t.observations.filter(({ kind }) => kind === 'fault')
      expect(faults).toHaveLength(1)
      const told = faults.map((event) => ('error' in event ? describeError(event.error) : event))
      expect(JSON.stringify(told)).not.toMatch(/customers|list the/)
    },
  )

  test('that hangs holds few places: the others are answered by the router at once', async () => {
    const hanging: ServerResponse[] = []
    answers((response) => void hanging.push(response))
    let answered = 0
    const asking = Array.from({ length: 40 }, async () => {
      const { status } = await ask(ambiguous)
      answered += 1
      return status
    })
    await expect.poll(() => [hanging.length, answered]).toEqual([16, 24])
    for (const response of hanging) response.destroy()
    expect(await Promise.all(asking)).toEqual(asking.map(() => 422))
    expect(asked).toHaveLength(16)
    chooses({ query: 'customers_b', parameters: {} })
    expect((await ask(ambiguous)).body.query_used).toBe('customers_b')
  })
})
