import { Agent, request } from 'node:http'
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Observation } from '../../server/observe.ts'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { connectMcp, connectOlderMcp } from '../harness/mcp.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { biggest, inRegion } from '../harness/questions.ts'

const polled = { timeout: 60_000 }
const endless = 'SELECT count(*) AS n FROM range(100000000000) AS a(i) WHERE i % 7 = 3'

let t: TestApp
let q: QueryProject
let origin: string
let client: Client
beforeAll(async () => {
  t = await openTestApp({ SLUICE_MCP_ANSWER_ROWS: '20' }, { bounds: { mcpStreamsPerKey: 3 } })
  origin = await t.listen()
  q = await openQueryProject(t)
  await q.deploy(inRegion)
  await q.deploy(biggest)
  await q.deploy({ name: 'all_orders', sql: 'SELECT * FROM orders ORDER BY id', description: 'Every order there is' })
  client = await connectMcp(origin, q.secret)
})
afterAll(async () => {
  await client.close()
  await t.close()
})

type Result = Awaited<ReturnType<Client['callTool']>>
const textsOf = ({ content }: Result): string[] => content.flatMap((each) => (each.type === 'text' ? [each.text] : []))
const envelopeOf = (result: Result): Record<string, unknown> => JSON.parse(textsOf(result)[1] ?? '{}')
const keyFor = async (more: Record<string, unknown>): Promise<{ id: string; secret: string }> => {
  const body = { name: 'tools', plan: 'unlimited', permissions: [{ project_id: q.projectId, environments: '*' }] }
  return (await expectStatus(201, t.operator.post('/v1/api-keys', { ...body, ...more }))).body
}
const calls = (): Array<Extract<Observation, { kind: 'query-answered' }>> =>
  t.observations.filter((event) => event.kind === 'query-answered')

describe('a client of the protocol of 2026', () => {
  test('sees each deployed query as a tool that says what it takes and gives, and that it only reads', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['ask', 'all_orders', 'biggest_orders', 'orders_in_region'])
    const tool = tools.find(({ name }) => name === 'orders_in_region')
    expect(tool).toMatchObject({
      title: 'Orders in region',
      description: expect.stringContaining('The orders that came from a region'),
      inputSchema: { properties: { region: { enum: ['north', 'south', 'east'] } }, required: ['region'] },
      outputSchema: { properties: { data: { items: { required: ['id', 'amount'] } } } },
      annotations: { readOnlyHint: true, destructiveHint: false },
    })
  })

  test('gets rows as structured content that fits the schema, and the same as text; usage knows it as a tool', async () => {
    const before = calls().length
    const result = await client.callTool({ name: 'orders_in_region', arguments: { region: 'north' } })
    expect(result.isError).not.toBe(true)
    expect(result.structuredContent).toMatchObject({ row_count: 10, truncated: false, version: 1 })
    expect(JSON.parse(textsOf(result)[0] ?? '')).toEqual(result.structuredContent)
    expect(calls().slice(before)).toMatchObject([{ entry: 'tool', query: 'orders_in_region', code: null, rows: 10 }])
  })

  test('calls again and again over one connection', async () => {
    let connections = 0
    const count = (): number => (connections += 1)
    t.http.server.on('connection', count)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
    const headers = { authorization: `Bearer ${q.secret}`, accept: 'application/json, text/event-stream' }
    try {
      for (let at = 0; at < 3; at += 1) {
        const options = { method: 'POST', agent, headers: { ...headers, 'content-type': 'application/json' } }
        const status = await new Promise((resolve, reject) => {
          const sent = request(`${origin}/mcp`, options, (got) => got.resume().on('end', () => resolve(got.statusCode)))
          sent.on('error', reject).end(body)
        })
        expect(status).toBe(200)
      }
      expect(connections).toBe(1)
    } finally {
      agent.destroy()
      t.http.server.off('connection', count)
    }
  })

  test('asks in plain language and is told what was understood', async () => {
    const before = calls().length
    const result = await client.callTool({ name: 'ask', arguments: { question: 'Which orders came from the south?' } })
    expect(result.structuredContent).toMatchObject({
      query_used: 'orders_in_region',
      parameters: { region: 'south' },
      confidence: expect.any(Number),
      request_id: expect.stringMatching(/^req_/),
      row_count: 10,
    })
    expect(calls().slice(before)).toMatchObject([{ entry: 'question', query: 'orders_in_region' }])
    const refused = await client.callTool({ name: 'ask', arguments: { question: 'Who won the world cup in 1974?' } })
    expect(refused.isError).toBe(true)
    expect(envelopeOf(refused)).toMatchObject({ error: 'invalid_query', reason: 'no_match' })
    // The same for programs, with what came near.
    expect(refused.structuredContent).toEqual(envelopeOf(refused))
    const unsure = await client.callTool({ name: 'ask', arguments: { question: 'orders of the west region' } })
    expect(unsure.structuredContent).toMatchObject({ error: 'invalid_query', reason: expect.any(String) })
    const called = await client.callTool({ name: 'orders_in_region', arguments: { region: 'west' } })
    expect(called.structuredContent).toBeUndefined()
  })

  test('reads what is wrong with a call in its answer, with what to do, and calls on', async () => {
    const wrong = await client.callTool({ name: 'biggest_orders', arguments: { count: 99, colour: 'red' } })
    expect(wrong.isError).toBe(true)
    expect(textsOf(wrong)[0]).toContain('must be at most 20')
    expect(envelopeOf(wrong)).toMatchObject({ error: 'invalid_query', reason: 'unknown_slots' })
    const nowhere = await client.callTool({ name: 'orders_in_regoin', arguments: {} })
    expect(envelopeOf(nowhere)).toMatchObject({
      error: 'query_not_found',
      message: expect.stringContaining('orders_in_region'),
    })
    const unread = await client.callTool({ name: 'ask', arguments: { question: '', colour: 'red' } })
    expect(envelopeOf(unread)).toMatchObject({ error: 'invalid_query', reason: 'invalid_field' })
  })

  test('is told where rows are left out, and reads the rest as resources, without a gap', async () => {
    const result = await client.callTool({ name: 'all_orders', arguments: {} })
    const part = result.structuredContent as { data: Array<{ id: number }>; rest: string; read_all: string }
    expect(part).toMatchObject({ row_count: 30, truncated: true })
    expect(part.data.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1))
    expect(result.content.find(({ type }) => type === 'resource_link')).toMatchObject({ uri: part.rest })
    const { contents } = await client.readResource({ uri: part.rest })
    const rest = JSON.parse((contents[0] as { text: string }).text)
    expect(rest).toMatchObject({ from: 20, row_count: 30, truncated: false })
    expect(rest.data.map(({ id }: { id: number }) => id)).toEqual(Array.from({ length: 10 }, (_, at) => at + 21))
    const whole = await fetch(part.read_all, { headers: { authorization: `Bearer ${q.secret}` } })
    expect(((await whole.json()) as { data: unknown[] }).data).toHaveLength(30)
  })

  test('reads the tables that its queries read, with their age, and the OpenAPI document', async () => {
    const { resources } = await client.listResources()
    expect(resources.map(({ name }) => name)).toEqual(['openapi.json', 'freshness', 'orders'])
    const texts = await Promise.all(
      resources.map(async ({ uri }) => (await client.readResource({ uri })).contents[0] as { text: string }),
    )
    const [document, freshness, table] = texts.map(({ text }) => JSON.parse(text))
    expect(freshness).toMatchObject({
      now: expect.any(String),
      tables: [{ table: 'orders', as_of: table.as_of, age_seconds: expect.any(Number), truncated: false }],
    })
    expect(Object.keys(document.paths)).toContain('/v1/queries/all_orders')
    expect(table).toMatchObject({ table: 'orders', as_of: expect.any(String), truncated: false })
    expect(table.columns).toContainEqual({ name: 'region', type: 'VARCHAR' })
  })

  test('gets prompts, with what a person puts into them', async () => {
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(['answer_question', 'what_can_i_ask', 'is_the_data_fresh'])
    const prompt = { name: 'answer_question', arguments: { question: 'what came from the south' } }
    const { messages } = await client.getPrompt(prompt)
    expect(JSON.stringify(messages)).toContain('what came from the south')
    await expect(client.getPrompt({ name: 'answer_question' })).rejects.toThrow('question must have 1 to')
    await expect(client.getPrompt({ name: 'no_such' })).rejects.toThrow('There are answer_question')
  })

  test('does not see a query that its author leaves out; questions and calls still find it', async () => {
    await q.deploy({ name: 'hidden_orders', sql: 'SELECT count(*) AS n FROM orders', as_tool: false })
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).not.toContain('hidden_orders')
    const called = await client.callTool({ name: 'hidden_orders', arguments: {} })
    expect(envelopeOf(called)).toMatchObject({ error: 'query_not_found' })
    expect((await t.withToken(q.secret).post('/v1/queries/hidden_orders', {})).status).toBe(200)
    await q.deploy({ name: 'hidden_orders', sql: 'SELECT count(*) AS n FROM orders', as_tool: null })
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('hidden_orders')
    await t.operator.post(`${q.path}/hidden_orders/undeploy`, { environment: 'production', force: true })
  })

  test('fills in what is missing where it can ask a person, and is refused with its schema where it cannot', async () => {
    const asking = await connectMcp(origin, q.secret, { capabilities: { elicitation: { form: {} } } })
    const asked: unknown[] = []
    asking.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params)
      return { action: 'accept', content: { region: 'east' } }
    })
    const result = await asking.callTool({ name: 'orders_in_region', arguments: {} })
    expect(result.structuredContent).toMatchObject({ row_count: 10 })
    expect(asked).toMatchObject([{ requestedSchema: { properties: { region: { enum: ['north', 'south', 'east'] } } } }])
    const question = await asking.callTool({ name: 'ask', arguments: { question: 'Which orders came from where?' } })
    if (question.isError !== true) {
      expect(question.structuredContent).toMatchObject({
        query_used: 'orders_in_region',
        parameters: { region: 'east' },
      })
    }
    asking.setRequestHandler('elicitation/create', () => ({ action: 'decline' as const }))
    const declined = await asking.callTool({ name: 'orders_in_region', arguments: {} })
    expect(textsOf(declined)[0]).toContain('declined')
    await asking.close()
    const refused = await client.callTool({ name: 'orders_in_region', arguments: {} })
    expect(envelopeOf(refused)).toMatchObject({ reason: 'missing_slots', details: [{ field: 'region' }] })
  })

  test('hears of a release, and not of another project', async () => {
    const other = await openQueryProject(t)
    let heard = 0
    const listening = await connectMcp(origin, q.secret, {
      listChanged: { tools: { onChanged: () => void (heard += 1), autoRefresh: false, debounceMs: 0 } },
    })
    await other.deploy({ name: 'elsewhere', sql: 'SELECT 1 AS n' })
    await q.deploy({ name: 'fresh', sql: 'SELECT 1 AS n' })
    await expect.poll(() => heard, polled).toBe(1)
    const { tools } = await listening.listTools(undefined, { cacheMode: 'refresh' })
    expect(tools.map(({ name }) => name)).toContain('fresh')
    await listening.close()
  })

  test('hears how its call goes on, and stops the query by letting go of it', async () => {
    await q.deploy({ name: 'endless', sql: endless })
    const leaving = new AbortController()
    const heard: unknown[] = []
    const call = client.callTool(
      { name: 'endless', arguments: {} },
      {
        signal: leaving.signal,
        onprogress: (progress) => {
          heard.push(progress)
          if (heard.length === 2) leaving.abort(new Error('enough'))
        },
      },
    )
    await expect(call).rejects.toThrow('enough')
    expect(heard).toHaveLength(2)
    await expect
      .poll(() => calls().at(-1), polled)
      .toMatchObject({ query: 'endless', entry: 'tool', code: 'cancelled' })
  })
})

describe('a client of the protocols before', () => {
  test('lists and calls the same tools, and its own check of what they give is content', async () => {
    const older = await connectOlderMcp(origin, q.secret)
    const { tools } = await older.listTools()
    expect(tools.map(({ name }) => name)).toContain('orders_in_region')
    const result = await older.callTool({ name: 'all_orders', arguments: {} })
    expect(result['structuredContent']).toMatchObject({ row_count: 30, truncated: true })
    const refused = await older.callTool({ name: 'orders_in_region', arguments: {} })
    expect(refused['isError']).toBe(true)
    const { resources } = await older.listResources()
    expect((await older.readResource({ uri: resources[0]?.uri ?? '' })).contents).toHaveLength(1)
    await older.close()
  })

  test('hears of a release on its stream', async () => {
    const older = await connectOlderMcp(origin, q.secret)
    let heard = 0
    const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js')
    older.setNotificationHandler(ToolListChangedNotificationSchema, () => void (heard += 1))
    // The client opens its stream by itself once it has said that it is ready.
    await expect
      .poll(async () => {
        await q.deploy({ name: `again_${Date.now()}`, sql: 'SELECT 1 AS n' })
        return heard
      }, polled)
      .toBeGreaterThan(0)
    await older.close()
  })

  test('cancels a call by saying so, and no call of another client with the same id', async () => {
    await q.deploy({ name: 'endless', sql: endless })
    const [one, other] = await Promise.all([connectOlderMcp(origin, q.secret), connectOlderMcp(origin, q.secret)])
    const [leaving, stays] = [new AbortController(), new AbortController()]
    const heard = { left: 0, staying: 0 }
    const before = calls().length
    const endlessCall = { name: 'endless', arguments: {} }
    const left = one.callTool(endlessCall, undefined, { signal: leaving.signal, onprogress: () => void heard.left++ })
    const staying = other.callTool(endlessCall, undefined, {
      signal: stays.signal,
      onprogress: () => void heard.staying++,
    })
    await expect.poll(() => Math.min(heard.left, heard.staying), polled).toBeGreaterThan(1)
    leaving.abort()
    await expect(left).rejects.toThrow('abort')
    await expect.poll(() => calls().length - before, polled).toBe(1)
    // The other one runs on, and says so.
    const told = heard.staying
    await expect.poll(() => heard.staying, polled).toBeGreaterThan(told + 1)
    expect(calls().length - before).toBe(1)
    stays.abort()
    await expect(staying).rejects.toThrow('abort')
    await expect.poll(() => calls().length - before, polled).toBe(2)
    await Promise.all([one.close(), other.close()])
  })
})

describe('a key', () => {
  test('of few queries sees these and the tables they read, and no other by name', async () => {
    const permissions = [{ project_id: q.projectId, environments: ['production'], queries: ['biggest_orders'] }]
    const { secret } = await keyFor({ permissions })
    const few = await connectMcp(origin, secret)
    expect((await few.listTools()).tools.map(({ name }) => name)).toEqual(['ask', 'biggest_orders'])
    const refused = await few.callTool({ name: 'all_orders', arguments: {} })
    expect(envelopeOf(refused)).toMatchObject({ error: 'query_not_found' })
    const { resources } = await few.listResources()
    const uri = resources.find(({ name }) => name === 'orders')?.uri ?? ''
    const { contents } = await few.readResource({ uri })
    const { columns } = JSON.parse((contents[0] as { text: string }).text)
    expect(columns.map(({ name }: { name: string }) => name).toSorted()).toEqual(['amount', 'id'])
    await few.close()
  })

  test('that fixes a slot offers the tool without it and calls it with it', async () => {
    const { secret } = await keyFor({ fixed_parameters: { region: 'south' } })
    const fixed = await connectMcp(origin, secret)
    const { tools } = await fixed.listTools()
    expect(tools.find(({ name }) => name === 'orders_in_region')?.inputSchema).toMatchObject({
      properties: {},
      required: [],
    })
    const result = await fixed.callTool({ name: 'orders_in_region', arguments: {} })
    const { data } = result.structuredContent as { data: Array<{ id: number }> }
    expect(data[0]?.id).toBe(2)
    await fixed.close()
  })

  test('of several projects sees each query under a name of its own, or one project where it names it', async () => {
    const other = await openQueryProject(t)
    await other.deploy({ name: 'all_orders', sql: 'SELECT 1 AS only' })
    const permissions = [q, other].map(({ projectId }) => ({ project_id: projectId, environments: '*' }))
    const { secret } = await keyFor({ permissions })
    const both = await connectMcp(origin, secret)
    const { tools } = await both.listTools()
    const named = tools.map(({ name }) => name).filter((name) => name.startsWith('all_orders'))
    expect(named).toHaveLength(2)
    const rows = await Promise.all(named.map((name) => both.callTool({ name, arguments: {} })))
    const counts = rows.map(({ structuredContent }) => (structuredContent as { row_count: number }).row_count)
    expect(counts.toSorted((one, two) => one - two)).toEqual([1, 30])
    const unnamed = await both.callTool({ name: 'ask', arguments: { question: 'Which orders came from the south?' } })
    expect(envelopeOf(unnamed)).toMatchObject({ details: [{ field: 'project_id' }] })
    await both.close()
    const one = await connectMcp(origin, secret, { search: `?project_id=${other.projectId}` })
    expect((await one.listTools()).tools.map(({ name }) => name)).toEqual(['ask', 'all_orders'])
    await one.close()
  })

  test('with more queries than a list may hold searches them by words and calls what it finds', async () => {
    const many = await openTestApp({}, { bounds: { mcpTools: 2 } })
    const place = await openQueryProject(many)
    await place.deploy(inRegion)
    await place.deploy(biggest)
    await place.deploy({ name: 'ask', sql: 'SELECT 7 AS n', description: 'The number seven' })
    const searching = await connectMcp(await many.listen(), place.secret)
    expect((await searching.listTools()).tools.map(({ name }) => name)).toEqual(['ask', 'list_queries', 'call_query'])
    const found = await searching.callTool({ name: 'list_queries', arguments: { words: 'highest amounts' } })
    const { queries } = found.structuredContent as { queries: Array<{ name: string }> }
    expect(queries[0]?.name).toBe('biggest_orders')
    const none = await searching.callTool({ name: 'list_queries', arguments: { words: 'weather' } })
    expect(none.structuredContent).toEqual({ queries: [], total: 0 })
    const result = await searching.callTool({
      name: 'call_query',
      arguments: { name: 'biggest_orders', parameters: { count: 2 } },
    })
    expect(result.structuredContent).toMatchObject({ row_count: 2 })
    const own = await searching.callTool({ name: 'call_query', arguments: { name: 'query-ask' } })
    expect(own.structuredContent).toMatchObject({ data: [{ n: 7 }] })
    await searching.close()
    await many.close()
  })

  test('over its limit is told so by the tool, with how long to wait', async () => {
    const { secret } = await keyFor({ rate_limit: { per_minute: 1, burst: 3 } })
    const slow = await connectMcp(origin, secret)
    const results = []
    for (let at = 0; at < 3; at += 1) results.push(await slow.callTool({ name: 'biggest_orders', arguments: {} }))
    const refused = results.at(-1)
    expect(refused?.isError).toBe(true)
    if (refused === undefined) return
    expect(envelopeOf(refused)).toMatchObject({ error: 'rate_limit_exceeded', retry_after: expect.any(Number) })
    await slow.close()
  })

  test('that is revoked ends what listens with it', async () => {
    const { id, secret } = await keyFor({})
    const listening = await connectMcp(origin, secret)
    const subscription = await listening.listen({ toolsListChanged: true })
    await expectStatus(204, t.operator.delete(`/v1/api-keys/${id}`))
    await q.deploy({ name: `after_${Date.now()}`, sql: 'SELECT 1 AS n' })
    await subscription.closed
    await expect(listening.listTools(undefined, { cacheMode: 'refresh' })).rejects.toThrow('revoked')
    await listening.close().catch(() => undefined)
  })
})
