import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
let url: string
const links = () => `/v1/projects/${q.projectId}/query-links`
const soon = () => new Date(t.app.now() + 86_400_000).toISOString()

beforeAll(async () => {
  t = await openTestApp()
  url = await t.listen()
  q = await openQueryProject(t)
  await q.deploy({
    name: 'shops',
    sql: "SELECT * FROM (VALUES (1, 'north', DATE '2026-01-02'), (2, 'south', DATE '2026-01-03')) t(id, region, opened) WHERE region = $region OR $region IS NULL ORDER BY id",
    slots: { properties: { region: { type: 'string', enum: ['north', 'south'] } } },
  })
  await t.operator.patch(`/v1/projects/${q.projectId}`, { query_links: true })
})
afterAll(() => t.close())

async function makeLink(body: object = {}): Promise<{ id: string; url: string }> {
  const made = await t.operator.post(links(), {
    query: 'shops',
    parameters: { region: 'north' },
    expires_at: soon(),
    ...body,
  })
  expect(made.status).toBe(201)
  return made.body
}

const open = (address: string, init?: RequestInit) => fetch(new URL(new URL(address).pathname, url), init)

describe('a link to a query', () => {
  test('opens its rows as JSON, CSV and a workbook, without a header, and says how not to keep them', async () => {
    const { url: link } = await makeLink()
    expect(link).toMatch(/\/v1\/shared\/slc_share_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/)
    expect(await (await open(link)).json()).toMatchObject({ data: [{ id: 1, region: 'north' }], row_count: 1 })
    const csv = await open(`${link}.csv`)
    expect(await csv.text()).toBe('id,region,opened\r\n1,north,2026-01-02\r\n')
    expect(Object.fromEntries(csv.headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'cache-control': 'private, no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
    })
    const sheet = await open(`${link}.xlsx`)
    expect(sheet.headers.get('content-disposition')).toBe('attachment; filename="shops.xlsx"')
    expect(
      Buffer.from(await sheet.arrayBuffer())
        .subarray(0, 2)
        .toString(),
    ).toBe('PK')
  })

  test('takes no values of its reader, no key instead, and is no key itself', async () => {
    const { url: link } = await makeLink()
    const secret = link.split('/').at(-1) ?? ''
    const asked = await fetch(`${url}/v1/shared/${secret}.csv?region=south`)
    expect([asked.status, await asked.json()]).toMatchObject([400, { error: 'invalid_query' }])
    expect((await fetch(`${url}/v1/shared/${q.secret}.csv`)).status).toBe(404)
    const call = await fetch(`${url}/v1/queries/shops`, { headers: { authorization: `Bearer ${secret}` } })
    expect([call.status, await call.json()]).toMatchObject([401, { reason: 'wrong_kind' }])
    const managed = await fetch(`${url}${links()}`, { headers: { authorization: `Bearer ${secret}` } })
    expect(managed.status).toBe(401)
    expect((await fetch(`${url}/v1/shared/${secret}.doc`)).status).toBe(404)
    const other = `${secret.slice(0, -1)}${secret.endsWith('x') ? 'y' : 'x'}`
    expect((await fetch(`${url}/v1/shared/${other}`)).status).toBe(404)
  })

  test('is listed and counted, with its values and not its secret, and not among API keys', async () => {
    const { id, url: link } = await makeLink({ name: 'Sheet of the north' })
    await open(`${link}.csv`)
    await open(`${link}.csv`)
    const { body } = await t.operator.get(`${links()}?query=shops`)
    const found = body.data.find((each: { id: string }) => each.id === id)
    expect(found).toMatchObject({
      name: 'Sheet of the north',
      query: 'shops',
      environment: 'production',
      parameters: { region: 'north' },
      status: 'active',
      rate_limit: { per_minute: 30, burst: 10 },
      daily_quota: 1_000,
      calls: 2,
      last_used_at: expect.any(String),
    })
    expect(JSON.stringify(body)).not.toContain('slc_share_')
    const keys = await t.operator.get('/v1/api-keys')
    expect(keys.body.data.map((key: { id: string }) => key.id)).not.toContain(id)
    expect((await t.operator.post(`/v1/api-keys/${id}/rotate`, {})).status).toBe(404)
    expect((await t.operator.get(`${links()}?query=others`)).body.data).toEqual([])
  })

  test('its secret is in no observation, audit entry or row of the database', async () => {
    const { url: link } = await makeLink()
    const secret = link.split('/').at(-1) ?? ''
    await open(`${link}.csv`)
    await fetch(`${url}/v1/shared/${secret}/nowhere`)
    await fetch(`${url}/v1/shared/${secret}.csv`, { method: 'POST' })
    await fetch(`${url}/v1/shared/${secret}.csv?x=1`)
    expect(JSON.stringify(t.observations)).not.toContain(secret)
    expect(JSON.stringify((await t.operator.get('/v1/audit')).body)).not.toContain(secret)
    const { rows } = await t.app.store.pool.query('select to_jsonb(api_keys)::text as row from api_keys')
    expect(JSON.stringify(rows)).not.toContain(secret)
  })

  test('ends when it is revoked, when its time is over, and when links are turned off', async () => {
    const { id, url: link } = await makeLink()
    const short = await makeLink({ expires_at: new Date(t.app.now() + 60_000).toISOString() })
    expect((await open(link)).status).toBe(200)
    expect((await t.operator.delete(`${links()}/${id}`)).status).toBe(204)
    const over = await open(`${link}.csv`)
    expect([over.status, await over.json()]).toMatchObject([404, { message: expect.stringContaining('was revoked') }])
    expect((await t.operator.delete(`${links()}/${id}`)).status).toBe(204)

    await t.operator.patch(`/v1/projects/${q.projectId}`, { query_links: false })
    expect((await open(short.url)).status).toBe(404)
    expect(await t.operator.post(links(), { query: 'shops', expires_at: soon() })).toMatchObject({
      status: 409,
      body: { reason: 'query_links_off' },
    })
    await t.operator.patch(`/v1/projects/${q.projectId}`, { query_links: true })
    expect((await open(short.url)).status).toBe(200)
    t.advance(61_000)
    const ended = await open(short.url)
    expect([ended.status, await ended.json()]).toMatchObject([404, { message: expect.stringContaining('has ended') }])
  })

  test('is held to its limit', async () => {
    const { url: link } = await makeLink({ rate_limit: { per_minute: 1, burst: 1 } })
    expect((await open(link)).status).toBe(200)
    const refused = await open(link)
    expect([refused.status, await refused.json()]).toMatchObject([429, { error: 'rate_limit_exceeded' }])
  })

  test('does not show other rows where the query has lost the slot', async () => {
    await q.deploy({ name: 'narrow', sql: 'SELECT $n::INTEGER AS n' })
    const { url: link } = await makeLink({ query: 'narrow', parameters: { n: 7 } })
    expect(await (await open(link)).json()).toMatchObject({ data: [{ n: 7 }] })
    await q.deploy({ name: 'narrow', sql: 'SELECT 1 AS n', slots: {} })
    expect(await (await open(link)).json()).toMatchObject({ error: 'conflict', reason: 'link_outdated' })
  })

  test('is refused where it could not be called, or would live too long, or is not the owner’s', async () => {
    const wrong = await t.operator.post(links(), { query: 'shops', parameters: { region: 'west' }, expires_at: soon() })
    expect(wrong).toMatchObject({ status: 400, body: { details: [{ field: 'parameters.region' }] } })
    expect((await t.operator.post(links(), { query: 'nothing', expires_at: soon() })).status).toBe(404)
    const late = new Date(t.app.now() + 401 * 86_400_000).toISOString()
    expect(await t.operator.post(links(), { query: 'shops', expires_at: late })).toMatchObject({
      status: 400,
      body: { details: [{ field: 'expires_at' }] },
    })
    const editor = await t.member(q.projectId, 'editor')
    expect((await editor.post(links(), { query: 'shops', expires_at: soon() })).status).toBe(403)
    expect((await editor.get(links())).status).toBe(403)
  })
})
