import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { maskStoredConfigurations } from '../../server/connections/index.ts'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { execute, openSource, type Source } from '../harness/source.ts'

/** The API that secrets were given for, the server that gives tokens for it, and somebody else's. */
let t: TestApp
let api: Source
let login: Source
let elsewhere: Source
let projectId: string
beforeAll(async () => {
  ;[api, login, elsewhere] = await Promise.all([openSource(), openSource(), openSource()])
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: '127.0.0.1' })
  await t.app.jobs.start()
})
afterAll(async () => {
  await t.close()
  await Promise.all([api.close(), login.close(), elsewhere.close()])
})
beforeEach(async () => {
  projectId = await t.project()
  api.answer([{ id: 1 }])
  elsewhere.answer([{ id: 2 }])
  login.answer({ access_token: 'bought-token', expires_in: 3600 })
  for (const { requests } of [api, login, elsewhere]) requests.length = 0
})

const path = () => `/v1/projects/${projectId}/datasources`
const make = async (config: Record<string, unknown>): Promise<string> =>
  (await expectStatus(201, t.operator.post(path(), { name: 'Orders', kind: 'http_api', config }))).body.id
const shownOf = async (id: string) => (await t.operator.get(`${path()}/${id}`)).body.config
const patch = (id: string, config: Record<string, unknown>) => t.operator.patch(`${path()}/${id}`, { config })
const tryOut = (id: string, config: Record<string, unknown>) =>
  t.operator.post('/v1/http/test-connection', { ...config, project_id: projectId, datasource_id: id })
const sent = ({ requests }: Source) => JSON.stringify(requests)

describe('a secret goes only to the address it was stored for', () => {
  const oauth = () => ({
    url: api.url,
    method: 'GET',
    authType: 'OAuth2 Client Credentials',
    auth: { token_url: login.url, client_id: 'planted-client', client_secret: 'planted-secret' },
  })

  test('400 for a client secret with another token address, in a test, an execute and a change', async () => {
    const id = await make(oauth())
    const shown = await shownOf(id)
    const moved = { ...shown, auth: { ...shown.auth, token_url: elsewhere.url } }
    const message = expect.stringContaining('its address changed') as string
    const refused = { status: 400, body: { error: 'invalid_request', reason: 'invalid_field', message } }
    expect(await tryOut(id, moved)).toMatchObject(refused)
    expect(await patch(id, moved)).toMatchObject(refused)
    expect(await execute(t.operator, { projectId, datasourceId: id, url: api.url, config: moved })).toMatchObject(
      refused,
    )
    expect(await tryOut(id, { ...shown, url: elsewhere.url })).toMatchObject(refused)
    expect(elsewhere.requests).toEqual([])
    expect((await tryOut(id, shown)).body.success).toBe(true)
    expect(api.requests.at(-1)?.headers.authorization).toBe('Bearer bought-token')
  })

  test('400 for a token address that holds a password or a key is shown without it', async () => {
    const { auth, ...rest } = oauth()
    const withUser = { ...auth, token_url: login.url.replace('//', '//u:planted@') }
    const made = await t.operator.post(path(), { name: 'x', kind: 'http_api', config: { ...rest, auth: withUser } })
    expect(made).toMatchObject({ status: 400, body: { details: [{ field: 'auth.token_url' }] } })
    const id = await make({ ...rest, auth: { ...auth, token_url: `${login.url}?api_key=planted` } })
    expect(await shownOf(id)).toMatchObject({ auth: { token_url: `${login.url}?api_key=***` } })
  })

  test('a redirect to another origin takes along harmless headers only', async () => {
    api.handle((_request, response) => void response.writeHead(302, { location: elsewhere.url }).end())
    const headers = { 'X-Auth': 'planted-1', 'X-Tenant': 'planted-2', Accept: 'text/csv', 'User-Agent': 'mine' }
    await expectStatus(200, t.operator.post('/v1/http/test-connection', { url: api.url, method: 'GET', headers }))
    expect(sent(api)).toContain('planted-1')
    expect(sent(elsewhere)).not.toContain('planted')
    expect(elsewhere.requests.at(-1)?.headers).toMatchObject({ accept: 'text/csv', 'user-agent': 'mine' })
  })

  test('a redirect does not take along a body that holds a secret', async () => {
    api.handle((_request, response) => void response.writeHead(307, { location: elsewhere.url }).end())
    const call = (body: Record<string, unknown>) =>
      t.operator.post('/v1/http/test-connection', { url: api.url, method: 'POST', body })
    expect((await call({ pwd: 'planted' })).body).toMatchObject({ success: false, error: { code: 'blocked' } })
    expect(elsewhere.requests).toEqual([])
    expect((await call({ page: 1 })).body).toMatchObject({ success: true })
    expect(elsewhere.requests).toHaveLength(1)
  })

  test('pages of another origin get no secret, and none comes back on the way home', async () => {
    const next = (to: string) => ({ 'content-type': 'application/json', link: `<${to}>; rel="next"` })
    api.handle((request, response) => {
      const isLast = request.url?.includes('last') ?? false
      response
        .writeHead(200, isLast ? { 'content-type': 'application/json' } : next(elsewhere.url))
        .end(JSON.stringify([{ id: 1 }]))
    })
    elsewhere.answer([{ id: 2 }], next(`${api.url}?last`))
    const config = {
      headers: { 'X-Tenant': { value: 'planted-1', secret: true } },
      authType: 'API Key',
      auth: { key: 'appid', value: 'planted-2', in: 'query' },
    }
    const answer = await t.operator.post('/v1/http/execute-request', {
      project_id: projectId,
      datasource_id: 'ds_pages',
      connect_spec: { name: 'Pages', id: 'http_api', config },
      url: api.url,
      method: 'GET',
      pagination: { type: 'link_header' },
    })
    expect(answer.status).toBe(200)
    expect([elsewhere.requests.length, sent(elsewhere).includes('planted')]).toEqual([1, false])
    expect(api.requests.map((each) => JSON.stringify(each).includes('planted'))).toEqual([true, false])
  })
})

describe('what is shown can be given back', () => {
  test('no secret is overwritten with three stars, wherever it stands', async () => {
    const config = {
      url: `${api.url}?api_key=planted-1&page=1`,
      method: 'POST',
      headers: { 'X-Auth': 'Bearer planted-2', 'X-Tenant': { value: 'planted-3', secret: true } },
      parameters: { sig: { value: 4711, required: true } },
      body: { login: { pwd: 'planted-4' }, page: 1 },
    }
    const id = await make(config)
    const shown = await shownOf(id)
    expect(JSON.stringify(shown)).not.toMatch(/planted|4711/)
    await expectStatus(200, patch(id, shown))
    expect(await shownOf(id)).toEqual(shown)
    const bodies: string[] = []
    api.handle((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => bodies.push(text))
      request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('[{"id":1}]'))
    })
    expect((await tryOut(id, shown)).body.success).toBe(true)
    expect(api.requests.at(-1)?.url).toBe('/data?api_key=planted-1&page=1&sig=4711')
    expect(api.requests.at(-1)?.headers).toMatchObject({ 'x-auth': 'Bearer planted-2', 'x-tenant': 'planted-3' })
    expect(bodies.map((text) => JSON.parse(text) as unknown)).toEqual([config.body])
    // A switch that is taken away does not show what it hid.
    const bared = { ...shown, headers: { ...shown.headers, 'X-Tenant': '***' } }
    expect((await patch(id, bared)).body.message).toContain('Give headers.X-Tenant again')
  })

  test('400 for three stars in a new datasource', async () => {
    const config = { url: `${api.url}?api_key=***`, method: 'GET' }
    const made = await t.operator.post(path(), { name: 'x', kind: 'http_api', config })
    expect(made).toMatchObject({ status: 400, body: { details: [{ field: 'url' }] } })
  })
})

describe('bodies', () => {
  const jobOf = async (id: string) => (await t.operator.get(`/v1/jobs/${id}`)).body.status

  test('their secrets are sealed: a viewer, the database and the stored request have none', async () => {
    const body = { type: 'form', content: { grant: 'x', client_secret: 'planted-body' } }
    const id = await make({ url: api.url, method: 'POST', body })
    const raw = await make({ url: api.url, method: 'POST', body: { type: 'raw', content: '<pin>planted-raw</pin>' } })
    const viewer = await t.member(projectId, 'viewer')
    const seen = await viewer.get(path())
    expect(JSON.stringify(seen.body)).not.toContain('planted')
    expect(seen.body.data.find((each: { id: string }) => each.id === raw).config.body.content).toBe('***')
    const { rows } = await t.app.store.pool.query('select config::text from datasources')
    expect(JSON.stringify(rows)).not.toContain('planted')
    const job = await expectStatus(201, t.operator.post(`${path()}/${id}/refresh`))
    await expect.poll(() => jobOf(job.body.id)).toBe('succeeded')
    const objects = await viewer.get(`/v1/projects/${projectId}/data-objects?datasource_id=${id}`)
    const request = objects.body.data.find((each: { kind: string }) => each.kind === 'request_config')
    const content = await viewer.get(`/v1/projects/${projectId}/data-objects/${request.id}/download`)
    expect(JSON.stringify(content.body)).toContain('grant')
    expect(JSON.stringify(content.body)).not.toContain('planted')
  })

  test('what an earlier version stored readable is not shown, and is masked where it lies', async () => {
    const id = await make({ url: api.url, method: 'GET' })
    const old = JSON.stringify({
      url: api.url,
      method: 'POST',
      headers: { 'X-Auth': 'planted' },
      body: { pwd: 'planted' },
    })
    await t.app.store.pool.query('update datasources set config = $2 where id = $1', [id, old])
    expect(JSON.stringify(await shownOf(id))).not.toContain('planted')
    await maskStoredConfigurations(t.app)
    const { rows } = await t.app.store.pool.query('select config from datasources where id = $1', [id])
    expect(rows[0].config).toMatchObject({ headers: { 'X-Auth': '***' }, body: { pwd: '***' } })
  })
})
