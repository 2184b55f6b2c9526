import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestApp } from '../harness/app.ts'
import { openAppWithSource, type Source } from '../harness/source.ts'

let t: TestApp
let source: Source
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource(
    {
      SLUICE_TEST_TIMEOUT_MS: '2000',
    },
    { bounds: { testPreviewBytes: 1024, outboundTries: 1 } },
  ))
})
afterAll(() => t.close())
beforeEach(() => source.answer({ items: [{ a: 1 }] }))

const call = (config: Record<string, unknown> = {}) =>
  t.operator.post('/v1/http/test-connection', { url: source.url, method: 'GET', ...config })

describe('200', () => {
  test('says what the answer looks like where it is asked to, whatever the extractor takes', async () => {
    source.answer({ meta: { total: 2 }, data: { items: [{ a: 1 }] }, next: '/data?page=2' })
    const { body } = await call({ detect: true, responsePathExtractor: 'data.items' })
    expect(body).toMatchObject({
      data: [{ a: 1 }],
      detected: { rows: { path: 'data.items', count: 1 }, pagination: { type: 'next_link', path: 'next' } },
    })
    expect((await call()).body).not.toHaveProperty('detected')
  })

  test('fills variables in, and refuses one that is none', async () => {
    source.answer([])
    const yesterday = () => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
    const before = yesterday()
    await call({ parameters: { since: { value: '{{date:-1d}}', required: true } } })
    const since = new URL(source.requests.at(-1)?.url ?? '', source.url).searchParams.get('since')
    // Midnight may come between.
    expect([before, yesterday()]).toContain(since)
    const refused = await call({ parameters: { since: { value: '{{sometime}}', required: true } } })
    expect(refused).toMatchObject({ status: 400, body: { details: [{ field: 'parameters.since.value' }] } })
  })

  test('begins where a load would: at the value that is given, or that its datasource begins with', async () => {
    const body = { type: 'json', content: { since: '{{last_value}}' } }
    const config = { url: source.url, method: 'POST', body }
    expect(await call({ ...config })).toMatchObject({ status: 400 })
    const seen: string[] = []
    source.handle((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => void seen.push(text))
      request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('[]'))
    })
    expect(await call({ ...config, last_value: '2026-01-01' })).toMatchObject({ status: 200 })
    const projectId = await t.project()
    const load = { mode: 'append', cursor: { field: 'at', initial_value: 7 } }
    const made = await t.operator.post(`/v1/projects/${projectId}/datasources`, {
      name: 'x',
      kind: 'http_api',
      config,
      load,
    })
    await call({ ...config, project_id: projectId, datasource_id: made.body.id })
    expect(seen).toEqual(['{"since":"2026-01-01"}', '{"since":"7"}'])
    await t.operator.delete(`/v1/projects/${projectId}/datasources/${made.body.id}`)
  })

  test('tells what came back, exactly as specified, and stores nothing', async () => {
    const { status, body } = await call()
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      status: 200,
      response_time: expect.any(Number),
      content_type: 'application/json',
      size: 19,
      data: { items: [{ a: 1 }] },
    })
    const { rows } = await t.app.store.pool.query('select count(*)::int as count from datasources')
    expect(rows).toEqual([{ count: 0 }])
  })

  test.each(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])('every method: %s', async (method) => {
    expect((await call({ method })).body).toMatchObject({ success: true, status: 200 })
    expect(source.requests.at(-1)?.method).toBe(method)
  })

  test('every authType reaches the API as it should', async () => {
    const sent = async (authType: string, auth: Record<string, unknown>) => {
      await call({ authType, auth })
      return source.requests.at(-1)
    }
    expect((await sent('None', {}))?.headers.authorization).toBeUndefined()
    expect((await sent('Bearer Token', { token: 't1' }))?.headers.authorization).toBe('Bearer t1')
    expect((await sent('basic', { username: 'u', password: 'p' }))?.headers.authorization).toBe('Basic dTpw')
    expect((await sent('API Key', { key: 'X-Key', value: 'v' }))?.headers['x-key']).toBe('v')
    expect((await sent('api_key', { key: 'k', value: 'v', in: 'query' }))?.url).toBe('/data?k=v')
    expect((await sent('API Key', { key: 'k', value: 'v', in: 'cookie' }))?.headers.cookie).toBe('k=v')
  })

  test('success is false for an answer that is no 2xx, with what it said', async () => {
    source.answer({ why: 'no' }, { 'content-type': 'application/json' }, 403)
    expect((await call()).body).toMatchObject({ success: false, status: 403, data: { why: 'no' } })
  })

  test('success is false and status 0 without any answer, with the cause', async () => {
    source.handle(() => undefined)
    expect((await call()).body).toMatchObject({ success: false, status: 0, error: { code: 'timeout' } })
    source.handle((request) => request.socket.destroy())
    expect((await call()).body).toMatchObject({ success: false, status: 0, error: { code: 'connect_error' } })
    source.handle((_request, response) => void response.writeHead(302, { location: 'http://10.0.0.1/' }).end())
    expect((await call()).body).toMatchObject({ success: false, status: 0, error: { code: 'blocked' } })
    source.handle((_request, response) => void response.writeHead(302, { location: '/data' }).end())
    expect((await call()).body).toMatchObject({ success: false, error: { code: 'too_many_redirects' } })
  })

  test('an extractor shows its part; without a match the whole response and the keys that are there', async () => {
    expect((await call({ responsePathExtractor: 'items' })).body.data).toEqual([{ a: 1 }])
    const missed = (await call({ responsePathExtractor: 'rows' })).body
    expect(missed).toMatchObject({ success: false, error: { code: 'extractor_no_match' }, data: { items: [{ a: 1 }] } })
    expect(missed.error.message).toContain('items')
  })

  test('an extractor shows its part of every line of NDJSON, as execute takes it', async () => {
    const lines = { 'content-type': 'application/x-ndjson' }
    source.answer('{"r":[{"a":1},{"a":2}]}\n\n{"r":[{"a":1e400}]}\n', lines)
    const { body } = await call({ responsePathExtractor: 'r' })
    expect(body).toMatchObject({ success: true, data: [{ a: 1 }, { a: 2 }, { a: '1e400' }] })
    // A preview of 1,024 bytes ends within the seventh line.
    const line = (id: number) => `{"r":[{"id":${id},"text":"${'x'.repeat(140)}"}]}\n`
    source.answer([1, 2, 3, 4, 5, 6, 7, 8].map(line).join(''), lines)
    const { body: cut } = await call({ responsePathExtractor: 'r' })
    expect(cut).toMatchObject({ success: true, truncated: true })
    expect(cut.data.map(({ id }: { id: number }) => id)).toEqual([1, 2, 3, 4, 5, 6])
    source.answer('{"r":1}\n{"s":2}\n', lines)
    const missed = await call({ responsePathExtractor: 'r' })
    expect(missed.body).toMatchObject({ success: false, error: { code: 'extractor_no_match' } })
  })

  test('of JSON that is longer than a preview the whole rows are shown, and where they are', async () => {
    const row = (id: number) => ({ id, text: 'x, ] } "'.repeat(12) })
    const rows = Array.from({ length: 20 }, (_, id) => row(id))
    source.answer(JSON.stringify({ meta: { tags: { a: 1, b: 2 } }, items: rows }), {
      'content-type': 'application/json',
    })
    const { body } = await call({ detect: true })
    expect(body).toMatchObject({ success: true, truncated: true, detected: { rows: { path: 'items' } } })
    expect(body.data.meta).toEqual({ tags: { a: 1, b: 2 } })
    expect(body.data.items.length).toBeGreaterThan(2)
    expect(body.data.items).toEqual(rows.slice(0, body.data.items.length))
    const { body: taken } = await call({ responsePathExtractor: 'items' })
    expect(taken).toMatchObject({ success: true, truncated: true, data: body.data.items })
    source.answer(JSON.stringify(Array.from({ length: 900 }, (_, id) => id)), { 'content-type': 'application/json' })
    expect((await call()).body.data.slice(0, 3)).toEqual([0, 1, 2])
  })

  test('a charset that the API does not name is the one the request accepts', async () => {
    source.answer(Buffer.from('id;name\n1;K\xe4se \x80\n', 'latin1'), { 'content-type': 'text/csv' })
    const { body } = await call({ headers: { 'Accept-Charset': 'windows-1252' } })
    expect(body).toMatchObject({ content_type: 'text/csv', data: 'id;name\n1;Käse €\n' })
    expect((await call()).body.data).toContain('\ufffd')
  })

  test('binary content is a placeholder; a long preview is cut and says so', async () => {
    source.answer(Buffer.from('89504e470d0a1a0a', 'hex'), { 'content-type': 'image/png' })
    expect((await call()).body.data).toEqual({ binary: true, content_type: 'image/png', size: 8 })
    source.answer('x'.repeat(5000), { 'content-type': 'text/plain' })
    expect((await call()).body).toMatchObject({ truncated: true, size: 1024 })
  })
})

describe('400', () => {
  const bad: Array<[string, Record<string, unknown>, string]> = [
    ['no URL', { url: undefined }, 'invalid_field'],
    ['another protocol', { url: 'ftp://example.org/' }, 'url_not_allowed'],
    ['a private address', { url: 'http://192.168.0.1/' }, 'url_not_allowed'],
    ['an unknown method', { method: 'TRACE' }, 'invalid_field'],
    ['an unknown field', { methd: 'GET' }, 'invalid_field'],
    ['an incomplete auth', { authType: 'Basic Auth', auth: { username: 'u' } }, 'invalid_field'],
    ['an unknown authType', { authType: 'Magic', auth: {} }, 'invalid_field'],
    ['a required parameter without value', { parameters: { a: { value: '', required: true } } }, 'invalid_field'],
    [
      'two active groups',
      {
        parameterGroups: [
          { name: 'a', active: true, parameters: {} },
          { name: 'b', active: true, parameters: {} },
        ],
      },
      'invalid_field',
    ],
    ['a line break in a header', { headers: { a: 'b\r\nc: d' } }, 'invalid_field'],
  ]
  test.each(bad)('%s', async (_name, config, reason) => {
    const before = source.requests.length
    expect(await call(config)).toMatchObject({ status: 400, body: { error: 'invalid_request', reason } })
    expect(source.requests.length).toBe(before)
  })
})

test('401 without a credential', async () => {
  const answer = await t.anonymous.post('/v1/http/test-connection', { url: source.url, method: 'GET' })
  expect(answer.status).toBe(401)
})

test('200 for a pasted curl command', async () => {
  const command = `curl -X POST '${source.url}?a=1' -H 'Authorization: Bearer abc' -H 'X-Custom: 1' --data '{"b":2}'`
  const { status, body } = await t.operator.post('/v1/http/import-curl', { command })
  expect(status).toBe(200)
  expect(body.configuration).toMatchObject({ method: 'POST', authType: 'Bearer Token', auth: { token: 'abc' } })
})
