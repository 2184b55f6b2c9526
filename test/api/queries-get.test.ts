import { tableFromIPC } from 'apache-arrow'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { openAppWithSource, type Source } from '../harness/source.ts'

let t: TestApp
let source: Source
let project: QueryProject
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource())
  project = await openQueryProject(t)
  await project.deploy({
    name: 'pick',
    sql: `SELECT $word::VARCHAR AS word, $many::BIGINT[] AS many, $share::DOUBLE AS share, $flag::BOOLEAN AS flag, $day::DATE AS day, $format::VARCHAR AS format`,
    slots: {
      type: 'object',
      properties: {
        word: { type: 'string' },
        many: { type: 'array', items: { type: 'integer' } },
        share: { type: 'number', maximum: 1 },
        flag: { type: 'boolean' },
        day: { type: 'string', format: 'date' },
        format: { type: 'string' },
      },
      required: ['word'],
    },
  })
})
afterAll(() => t.close())

const get = (search: string, headers: Record<string, string> = {}) =>
  project.caller.get(`/v1/queries/pick?${search}`, undefined, headers)

describe('GET /v1/queries/{name}', () => {
  test('200 with slots from the address, as the same POST answers', async () => {
    const search = 'word=5&many=1&many=2&share=0.5&flag=true&day=2026-01-02&slot.format=x'
    const { body, headers } = await expectStatus(200, get(search))
    const parameters = { word: '5', many: [1, 2], share: 0.5, flag: true, day: '2026-01-02', format: 'x' }
    const posted = await expectStatus(200, project.caller.post('/v1/queries/pick', parameters))
    expect(body.data).toEqual(posted.body.data)
    expect(body.data).toEqual([parameters])
    expect(headers['cache-control']).toBe('private, no-cache')
    expect((await get('word=x&many=7&share=&flag=')).body.data).toMatchObject([{ many: [7], share: null, flag: null }])
  })

  test.each([
    ['format=csv&word=a', 'text/csv; charset=utf-8', 'word,many,share,flag,day,format\r\na,,,,,\r\n'],
    ['format=ndjson&word=a', 'application/x-ndjson; charset=utf-8', '{"word":"a"'],
  ])('%s', async (search, type, start) => {
    const { status, headers, body } = await get(search)
    expect([status, headers['content-type']]).toEqual([200, type])
    expect(String(body)).toContain(start)
  })

  test('400 for what is mistyped, unknown, missing or given twice, and for a format that is none', async () => {
    expect(await get('word=a&share=half')).toMatchObject({ status: 400, body: { reason: 'invalid_slots' } })
    expect(await get('word=a&wrod=b')).toMatchObject({ status: 400, body: { reason: 'unknown_slots' } })
    expect(await get('share=1')).toMatchObject({ status: 400, body: { reason: 'missing_slots' } })
    expect(await get('word=a&word=b')).toMatchObject({ status: 400, body: { reason: 'invalid_slots' } })
    expect(await get('word=a&format=xml')).toMatchObject({ status: 400, body: { error: 'invalid_query' } })
  })

  test('401 for a key in the address, 404 for a name that is not deployed', async () => {
    expect(await get(`word=a&api_key=${project.secret}`)).toMatchObject({ status: 401, body: { reason: 'malformed' } })
    expect((await project.caller.get('/v1/queries/nothing')).status).toBe(404)
    expect((await t.anonymous.get('/v1/queries/pick?word=a')).status).toBe(401)
  })

  test('HEAD and If-None-Match work as for any address', async () => {
    await project.deploy({ name: 'kept', sql: 'SELECT 1 AS one', cache_seconds: 60 })
    const first = await expectStatus(200, project.caller.get('/v1/queries/kept'))
    const again = await project.caller.get('/v1/queries/kept', undefined, {
      'if-none-match': String(first.headers.etag),
    })
    expect(again.status).toBe(304)
  })
})

test('/v1/query honours Accept and format as a direct call does', async () => {
  await project.deploy({
    name: 'order_count',
    sql: 'SELECT count(*) AS orders FROM orders',
    description: 'How many orders there are in all',
    examples: [
      { question: 'How many orders do we have?', parameters: {} },
      { question: 'number of orders', parameters: {} },
    ],
  })
  const body = { query: 'How many orders do we have?', project_id: project.projectId }
  const csv = await expectStatus(200, project.caller.post('/v1/query', body, { accept: 'text/csv' }))
  expect([csv.headers['content-type'], csv.body]).toEqual(['text/csv; charset=utf-8', 'orders\r\n30\r\n'])
  const named = await expectStatus(200, project.caller.post('/v1/query?format=ndjson', body))
  expect(named.body).toBe('{"orders":30}\n')
  const response = await t.http.inject({
    method: 'POST',
    url: '/v1/query?format=arrow',
    headers: { authorization: `Bearer ${project.secret}` },
    payload: body,
  })
  expect(tableFromIPC(response.rawPayload).get(0)?.toJSON()).toEqual({ orders: 30n })
})

describe('web pages', () => {
  const origin = 'https://dashboard.example'
  const allowed = (answer: { headers: Record<string, unknown> }) => answer.headers['access-control-allow-origin']
  const preflight = (from: string) =>
    t.http.inject({
      method: 'OPTIONS',
      url: '/v1/queries/pick',
      headers: { origin: from, 'access-control-request-method': 'GET' },
    })

  test('read nothing unless the project names their origin', async () => {
    expect(allowed(await get('word=a', { origin }))).toBeUndefined()
    expect(allowed(await preflight(origin))).toBeUndefined()
    const path = `/v1/projects/${project.projectId}`
    expect((await t.operator.patch(path, { allowed_origins: [`${origin}/page`] })).status).toBe(400)
    const changed = await expectStatus(200, t.operator.patch(path, { allowed_origins: [origin] }))
    expect(changed.body).toMatchObject({ name: 'Shop', allowed_origins: [origin] })
    const answered = await expectStatus(200, get('word=a', { origin }))
    expect(allowed(answered)).toBe(origin)
    expect(answered.headers['vary']).toContain('origin')
    expect(answered.headers).not.toHaveProperty('access-control-allow-credentials')
    const before = await preflight(origin)
    expect([before.statusCode, allowed(before)]).toEqual([204, origin])
    expect(before.headers['access-control-allow-headers']).toContain('Authorization')
    expect(allowed(await get('word=a', { origin: 'https://other.example' }))).toBeUndefined()
    expect(allowed(await preflight('https://other.example'))).toBeUndefined()
    // A page may read why its call was refused.
    expect(allowed(await get('wrod=a', { origin }))).toBe(origin)
    const asked = await project.caller.post('/v1/query', { query: 'x', project_id: project.projectId }, { origin })
    expect(allowed(asked)).toBe(origin)
    // Management is for pages of this server alone.
    expect(allowed(await t.operator.get(path, undefined, { origin }))).toBeUndefined()
    await expectStatus(200, t.operator.patch(path, { allowed_origins: [] }))
    expect(allowed(await get('word=a', { origin }))).toBeUndefined()
  })

  test("a page that one project names reads no other project's answers", async () => {
    const other = await openQueryProject(t)
    await other.deploy({ name: 'one', sql: 'SELECT 1 AS one' })
    await expectStatus(200, t.operator.patch(`/v1/projects/${project.projectId}`, { allowed_origins: [origin] }))
    const answered = await expectStatus(200, other.caller.get('/v1/queries/one', undefined, { origin }))
    expect(allowed(answered)).toBeUndefined()
  })
})

test('an answer that rests on a load that was cut short says so, with the age of each table', async () => {
  source.handle((request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page'))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify([{ id: page }]))
  })
  const loaded = await expectStatus(
    200,
    t.operator.post('/v1/http/execute-request', {
      project_id: project.projectId,
      datasource_id: 'ds_cut',
      connect_spec: { name: 'cut', id: 'http_api' },
      url: source.url,
      method: 'GET',
      pagination: { type: 'page', max_pages: 2 },
    }),
  )
  expect(loaded.body.truncated).toBe(true)
  await project.deploy({ name: 'partial', sql: 'SELECT count(*) AS many FROM cut, orders' })
  await project.deploy({ name: 'whole', sql: 'SELECT count(*) AS many FROM orders' })
  const { body } = await expectStatus(200, project.caller.get('/v1/queries/partial'))
  expect(body).toMatchObject({
    data: [{ many: 60 }],
    meta: {
      truncated_source: true,
      tables: expect.arrayContaining([
        { name: 'cut', as_of: expect.any(String) as string, truncated: true },
        { name: 'orders', as_of: expect.any(String) as string, truncated: false },
      ]) as unknown,
    },
  })
  const csv = await project.caller.get('/v1/queries/partial?format=csv')
  expect(csv.headers['x-sluice-truncated-source']).toBe('true')
  expect((await project.caller.get('/v1/queries/whole')).body).not.toHaveProperty('meta')
})
