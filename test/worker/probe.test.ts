import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HttpConfiguration } from '../../api/connections.ts'
import { probe as testConnection } from '../../server/connections/probe.ts'
import { rowsText } from '../harness/upstream.ts'
import { openConnections, type Connections } from './connections-fixture.ts'

let c: Connections
beforeAll(async () => {
  c = await openConnections()
})
afterAll(() => c.close())

describe('a test of the connection', () => {
  const limits = { timeoutMs: 2_000, previewBytes: 1_000_000, redirects: 5, retries: 0, maxDepth: 64 }
  const page = expect.stringMatching(/^127.0.0.1:\d+ answered with a web page, not with data\./) as string
  const probe = (path: string, more: Partial<HttpConfiguration> = {}) =>
    testConnection(c.configuration(path, more), { ...c, limits })

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
    [
      '/html',
      { success: true, data: '<!doctype html><title>Sign in</title>', problem: { code: 'not_data', message: page } },
    ],
    ['/truncated', { success: true, data: '[{"id":1},{"id":' }],
    ['/binary', { data: { binary: true, content_type: 'image/png', size: 12 } }],
    ['/empty', { success: true, status: 204, size: 0, data: null }],
    ['/big-number', { data: [{ id: '12345678901234567890', x: 0.5 }] }],
    ['/status?code=404', { success: false, status: 404, data: { message: 'no' }, problem: { code: 'not_found' } }],
    ['/status?code=401', { success: false, problem: { code: 'unauthorized' } }],
    ['/status?code=403', { success: false, problem: { code: 'forbidden' } }],
    ['/status?code=429', { success: false, problem: { code: 'rate_limited' } }],
    ['/status?code=503', { success: false, problem: { code: 'server_error' } }],
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
      headers: { host: c.upstream.host, 'x-a': '1', 'content-type': 'application/json' },
      body: '{"a":1}',
    })
  })
})

test('no secret is in any error', async () => {
  const limits = { timeoutMs: 200, previewBytes: 100_000, redirects: 5, retries: 0, maxDepth: 64 }
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
  const calls = paths.flatMap((path) => auths.map((auth) => c.configuration(path, { ...secret, ...auth })))
  const outcomes = await Promise.allSettled(calls.map((each) => testConnection(each, { ...c, limits })))
  const said = outcomes.map((each) => (each.status === 'fulfilled' ? JSON.stringify(each.value) : inspect(each.reason)))
  expect(said).toHaveLength(21)
  expect(said.filter((text) => text.includes('S3CR3T'))).toEqual([])
})

describe('OAuth2 client credentials', () => {
  const limits = { timeoutMs: 1000, previewBytes: 1_000_000, redirects: 5, retries: 0, maxDepth: 64 }
  const oauth = (client_secret = 's3cret', token_url = `${c.upstream.origin}/token`): Partial<HttpConfiguration> => ({
    authType: 'OAuth2 Client Credentials',
    auth: { token_url, client_id: 'client', client_secret },
  })
  const probe = (more: Partial<HttpConfiguration>) => testConnection(c.configuration('/echo', more), { ...c, limits })
  const sentToken = async () =>
    ((await probe(oauth())).data as { headers: Record<string, string> }).headers['authorization']

  test('one token serves until it expires, also for calls at the same time', async () => {
    c.tokenCalls = 0
    expect(await Promise.all([sentToken(), sentToken(), sentToken()])).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t1'])
    c.nowMs = 3600_000
    expect(await sentToken()).toBe('Bearer t2')
    expect(c.tokenCalls).toBe(2)
  })

  test('whoever leaves before the token is there does not take it from the others', async () => {
    c.nowMs += 3600_000
    c.tokenCalls = 0
    const leaving = new AbortController()
    const asked = c.configuration('/echo', oauth())
    const left = c.tokens.token(asked, { timeoutMs: 1000, signal: leaving.signal })
    const stayed = c.tokens.token(asked, { timeoutMs: 1000 })
    leaving.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    expect(await stayed).toEqual({ ok: true, token: 't1' })
    expect(c.tokenCalls).toBe(1)
  })

  test('nobody waits longer than is theirs for a token that someone with more time asked for', async () => {
    const asked = c.configuration('/echo', oauth('slow', `${c.upstream.origin}/slow-headers`))
    const patient = new AbortController()
    const first = c.tokens.token(asked, { timeoutMs: 60_000, signal: patient.signal })
    expect(await testConnection(asked, { ...c, limits: { ...limits, timeoutMs: 100 } })).toMatchObject({
      success: false,
      error: { code: 'timeout', message: expect.stringContaining('For the token: ') as string },
    })
    patient.abort(new Error('left'))
    await expect(first).rejects.toThrow('left')
  })

  test('the token and the call share the time of a test', async () => {
    const asked = c.configuration('/slow-headers', oauth('s3cret', `${c.upstream.origin}/slow-token`))
    const answer = await testConnection(asked, { ...c, limits: { ...limits, timeoutMs: 1000 } })
    const [, leftMs] = /within (\d+) milliseconds/.exec(answer.error?.message ?? '') ?? []
    expect(Number(leftMs)).toBeLessThanOrEqual(600)
  })

  test('a refusal says what to check and no secret; a token address is guarded too', async () => {
    const wrong = await probe(oauth('wr0ng'))
    expect(wrong).toMatchObject({
      success: false,
      status: 0,
      error: {
        code: 'token_refused',
        message: `The token endpoint ${c.upstream.host} answered 401 invalid_client (No client has the secret ***). Check client_id and client_secret.`,
      },
    })
    expect(JSON.stringify(wrong)).not.toContain('wr0ng')
    await expect(probe(oauth('x', 'http://10.0.0.1/token'))).rejects.toMatchObject({ reason: 'url_not_allowed' })
  })
})
