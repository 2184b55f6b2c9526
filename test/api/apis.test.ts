import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { expectStatus, openTestApp, type Answer, type Person, type TestApp } from '../harness/app.ts'
import { memorySink, openPaces } from '../../server/connections/index.ts'
import { openSource, type Source } from '../harness/source.ts'

const json = { 'content-type': 'application/json' }

let t: TestApp
let shop: Source
let elsewhere: Source
let editor: Person
let projectId: string
let base: string

beforeAll(async () => {
  ;[shop, elsewhere] = await Promise.all([openSource(), openSource()])
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: `${shop.host},${elsewhere.host}`, SLUICE_JOBS_AT_ONCE: '8' })
  await t.app.jobs.start()
})
afterAll(async () => {
  await t.close()
  await Promise.all([shop.close(), elsewhere.close()])
})
beforeEach(async () => {
  projectId = await t.project()
  editor = await t.member(projectId, 'editor')
  base = `/v1/projects/${projectId}`
  shop.answer([{ id: 1 }])
  elsewhere.answer([{ id: 1 }])
  shop.requests.length = 0
  elsewhere.requests.length = 0
})

const ofShop = (more: object = {}) => ({
  url: `http://${shop.host}/v1/`,
  headers: { 'X-Shop': 'north', Accept: 'application/vnd.shop+json' },
  parameters: { region: { value: 'eu' } },
  authType: 'Bearer Token',
  auth: { token: 'the-token-of-the-shop' },
  ...more,
})
const makeApi = async (body: object = {}) =>
  (await expectStatus(201, editor.post(`${base}/apis`, { name: 'shop', config: ofShop(), ...body }))).body
const make = (config: object, more: object = {}): Promise<Answer> =>
  editor.post(`${base}/datasources`, {
    name: 'Orders',
    kind: 'http_api',
    config: { method: 'GET', ...config },
    ...more,
  })
const made = async (config: object, more: object = {}) => (await expectStatus(201, make(config, more))).body
const tryOut = async (config: object) =>
  (
    await expectStatus(
      200,
      editor.post('/v1/http/test-connection', { project_id: projectId, method: 'GET', ...config }),
    )
  ).body
const refresh = async (id: string): Promise<Answer['body']> => {
  const { body } = await expectStatus(201, editor.post(`${base}/datasources/${id}/refresh`))
  return vi.waitFor(
    async () => {
      const job = (await expectStatus(200, editor.get(`/v1/jobs/${body.id}`))).body
      expect(job.status).toMatch(/succeeded|failed/)
      return job
    },
    { timeout: 60_000, interval: 30 },
  )
}

describe('an API that connections share', () => {
  test('says address, headers, parameters and authentication once, and each connection adds its path', async () => {
    const api = await makeApi()
    expect(api).toMatchObject({ name: 'shop', rate: null, connections: 0, config: { auth: { token: '***' } } })
    const orders = await made({ api: 'shop', url: '/orders' })
    const items = await made({ api: 'shop', url: 'items?sort=id', parameters: { region: { value: 'us' } } })
    const own = { headers: { accept: 'text/csv' }, authType: 'None' }
    const open = await made({ api: 'shop', url: '?all', ...own })
    for (const { id } of [orders, items, open]) expect(await refresh(id)).toMatchObject({ status: 'succeeded' })
    expect(shop.requests.map(({ url }) => url)).toEqual([
      '/v1/orders?region=eu',
      '/v1/items?sort=id&region=us',
      '/v1?all&region=eu',
    ])
    const [first, , last] = shop.requests
    expect(first?.headers).toMatchObject({ 'x-shop': 'north', accept: 'application/vnd.shop+json' })
    expect(first?.headers.authorization).toBe('Bearer the-token-of-the-shop')
    expect(last?.headers).toMatchObject({ 'x-shop': 'north', accept: 'text/csv' })
    expect(last?.headers.authorization).toBeUndefined()
    const { body } = await expectStatus(200, editor.get(`${base}/apis/${api.id}`))
    expect(body.connections).toBe(3)
    // A change reaches all of them, and what they had is fetched anew with it.
    const config = ofShop({ url: `http://${shop.host}/v2`, auth: { token: '***' } })
    await expectStatus(200, editor.patch(`${base}/apis/${api.id}`, { config }))
    await refresh(orders.id)
    expect(shop.requests.at(-1)?.url).toBe('/v2/orders?region=eu')
    expect(shop.requests.at(-1)?.headers.authorization).toBe('Bearer the-token-of-the-shop')
  })

  test('gets another name, which its connections follow with what they hold', async () => {
    const api = await makeApi()
    const own = { headers: { 'x-own': { value: 'a-secret-of-orders', secret: true } } }
    const orders = await made({ api: 'shop', url: '/orders', ...own })
    await refresh(orders.id)
    const renamed = await expectStatus(200, editor.patch(`${base}/apis/${api.id}`, { name: 'store' }))
    expect(renamed.body).toMatchObject({ id: api.id, name: 'store', connections: 1 })
    const { body } = await expectStatus(200, editor.get(`${base}/datasources/${orders.id}`))
    expect(body.config).toMatchObject({ api: 'store', url: '/orders', headers: { 'x-own': { value: '***' } } })
    expect(await refresh(orders.id)).toMatchObject({ status: 'succeeded' })
    expect(shop.requests.at(-1)).toMatchObject({
      url: '/v1/orders?region=eu',
      headers: { 'x-own': 'a-secret-of-orders' },
    })
    const other = await makeApi()
    expect(await editor.patch(`${base}/apis/${other.id}`, { name: 'store' })).toMatchObject({ status: 409 })
    expect((await editor.get(`${base}/apis/${other.id}`)).body.name).toBe('shop')
  })

  test('is tried before it is stored, and with what is changed of it', async () => {
    const config = ofShop()
    expect(await tryOut({ api: 'shop', url: '/orders', api_config: config })).toMatchObject({ success: true })
    expect(shop.requests.at(-1)?.headers.authorization).toBe('Bearer the-token-of-the-shop')
    const refused = await editor.post('/v1/http/test-connection', {
      project_id: projectId,
      method: 'GET',
      api: 'shop',
      url: '/orders',
    })
    expect(refused).toMatchObject({ status: 400, body: { details: [{ field: 'api' }] } })
    await makeApi()
    const changed = ofShop({ parameters: {}, auth: { token: '***' } })
    await tryOut({ api: 'shop', url: '/orders', api_config: changed })
    expect(shop.requests.at(-1)).toMatchObject({ url: '/v1/orders' })
    expect(shop.requests.at(-1)?.headers.authorization).toBe('Bearer the-token-of-the-shop')
    const foreign = { api: 'shop', url: '/orders', api_config: { ...changed, url: `http://${elsewhere.host}/` } }
    const answer = await editor.post('/v1/http/test-connection', { project_id: projectId, method: 'GET', ...foreign })
    expect(answer.status).toBe(400)
    expect(elsewhere.requests).toEqual([])
  })

  test('that connections use cannot be deleted, nor one be named that is not there', async () => {
    const api = await makeApi()
    const { id } = await made({ api: 'shop', url: '/orders' })
    const refused = await editor.delete(`${base}/apis/${api.id}`)
    expect(refused).toMatchObject({ status: 409, body: { reason: 'in_use' } })
    expect(refused.body.message).toContain('Orders')
    await expectStatus(204, editor.delete(`${base}/datasources/${id}`))
    await expectStatus(204, editor.delete(`${base}/apis/${api.id}`))
    expect(await make({ api: 'shop', url: '/orders' })).toMatchObject({ status: 400 })
    const owner = await t.member(projectId, 'owner')
    const { body } = await expectStatus(200, owner.get(`/v1/audit?project_id=${projectId}`))
    const acts = body.data.map(({ action }: { action: string }) => action)
    expect(acts).toEqual(expect.arrayContaining(['api.created', 'api.deleted']))
  })

  test('a variable that it names stays while it is named', async () => {
    const variable = { name: 'region', value: 'eu' }
    const { body } = await expectStatus(201, editor.post(`${base}/variables`, variable))
    await makeApi({ config: ofShop({ parameters: { region: { value: '{{var:region}}' } } }) })
    expect(await editor.delete(`${base}/variables/${body.id}`)).toMatchObject({ status: 409 })
  })
})

describe('secrets of an API and of its connections', () => {
  test('go to the address they were given for, whatever a path looks like', async () => {
    await makeApi()
    for (const url of [`http://${elsewhere.host}/`, `HTTP:${elsewhere.host}`]) {
      expect(await make({ api: 'shop', url })).toMatchObject({ status: 400, body: { details: [{ field: 'url' }] } })
    }
    for (const url of [`//${elsewhere.host}/`, `/\\${elsewhere.host}`, `@${elsewhere.host}/`, `.${elsewhere.host}`]) {
      const { body } = await make({ api: 'shop', url, parameters: { region: { value: '' } } })
      await refresh(body.id)
    }
    expect(elsewhere.requests).toEqual([])
    expect(shop.requests).toHaveLength(4)
  })

  test('an API is not sent elsewhere with the secrets that it holds, nor with those of its connections', async () => {
    const api = await makeApi()
    const path = `${base}/apis/${api.id}`
    const moved = (more: object) => ({ config: ofShop({ url: `http://${elsewhere.host}/`, ...more }) })
    expect(await editor.patch(path, moved({ auth: { token: '***' } }))).toMatchObject({ status: 400 })
    const { id } = await made({ api: 'shop', url: '/orders', headers: { 'X-Token': 'of-the-connection' } })
    const refused = await editor.patch(path, moved({ auth: { token: 'another' } }))
    expect(refused).toMatchObject({ status: 400, body: { details: [{ field: 'config.url' }] } })
    expect(refused.body.message).toContain('Orders')
    const other = { name: 'other', config: { url: `http://${elsewhere.host}/` } }
    await expectStatus(201, editor.post(`${base}/apis`, other))
    // Neither does a connection take its secret along to another API, or to an address of its own.
    const masked = { method: 'GET', headers: { 'X-Token': '***' } }
    for (const way of [{ api: 'other', url: '/orders' }, { url: `http://${elsewhere.host}/orders` }]) {
      const answer = await editor.patch(`${base}/datasources/${id}`, { config: { ...masked, ...way } })
      expect(answer).toMatchObject({ status: 400, body: { details: [{ field: 'headers.X-Token' }] } })
      const tried = { ...masked, ...way, project_id: projectId, datasource_id: id }
      expect(await editor.post('/v1/http/test-connection', tried)).toMatchObject({ status: 400 })
      const definition = await expectStatus(200, editor.get(`${base}/definition`))
      definition.body.connections[0].config = { ...masked, ...way }
      expect(await editor.put(`${base}/definition`, definition.body)).toMatchObject({ status: 400 })
    }
    // The same address is the same, with an API and without.
    const alone = { ...masked, url: `http://${shop.host}/v1/orders` }
    await expectStatus(200, editor.patch(`${base}/datasources/${id}`, { config: alone }))
    await refresh(id)
    expect(shop.requests.at(-1)?.headers['x-token']).toBe('of-the-connection')
    // With nothing of theirs on it, the API moves.
    await expectStatus(200, editor.patch(path, moved({ auth: { token: 'another' } })))
    expect(elsewhere.requests).toEqual([])
  })
})

describe('in the definition of a project', () => {
  test('it is read without its secrets, put back as it was, and pruned', async () => {
    await makeApi({ rate: { requests: 5, concurrency: 2 }, tries: 2 })
    await made({ api: 'shop', url: '/orders' })
    const { body: read } = await expectStatus(200, editor.get(`${base}/definition`))
    const rate = { requests: 5, per: 'second', concurrency: 2 }
    expect(read.apis).toMatchObject([{ name: 'shop', rate, tries: 2, config: { auth: { token: '***' } } }])
    expect(JSON.stringify(read)).not.toContain('the-token-of-the-shop')
    const changes = async (definition: Record<string, unknown>) => {
      const { body } = await expectStatus(200, editor.put(`${base}/definition`, definition))
      return body.plan.filter(({ action }: { action: string }) => action !== 'unchanged')
    }
    expect(await changes(read)).toEqual([])
    const other = structuredClone(read)
    other.apis[0].config.auth.token = 'the-next-token'
    expect(await changes(other)).toMatchObject([{ kind: 'api', action: 'update', notes: ['A secret of it changes.'] }])
    await refresh((await editor.get(`${base}/datasources`)).body.data[0].id)
    expect(shop.requests.at(-1)?.headers.authorization).toBe('Bearer the-next-token')
    expect(await editor.put(`${base}/definition`, { definition: 1, apis: [] })).toMatchObject({ status: 409 })
    const none = { definition: 1, apis: [], connections: [] }
    expect(await changes(none)).toMatchObject([
      { kind: 'connection', action: 'delete' },
      { kind: 'api', action: 'delete' },
    ])
    // Made anew together, the API first.
    read.apis[0].config.auth.token = 'given-again'
    const again = await changes(read)
    expect(again.map(({ kind, action }: { kind: string; action: string }) => [kind, action])).toEqual([
      ['api', 'create'],
      ['connection', 'create'],
    ])
    await vi.waitFor(() => expect(shop.requests.at(-1)?.headers.authorization).toBe('Bearer given-again'), 30_000)
  })
})

/** An API with manners of its own: when calls came, and how many were there at once. */
function watched(answer: (request: IncomingMessage, response: ServerResponse) => void, tookMs = 20) {
  const seen = { at: [] as number[], most: 0 }
  let running = 0
  shop.handle((request, response) => {
    seen.at.push(performance.now())
    seen.most = Math.max(seen.most, (running += 1))
    setTimeout(() => {
      running -= 1
      answer(request, response)
    }, tookMs)
  })
  return seen
}
const rows = (response: ServerResponse, headers: Record<string, string> = {}) =>
  void response.writeHead(200, { ...json, ...headers }).end('[{"id":1}]')

describe('the rate of an API', () => {
  test('holds over all connections and processes: so many in a second, so many at once', async () => {
    const api = await makeApi({ rate: { requests: 5, concurrency: 2 } })
    const seen = watched((_request, response) => rows(response), 150)
    // Twice the part that counts turns, as two processes have it, on one database.
    const paces = [openPaces(t.app.store), openPaces(t.app.store)]
    const calls = Array.from({ length: 10 }, (_, at) => {
      const pace = paces[at % 2]?.of({ id: api.id, rate: api.rate })
      const options = { timeoutMs: 30_000, maxWireBytes: 1e6, maxDecodedBytes: 1e6, beyond: 'fail' as const }
      const headers = {}
      const request = { url: `${shop.url}/${at}`, method: 'GET', headers, secretHeaders: [], secretQuery: [] }
      return t.app.outbound.send(request, { ...options, redirects: 0, retries: 0, sink: memorySink(), pace })
    })
    const ids = await Promise.all([1, 2].map(async (n) => (await made({ api: 'shop', url: `/${n}` })).id as string))
    await Promise.all([...calls, ...ids.map((id) => refresh(id))])
    expect(seen.at).toHaveLength(12)
    expect(seen.most).toBe(2)
    for (const [index, at] of seen.at.entries()) {
      const before = seen.at[index - 5]
      if (before !== undefined) expect(at - before).toBeGreaterThanOrEqual(999)
    }
  })

  test('is what the API says itself: nothing is asked before its quota is new', async () => {
    await makeApi()
    const left: Array<Record<string, string>> = [
      { 'ratelimit-remaining': '0', 'ratelimit-reset': '1' },
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 2) },
      { ratelimit: '"default";r=0;t=1' },
    ]
    const seen = watched((_request, response) => rows(response, left.shift()))
    const ids = await Promise.all(
      [1, 2, 3, 4].map(async (n) => (await made({ api: 'shop', url: `/${n}` })).id as string),
    )
    for (const id of ids) await refresh(id)
    const [first = 0, second = 0, third = 0, fourth = 0] = seen.at
    expect(second - first).toBeGreaterThanOrEqual(990)
    expect(third - first).toBeGreaterThanOrEqual(1_000)
    expect(fourth - third).toBeGreaterThanOrEqual(990)
  })

  test('a call that would come too late is refused at once, and says when', async () => {
    const api = await makeApi()
    shop.answer([], { ...json, 'retry-after': '3600' }, 429)
    await tryOut({ api: 'shop', url: '/orders' })
    expect(shop.requests).toHaveLength(1)
    const answer = await tryOut({ api: 'shop', url: '/items' })
    expect(answer).toMatchObject({ success: false, error: { code: 'rate_limited' } })
    expect(answer.error.message).toMatch(/60 minutes/)
    expect(shop.requests).toHaveLength(1)
    const { body } = await expectStatus(200, editor.get(`${base}/apis/${api.id}`))
    expect(Date.parse(body.paused_until) - Date.now()).toBeGreaterThan(3_500_000)
    // Whoever changes it may know better.
    await expectStatus(200, editor.patch(`${base}/apis/${api.id}`, { tries: 1 }))
    await tryOut({ api: 'shop', url: '/items' })
    expect(shop.requests).toHaveLength(2)
  })
})
