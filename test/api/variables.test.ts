import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { execute, openSource, type Source } from '../harness/source.ts'

let t: TestApp
let api: Source
let elsewhere: Source
let projectId: string
beforeAll(async () => {
  ;[api, elsewhere] = await Promise.all([openSource(), openSource()])
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: '127.0.0.1', SLUICE_VARIABLES_PER_PROJECT: '3' })
  await t.app.jobs.start()
})
afterAll(async () => {
  await t.close()
  await Promise.all([api.close(), elsewhere.close()])
})
beforeEach(async () => {
  projectId = await t.project()
  api.answer([{ id: 1 }])
  elsewhere.answer([{ id: 2 }])
  for (const { requests } of [api, elsewhere]) requests.length = 0
})

const path = (more = '') => `/v1/projects/${projectId}/variables${more}`
const origin = ({ host }: Source) => `http://${host}`
const make = async (body: Record<string, unknown>) => (await expectStatus(201, t.operator.post(path(), body))).body
const makeSecret = (more = {}) =>
  make({ name: 'key', value: 'planted-one', secret: true, origins: [origin(api)], ...more })
const connect = (config: Record<string, unknown>) =>
  t.operator.post(`/v1/projects/${projectId}/datasources`, { name: 'Orders', kind: 'http_api', config })
const get = () => ({ url: api.url, method: 'GET' })

describe('variables and secrets', () => {
  test('201, 200 and 204: a variable is shown, a secret never again', async () => {
    const variable = await make({ name: 'region', value: 'north' })
    const secret = await makeSecret({ environment: 'staging' })
    expect(variable).toMatchObject({ secret: false, value: 'north', environment: null, origins: [] })
    expect(secret).toMatchObject({ secret: true, value: null, environment: 'staging', origins: [origin(api)] })
    const changed = await t.operator.patch(path(`/${secret.id}`), { value: 'planted-two' })
    expect(changed).toMatchObject({ status: 200, body: { value: null } })
    expect(await t.operator.patch(path(`/${variable.id}`), { value: 'south' })).toMatchObject({ status: 200 })
    const { body: list } = await t.operator.get(path())
    expect(list.data.map(({ name, value }: { name: string; value: string }) => [name, value])).toEqual([
      ['region', 'south'],
      ['key', null],
    ])
    const audit = await t.operator.get('/v1/audit')
    expect(audit.body.data.map(({ action }: { action: string }) => action)).toContain('variable.updated')
    expect(JSON.stringify([list, audit.body])).not.toContain('planted')
    expect((await t.operator.delete(path(`/${variable.id}`))).status).toBe(204)
    expect(await t.operator.delete(path(`/${variable.id}`))).toMatchObject({ status: 404 })
  })

  test('400 and 409 for what cannot be kept', async () => {
    const field = (name: string) => ({ status: 400, body: { details: [{ field: name }] } })
    expect(await t.operator.post(path(), { name: 'k', value: 'v', secret: true })).toMatchObject(field('origins'))
    for (const bad of ['https://a.example/path', 'ftp://a.example', 'a.example', 'https://u:p@a.example']) {
      const body = { name: 'k', value: 'v', secret: true, origins: [bad] }
      expect(await t.operator.post(path(), body), bad).toMatchObject(field('origins'))
    }
    expect(await t.operator.post(path(), { name: 'k', value: 'v', origins: ['https://a.example'] })).toMatchObject(
      field('origins'),
    )
    expect(await t.operator.post(path(), { name: 'k', value: 'v', environment: 'mars' })).toMatchObject(
      field('environment'),
    )
    await make({ name: 'k', value: 'v' })
    expect(await t.operator.post(path(), { name: 'k', value: 'w' })).toMatchObject({ body: { reason: 'name_taken' } })
    await make({ name: 'k', value: 'v', environment: 'staging' })
    await make({ name: 'l', value: 'v' })
    expect(await t.operator.post(path(), { name: 'm', value: 'v' })).toMatchObject({
      body: { reason: 'quota_exceeded' },
    })
  })

  test('400 where a secret would go to a new origin and is not given again', async () => {
    const { id } = await makeSecret()
    const origins = [origin(api), origin(elsewhere)]
    expect(await t.operator.patch(path(`/${id}`), { origins })).toMatchObject({
      status: 400,
      body: { details: [{ field: 'value' }] },
    })
    expect(await t.operator.patch(path(`/${id}`), { origins, value: 'v' })).toMatchObject({
      status: 200,
      body: { origins },
    })
    expect(await t.operator.patch(path(`/${id}`), { origins: [origin(api)] })).toMatchObject({ status: 200 })
  })

  test('requests send what their names stand for; what is shown and stored names them', async () => {
    await makeSecret()
    await make({ name: 'region', value: 'north' })
    await make({ name: 'region', value: 'south', environment: 'staging' })
    const config = {
      url: `${api.url}?region={{var:region}}`,
      method: 'GET',
      headers: { authorization: 'Bearer {{secret:key}}' },
      environment: 'staging',
    }
    const { body: source } = await expectStatus(201, connect(config))
    expect(source.config).toEqual(config)
    const tested = await t.operator.post('/v1/http/test-connection', { ...config, project_id: projectId })
    expect(tested.body.success).toBe(true)
    const { environment: _none, ...ofProject } = config
    const executed = await execute(t.operator, { projectId, datasourceId: source.id, url: api.url, config: ofProject })
    expect(executed.status).toBe(200)
    expect(api.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/data?region=south', 'Bearer planted-one'],
      ['/data?region=north', 'Bearer planted-one'],
    ])
    const objects = await t.operator.get(`/v1/projects/${projectId}/data-objects`)
    const request = objects.body.data.find(({ kind }: { kind: string }) => kind === 'request_config')
    const stored = await t.operator.get(`/v1/projects/${projectId}/data-objects/${request.id}/download`)
    expect(JSON.stringify(stored.body)).toContain('{{secret:key}}')
    expect(JSON.stringify([stored.body, source])).not.toContain('planted')
  })

  test('400 for a secret that would leave its origins, in a test, an execute and a connection; nothing is sent', async () => {
    await makeSecret()
    const config = { url: elsewhere.url, method: 'GET', headers: { 'x-plain': '{{secret:key}}' } }
    const message = expect.stringContaining('may not be sent to') as string
    const refused = { status: 400, body: { reason: 'invalid_field', message } }
    expect(await connect(config)).toMatchObject(refused)
    expect(await t.operator.post('/v1/http/test-connection', { ...config, project_id: projectId })).toMatchObject(
      refused,
    )
    expect(await execute(t.operator, { projectId, datasourceId: 'ds_x', url: elsewhere.url, config })).toMatchObject(
      refused,
    )
    expect(elsewhere.requests).toEqual([])
  })

  test('a redirect and a page of another origin get no secret, whatever its header is called', async () => {
    await makeSecret()
    api.handle((_request, response) => response.writeHead(307, { location: elsewhere.url }).end())
    const body = { ...get(), headers: { 'accept-language': '{{secret:key}}' }, project_id: projectId }
    expect((await t.operator.post('/v1/http/test-connection', body)).body.success).toBe(true)
    const posted = { url: api.url, method: 'POST', body: { note: '{{secret:key}}' }, project_id: projectId }
    expect((await t.operator.post('/v1/http/test-connection', posted)).body).toMatchObject({
      success: false,
      status: 0,
    })
    expect(elsewhere.requests).toHaveLength(1)
    expect(JSON.stringify(elsewhere.requests)).not.toContain('planted')
  })

  test('400 without a project, 404 for a stranger, who learns nothing', async () => {
    await makeSecret()
    const body = { ...get(), headers: { a: '{{secret:key}}' } }
    expect(await t.operator.post('/v1/http/test-connection', body)).toMatchObject({
      status: 400,
      body: { details: [{ field: 'project_id' }] },
    })
    const stranger = await t.member(await t.project(), 'owner')
    const viewer = await t.member(projectId, 'viewer')
    const asked = { ...body, project_id: projectId }
    expect((await stranger.post('/v1/http/test-connection', asked)).status).toBe(404)
    expect((await viewer.post('/v1/http/test-connection', asked)).status).toBe(403)
    const named = { ...get(), environment: 'staging', project_id: projectId }
    expect((await stranger.post('/v1/http/test-connection', named)).status).toBe(404)
    expect(api.requests).toEqual([])
  })

  test('409 for one that connections use, unless another takes its place', async () => {
    const { id } = await makeSecret()
    await expectStatus(201, connect({ ...get(), headers: { 'x-note': '{{secret:key}}' }, environment: 'staging' }))
    expect(await t.operator.delete(path(`/${id}`))).toMatchObject({ status: 409, body: { reason: 'in_use' } })
    await makeSecret({ environment: 'staging' })
    expect((await t.operator.delete(path(`/${id}`))).status).toBe(204)
  })

  test('a load that stopped keeps no key of an address readable', async () => {
    await makeSecret()
    let page = 0
    api.handle((_request, response) => {
      page += 1
      if (page > 2) response.writeHead(401).end()
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify([{ id: page }]))
    })
    const { body: source } = await expectStatus(
      201,
      t.operator.post(`/v1/projects/${projectId}/datasources`, {
        name: 'Pages',
        kind: 'http_api',
        config: { ...get(), parameters: { note: { value: '{{secret:key}}' } } },
        pagination: { type: 'page' },
      }),
    )
    const { body: job } = await t.operator.post(`/v1/projects/${projectId}/datasources/${source.id}/refresh`)
    const finished = async () => (await t.operator.get(`/v1/jobs/${job.id}`)).body.status
    await expect.poll(finished, { timeout: 20_000 }).toBe('failed')
    const kept = await t.app.store.db.selectFrom('loadCheckpoints').selectAll().execute()
    expect(kept).toHaveLength(1)
    expect(JSON.stringify(kept)).not.toContain('planted')
  })
})
