import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newCredential } from '../../server/access/credentials/credential.ts'
import { openTestApp, operatorToken, type TestApp } from '../harness/app.ts'

let t: TestApp
beforeAll(async () => {
  t = await openTestApp()
})
// Each test has the failed credentials of its own minute.
beforeEach(() => t.advance(3_600_000))
afterAll(() => t.close())

type Made = { id: string; secret: string; projectId: string }

async function makeKey(more: Record<string, unknown> = {}): Promise<Made> {
  const projectId = await t.project()
  const permissions = [{ project_id: projectId, environments: '*' }]
  const { body } = await t.operator.post('/v1/api-keys', { name: 'A key', permissions, ...more })
  return { id: body.id, secret: body.secret, projectId }
}

describe('401 with the envelope and WWW-Authenticate', () => {
  const unknown = newCredential('live').secret
  const table: Array<[string, string | undefined, string]> = [
    ['no header', undefined, 'missing'],
    ['another scheme', 'Basic abc', 'malformed'],
    ['no scheme', unknown, 'malformed'],
    ['no key', 'Bearer ', 'malformed'],
    ['two keys in one header', `Bearer ${unknown}, Bearer ${unknown}`, 'malformed'],
    ['a truncated key', `Bearer ${unknown.slice(0, -3)}`, 'malformed'],
    ['a typo', `Bearer ${unknown.slice(0, -1)}${unknown.endsWith('a') ? 'b' : 'a'}`, 'malformed'],
    ['a good checksum of an unknown key', `Bearer ${unknown}`, 'unknown'],
    ['a management token', `Bearer ${newCredential('mgmt').secret}`, 'wrong_kind'],
    ["the operator's token", `Bearer ${operatorToken}`, 'wrong_kind'],
    ['a sign-in link', `Bearer ${newCredential('link').secret}`, 'wrong_kind'],
  ]
  test.each(table)('%s', async (_name, authorization, reason) => {
    const answer = await t.http.inject({
      url: '/v1/key',
      headers: authorization === undefined ? {} : { authorization },
    })
    expect(answer.statusCode).toBe(401)
    expect(answer.json()).toEqual({
      error: 'authentication_failed',
      reason,
      message: expect.any(String),
      request_id: answer.headers['x-request-id'],
    })
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="sluice"')
    expect(answer.headers).not.toHaveProperty('ratelimit')
  })

  test('a second header beside a good one, on the wire', async () => {
    const { secret } = await makeKey()
    const port = await listen()
    const head = `authorization: Bearer ${secret}\r\n`
    expect(await raw(port, head)).toMatch(/^HTTP\/1\.1 200 /)
    expect(await raw(port, head + head)).toMatch(/^HTTP\/1\.1 401 [^]*"reason":"malformed"/)
    expect(await raw(port, `${head}Authorization: Basic abc\r\n`)).toMatch(/^HTTP\/1\.1 401 /)
    expect(await raw(port, `authorization: Bearer ${'x'.repeat(1_000_000)}\r\n`)).toMatch(
      /^HTTP\/1\.1 431 [^]*"error":"headers_too_large"/,
    )
  })

  test('a key in the URL, even beside a good header', async () => {
    const { secret } = await makeKey()
    for (const url of ['key', 'api_key', 'apikey', 'API-Key', 'token', 'access_token'].map((name) => `${name}=x`)) {
      const answer = await t.withToken(secret).get(`/v1/key?${url}`)
      expect(answer, url).toMatchObject({ status: 401, body: { error: 'authentication_failed', reason: 'malformed' } })
    }
    expect((await t.anonymous.get(`/v1/key?project_id=${secret}`)).status).toBe(401)
    expect((await t.withToken(secret).get('/v1/key?environment=staging')).status).toBe(200)
  })

  test('a key that expired, was disabled or was revoked', async () => {
    const soon = new Date(t.app.now() + 60_000).toISOString()
    const expiring = await makeKey({ expires_at: soon })
    const client = t.withToken(expiring.secret)
    expect((await client.get('/v1/key')).body.expires_at).toBe(soon)
    t.advance(60_000)
    expect(await client.get('/v1/key')).toMatchObject({ status: 401, body: { reason: 'expired' } })
    expect((await t.operator.get(`/v1/api-keys/${expiring.id}`)).body.status).toBe('expired')
    const { id, secret } = await makeKey()
    await t.operator.post(`/v1/api-keys/${id}/disable`)
    expect(await t.withToken(secret).get('/v1/key')).toMatchObject({ status: 401, body: { reason: 'disabled' } })
    await t.operator.delete(`/v1/api-keys/${id}`)
    expect(await t.withToken(secret).get('/v1/key')).toMatchObject({ status: 401, body: { reason: 'revoked' } })
  })

  test('an API key on a management call', async () => {
    const { secret } = await makeKey()
    expect(await t.withToken(secret).get('/v1/projects')).toMatchObject({ status: 401, body: { reason: 'wrong_kind' } })
  })

  test('no cookie opens the query endpoints', async () => {
    const administrator = await t.administrator()
    expect(await administrator.get('/v1/key')).toMatchObject({ status: 401, body: { reason: 'missing' } })
  })
})

describe('403', () => {
  test('is the same for a project that does not exist, one the key cannot see, and one that was deleted', async () => {
    const { secret, projectId } = await makeKey()
    const key = t.withToken(secret)
    const unseen = await t.project()
    const refusal = async (named: string) => {
      const { status, body } = await key.get('/v1/key', undefined, { 'x-sluice-project': named })
      return { status, ...body, request_id: '' }
    }
    const first = await refusal(unseen)
    expect(first).toMatchObject({ status: 403, error: 'permission_denied' })
    expect(await refusal('prj_none')).toEqual(first)
    expect((await key.get('/v1/key')).body.target).toEqual({ project_id: projectId, environment: 'production' })
    expect((await t.operator.delete(`/v1/projects/${projectId}`)).status).toBe(204)
    await expect.poll(() => refusal(projectId)).toEqual(first)
    expect((await key.get('/v1/key')).status).toBe(403)
  })

  test('for an environment that the key does not reach, with the rate headers', async () => {
    const projectId = await t.project()
    const permissions = [{ project_id: projectId, environments: ['staging', 'development'] }]
    const { secret } = await makeKey({ permissions })
    const key = t.withToken(secret)
    const refused = await key.get('/v1/key?environment=production')
    expect(refused).toMatchObject({ status: 403, body: { error: 'permission_denied' } })
    expect(refused.headers['ratelimit']).toBe('"default";r=99;t=1')
    const unsaid = await key.get('/v1/key')
    expect(unsaid).toMatchObject({ status: 403, body: { message: expect.stringContaining('X-Sluice-Environment') } })
    const staging = await key.get('/v1/key', undefined, { 'x-sluice-environment': 'staging' })
    expect(staging.body.target).toEqual({ project_id: projectId, environment: 'staging' })
  })

  test('400 for a call that goes to two places', async () => {
    const { secret } = await makeKey()
    const answer = await t.withToken(secret).get('/v1/key?environment=staging', undefined, {
      'x-sluice-environment': 'production',
    })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_query', reason: 'invalid_field' } })
  })
})

describe('limits', () => {
  test('every authenticated answer carries the headers; the last call of the burst leaves none', async () => {
    const { secret } = await makeKey({ plan: 'free' })
    const key = t.withToken(secret)
    const { headers } = await key.get('/v1/key')
    expect(headers).toMatchObject({
      'ratelimit-policy': '"default";q=60;w=60',
      ratelimit: '"default";r=19;t=1',
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '19',
      'x-ratelimit-reset': '1',
    })
    expect(headers).not.toHaveProperty('retry-after')
  })

  test('429 with the body of the specification; who waits that long gets through', async () => {
    const { secret } = await makeKey({ rate_limit: { per_minute: 7, burst: 2 } })
    const key = t.withToken(secret)
    const statuses = [await key.get('/v1/key'), await key.get('/v1/key')].map(({ status }) => status)
    const limited = await key.get('/v1/key')
    expect([...statuses, limited.status]).toEqual([200, 200, 429])
    const { retry_after: retryAfter, ...body } = limited.body
    expect(body).toEqual({ error: 'rate_limit_exceeded', message: expect.any(String), request_id: expect.any(String) })
    expect(Number.isInteger(retryAfter) && retryAfter > 0 && retryAfter <= 9).toBe(true)
    expect(limited.headers).toMatchObject({
      'retry-after': String(retryAfter),
      'ratelimit-policy': '"default";q=7;w=60',
      'x-ratelimit-remaining': '0',
    })
    t.advance(retryAfter * 1_000)
    expect((await key.get('/v1/key')).status).toBe(200)
  })

  test('a daily quota beside the rate, until midnight UTC', async () => {
    const { secret } = await makeKey({ plan: 'unlimited', daily_quota: 2 })
    const key = t.withToken(secret)
    t.advance(86_400_000 - (t.app.now() % 86_400_000))
    expect((await key.get('/v1/key')).headers['ratelimit-policy']).toBe('"daily";q=2;w=86400')
    expect((await key.get('/v1/key')).headers['x-ratelimit-remaining']).toBe('0')
    const limited = await key.get('/v1/key')
    expect(limited.status).toBe(429)
    t.advance(limited.body.retry_after * 1_000)
    expect((await key.get('/v1/key')).status).toBe(200)
  })

  test('a key on unlimited and a management call carry no rate headers', async () => {
    const { secret } = await makeKey({ plan: 'unlimited' })
    for (const answer of [await t.withToken(secret).get('/v1/key'), await t.operator.get('/v1/projects')]) {
      expect(answer.status).toBe(200)
      expect(Object.keys(answer.headers).filter((name) => name.includes('ratelimit'))).toEqual([])
    }
  })

  test('keys do not spend for each other, and two secrets of one key spend together', async () => {
    const [one, two] = [await makeKey({ plan: 'free' }), await makeKey({ plan: 'free' })]
    const rotated = (await t.operator.post(`/v1/api-keys/${one.id}/rotate`)).body.secret
    const left = async (secret: string) => (await t.withToken(secret).get('/v1/key')).headers['x-ratelimit-remaining']
    expect([await left(one.secret), await left(rotated), await left(two.secret)]).toEqual(['19', '18', '19'])
  })

  test('429 for failed keys after twenty a minute from one address; a good one passes all the while', async () => {
    const { secret } = await makeKey()
    const wrong = t.withToken(newCredential('live').secret)
    const statuses: number[] = []
    for (let count = 0; count < 22; count += 1) statuses.push((await wrong.get('/v1/key')).status)
    expect(statuses).toEqual([...Array<number>(20).fill(401), 429, 429])
    const limited = await wrong.get('/v1/key')
    expect(limited).toMatchObject({ status: 429, body: { error: 'rate_limit_exceeded' } })
    expect((await t.withToken(secret).get('/v1/key')).status).toBe(200)
    const elsewhere = { url: '/v1/key', remoteAddress: '203.0.113.7', headers: { authorization: 'Bearer x' } }
    expect((await t.http.inject(elsewhere)).statusCode).toBe(401)
  })
})

test('a call with a key does no database round trip', async () => {
  const quiet = await openTestApp({}, { bounds: { keyResyncMs: 600_000 } })
  const project_id = (await quiet.operator.post('/v1/projects', { name: 'x' })).body.id
  const permissions = [{ project_id, environments: '*' }]
  const { secret } = (await quiet.operator.post('/v1/api-keys', { name: 'x', permissions })).body
  await quiet.withToken(secret).get('/v1/key')
  // The first use is written soon after it, and not again for a minute.
  const written = () => quiet.app.store.db.selectFrom('apiKeyUses').selectAll().execute()
  await expect.poll(async () => (await written()).length, { timeout: 60_000 }).toBe(1)
  const before = quiet.app.store.roundTrips()
  for (let count = 0; count < 20; count += 1) await quiet.withToken(secret).get('/v1/key')
  expect(quiet.app.store.roundTrips()).toBe(before)
  await quiet.close()
})

test('a change that no notification told of is found, and the next one too', async () => {
  const quick = await openTestApp({}, { bounds: { keyResyncMs: 100 } })
  const project_id = (await quick.operator.post('/v1/projects', { name: 'x' })).body.id
  const permissions = [{ project_id, environments: '*' }]
  const { id, secret } = (await quick.operator.post('/v1/api-keys', { name: 'x', permissions })).body
  const status = async (): Promise<number> => (await quick.withToken(secret).get('/v1/key')).status
  // Nobody is told, as when the connection was lost at that moment.
  const change = (disabledAt: string): Promise<unknown> =>
    quick.app.store.pool.query(
      `update api_keys set disabled_at = ${disabledAt}, changed_at = clock_timestamp() where id = $1`,
      [id],
    )
  for (const isGood of [false, true, false]) {
    await change(isGood ? 'null' : 'now()')
    await expect.poll(async () => (await status()) === 200, { timeout: 30_000, interval: 50 }).toBe(isGood)
  }
  await quick.close()
})

let listening: Promise<number> | undefined
function listen(): Promise<number> {
  listening ??= t.http.listen({ port: 0, host: '127.0.0.1' }).then((address) => Number(new URL(address).port))
  return listening
}

/** Sends a request for one's own key with these header lines, and reads the whole answer. */
function raw(port: number, lines: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const head = `GET /v1/key HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${lines}\r\n`
    const socket = connect(port, '127.0.0.1', () => socket.write(head))
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')))
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('close', () => resolve(answer))
    socket.on('error', (error) => (answer === '' ? reject(error) : resolve(answer)))
  })
}
