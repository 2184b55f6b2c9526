import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
let keyId: string
beforeAll(async () => {
  t = await openTestApp()
  q = await openQueryProject(t)
  keyId = (await q.caller.get('/v1/key')).body.id
  const slots = {
    type: 'object',
    properties: { region: { type: 'string' } },
    required: ['region'],
    additionalProperties: false,
  }
  const sql = 'SELECT id, region FROM orders WHERE region = $region'
  const examples = [
    { question: 'Which orders came from the north?', parameters: { region: 'north' } },
    { question: 'orders of the south', parameters: { region: 'south' } },
  ]
  const description = 'The orders of a region'
  await q.deploy({ name: 'orders_of_region', sql, slots, examples, description })
  await q.deploy({ name: 'orders_of_region', sql, slots, examples, description }, 'staging')
  await q.deploy({
    name: 'order_count',
    sql: 'SELECT count(*) AS orders FROM orders',
    description: 'Counts all orders',
  })
})
// Each test has the failed credentials of its own minute.
beforeEach(() => t.advance(60_000))
afterAll(() => t.close())

const production = { 'x-sluice-environment': 'production' }

async function mint(body: Record<string, unknown> = {}, from = q.caller) {
  return (await expectStatus(201, from.post('/v1/browser-tokens', { environment: 'production', ...body }))).body
}

function lifeMs({ expires_at: expiresAt }: { expires_at: string }): number {
  return Date.parse(expiresAt) - t.app.now()
}

async function page(body: Record<string, unknown> = {}) {
  return t.withToken((await mint(body)).token)
}

/** A key of its own, for tests that take it away. */
async function makeKey(more: Record<string, unknown> = {}) {
  const permissions = [{ project_id: q.projectId, environments: ['production', 'staging'] }]
  const { body } = await t.operator.post('/v1/api-keys', { name: 'A page', plan: 'unlimited', permissions, ...more })
  return { id: body.id as string, secret: body.secret as string, client: t.withToken(body.secret) }
}

describe('201', () => {
  test('a token says where it goes and until when, and shows nothing of what it fixes', async () => {
    const answer = await q.caller.post('/v1/browser-tokens', {
      environment: 'production',
      queries: ['orders_of_region'],
      fixed_parameters: { region: 'north' },
    })
    expect(answer.status).toBe(201)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.body).toEqual({
      token: expect.stringMatching(/^slc_browser_[\w-]+$/),
      expires_at: expect.any(String),
      project_id: q.projectId,
      environment: 'production',
      queries: ['orders_of_region'],
      fixed_parameters: ['region'],
      rate_limit: { per_minute: 30, burst: 10 },
    })
    expect(lifeMs(answer.body)).toBeCloseTo(600_000, -4)
    const { token } = answer.body
    const bytes = Buffer.from(token.slice('slc_browser_'.length), 'base64url').toString('latin1')
    for (const word of ['north', 'region', q.projectId, keyId]) expect(bytes).not.toContain(word)
  })

  test('it asks questions and calls queries, by POST and by GET, and its calls are calls of the key', async () => {
    const visitor = await page({ queries: ['orders_of_region'] })
    const called = await visitor.post('/v1/queries/orders_of_region', { region: 'north' })
    expect(called).toMatchObject({ status: 200, headers: { 'ratelimit-policy': '"browser";q=30;w=60' } })
    expect((await visitor.get('/v1/queries/orders_of_region?region=north')).body.data).toEqual(called.body.data)
    const asked = await visitor.post('/v1/query', { query: 'orders of the south', project_id: q.projectId })
    expect(asked).toMatchObject({
      status: 200,
      body: { query_used: 'orders_of_region', parameters: { region: 'south' } },
    })
    const recorded = async () => {
      const { body } = await t.operator.get(`/v1/projects/${q.projectId}/requests?limit=200`)
      return body.data.filter((each: { key_id: string }) => each.key_id === keyId).length
    }
    await expect.poll(recorded).toBe(3)
  })

  test('with the only place of a key, and with what the key reaches where no query is chosen', async () => {
    const permissions = [{ project_id: q.projectId, environments: ['production'], queries: ['order_count'] }]
    const { client } = await makeKey({ permissions })
    const { token, environment, queries } = (await expectStatus(201, client.post('/v1/browser-tokens', {}))).body
    expect({ environment, queries }).toEqual({ environment: 'production', queries: null })
    const visitor = t.withToken(token)
    expect((await visitor.post('/v1/queries/order_count', {})).body.data).toEqual([{ orders: 30 }])
    expect((await visitor.post('/v1/queries/orders_of_region', { region: 'north' })).status).toBe(403)
  })
})

describe('a token is never wider than what it was made for', () => {
  test('another query, project or environment is 403, the same as one that does not exist', async () => {
    const visitor = await page({ queries: ['order_count'] })
    const other = await openQueryProject(t)
    await other.deploy({ name: 'order_count', sql: 'SELECT 1 AS orders' })
    const refusals = [
      await visitor.post('/v1/queries/orders_of_region', { region: 'north' }),
      await visitor.post('/v1/queries/no_such_query', {}),
      await visitor.post('/v1/queries/order_count', {}, { 'x-sluice-project': other.projectId }),
      await visitor.post('/v1/queries/order_count', {}, { 'x-sluice-project': 'prj_none' }),
      await visitor.get(`/v1/queries/order_count?project_id=${other.projectId}`),
      await visitor.post('/v1/query', { query: 'How many orders?', project_id: other.projectId }),
    ]
    for (const { status, body } of refusals)
      expect({ status, error: body.error }).toEqual({ status: 403, error: 'permission_denied' })
    const staging = await visitor.post('/v1/queries/order_count', {}, { 'x-sluice-environment': 'staging' })
    expect(staging.status).toBe(403)
  })

  test('a question finds only the chosen queries', async () => {
    const visitor = await page({ queries: ['order_count'] })
    const asked = await visitor.post('/v1/query', {
      query: 'orders of the south',
      project_id: q.projectId,
      explain: true,
    })
    expect(asked.body.query_used).not.toBe('orders_of_region')
    expect(JSON.stringify(asked.body)).not.toContain('orders_of_region')
  })

  test('fixed parameters hold in calls and in questions, whatever is sent', async () => {
    const visitor = await page({ fixed_parameters: { region: 'north' } })
    const regions = (body: { data: Array<{ region: string }> }) => new Set(body.data.map(({ region }) => region))
    expect(regions((await visitor.post('/v1/queries/orders_of_region', {})).body)).toEqual(new Set(['north']))
    const sent = await visitor.post('/v1/queries/orders_of_region', { region: 'south' })
    expect(sent).toMatchObject({ status: 400, body: { reason: 'invalid_slots' } })
    const asked = await visitor.post('/v1/query', { query: 'orders of the south', project_id: q.projectId })
    expect(asked).toMatchObject({ status: 400, body: { reason: 'invalid_slots' } })
    const given = { query: 'orders of a region', project_id: q.projectId, parameters: { region: 'south' } }
    expect((await visitor.post('/v1/query', given)).status).not.toBe(200)
  })

  test("what the key fixes stays fixed, and the token's own are beside it", async () => {
    const { client } = await makeKey({ fixed_parameters: { region: 'south' } })
    const clash = await client.post('/v1/browser-tokens', {
      fixed_parameters: { region: 'north' },
      environment: 'staging',
    })
    expect(clash).toMatchObject({ status: 400, body: { details: [{ field: 'fixed_parameters.region' }] } })
    const visitor = t.withToken((await mint({}, client)).token)
    const { body } = await visitor.post('/v1/queries/orders_of_region', {}, production)
    expect(new Set(body.data.map(({ region }: { region: string }) => region))).toEqual(new Set(['south']))
  })

  test('no visitor goes on from the question of another', async () => {
    const ask = { query: 'orders of a region', project_id: q.projectId }
    const [north, south] = [
      await page({ fixed_parameters: { region: 'north' } }),
      await page({ fixed_parameters: { region: 'south' } }),
    ]
    const first = await expectStatus(
      200,
      north.post('/v1/query', { ...ask, query: 'Which orders came from the north?' }),
    )
    const follows = String(first.headers['x-request-id'])
    expect((await south.post('/v1/query', { ...ask, query: 'and again?', follows })).status).toBe(404)
    // Nor one who has the same fixed values; the token that asked does.
    const alike = await page({ fixed_parameters: { region: 'north' } })
    expect((await alike.post('/v1/query', { ...ask, query: 'and again?', follows })).status).toBe(404)
    expect((await north.post('/v1/query', { ...ask, query: 'and again?', follows })).status).not.toBe(404)
  })

  test('its own limit holds, and so does that of the key', async () => {
    const tight = await page({ rate_limit: { per_minute: 1, burst: 1 } })
    const call = (visitor: typeof tight) => visitor.post('/v1/queries/order_count', {})
    expect((await call(tight)).status).toBe(200)
    const second = await call(tight)
    expect(second).toMatchObject({ status: 429, body: { error: 'rate_limit_exceeded', retry_after: 60 } })
    // The other visitors of the page are not held up.
    expect((await call(await page())).status).toBe(200)
    const { client } = await makeKey({ rate_limit: { per_minute: 1, burst: 2 } })
    const wide = t.withToken((await mint({ rate_limit: { per_minute: 1000, burst: 100 } }, client)).token)
    expect((await call(wide)).status).toBe(200)
    expect((await call(wide)).status).toBe(429)
  })
})

describe('a token is made no wider than its key', () => {
  test('403 for a project, environment or query beyond it', async () => {
    const permissions = [{ project_id: q.projectId, environments: ['staging'], queries: ['orders_of_region'] }]
    const { client } = await makeKey({ permissions })
    const other = await openQueryProject(t)
    for (const body of [
      { environment: 'production' },
      { project_id: other.projectId },
      { queries: ['order_count'] },
      { queries: ['orders_of_region', 'order_count'] },
    ]) {
      expect(await client.post('/v1/browser-tokens', body), JSON.stringify(body)).toMatchObject({ status: 403 })
    }
  })

  test('when the key becomes narrower, its tokens do', async () => {
    const { id, client } = await makeKey()
    const visitor = t.withToken((await mint({}, client)).token)
    const call = async () => (await visitor.post('/v1/queries/order_count', {})).status
    expect(await call()).toBe(200)
    const permissions = [{ project_id: q.projectId, environments: ['production'], queries: ['orders_of_region'] }]
    await expectStatus(200, t.operator.patch(`/v1/api-keys/${id}`, { permissions }))
    expect(await call()).toBe(403)
    const elsewhere = [{ project_id: q.projectId, environments: ['staging'] }]
    await expectStatus(200, t.operator.patch(`/v1/api-keys/${id}`, { permissions: elsewhere }))
    expect(await call()).toBe(403)
  })

  test('400 where it lives too long, is too long, or fixes what no query has', async () => {
    const refused = async (body: Record<string, unknown>) => {
      const { status, body: said } = await q.caller.post('/v1/browser-tokens', { environment: 'production', ...body })
      return { status, reason: said.reason, details: said.details, message: said.message }
    }
    expect(await refused({ expires_in_seconds: 3601 })).toMatchObject({
      status: 400,
      details: [{ field: 'expires_in_seconds', message: expect.stringContaining('3600') }],
    })
    expect(await refused({ expires_in_seconds: 59 })).toMatchObject({ status: 400 })
    expect(await refused({ fixed_parameters: { regoin: 'north' } })).toMatchObject({
      status: 400,
      details: [{ field: 'fixed_parameters.regoin', message: expect.stringContaining('perhaps you meant region') }],
    })
    expect(await refused({ fixed_parameters: { region: 'x'.repeat(5_000) } })).toMatchObject({
      status: 400,
      message: expect.stringContaining('more than 4096'),
    })
    expect(await refused({ wider: true })).toMatchObject({ status: 400 })
  })

  test('409 where the key has several projects and none is named', async () => {
    const permissions = [q.projectId, await t.project()].map((project_id) => ({ project_id, environments: '*' }))
    const { client } = await makeKey({ permissions })
    expect(await client.post('/v1/browser-tokens', {})).toMatchObject({
      status: 409,
      body: { reason: 'ambiguous_project' },
    })
  })
})

describe('401', () => {
  const refusalOf = async (token: string): Promise<string> => {
    const { status, body } = await t.withToken(token).post('/v1/queries/order_count', {})
    return `${status} ${body.reason}`
  }

  test('after its minutes', async () => {
    const { token } = await mint({ expires_in_seconds: 60 })
    t.advance(50_000)
    await expectStatus(200, t.withToken(token).post('/v1/queries/order_count', {}))
    t.advance(10_000)
    expect(await refusalOf(token)).toBe('401 expired')
  })

  test('when its key is disabled, revoked or expired', async () => {
    const { id, client } = await makeKey()
    const { token } = await mint({}, client)
    await t.operator.post(`/v1/api-keys/${id}/disable`)
    expect(await refusalOf(token)).toBe('401 disabled')
    await t.operator.post(`/v1/api-keys/${id}/enable`)
    await expectStatus(200, t.withToken(token).post('/v1/queries/order_count', {}))
    await t.operator.delete(`/v1/api-keys/${id}`)
    expect(await refusalOf(token)).toBe('401 revoked')
    const expiresAt = new Date(t.app.now() + 90_000).toISOString()
    const short = await makeKey({ expires_at: expiresAt })
    expect((await mint({}, short.client)).expires_at).toBe(expiresAt)
  })

  test('when the secret it was made with is over', async () => {
    const { id, client } = await makeKey()
    const { token } = await mint({ expires_in_seconds: 3600 }, client)
    await t.operator.post(`/v1/api-keys/${id}/rotate`, { grace_seconds: 120 })
    await expectStatus(200, t.withToken(token).post('/v1/queries/order_count', {}))
    // One that the old secret makes ends with it.
    const late = await mint({ expires_in_seconds: 3600 }, client)
    expect(lifeMs(late)).toBeLessThanOrEqual(120_000)
    t.advance(120_000)
    expect(await refusalOf(token)).toBe('401 expired')
    const again = await makeKey()
    const minted = await mint({}, again.client)
    await t.operator.post(`/v1/api-keys/${again.id}/rotate`, { grace_seconds: 0 })
    await t.operator.post(`/v1/api-keys/${again.id}/rotate`, { grace_seconds: 0 })
    expect(await refusalOf(minted.token)).toBe('401 expired')
  })

  test('changed in any place, cut, or made of something else that this installation has sealed', async () => {
    const { token } = await mint()
    const body = token.slice('slc_browser_'.length)
    const bytes = Buffer.from(body, 'base64url')
    for (const at of [0, 1, 12, 13, 28, 29, 60, bytes.length - 1]) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(await refusalOf(`slc_browser_${changed.toString('base64url')}`)).toBe('401 malformed')
      t.advance(60_000)
    }
    expect(await refusalOf(token.slice(0, -6))).toBe('401 malformed')
    expect(await refusalOf('slc_browser_')).toBe('401 malformed')
    const claims = t.app.browserTokens.open(bytes)
    expect(await refusalOf(`slc_browser_${t.app.vault.seal(claims).toString('base64url')}`)).toBe('401 malformed')
    expect(await refusalOf(`slc_browser_${t.app.browserTokens.seal({ keyId }).toString('base64url')}`)).toBe(
      '401 malformed',
    )
    expect(await refusalOf(`slc_browser_${'A'.repeat(10_000)}`)).toBe('401 malformed')
  })

  test('on everything that is not a call or a question', async () => {
    const visitor = await page()
    const attempts = [
      await visitor.get('/v1/key'),
      await visitor.post('/v1/browser-tokens', {}),
      await visitor.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      await visitor.get(`/v1/projects/${q.projectId}/openapi.json`),
      await visitor.get('/v1/projects'),
      await visitor.get('/v1/api-keys'),
      await visitor.post('/v1/api-keys', { name: 'x', permissions: [] }),
      await visitor.delete(`/v1/api-keys/${keyId}`),
      await visitor.get(`/v1/projects/${q.projectId}/requests`),
    ]
    for (const { status, body } of attempts) {
      expect(status).toBe(401)
      expect(body.reason ?? body.error?.data?.reason).toBe('wrong_kind')
    }
  })

  test('in the URL', async () => {
    const { token } = await mint()
    const url = `/v1/queries/order_count?region=${token}`
    expect(await t.withToken(token).get(url)).toMatchObject({ status: 401, body: { reason: 'malformed' } })
  })
})
