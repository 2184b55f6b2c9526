import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openSource, type Source } from '../harness/source.ts'

let t: TestApp
let api: Source
let projectId: string
beforeAll(async () => {
  api = await openSource()
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: '127.0.0.1', SLUICE_CHILD_REQUESTS_AT_ONCE: '2' })
  await t.app.jobs.start()
})
afterAll(async () => {
  await t.close()
  await api.close()
})

let orders: Array<Record<string, unknown>>
/** What the API answers about an order: rows, or a status. */
let lines: (id: string, request: IncomingMessage) => unknown
beforeEach(async () => {
  projectId = await t.project()
  orders = [{ id: 1 }, { id: 2 }, { id: 9_007_199_254_740_993n.toString() }]
  lines = (id) => [
    { sku: `${id}a`, n: 1 },
    { sku: `${id}b`, n: 2 },
  ]
  api.requests.length = 0
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const send = (body: unknown): void =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(typeof body === 'string' ? body : JSON.stringify(body))
    const [, id] = /^\/orders\/([^/]+)\/lines/.exec(request.url ?? '') ?? []
    if (id === undefined) return send(`[${orders.map((order) => `{"id":${String(order['id'])}}`).join(',')}]`)
    const found = await lines(decodeURIComponent(id), request)
    if (typeof found === 'number') response.writeHead(found).end()
    else send(found)
  }
  api.handle((request, response) => void answer(request, response))
})

const path = () => `/v1/projects/${projectId}/datasources`
const origin = () => `http://${api.host}`
const make = (body: Record<string, unknown>) => t.operator.post(path(), { kind: 'http_api', ...body })
async function refresh(id: string): Promise<{ status: string; error: { message: string } | null; details: unknown }> {
  const { body: job } = await expectStatus(201, t.operator.post(`${path()}/${id}/refresh`))
  const read = async () => (await t.operator.get(`/v1/jobs/${job.id}`)).body
  await expect.poll(async () => (await read()).status, { timeout: 20_000 }).toMatch(/succeeded|failed/)
  return read()
}
async function makeOrders(): Promise<void> {
  const { body } = await expectStatus(
    201,
    make({ name: 'orders', config: { url: `${origin()}/orders`, method: 'GET' } }),
  )
  expect((await refresh(body.id)).status).toBe('succeeded')
  api.requests.length = 0
}
const childOf = (more: Record<string, unknown> = {}, config: Record<string, unknown> = {}) =>
  make({
    name: 'order lines',
    config: { url: `${origin()}/orders/{{row.id}}/lines`, method: 'GET', ...config },
    for_each: { table: 'orders' },
    ...more,
  })
async function read(sql: string): Promise<unknown> {
  const query = { name: 'read', sql }
  await t.operator.post(`/v1/projects/${projectId}/queries`, query)
  const { body } = await expectStatus(
    200,
    t.operator.post(`/v1/projects/${projectId}/queries/read/preview`, { parameters: {}, sql }),
  )
  return body.data
}

describe('a request for each row of another table', () => {
  test('brings the rows of all, joined by the key, every digit of it', async () => {
    await makeOrders()
    const { body: source } = await expectStatus(201, childOf())
    expect(source.for_each).toEqual({ table: 'orders', max_requests: 10_000 })
    expect(await refresh(source.id)).toMatchObject({ status: 'succeeded', details: { pages: 3, rows: 6 } })
    const sql = `SELECT o.id::VARCHAR AS id, sum(l.n)::INTEGER AS n FROM orders o JOIN order_lines l ON l.orders_id = o.id
      GROUP BY ALL ORDER BY ALL`
    expect(await read(sql)).toEqual([
      { id: '1', n: 3 },
      { id: '2', n: 3 },
      { id: '9007199254740993', n: 3 },
    ])
    expect(api.requests.map(({ url }) => url).sort()).toEqual([
      '/orders/1/lines',
      '/orders/2/lines',
      '/orders/9007199254740993/lines',
    ])
  })

  test('in pages, with names of their own for the keys, and nothing for what the API does not know', async () => {
    await makeOrders()
    lines = (id, request) => {
      if (id === '2') return 404
      const page = Number(new URL(request.url ?? '', origin()).searchParams.get('page'))
      return page > 2 ? [] : [{ id: page, order: id }]
    }
    const { body: source } = await expectStatus(
      201,
      childOf({ for_each: { table: 'orders', keys: { order_id: 'id' } }, pagination: { type: 'page' } }),
    )
    expect((await refresh(source.id)).status).toBe('succeeded')
    expect(await read('SELECT order_id = "order"::BIGINT AS same, id FROM order_lines ORDER BY order_id, id')).toEqual([
      { same: true, id: 1 },
      { same: true, id: 2 },
      { same: true, id: 1 },
      { same: true, id: 2 },
    ])
  })

  test('goes on where it stopped, asks for no row twice, and is polite', async () => {
    orders = Array.from({ length: 9 }, (_, index) => ({ id: index + 1 }))
    await makeOrders()
    let isBroken = true
    let open = 0
    let mostOpen = 0
    lines = async (id) => {
      open += 1
      mostOpen = Math.max(mostOpen, open)
      await delay(20)
      open -= 1
      return isBroken && id === '6' ? 403 : [{ of: id }]
    }
    const { body: source } = await expectStatus(201, childOf())
    const failed = await refresh(source.id)
    expect(failed.status).toBe('failed')
    isBroken = false
    const { body: job } = await t.operator.get(`/v1/projects/${projectId}/jobs?limit=1`)
    const before = api.requests.length
    const { body: again } = await expectStatus(201, t.operator.post(`/v1/jobs/${job.data[0].id}/retry`))
    const state = async () => (await t.operator.get(`/v1/jobs/${again.id}`)).body.status
    await expect.poll(state, { timeout: 20_000 }).toBe('succeeded')
    expect(await read('SELECT count(*) AS n, count(DISTINCT orders_id) AS orders FROM order_lines')).toEqual([
      { n: 9, orders: 9 },
    ])
    expect(
      api.requests
        .slice(before)
        .map(({ url }) => url)
        .sort(),
    ).toEqual([5, 6, 7, 8, 9].map((id) => `/orders/${id}/lines`))
    expect(mostOpen).toBe(2)
  })

  test('more rows than requests is said, not kept quiet', async () => {
    await makeOrders()
    const { body: source } = await expectStatus(201, childOf({ for_each: { table: 'orders', max_requests: 2 } }))
    expect((await refresh(source.id)).status).toBe('succeeded')
    const { body } = await t.operator.get(`/v1/projects/${projectId}/data-objects`)
    const rows = body.data.find(
      ({ kind, datasource_id: of }: { kind: string; datasource_id: string }) =>
        kind === 'response_data' && of === source.id,
    )
    expect(rows).toMatchObject({ row_count: 4, truncated: true })
  })

  test('400 for a row where no row is, or where it would say whom to call', async () => {
    const config = { url: `${origin()}/orders/{{row.id}}/lines`, method: 'GET' }
    expect(await make({ name: 'x', config })).toMatchObject({ status: 400, body: { details: [{ field: 'url' }] } })
    expect(await t.operator.post('/v1/http/test-connection', config)).toMatchObject({ status: 400 })
    const hostile = await childOf({}, { url: 'http://{{row.id}}/lines' })
    expect(hostile).toMatchObject({ status: 400, body: { details: [{ field: 'url' }] } })
    const plain = await childOf({}, { url: `${origin()}/orders` })
    expect((await refresh(plain.body.id)).error?.message).toContain('names no column')
  })

  test('a table whose other table comes later is loaded once that one is', async () => {
    const { body: source } = await expectStatus(201, childOf())
    expect((await refresh(source.id)).status).toBe('failed')
    await makeOrders()
    const read = async () => (await t.operator.get(`${path()}/${source.id}`)).body
    await expect.poll(async () => (await read()).status, { timeout: 20_000 }).toBe('ready')
    expect(await read()).toMatchObject({ last_error: null })
  })

  test('another table without rows makes one without rows, with the columns of its keys', async () => {
    orders = []
    await makeOrders()
    const { body: source } = await expectStatus(201, childOf())
    expect(await refresh(source.id)).toMatchObject({ status: 'succeeded', error: null })
    const { body } = await t.operator.get(`/v1/projects/${projectId}/data-objects`)
    const rows = body.data.find(
      ({ kind, datasource_id: of }: { kind: string; datasource_id: string }) =>
        kind === 'response_data' && of === source.id,
    )
    expect(rows).toMatchObject({ row_count: 0, columns: [{ name: 'orders_id' }] })
  })

  test('a load fails with words where the other table is not there, or lacks the column, or all are unknown', async () => {
    const { body: source } = await expectStatus(201, childOf())
    expect((await refresh(source.id)).error?.message).toContain('loaded for the first time once orders is')
    await makeOrders()
    await expectStatus(
      200,
      t.operator.patch(`${path()}/${source.id}`, {
        config: { url: `${origin()}/orders/{{row.nr}}/lines`, method: 'GET' },
      }),
    )
    expect((await refresh(source.id)).error?.message).toContain('the column nr')
    lines = () => 404
    await expectStatus(
      200,
      t.operator.patch(`${path()}/${source.id}`, {
        config: { url: `${origin()}/orders/{{row.id}}/lines`, method: 'GET' },
      }),
    )
    expect((await refresh(source.id)).error?.message).toContain('404 to all 3 requests')
    lines = () => [{ orders_id: 7 }]
    expect((await refresh(source.id)).error?.message).toContain('for_each.keys')
  })

  test('what a row says is a value of the request: no path, no other host, no secret by its name', async () => {
    await expectStatus(
      201,
      t.operator.post(`/v1/projects/${projectId}/variables`, {
        name: 'key',
        value: 'planted',
        secret: true,
        origins: [origin()],
      }),
    )
    orders = [{ id: '"../../admin?x=1#"' }, { id: '"{{secret:key}}"' }]
    await makeOrders()
    const { body: source } = await expectStatus(201, childOf())
    expect((await refresh(source.id)).status).toBe('succeeded')
    const urls = api.requests.map(({ url }) => url)
    expect(urls).toContain(`/orders/${encodeURIComponent('../../admin?x=1#')}/lines`)
    expect(urls.join()).not.toContain('planted')
    orders = [{ id: '".."' }]
    await makeOrdersAgain()
    expect((await refresh(source.id)).error?.message).toContain('no address has such a part')
  })
})

async function makeOrdersAgain(): Promise<void> {
  const { body } = await t.operator.get(path())
  const { id } = body.data.find(({ name }: { name: string }) => name === 'orders')
  expect((await refresh(id)).status).toBe('succeeded')
}
