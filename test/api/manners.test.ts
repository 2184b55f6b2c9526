import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, operatorToken, type TestApp } from '../harness/app.ts'

let t: TestApp
let port: number
beforeAll(async () => {
  t = await openTestApp()
  await t.http.listen({ port: 0, host: '127.0.0.1' })
  const address = t.http.server.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
})
afterAll(() => t.close())

const json = { 'content-type': 'application/json', authorization: `Bearer ${operatorToken}` }

describe('every refusal is the envelope', () => {
  const table: Array<[string, string, RequestInit, number, string, string | undefined]> = [
    ['an unknown route', '/v1/nothing', {}, 404, 'not_found', undefined],
    ['a wrong method', '/v1/limits', { method: 'POST', headers: json }, 405, 'method_not_allowed', undefined],
    ['malformed JSON', '/v1/projects', post('{"name":'), 400, 'invalid_request', 'malformed_json'],
    ['a prototype in JSON', '/v1/projects', post('{"__proto__":{"x":1}}'), 400, 'invalid_request', 'malformed_json'],
    ['no body', '/v1/projects', post(''), 400, 'invalid_request', 'invalid_field'],
    ['an unknown field', '/v1/projects', post('{"name":"a","nam":1}'), 400, 'invalid_request', 'invalid_field'],
    ['a wrong type', '/v1/projects', post('{"name":1}'), 400, 'invalid_request', 'invalid_field'],
    ['an array', '/v1/projects', post('[]'), 400, 'invalid_request', 'invalid_field'],
    [
      'another content type',
      '/v1/projects',
      post('a=b', 'application/x-www-form-urlencoded'),
      415,
      'unsupported_media_type',
      undefined,
    ],
    ['no content type', '/v1/projects', post('{}', 'text/plain'), 415, 'unsupported_media_type', undefined],
    ['a large body', '/v1/projects', post(`{"name":"${'x'.repeat(1_100_000)}"}`), 413, 'payload_too_large', undefined],
    ['a malformed path', '/v1/projects/%zz', { headers: json }, 404, 'not_found', undefined],
    ['a long path parameter', `/v1/projects/${'x'.repeat(101)}`, { headers: json }, 404, 'not_found', undefined],
    ['a long parameter of a call', `/v1/queries/${'x'.repeat(101)}`, { method: 'POST' }, 404, 'not_found', undefined],
    ['the method QUERY', '/v1/projects', { method: 'QUERY' }, 405, 'method_not_allowed', undefined],
    [
      'the method QUERY with a body',
      '/v1/limits',
      { ...post('{}'), method: 'QUERY' },
      405,
      'method_not_allowed',
      undefined,
    ],
    ['the method QUERY to nowhere', '/nowhere', { method: 'QUERY' }, 404, 'not_found', undefined],
    ['a body to nowhere', '/nowhere', post('a', 'text/plain'), 404, 'not_found', undefined],
    ['NUL in a path', '/v1/projects/a%00b', { headers: json }, 400, 'invalid_request', 'invalid_field'],
    ['NUL in a body', '/v1/projects', post(String.raw`{"name":"a\u0000b"}`), 400, 'invalid_request', 'invalid_field'],
    [
      'half of a surrogate pair in a body',
      '/v1/projects',
      post(String.raw`{"name":"a\ud83cb"}`),
      400,
      'invalid_request',
      'invalid_field',
    ],
  ]
  test.each(table)('%s', async (_name, path, init, status, error, reason) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, init)
    const body = (await answer.json()) as Record<string, unknown>
    expect({ status: answer.status, error: body['error'], reason: body['reason'] }).toEqual({ status, error, reason })
    expect(Object.keys(body)).toEqual(expect.arrayContaining(['message', 'request_id']))
    expect(answer.headers.get('x-request-id')).toBe(body['request_id'])
    expect(JSON.stringify(body)).not.toMatch(/at \w+ \(|node_modules|\/server\//)
  })

  test('400 names every field that is wrong', async () => {
    const { body } = await t.operator.post('/v1/management-tokens', { name: '', role: 'king', extra: true })
    expect(body.details).toEqual([
      { field: 'name', message: expect.any(String) },
      { field: 'role', message: 'must be one of owner, editor, viewer' },
      { field: 'extra', message: 'is not a known field' },
    ])
  })

  test('405 says which methods there are', async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/projects`, { method: 'DELETE', headers: json })
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST')
  })

  test('431 for headers that are too large, 400 for what is no HTTP', async () => {
    const large = await raw(`GET /healthz HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(1_000_000)}\r\n\r\n`)
    expect(large).toMatch(/^HTTP\/1\.1 431 /)
    expect(large).toContain('"error":"headers_too_large"')
    const garbage = await raw('hello\r\n\r\n')
    expect(garbage).toMatch(/^HTTP\/1\.1 400 /)
    expect(garbage).toContain('"error":"invalid_request"')
  })

  test('500 says nothing of its cause, and the log has it under the request id', async () => {
    const broken = await openTestApp()
    await broken.app.store.db.schema.dropTable('audit_log').execute()
    const answer = await broken.operator.get('/v1/audit')
    expect(answer).toMatchObject({ status: 500, body: { error: 'internal_error' } })
    expect(JSON.stringify(answer.body)).not.toContain('audit_log')
    expect(broken.observations).toContainEqual(
      expect.objectContaining({ kind: 'request-failed', requestId: answer.body.request_id }),
    )
    await broken.close()
  })
})

describe('what operators ask', () => {
  test('200 on /healthz and /readyz, with what was checked', async () => {
    expect(await t.anonymous.get('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
    const ready = await t.anonymous.get('/readyz')
    expect(ready).toMatchObject({ status: 200, body: { ready: true, checks: { database: { ok: true } } } })
  })

  test('503 on /readyz while the database does not answer', async () => {
    const broken = await openTestApp()
    await broken.app.store.close()
    const answer = await broken.anonymous.get('/readyz')
    expect(answer).toMatchObject({ status: 503, body: { ready: false, checks: { database: { ok: false } } } })
    await broken.close()
  })

  test('/metrics from this machine as it is, from elsewhere only with a management token', async () => {
    await t.operator.get('/v1/projects')
    const local = await t.anonymous.get('/metrics')
    expect(local.body).toContain('sluice_http_requests_total{route="/v1/projects",method="GET",status="200"}')
    const remote = { method: 'GET' as const, url: '/metrics', remoteAddress: '203.0.113.9' }
    expect((await t.http.inject(remote)).statusCode).toBe(401)
    expect((await t.http.inject({ ...remote, headers: { authorization: json.authorization } })).statusCode).toBe(200)
  })

  test('/metrics needs a management token from whoever comes through a proxy on this machine', async () => {
    const through = (headers: Record<string, string>) => t.anonymous.get('/metrics', undefined, headers)
    for (const headers of [
      { 'x-forwarded-for': '203.0.113.9' },
      { forwarded: 'for=203.0.113.9' },
      { via: '1.1 proxy' },
      { 'x-real-ip': '203.0.113.9' },
      // A page of another site whose name was made to lead here.
      { host: 'elsewhere.example' },
    ]) {
      expect((await through(headers)).status, JSON.stringify(headers)).toBe(401)
      expect((await through({ ...headers, authorization: json.authorization })).status).toBe(200)
    }
    // A proxy that adds nothing is known from the configuration.
    for (const setting of [{ SLUICE_PUBLIC_URL: 'https://sluice.example' }, { SLUICE_TRUSTED_PROXIES: '127.0.0.1' }]) {
      const behind = await openTestApp(setting)
      expect((await behind.anonymous.get('/metrics')).status).toBe(401)
      expect((await behind.operator.get('/metrics')).status).toBe(200)
      await behind.close()
    }
  })

  test('no cache keeps what a management call answers', async () => {
    const projectId = await t.project()
    const key = { name: 'k', permissions: [{ project_id: projectId, environments: '*' }] }
    for (const answer of [
      await t.operator.post('/v1/api-keys', key),
      await t.operator.post('/v1/management-tokens', { name: 't', role: 'viewer' }),
      await t.operator.post(`/v1/projects/${projectId}/invitations`, { role: 'viewer' }),
      await t.operator.get(`/v1/projects/${projectId}/datasources`),
      await t.anonymous.get('/v1/projects'),
    ]) {
      expect(answer.headers['cache-control']).toBe('no-store')
    }
  })

  test('/v1/limits reports every limit as configured', async () => {
    const limited = await openTestApp({ SLUICE_BODY_BYTES: '2048' })
    const { body } = await limited.operator.get('/v1/limits')
    expect(body.limits.body_bytes).toBe(2048)
    expect(body.data.find((entry: { name: string }) => entry.name === 'body_bytes')).toMatchObject({
      default: 1_048_576,
      variable: 'SLUICE_BODY_BYTES',
    })
    expect(body.limits).toMatchObject({
      question_chars: 2_000,
      sql_chars: 100_000,
      query_slots: 50,
      slot_items: 10_000,
    })
    expect(body.data.find((entry: { name: string }) => entry.name === 'question_chars').variable).toBe(null)
    expect((await limited.operator.post('/v1/projects', { name: 'x'.repeat(3000) })).status).toBe(413)
    expect((await limited.anonymous.get('/v1/limits')).status).toBe(401)
    await limited.close()
  })

  test('answers carry security headers', async () => {
    const { headers } = await t.anonymous.get('/healthz')
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
    })
    expect(headers).not.toHaveProperty('x-powered-by')
    // A browser may have been sent to an address where there is nothing.
    const nowhere = (await t.anonymous.get('/nowhere')).headers
    for (const name of ['x-content-type-options', 'content-security-policy']) expect(nowhere[name]).toBe(headers[name])
  })
})

function post(body: string, type = 'application/json'): RequestInit {
  return { method: 'POST', headers: { ...json, 'content-type': type }, body }
}

/** Sends bytes as they are and reads until the server closes. */
async function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')))
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('close', () => resolve(answer))
    socket.on('error', (error) => (answer === '' ? reject(error) : resolve(answer)))
  })
}
