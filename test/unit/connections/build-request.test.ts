import { describe, expect, test } from 'vitest'
import { executeRequest, type HttpConfiguration, testConnectionRequest } from '../../../api/connections.ts'
import { buildRequest, executeConfiguration } from '../../../server/connections/request/build-request.ts'
import { Failure } from '../../../server/failure.ts'

const url = 'https://api.example/v1/items'
const get = (more: Partial<HttpConfiguration> = {}): HttpConfiguration => ({ url, method: 'GET', ...more })

function refusal(run: () => unknown): { reason: string | undefined; message: string } {
  try {
    run()
  } catch (error) {
    if (error instanceof Failure) return { reason: error.reason, message: error.message }
    throw error
  }
  throw new Error('was not refused')
}

describe('the wire', () => {
  const parse = (value: unknown) => testConnectionRequest.safeParse(value)
  const complaint = (value: unknown) => {
    const parsed = parse(value)
    return parsed.success
      ? null
      : parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`).join('; ')
  }

  test.each([
    ['None', 'None', {}],
    ['none', 'None', {}],
    ['API Key', 'API Key', { key: 'X-Key', value: 'v' }],
    ['api_key', 'API Key', { key: 'X-Key', value: 'v' }],
    ['BEARER', 'Bearer Token', { token: 't' }],
    ['bearer token', 'Bearer Token', { token: 't' }],
    ['basic', 'Basic Auth', { username: 'u', password: '' }],
    ['OAuth2 Client Credentials', 'OAuth2 Client Credentials', { token_url: url, client_id: 'i', client_secret: 's' }],
  ])('authType %s', (authType, read, auth) => {
    expect(parse({ url, method: 'get', authType, auth })).toMatchObject({
      success: true,
      data: { authType: read, method: 'GET' },
    })
  })

  test.each([
    [{ method: 'GET' }, 'url is required'],
    [{ url, method: 'TRACE' }, 'method must be one of GET, POST, PUT, DELETE, PATCH, HEAD, OPTIONS'],
    [{ url, method: 'GET', header: {} }, '"header"'],
    [{ url, method: 'GET', authType: 'Kerberos' }, 'authType must be one of None, API Key'],
    [{ url, method: 'GET', authType: 'basic', auth: { username: 'u' } }, 'auth.password the password is required'],
    [{ url, method: 'GET', authType: 'bearer' }, 'auth.token the token is required'],
    [{ url, method: 'GET', authType: 'bearer', auth: { token: 't', tokn: 1 } }, '"tokn"'],
    [{ url, method: 'GET', auth: { token: 't' } }, 'authType is required when auth is given'],
    [{ url, method: 'GET', parameters: { a: { value: {} } } }, 'parameters.a.value must be a single value or a list'],
    [{ url, method: 'GET', headers: { a: 1 } }, 'headers.a must be text'],
  ])('%j is refused in words', (value, words) => {
    expect(complaint(value)).toContain(words)
  })
})

describe('parameters', () => {
  const queryOf = (more: Partial<HttpConfiguration>, address = url) =>
    new URL(buildRequest(get({ url: address, ...more })).url).search

  test('required, optional, lists, and what the address already has', () => {
    const parameters = {
      a: { value: 'x y&z', required: true },
      empty: { value: '', required: false },
      none: { required: false },
      list: { value: [1, 2, ''], required: true },
      zero: { value: 0, required: true },
      no: { value: false, required: false },
    }
    expect(queryOf({ parameters }, `${url}?keep=%20+1&a=old`)).toBe(
      '?keep=%20+1&a=x%20y%26z&list=1&list=2&zero=0&no=false',
    )
    expect(refusal(() => queryOf({ parameters: { q: { value: [], required: true } } })).message).toBe(
      'parameters.q is required and has no value.',
    )
  })

  const group = (name: string, value: string, active?: boolean) => ({
    name,
    ...(active === undefined ? {} : { active }),
    parameters: { [name]: { value, required: true } },
  })

  test('of groups exclude one another', () => {
    expect(queryOf({ parameterGroups: [group('a', ''), group('b', '2'), group('c', '3')] })).toBe('?b=2')
    expect(queryOf({ parameterGroups: [group('a', '1'), group('b', '2', true)] })).toBe('?b=2')
    expect(queryOf({ parameterGroups: [group('a', '1', false), group('b', '2')] })).toBe('?b=2')
    expect(queryOf({ parameterGroups: [group('a', '')] })).toBe('')
    expect(
      refusal(() => queryOf({ parameterGroups: [group('a', '1', true), group('b', '2', true)] })).message,
    ).toContain('a and b')
    expect(refusal(() => queryOf({ parameterGroups: [group('a', '', true)] })).message).toContain('parameterGroups.a.a')
  })
})

describe('headers and authentication', () => {
  test('what concerns one connection is not the caller’s to set', () => {
    const headers = {
      Host: 'evil',
      'Content-Length': '1',
      'transfer-encoding': 'chunked',
      Connection: 'close',
      'X-Fine': ' 1 ',
    }
    expect(buildRequest(get({ headers })).headers).toEqual({
      accept: expect.stringContaining('application/json') as string,
      'user-agent': 'Sluice',
      'x-fine': '1',
    })
  })

  test.each([
    { 'X-A': 'a\r\nX-B: b' },
    { 'X-A': 'a\nb' },
    { 'X-A\r\nX-B': 'b' },
    { 'X A': 'b' },
    { 'X-A': 'ł' },
    { 'X-A': '\0' },
  ])('broken header %j is refused', (headers) => {
    expect(refusal(() => buildRequest(get({ headers }))).reason).toBe('invalid_field')
  })

  test.each([
    ['API Key', { key: 'X-Weather', value: 's' }, { 'x-weather': 's' }, ''],
    ['API Key', { key: 'appid', value: 's&', in: 'query' }, {}, '?appid=s%26'],
    ['API Key', { key: 'sid', value: 's', in: 'cookie' }, { cookie: 'sid=s' }, ''],
    ['Bearer Token', { token: 's' }, { authorization: 'Bearer s' }, ''],
    ['Bearer Token', { token: 's', prefix: 'Token' }, { authorization: 'Token s' }, ''],
    ['Bearer Token', { token: 's', prefix: '' }, { authorization: 's' }, ''],
    ['Basic Auth', { username: 'ü', password: 'p:q' }, { authorization: 'Basic w7w6cDpx' }, ''],
  ] as const)('%s %j', (authType, auth, headers, search) => {
    const request = buildRequest(get({ authType, auth }))
    expect(request.headers).toMatchObject(headers)
    expect(new URL(request.url).search).toBe(search)
    expect(request.secretHeaders).toEqual(Object.keys(headers))
    expect(request.secretQuery).toHaveLength(search === '' ? 0 : 1)
  })

  test('a cookie key stands beside the caller’s own cookies; OAuth2 uses the token it is given', () => {
    const auth = { key: 'sid', value: 's', in: 'cookie' }
    expect(buildRequest(get({ headers: { Cookie: 'a=1' }, authType: 'API Key', auth })).headers['cookie']).toBe(
      'a=1; sid=s',
    )
    const oauth = { token_url: url, client_id: 'i', client_secret: 's' }
    const request = buildRequest(get({ authType: 'OAuth2 Client Credentials', auth: oauth }), 'tkn')
    expect(request.headers['authorization']).toBe('Bearer tkn')
  })

  test('an incomplete or impossible auth is refused', () => {
    expect(refusal(() => buildRequest(get({ authType: 'Basic Auth', auth: { password: 'p' } }))).message).toContain(
      'the user name is required',
    )
    expect(refusal(() => buildRequest(get({ authType: 'Bearer Token', auth: { token: 'a\nb' } }))).message).toContain(
      'line break',
    )
    expect(
      refusal(() => buildRequest(get({ authType: 'API Key', auth: { key: 'Host', value: 'x' } }))).message,
    ).toContain('Host')
  })

  test.each([
    ['ftp://example.org/', 'url_not_allowed'],
    ['file:///etc/passwd', 'url_not_allowed'],
    ['/relative', 'invalid_field'],
    ['https://user:pass@example.org/', 'invalid_field'],
    ['http://a b/', 'invalid_field'],
  ])('address %s is refused', (address, reason) => {
    expect(refusal(() => buildRequest(get({ url: address }))).reason).toBe(reason)
  })
})

describe('bodies', () => {
  const bodyOf = (body: Record<string, unknown>, more: Partial<HttpConfiguration> = {}) => {
    const request = buildRequest(get({ method: 'POST', body, ...more }))
    return [request.headers['content-type'], request.body?.toString()]
  }

  test.each([
    [{ type: 'json', content: { a: 1 } }, 'application/json', '{"a":1}'],
    [{ type: 'json', content: '{"n":12345678901234567890}' }, 'application/json', '{"n":12345678901234567890}'],
    [{ type: 'invoice', total: 1 }, 'application/json', '{"type":"invoice","total":1}'],
    [{ a: [1] }, 'application/json', '{"a":[1]}'],
    [{ type: 'form', content: { a: 'x y', b: [1, 2] } }, 'application/x-www-form-urlencoded', 'a=x+y&b=1&b=2'],
    [{ type: 'raw', content: '<x/>', content_type: 'application/xml' }, 'application/xml', '<x/>'],
    [{ type: 'raw', content: 'hi' }, 'text/plain; charset=utf-8', 'hi'],
    [{ type: 'graphql', content: '{ me }' }, 'application/json', '{"query":"{ me }"}'],
    [
      { type: 'graphql', content: { query: '{ me }', variables: { a: 1 } } },
      'application/json',
      '{"query":"{ me }","variables":{"a":1}}',
    ],
  ])('%j', (body, contentType, text) => {
    expect(bodyOf(body)).toEqual([contentType, text])
  })

  test('multipart, with a file and names that try to break out', () => {
    const content = { a: 'x', f: { filename: 'a"\r\n.txt', content: 'data', content_type: 'text/plain' } }
    const [contentType, text] = bodyOf({ type: 'multipart', content })
    const boundary = /boundary=(.*)$/.exec(contentType ?? '')?.[1] ?? ''
    expect(text?.split(`--${boundary}`)).toEqual([
      '',
      '\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n',
      '\r\nContent-Disposition: form-data; name="f"; filename="a%22%0D%0A.txt"\r\nContent-Type: text/plain\r\n\r\ndata\r\n',
      '--\r\n',
    ])
  })

  test('the caller’s own content type stays; a body where none goes is refused', () => {
    expect(bodyOf({ a: 1 }, { headers: { 'Content-Type': 'application/vnd.api+json' } })[0]).toBe(
      'application/vnd.api+json',
    )
    expect(refusal(() => bodyOf({ a: 1 }, { method: 'GET' })).reason).toBe('body_not_accepted')
    expect(refusal(() => bodyOf({ type: 'json', content: '{broken' })).message).toContain('no JSON')
    expect(buildRequest(get({ body: {} })).body).toBeUndefined()
  })
})

describe('execute', () => {
  const base = { project_id: 'prj_1', datasource_id: 'ds_1', url, method: 'GET' }
  const spec = (config: object = {}) => ({ name: 'Items', id: 'http_api', config })
  const read = (value: object) => executeConfiguration(executeRequest.parse(value))

  test('connect_spec.config wins field by field, the top level fills in the rest', () => {
    const value = {
      ...base,
      headers: { a: '1' },
      responsePathExtractor: 'top',
      connect_spec: spec({ url: 'https://other.example/', method: 'post', responsePathExtractor: 'inner' }),
    }
    expect(read(value)).toEqual({
      url: 'https://other.example/',
      method: 'POST',
      headers: { a: '1' },
      responsePathExtractor: 'inner',
    })
    expect(read({ ...base, connect_spec: { name: 'Items', id: 'http_api' } })).toEqual({ url, method: 'GET' })
  })

  test('a body is refused, an empty one is none; so are HEAD and another kind', () => {
    expect(refusal(() => read({ ...base, connect_spec: spec(), body: { a: 1 } })).reason).toBe('body_not_accepted')
    expect(refusal(() => read({ ...base, connect_spec: spec({ body: { a: 1 } }) })).reason).toBe('body_not_accepted')
    expect(read({ ...base, connect_spec: spec(), body: {} })).toEqual({ url, method: 'GET' })
    expect(executeRequest.safeParse({ ...base, method: 'HEAD', connect_spec: spec() }).success).toBe(false)
    expect(executeRequest.safeParse({ ...base, connect_spec: { ...spec(), id: 'ftp' } }).success).toBe(false)
  })

  test('auth is looked at after both are put together', () => {
    const value = { ...base, authType: 'basic', connect_spec: spec({ auth: { username: 'u', password: 'p' } }) }
    expect(read(value)).toMatchObject({ authType: 'Basic Auth', auth: { username: 'u' } })
    expect(refusal(() => read({ ...base, authType: 'basic', connect_spec: spec() })).message).toContain(
      'auth is not complete',
    )
  })
})
