import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type Client, type TestApp } from '../harness/app.ts'
import { makeOrders, timeOf, type Order, type RealServer } from './server.ts'
import { openCap } from './odata-server.ts'
import { openDatasette, openDjango, openJsonServer, openPostGraphile } from './servers.ts'

type Job = {
  id: string
  status: string
  attempt: number
  details: { pages: number; rows: number } | null
  error: { message: string } | null
}
type Seen = { id: number; customer: string; amount: number | null }

const firstRows = 20_000
const counted: string[] = []

// oxlint-disable-next-line eslint/no-console -- what was counted is what this suite is for
afterAll(() => console.log(`\n${counted.join('\n')}\n`))

describe.each([
  ['Datasette', openDatasette],
  ['json-server', openJsonServer],
  ['PostGraphile', openPostGraphile],
  ['Django REST framework', openDjango],
  ['SAP CAP', openCap],
] as const)('%s', (name, open) => {
  let t: TestApp
  let server: RealServer
  let caller: Client
  let projectId: string
  let datasource: string
  beforeAll(async () => {
    server = await open()
    await server.start()
    t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: server.host })
    await t.app.jobs.start()
    projectId = await t.project(name)
    const permissions = [{ project_id: projectId, environments: '*' }]
    const key = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'k', plan: 'unlimited', permissions }))
    caller = t.withToken(key.body.secret)
    const body = { name: 'Orders', kind: 'http_api', ...server.datasource }
    const made = await expectStatus(201, t.operator.post(`/v1/projects/${projectId}/datasources`, body))
    datasource = `/v1/projects/${projectId}/datasources/${made.body.id}`
  })
  afterAll(async () => {
    await t?.close()
    await server?.close()
  })

  const found = async () => (await expectStatus(200, t.operator.get(datasource))).body
  const readJob = async (id: string) => (await expectStatus(200, t.operator.get(`/v1/jobs/${id}`))).body as Job
  const begin = async (full = false) =>
    (await expectStatus(201, t.operator.post(`${datasource}/refresh`, { full }))).body.id as string
  const finish = async (id: string): Promise<Job> => {
    await expect.poll(async () => (await readJob(id)).status, { timeout: 240_000 }).toMatch(/succeeded|failed/)
    return readJob(id)
  }
  const load = async (full = false): Promise<Job> => finish(await begin(full))
  /** What a caller gets, row by row. */
  const served = async (): Promise<Seen[]> => {
    const { body } = await expectStatus(200, caller.get('/v1/queries/every_order?format=ndjson'))
    return String(body)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Seen)
  }
  const there = async (): Promise<Seen[]> => (await server.orders()).map(seen)
  /** Both sides, row by row and by number. */
  const expectSame = async (phase: string, expected?: Seen[]): Promise<void> => {
    const [upstream, here] = [expected ?? (await there()), await served()]
    counted.push(`${name}, ${phase}: ${upstream.length} rows there, ${here.length} here`)
    expect(here.length).toBe(upstream.length)
    expect(new Set(here.map(({ id }) => id)).size).toBe(upstream.length)
    expect(byId(here)).toEqual(byId(upstream))
  }

  test('is recognised by a test of the connection', async () => {
    await server.put(makeOrders(1, firstRows))
    const { responsePathExtractor: _, ...config } = server.datasource.config
    const { cursor } = (server.datasource.load ?? {}) as { cursor?: { initial_value?: string } }
    const first = cursor?.initial_value === undefined ? {} : { last_value: cursor.initial_value }
    const asked = { ...config, ...first, detect: true }
    const tested = await expectStatus(200, t.operator.post('/v1/http/test-connection', asked))
    expect(tested.body).toMatchObject({ success: true, status: 200 })
    expect(tested.body.detected.rows.path).toBe(server.detected.rows)
    if (server.detected.pagination !== null) {
      expect(tested.body.detected.pagination).toMatchObject(server.detected.pagination)
    }
  })

  test('loads every row at first', async () => {
    expect(await load()).toMatchObject({ status: 'succeeded', details: { rows: firstRows } })
    const sql = 'SELECT id, customer, amount FROM orders ORDER BY id'
    await expectStatus(201, t.operator.post(`/v1/projects/${projectId}/queries`, { name: 'every_order', sql }))
    await expectStatus(200, t.operator.post(`/v1/projects/${projectId}/queries/every_order/deploy`, {}))
    await expectSame('first load')
  })

  test('loads what is new and what has changed', async () => {
    const changed = makeOrders(11, 3).map((order) => ({ ...order, amount: 5_000, updated_at: timeOf(firstRows + 1) }))
    await server.put([...changed, ...makeOrders(firstRows + 1, 500)])
    const { status, details } = await load()
    expect(status).toBe('succeeded')
    counted.push(`${name}, 500 new and 3 changed: ${details?.rows} rows were fetched`)
    // Where it can say what is new, that and the row of the last moment is all that is asked for.
    expect(details?.rows).toBe(server.datasource.load === undefined ? firstRows + 500 : 504)
    await expectSame('500 new and 3 changed')
  })

  test('serves the last good version while it is gone, says so, and goes on where a load was cut off', async () => {
    const before = await there()
    await server.put(makeOrders(firstRows + 501, 100))
    // Everything, so that it takes long enough to be cut off.
    const job = await begin(true)
    await expect
      .poll(async () => (await readJob(job)).details?.pages ?? 0, { timeout: 60_000, interval: 20 })
      .not.toBe(0)
    await server.kill()
    expect(await readJob(job)).not.toMatchObject({ status: 'succeeded' })
    expect(await finish(job)).toMatchObject({ status: 'failed' })
    const { status, last_error: error } = await found()
    counted.push(`${name}, outage: ${status}, ${error.message}`)
    expect(error).toMatchObject({ code: expect.any(String), message: expect.stringContaining(server.host) })
    await expectSame('outage', before)
    const cut = (await readJob(job)).details?.pages ?? 0
    await server.start()
    expect(await load(true)).toMatchObject({ status: 'succeeded' })
    counted.push(`${name}, outage: the load was cut off behind page ${cut}`)
    await expectSame('after the outage')
    expect(await found()).toMatchObject({ status: 'ready', last_error: null })
  })

  test('holds what would break its readers, and serves again once it is mended', async () => {
    const before = await there()
    await server.spoil(timeOf(firstRows + 600))
    expect(await load()).toMatchObject({ status: 'succeeded' })
    const held = await found()
    expect(held).toMatchObject({ status: 'held', held: { held_because: { reason: 'breaking' } } })
    counted.push(`${name}, drift (${server.drift}): ${held.held.held_because.queries[0].message}`)
    await expectSame('drift', before)
    await server.mend(timeOf(firstRows + 601))
    await server.put(makeOrders(firstRows + 601, 50))
    expect(await load()).toMatchObject({ status: 'succeeded' })
    expect(await found()).toMatchObject({ status: 'ready', held: null })
    await expectSame('recovery')
  })
})

/** Django OAuth Toolkit: a person agrees in their browser, and tokens last a minute and rotate. */
describe('Django REST framework, in a person’s name', () => {
  let t: TestApp
  let server: RealServer
  beforeAll(async () => {
    server = await openDjango()
    await server.start()
    t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: server.host })
    await t.app.jobs.start()
  })
  afterAll(async () => {
    await t?.close()
    await server?.close()
  })

  /** A browser that keeps cookies, up to the page that it is sent back to. */
  const browse = async (address: string): Promise<URL> => {
    const cookies = new Map<string, string>()
    let url = new URL(address)
    for (let hops = 0; hops < 5 && url.host === server.host; hops += 1) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const answer = await fetch(url, { redirect: 'manual', headers: { cookie } })
      for (const each of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? []
        cookies.set(name, value)
      }
      expect(answer.status).toBe(302)
      url = new URL(answer.headers.get('location') ?? '', url)
    }
    return url
  }

  test('connects by an authorization code with PKCE, loads, and renews a token that rotates', async () => {
    await server.put(makeOrders(1, 5_000))
    const projectId = await t.project('Django')
    const editor = await t.member(projectId, 'editor')
    const { config, pagination } = server.datasource
    const { auth } = config as { auth: Record<string, string> }
    const byCode = {
      ...config,
      authType: 'OAuth2 Authorization Code',
      auth: {
        ...auth,
        client_id: `${auth['client_id']}-people`,
        authorization_url: `http://${server.host}/o/authorize/`,
      },
    }
    const path = `/v1/projects/${projectId}/datasources`
    const made = await expectStatus(
      201,
      editor.post(path, { name: 'Orders', kind: 'http_api', config: byCode, pagination }),
    )
    const source = `${path}/${made.body.id}`
    const begun = await expectStatus(201, editor.post(`${source}/authorization`))
    const back = await browse(begun.body.authorization_url)
    const [state, code] = ['state', 'code'].map((name) => back.searchParams.get(name) ?? '')
    const page = { server: back.pathname.split('/').at(-1), state, code }
    await expectStatus(200, editor.post('/v1/oauth/return', page))
    const load = async (): Promise<number> => {
      const { body: job } = await expectStatus(201, editor.post(`${source}/refresh`))
      const read = async () => (await editor.get(`/v1/jobs/${job.id}`)).body as Job
      await expect.poll(async () => (await read()).status, { timeout: 240_000 }).toMatch(/succeeded|failed/)
      expect(await read()).toMatchObject({ status: 'succeeded' })
      const { body } = await expectStatus(200, editor.get(`${source}/versions`))
      return body.data[0].row_count as number
    }
    const there = async () => (await server.orders()).length
    const first = await load()
    expect(first).toBe(await there())
    counted.push(`Django REST framework, in a person’s name: ${await there()} rows there, ${first} here`)
    for (const round of [1, 2]) {
      // The server's token is over after a minute, and so is ours.
      t.advance(61_000)
      await server.put(makeOrders(5_000 + round, 1))
      const rows = await load()
      expect(rows).toBe(await there())
      counted.push(
        `Django REST framework, in a person’s name, renewal ${round}: ${await there()} rows there, ${rows} here`,
      )
    }
    expect((await editor.get(`${source}/authorization`)).body).toMatchObject({ status: 'connected', renews: true })
  })
})

function seen({ id, customer, amount }: Order): Seen {
  return { id, customer, amount }
}

function byId(rows: Seen[]): Seen[] {
  return rows.toSorted((one, other) => one.id - other.id)
}
