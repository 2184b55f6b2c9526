import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HttpConfiguration, type Pagination, pagination } from '../../api/connections.ts'
import { fetchRows } from '../../server/connections/fetch-rows.ts'
import { createTokenSource, openOutbound, type Outbound, type TokenSource } from '../../server/connections/index.ts'
import { probe as testConnection } from '../../server/connections/probe.ts'
import type { AnswerBody, PageCall } from '../../server/data/index.ts'
import { normalise } from '../../server/rows/index.ts'
import { openUpstream, type Routes, rowsText, type Upstream } from '../harness/upstream.ts'

let folder: string
let upstream: Upstream
let outbound: Outbound
let tokens: TokenSource
let now = 0
const json = { 'content-type': 'application/json' }

function answering(
  answer: (url: URL) => unknown,
  headers: (url: URL) => Record<string, string> = () => ({}),
): Routes[string] {
  return (_request, response, url) =>
    void response.writeHead(200, { ...json, ...headers(url) }).end(JSON.stringify(answer(url)))
}

/** Seven rows, in pages of two or three. */
const items = Array.from({ length: 7 }, (_, id) => ({ id }))
const numberOf = (url: URL, name: string, otherwise: number) => Number(url.searchParams.get(name) ?? otherwise)
const slice = (from: number, size = 3) => items.slice(from, from + size)
let tokenCalls = 0

const routes: Routes = {
  '/stringified': answering(() => ({ body: JSON.stringify({ rows: JSON.parse(rowsText) as unknown }) })),
  '/big-number': (_request, response) =>
    void response.writeHead(200, json).end('[{"id":12345678901234567890,"x":0.5}]'),
  '/geo': answering(() => ({
    type: 'FeatureCollection',
    features: [{ type: 'Feature', geometry: { type: 'Point', coordinates: [1, 2] } }],
  })),
  '/csv': (_request, response) => void response.writeHead(200, { 'content-type': 'text/csv' }).end('a,b\n1,2\n'),
  '/pages/page': answering((url) => ({ items: slice((numberOf(url, 'page', 1) - 1) * 3) })),
  '/pages/stuck': answering((url) => ({
    page: url.searchParams.get('page'),
    items: slice(Math.min(numberOf(url, 'page', 1) - 1, 2) * 3),
  })),
  '/pages/offset': answering((url) => ({ items: slice(numberOf(url, 'offset', 0), numberOf(url, 'limit', 100)) })),
  '/pages/cursor': answering((url) => {
    const from = numberOf(url, 'after', 0)
    return { items: slice(from), next: from + 3 < 7 ? from + 3 : null }
  }),
  '/pages/circle': answering((url) => ({
    items: [{ id: url.searchParams.get('after') }],
    next: url.searchParams.get('after') === 'a' ? 'b' : 'a',
  })),
  '/pages/link': answering(
    (url) => slice(numberOf(url, 'from', 0)),
    (url): Record<string, string> => {
      const next = numberOf(url, 'from', 0) + 3
      return next < 7 ? { link: `</pages/link?from=${next}>; rel="next"` } : {}
    },
  ),
  '/pages/keyed': answering((url) => ({
    items: [{ key: url.searchParams.get('appid'), at: url.searchParams.get('at') ?? 'first' }],
    next: url.searchParams.has('at') ? null : '/pages/keyed?at=second',
  })),
  '/pages/csv': (_request, response, url) =>
    void response
      .writeHead(200, { 'content-type': 'text/csv' })
      .end(['id,name\n1,Ada\n', 'name,id\nGrace,2\n', 'id,city,name\n3,Bern,Eve\n'][numberOf(url, 'page', 1) - 1]),
  '/pages/away': answering((url) => ({ items: [{ a: 1 }], next: url.searchParams.get('to') })),
  '/token': (request, response) => {
    tokenCalls += 1
    const isKnown = request.headers.authorization === `Basic ${Buffer.from('client:s3cret').toString('base64')}`
    response
      .writeHead(isKnown ? 200 : 401, json)
      .end(
        JSON.stringify(
          isKnown
            ? { access_token: `t${tokenCalls}`, expires_in: 3600 }
            : { error: 'invalid_client', error_description: 'No client has the secret wr0ng' },
        ),
      )
  },
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-connections-'))
  upstream = await openUpstream(routes)
  outbound = openOutbound({
    allow: [upstream.host],
    connectTimeoutMs: 5000,
    connectionsPerOrigin: 8,
    backoffBaseMs: 1,
    backoffMostMs: 5,
  })
  tokens = createTokenSource(outbound, () => now)
})
afterAll(async () => {
  await outbound.close()
  await upstream.close()
  await rm(folder, { recursive: true })
})

const configuration = (path: string, more: Partial<HttpConfiguration> = {}): HttpConfiguration => ({
  url: path.startsWith('http') ? path : upstream.origin + path,
  method: 'GET',
  ...more,
})

describe('a test of the connection', () => {
  const limits = { timeoutMs: 300, previewBytes: 1_000_000, redirects: 5, retries: 0 }
  const probe = (path: string, more: Partial<HttpConfiguration> = {}) =>
    testConnection(configuration(path, more), { outbound, tokens, limits })

  test('tells status, time, type, size and data', async () => {
    expect(await probe('/rows')).toEqual({
      success: true,
      status: 200,
      response_time: expect.any(Number) as number,
      content_type: 'application/json',
      size: Buffer.byteLength(rowsText),
      data: JSON.parse(rowsText) as unknown,
    })
  })

  test.each([
    ['/text', { success: true, content_type: 'text/plain; charset=utf-8', data: 'Hello' }],
    ['/latin1', { data: 'é' }],
    ['/bom', { data: JSON.parse(rowsText) as unknown }],
    ['/html', { success: true, data: '<!doctype html><title>Sign in</title>' }],
    ['/truncated', { success: true, data: '[{"id":1},{"id":' }],
    ['/binary', { data: { binary: true, content_type: 'image/png', size: 12 } }],
    ['/empty', { success: true, status: 204, size: 0, data: null }],
    ['/big-number', { data: [{ id: '12345678901234567890', x: 0.5 }] }],
    ['/status?code=404', { success: false, status: 404, data: { message: 'no' } }],
    ['/bomb', { success: true, truncated: true, size: 1_000_000 }],
    [
      '/slow-headers',
      { success: false, status: 0, size: 0, error: { code: 'timeout', message: expect.any(String) as string } },
    ],
    [
      '/short-body',
      { success: false, status: 0, error: { code: 'transfer_error', message: expect.any(String) as string } },
    ],
    ['/loop', { success: false, error: { code: 'too_many_redirects', message: expect.any(String) as string } }],
    [
      '/redirect?to=http://169.254.169.254/',
      { success: false, status: 0, error: { code: 'blocked', message: expect.any(String) as string } },
    ],
  ])('%s', async (path, answer) => {
    expect(await probe(path)).toMatchObject(answer)
  })

  test('takes what the extractor names, or says what is there and shows everything', async () => {
    expect((await probe('/stringified', { responsePathExtractor: 'body.rows' })).data).toEqual(JSON.parse(rowsText))
    const missed = await probe('/geo', { responsePathExtractor: 'items' })
    expect(missed).toMatchObject({ success: false, status: 200, data: { type: 'FeatureCollection' } })
    expect(missed.error).toMatchObject({
      code: 'extractor_no_match',
      message: expect.stringContaining('type, features') as string,
    })
    expect(await probe('/status?code=500', { responsePathExtractor: 'x' })).toMatchObject({
      status: 500,
      data: { message: 'no' },
    })
    expect(await probe('/status?code=500', { responsePathExtractor: 'x' })).not.toHaveProperty('error')
  })

  test('refuses an address that is not allowed, and a configuration that is wrong', async () => {
    await expect(probe('http://127.0.0.1:9/')).rejects.toMatchObject({
      code: 'invalid_request',
      reason: 'url_not_allowed',
    })
    await expect(probe('/rows', { responsePathExtractor: 'a[' })).rejects.toMatchObject({ reason: 'invalid_field' })
    await expect(probe('/rows', { headers: { a: 'b\r\nc: d' } })).rejects.toMatchObject({ reason: 'invalid_field' })
  })

  test('sends what was configured, and not a Host of the caller’s', async () => {
    const { data } = await probe('/echo', { method: 'POST', headers: { Host: 'evil', 'X-A': '1' }, body: { a: 1 } })
    expect(data).toMatchObject({
      method: 'POST',
      headers: { host: upstream.host, 'x-a': '1', 'content-type': 'application/json' },
      body: '{"a":1}',
    })
  })
})

test('no secret is in any error', async () => {
  const limits = { timeoutMs: 200, previewBytes: 100_000, redirects: 5, retries: 0 }
  const secret = { parameters: { api_key: { value: 'S3CR3T', required: true } }, headers: { Cookie: 'S3CR3T' } }
  const auths: Partial<HttpConfiguration>[] = [
    { authType: 'API Key', auth: { key: 'appid', value: 'S3CR3T', in: 'query' } },
    { authType: 'Bearer Token', auth: { token: 'S3CR3T' } },
    { authType: 'Basic Auth', auth: { username: 'S3CR3T', password: 'S3CR3T' } },
  ]
  const paths = [
    '/slow-headers',
    '/close',
    '/loop',
    '/stacked',
    '/short-body',
    '/redirect?to=http://10.0.0.1/',
    'http://10.0.0.1/x',
  ]
  const calls = paths.flatMap((path) => auths.map((auth) => configuration(path, { ...secret, ...auth })))
  const outcomes = await Promise.allSettled(calls.map((each) => testConnection(each, { outbound, tokens, limits })))
  const said = outcomes.map((each) => (each.status === 'fulfilled' ? JSON.stringify(each.value) : inspect(each.reason)))
  expect(said).toHaveLength(21)
  expect(said.filter((text) => text.includes('S3CR3T'))).toEqual([])
})

describe('OAuth2 client credentials', () => {
  const limits = { timeoutMs: 1000, previewBytes: 1_000_000, redirects: 5, retries: 0 }
  const oauth = (client_secret = 's3cret', token_url = `${upstream.origin}/token`): Partial<HttpConfiguration> => ({
    authType: 'OAuth2 Client Credentials',
    auth: { token_url, client_id: 'client', client_secret },
  })
  const probe = (more: Partial<HttpConfiguration>) =>
    testConnection(configuration('/echo', more), { outbound, tokens, limits })
  const sentToken = async () =>
    ((await probe(oauth())).data as { headers: Record<string, string> }).headers['authorization']

  test('one token serves until it expires, also for calls at the same time', async () => {
    tokenCalls = 0
    expect(await Promise.all([sentToken(), sentToken(), sentToken()])).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t1'])
    now = 3600_000
    expect(await sentToken()).toBe('Bearer t2')
    expect(tokenCalls).toBe(2)
  })

  test('whoever leaves before the token is there does not take it from the others', async () => {
    now += 3600_000
    tokenCalls = 0
    const leaving = new AbortController()
    const asked = configuration('/echo', oauth())
    const left = tokens.token(asked, { timeoutMs: 1000, signal: leaving.signal })
    const stayed = tokens.token(asked, { timeoutMs: 1000 })
    leaving.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    expect(await stayed).toEqual({ ok: true, token: 't1' })
    expect(tokenCalls).toBe(1)
  })

  test('a refusal says what to check and no secret; a token address is guarded too', async () => {
    const wrong = await probe(oauth('wr0ng'))
    expect(wrong).toMatchObject({
      success: false,
      status: 0,
      error: {
        code: 'token_refused',
        message: `The token endpoint ${upstream.host} answered 401 invalid_client (No client has the secret ***). Check client_id and client_secret.`,
      },
    })
    expect(JSON.stringify(wrong)).not.toContain('wr0ng')
    await expect(probe(oauth('x', 'http://10.0.0.1/token'))).rejects.toMatchObject({ reason: 'url_not_allowed' })
  })
})

describe('rows', () => {
  const limits = {
    tryTimeoutMs: 500,
    timeoutMs: 1500,
    responseBytes: 5_000_000,
    redirects: 5,
    retries: 1,
    depthAtMost: 64,
  }
  const paths = () => ({ bodyPath: join(folder, 'body'), rowsPath: join(folder, 'rows') })
  const toRows = ({ path, contentType, extractor, depthAtMost }: AnswerBody, more: object = {}) =>
    normalise(path, paths().rowsPath, { contentType, path: extractor, depthAtMost, ...more })
  const appendPage = ({ body, columns }: PageCall) => toRows(body, { append: true, columns })
  const fetched = async (path: string, more: Partial<HttpConfiguration> = {}, rule?: object) => {
    const setting: Pagination | undefined = rule === undefined ? undefined : pagination.parse(rule)
    const result = await fetchRows(configuration(path, more), {
      outbound,
      tokens,
      limits,
      ...paths(),
      appendPage,
      pagination: setting,
    })
    const { source } = result
    try {
      const format = source.kind === 'answer' ? (await toRows(source)).format : source.kind
      const text = await readFile(paths().rowsPath, 'utf8')
      const lines = text.split('\n').slice(0, -1)
      return { ...result, format, rows: format === 'csv' ? text : lines.map((line) => JSON.parse(line) as unknown) }
    } finally {
      await Promise.all(Object.values(paths()).map((path) => rm(path, { force: true })))
    }
  }

  test.each(['/rows', '/gzip', '/br', '/bom'])('%s', async (path) => {
    expect(await fetched(path)).toMatchObject({
      rows: JSON.parse(rowsText) as unknown,
      pages: 1,
      truncated: false,
    })
  })

  test('from GeoJSON, a stringified envelope and CSV', async () => {
    expect((await fetched('/geo', { responsePathExtractor: 'features' })).rows).toEqual([
      { type: 'Feature', geometry: { type: 'Point', coordinates: [1, 2] } },
    ])
    expect((await fetched('/stringified', { responsePathExtractor: 'body.rows' })).rows).toHaveLength(2)
    expect(await fetched('/csv')).toMatchObject({ format: 'csv', rows: 'a,b\n1,2\n' })
  })

  test.each([
    ['/status?code=404', 'upstream_error', 'status'],
    ['/status?code=503', 'upstream_error', 'status'],
    ['/slow-headers', 'upstream_timeout', undefined],
    ['/drip', 'upstream_timeout', undefined],
    ['/endless', 'upstream_error', 'too_large'],
    ['/bomb', 'upstream_error', 'too_large'],
    ['/short-body', 'upstream_error', 'transfer_error'],
    ['/truncated', 'upstream_error', 'transfer_error'],
    ['/stacked', 'upstream_error', 'transfer_error'],
    ['/deep', 'upstream_error', 'not_tabular'],
    ['/invalid-utf8', 'upstream_error', 'not_tabular'],
    ['/html', 'upstream_error', 'not_tabular'],
    ['/text', 'upstream_error', 'not_tabular'],
    ['/binary', 'upstream_error', 'not_tabular'],
    ['/empty', 'upstream_error', 'not_tabular'],
    ['/close', 'upstream_error', 'connect_error'],
    ['/loop', 'upstream_error', 'too_many_redirects'],
    ['/redirect?to=http://10.0.0.1/', 'upstream_error', 'blocked'],
    ['http://10.0.0.1/', 'invalid_request', 'url_not_allowed'],
  ])('%s leaves nothing behind: %s %s', async (path, code, reason) => {
    await expect(fetched(path)).rejects.toMatchObject({ code, reason })
    expect(await readdir(folder)).toEqual([])
  })

  test('a status of the API is handed on as a field', async () => {
    await expect(fetched('/status?code=404')).rejects.toMatchObject({ fields: { upstream_status: 404 } })
  })

  test.each([
    ['/pages/page', { type: 'page' }, 4],
    ['/pages/stuck', { type: 'page' }, 4],
    ['/pages/offset', { type: 'offset', limit: 3 }, 3],
    ['/pages/cursor', { type: 'cursor', path: 'next', parameter: 'after' }, 3],
  ])('%s: all pages', async (path, rule, pages) => {
    const found = await fetched(path, { responsePathExtractor: 'items' }, rule)
    expect(found).toMatchObject({ rows: items, pages, truncated: false })
  })

  test('pages by the Link header', async () => {
    expect(await fetched('/pages/link', {}, { type: 'link_header' })).toMatchObject({
      rows: items,
      pages: 3,
      truncated: false,
    })
  })

  test('pages of CSV: one header, columns by name, and one that comes later', async () => {
    const found = await fetched('/pages/csv', {}, { type: 'page' })
    expect(found).toMatchObject({
      source: { kind: 'csv', columns: ['id', 'name', 'city'] },
      pages: 4,
      truncated: false,
    })
    expect(found.rows).toBe('id,name\n1,Ada\n2,Grace\n3,Eve,Bern\n')
  })

  test('a cap and a circle are owned up to', async () => {
    const cursor = { type: 'cursor', path: 'next', parameter: 'after' }
    expect(
      await fetched('/pages/cursor', { responsePathExtractor: 'items' }, { ...cursor, max_pages: 2 }),
    ).toMatchObject({ rows: items.slice(0, 6), truncated: true })
    const circle = await fetched('/pages/circle', { responsePathExtractor: 'items' }, cursor)
    expect(circle.truncated).toBe(true)
    expect(circle.rows).toHaveLength(3)
  })

  test('a key in the query goes with every page of the origin, and with none beyond it', async () => {
    const more: Partial<HttpConfiguration> = {
      responsePathExtractor: 'items',
      authType: 'API Key',
      auth: { key: 'appid', value: 'k1', in: 'query' },
    }
    const rule = { type: 'next_link', path: 'next' }
    expect((await fetched('/pages/keyed', more, rule)).rows).toEqual([
      { key: 'k1', at: 'first' },
      { key: 'k1', at: 'second' },
    ])
    const away = `/pages/away?to=${encodeURIComponent('http://10.0.0.1/')}`
    await expect(fetched(away, more, rule)).rejects.toMatchObject({ code: 'upstream_error', reason: 'blocked' })
  })

  test('all pages share one deadline', async () => {
    const slow = await openUpstream({
      '/slow': (_request, response, url) =>
        void setTimeout(() => response.writeHead(200, json).end(`[{"at":${numberOf(url, 'page', 1)}}]`), 150),
    })
    const patient = openOutbound({
      allow: [slow.host],
      connectTimeoutMs: 1000,
      connectionsPerOrigin: 1,
      backoffBaseMs: 1,
      backoffMostMs: 1,
    })
    const options = {
      outbound: patient,
      tokens,
      limits: { ...limits, timeoutMs: 500 },
      ...paths(),
      appendPage,
      pagination: pagination.parse({ type: 'page' }),
    }
    await expect(fetchRows(configuration(`${slow.origin}/slow`), options)).rejects.toMatchObject({
      code: 'upstream_timeout',
    })
    await patient.close()
    await slow.close()
  })
})
