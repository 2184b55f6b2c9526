import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { openTestApp, expectStatus, type TestApp } from '../harness/app.ts'
import { makeTable, type LoadedTable, type RefreshJob } from '../harness/incremental.ts'
import { openCap } from './odata-server.ts'
import { openPocketBase } from './pocketbase.ts'
import { freePort, makeOrders, python, serverProcess } from './server.ts'
import { openJsonServer, openPostGraphile } from './servers.ts'

type Warned = RefreshJob & { warnings: Array<{ code: string; message: string; expected?: number; received: number }> }

const counted: string[] = []
// oxlint-disable-next-line eslint/no-console -- what was counted is what this suite is for
afterAll(() => console.log(`\n${counted.join('\n')}\n`))

/** An app that may call one server; both are closed with the test. */
async function connected(
  server: { host: string; close: () => Promise<void> },
  work: (t: TestApp, projectId: string) => Promise<void>,
): Promise<void> {
  const t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: server.host })
  try {
    await t.app.jobs.start()
    await work(t, await t.project('Upstream'))
  } finally {
    await t.close()
    await server.close()
  }
}

const load = async (table: LoadedTable): Promise<Warned> => {
  const job = (await table.refresh()) as Warned
  expect(job, job.error?.message).toMatchObject({ status: 'succeeded' })
  return job
}

test('PocketBase: a login request opens what only people who are signed in may list', async () => {
  const server = await openPocketBase({ listRule: "@request.auth.id != ''" })
  await connected(server, async (t, projectId) => {
    await server.add('Brake')
    const config = { url: server.url, method: 'GET', responsePathExtractor: 'items' }
    const asked = async (more: Record<string, unknown>) =>
      (
        await expectStatus(
          200,
          t.operator.post('/v1/http/test-connection', { ...config, project_id: projectId, ...more }),
        )
      ).body
    // It hides what one may not list.
    expect((await asked({})).data).toEqual([])
    const login = { authType: 'Login Request', auth: server.login }
    expect((await asked(login)).data).toMatchObject([{ title: 'Brake' }])
    const wrong = { ...server.login, body: { ...server.login.body, password: 'not theirs' } }
    expect(await asked({ ...login, auth: wrong })).toMatchObject({ success: false, error: { code: 'token_refused' } })
    const table = await makeTable(t, projectId, { config: { ...config, ...login } })
    await load(table)
    expect(await table.rows()).toMatchObject([{ title: 'Brake' }])
  })
})

describe('loads that are not whole', () => {
  test('PocketBase: a change of the same second day is found by a cursor that it compares as text', async () => {
    const server = await openPocketBase()
    await connected(server, async (t, projectId) => {
      const first = await server.add('Brake')
      for (let count = 0; count < 4; count += 1) await server.add(`Ticket ${count}`)
      const table = await makeTable(t, projectId, {
        config: {
          url: server.url,
          method: 'GET',
          responsePathExtractor: 'items',
          parameters: {
            perPage: { value: '2', required: true },
            sort: { value: 'updated', required: true },
            filter: { value: "updated > '{{last_value}}'", required: false },
          },
        },
        pagination: { type: 'page' },
        load: { mode: 'merge', primary_key: ['id'], cursor: { field: 'updated' } },
      })
      expect((await load(table)).warnings).toEqual([])
      expect(await table.rows()).toHaveLength(5)
      await wait(20)
      await server.change(first.id, 'Brake, mended')
      expect((await load(table)).warnings).toEqual([])
      const rows = await table.rows()
      counted.push(`PocketBase: ${rows.length} rows, the newest “${String(rows.at(-1)?.['updated'])}”`)
      expect(rows).toHaveLength(5)
      expect(rows).toContainEqual(expect.objectContaining({ id: first.id, title: 'Brake, mended' }))
    })
  })

  test('json-server: rows that come in while its pages are read are counted', async () => {
    const server = await openJsonServer()
    await server.start()
    await connected(server, async (t, projectId) => {
      await server.put(makeOrders(1, 3_000))
      const url = `http://${server.host}/orders`
      const table = await makeTable(t, projectId, {
        config: { url: `${url}?_limit=50&_sort=id&_order=desc`, method: 'GET' },
        pagination: { type: 'page', parameter: '_page' },
      })
      const { body: job } = await expectStatus(201, t.operator.post(`${table.path}/refresh`))
      const read = async () => (await t.operator.get(`/v1/jobs/${job.id}`)).body as Warned
      await expect
        .poll(async () => (await read()).details, { timeout: 60_000, interval: 5 })
        .toMatchObject({ pages: expect.any(Number) })
      for (const order of makeOrders(3_001, 3)) {
        const headers = { 'content-type': 'application/json' }
        await fetch(url, { method: 'POST', headers, body: JSON.stringify(order) })
      }
      await expect.poll(async () => (await read()).status, { timeout: 120_000 }).toBe('succeeded')
      const { warnings } = await read()
      counted.push(`json-server: ${warnings.map(({ message }) => message).join(' ')}`)
      expect(warnings).toMatchObject([{ code: 'fewer_than_total' }, { code: 'rows_moved' }])
    })
  })

  test('PostGraphile: errors beside the rows hold the version, errors instead of data fail the load', async () => {
    const server = await openPostGraphile()
    await server.start()
    await connected(server, async (t, projectId) => {
      await server.put(makeOrders(1, 10))
      const query = (more: string) =>
        `query { ordersSince(first: 100, since: "2000-01-01T00:00:00Z") { nodes { id: rowId ${more} } } }`
      const config = (text: string) => ({
        url: `http://${server.host}/graphql`,
        method: 'POST',
        body: { type: 'graphql', content: { query: text } },
        responsePathExtractor: 'data.ordersSince.nodes',
      })
      const table = await makeTable(t, projectId, { config: config(query('amount')) })
      expect((await load(table)).warnings).toEqual([])
      const broken = config(query('nothing'))
      const tested = await expectStatus(200, t.operator.post('/v1/http/test-connection', broken))
      counted.push(`PostGraphile: ${JSON.stringify(tested.body.problem ?? tested.body.status)}`)
      expect(tested.body).toMatchObject({ success: false, problem: { code: 'upstream_errors' } })
      await expectStatus(200, t.operator.patch(table.path, { config: broken }))
      expect(await table.refresh()).toMatchObject({ status: 'failed' })
      expect(await table.rows()).toHaveLength(10)
    })
  })
})

describe('what a test of the connection finds', () => {
  const detectedAt = async (t: TestApp, config: object) => {
    const asked = { ...config, detect: true }
    return (await expectStatus(200, t.operator.post('/v1/http/test-connection', asked))).body.detected
  }

  test('PostGraphile: a query without a word of pages is given them, its own type of cursor too', async () => {
    const server = await openPostGraphile()
    await server.start()
    await connected(server, async (t, projectId) => {
      await server.put(makeOrders(1, 250))
      const query = '{ ordersSince(first: 100, since: "2000-01-01T00:00:00Z") { nodes { id: rowId } } }'
      const config = { url: `http://${server.host}/graphql`, method: 'POST', body: { type: 'graphql', content: query } }
      const { rows, pagination, body } = await detectedAt(t, config)
      counted.push(`PostGraphile: ${JSON.stringify(body)}`)
      expect(pagination).toMatchObject({ type: 'cursor', in: 'body', parameter: 'variables.after' })
      const taken = { ...config, body, responsePathExtractor: rows.path }
      const table = await makeTable(t, projectId, { config: taken, pagination })
      expect((await load(table)).details).toMatchObject({ pages: 3, rows: 250 })
      expect(await table.rows()).toHaveLength(250)
    })
  })

  test('SAP CAP: its metadata say what tells a row, and the types', async () => {
    const server = await openCap()
    await server.start()
    await connected(server, async (t) => {
      await server.put(makeOrders(1, 3))
      const found = await detectedAt(t, { url: `http://${server.host}/shop/Orders`, method: 'GET' })
      counted.push(`SAP CAP: ${JSON.stringify(found.columns)}`)
      expect(found).toMatchObject({
        rows: { path: 'value', count: 3 },
        primary_key: ['id'],
        columns: [
          { source_name: 'id', type: 'BIGINT' },
          { source_name: 'customer', type: 'VARCHAR' },
          { source_name: 'amount', type: 'BIGINT' },
          { source_name: 'updated_at', type: 'VARCHAR' },
        ],
      })
    })
  })

  test('SAP CAP: a table with the types of its metadata holds what it has', async () => {
    const server = await openCap()
    await server.start()
    await connected(server, async (t, projectId) => {
      await server.put(makeOrders(1, 2))
      const config = { url: `http://${server.host}/shop/Goods`, method: 'GET' }
      const { rows, primary_key: key, columns } = await detectedAt(t, config)
      counted.push(`SAP CAP: ${JSON.stringify(columns)}`)
      const types = {
        id: 'VARCHAR',
        price: 'DECIMAL(9,2)',
        weight: 'DOUBLE',
        sold: 'BOOLEAN',
        day: 'DATE',
        at: 'TIMESTAMP',
        large: 'BIGINT',
      }
      // A moment is of the type that its values have.
      const named = Object.entries(types).filter(([name]) => name !== 'at')
      expect(columns).toEqual(named.map(([name, type]) => ({ source_name: name, type })))
      const taken = { ...config, responsePathExtractor: rows.path }
      const table = await makeTable(t, projectId, { config: taken, load: { mode: 'merge', primary_key: key } })
      await expectStatus(200, t.operator.patch(`${table.path}/schema`, { columns, on_mismatch: 'refuse' }))
      expect((await load(table)).warnings).toEqual([])
      const { body: schema } = await expectStatus(200, t.operator.get(`${table.path}/schema`))
      const stored = (schema.columns as Array<{ name: string; type: string }>).map(({ name, type }) => [name, type])
      expect(Object.fromEntries(stored)).toEqual(types)
      expect((await table.rows())[0]).toEqual({
        id: '00000000-0000-4000-8000-000000000001',
        price: 37.25,
        weight: 1 / 3,
        sold: true,
        day: '2026-01-01',
        at: '2026-01-01T00:00:01Z',
        large: '9007199254740993',
      })
    })
  })

  test('Django’s JSON:API: pages by links, and authors and tags joined from what is included', async () => {
    const port = await freePort()
    const args = [join(import.meta.dirname, 'jsonapi_blog.py'), String(port)]
    const { start, kill } = serverProcess(port, () => ({ program: python, args, cwd: tmpdir() }))
    await start()
    await connected({ host: `127.0.0.1:${port}`, close: kill }, async (t, projectId) => {
      const config = { url: `http://127.0.0.1:${port}/articles`, method: 'GET' }
      const found = await detectedAt(t, config)
      counted.push(`JSON:API: ${JSON.stringify(found)}`)
      expect(found).toMatchObject({ rows: { path: 'data', count: 10 }, included: true })
      const { rows, pagination, included } = found
      const taken = { ...config, responsePathExtractor: rows.path, included }
      const table = await makeTable(t, projectId, { config: taken, pagination })
      expect((await load(table)).warnings).toEqual([])
      const articles = (await table.rows()) as unknown as Array<{
        attributes: { title: string }
        author: { name: string }
        tags: Array<{ word: string }> | null
      }>
      const told = articles.map(({ attributes, author, tags }) => {
        return [attributes.title, author.name, (tags ?? []).map(({ word }) => word)]
      })
      const words = ['bikes', 'trains']
      expect(told).toEqual(
        Array.from({ length: 25 }, (_, at) => [
          `Article ${at}`,
          ['Ada', 'Ben', 'Cleo'][at % 3],
          words.slice(0, at % 3),
        ]),
      )
    })
  })
})
