import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runRefresh } from '../../server/connections/index.ts'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { jobFor, makeTable, type LoadedTable, type RefreshJob } from '../harness/incremental.ts'
import { execute, openAppWithSource, type Source } from '../harness/source.ts'

let t: TestApp
let source: Source
let projectId: string
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource({}, { bounds: { outboundTries: 1 } }))
  await t.app.jobs.start()
})
afterAll(() => t.close())
beforeEach(async () => {
  projectId = await t.project()
})

type Order = { id: number; at?: string }
const orders = (count: number, from = 1): Order[] => Array.from({ length: count }, (_, index) => ({ id: from + index }))
const paramOf = (request: IncomingMessage, name: string) =>
  new URL(request.url ?? '', source.url).searchParams.get(name)
const json = { 'content-type': 'application/json' }

/** An API that gives pages of 100 by their number, and each answer what `more` adds to it. */
function serve(rows: () => Order[], more: (page: number, all: Order[]) => object): void {
  source.handle((request, response) => {
    const page = Number(paramOf(request, 'page') ?? 1)
    const all = rows()
    const body = { results: all.slice((page - 1) * 100, page * 100), ...more(page, all) }
    response.writeHead(200, json).end(JSON.stringify(body))
  })
}
const nextOf = (page: number, all: Order[]) => (page * 100 < all.length ? `${source.url}?page=${page + 1}` : null)

const make = (pagination: object | null, more: object = {}) =>
  makeTable(t, projectId, {
    config: { url: source.url, method: 'GET', responsePathExtractor: 'results' },
    ...(pagination !== null && { pagination }),
    ...more,
  })
const newest = async (table: LoadedTable) => (await table.versions())[0]
const load = async (table: LoadedTable): Promise<RefreshJob & { warnings: Array<Record<string, unknown>> }> => {
  const job = await table.refresh()
  expect(job).toMatchObject({ status: 'succeeded' })
  return job as RefreshJob & { warnings: Array<Record<string, unknown>> }
}
const failure = (table: LoadedTable) =>
  runRefresh(t.app, jobFor(projectId, table.id)).then(
    () => 'it did not fail',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
const byLink = { type: 'next_link', path: 'next' }
const byPage = { type: 'page' }

describe('a load that is not whole', () => {
  test('says that the place of the next page is not there, and waits where rows would be lost', async () => {
    serve(
      () => orders(320),
      (page, all) => ({ next: nextOf(page, all) }),
    )
    const table = await make(byLink)
    expect((await load(table)).warnings).toEqual([])
    expect(await newest(table)).toMatchObject({ status: 'live', row_count: 320, warnings: [] })
    serve(
      () => orders(320),
      (page, all) => ({ nextt: nextOf(page, all) }),
    )
    const warning = { code: 'next_page_absent', received: 100, message: expect.stringContaining('no next') }
    expect((await load(table)).warnings).toContainEqual(warning)
    const held = await newest(table)
    expect(held).toMatchObject({ status: 'held', held_because: { reason: 'incomplete' }, row_count: 100 })
    expect(held?.['warnings']).toContainEqual(warning)
    expect(await table.rows()).toHaveLength(320)
  })

  test('serves where nothing is lost, and says so on the job, the version and the answer of an execute', async () => {
    serve(
      () => orders(320),
      (_page, { length }) => ({ count: length }),
    )
    const table = await make({ type: 'next_link', path: 'nextt' })
    const expected = [
      { code: 'next_page_absent', received: 100 },
      { code: 'fewer_than_total', expected: 320, received: 100 },
    ]
    expect((await load(table)).warnings).toMatchObject(expected)
    expect(await newest(table)).toMatchObject({ status: 'live', truncated: true, warnings: expected })
    const config = { responsePathExtractor: 'results' }
    const input = { projectId, datasourceId: 'ds_single', url: source.url, config }
    const { body } = await expectStatus(200, execute(t.operator, input))
    expect(body.warnings).toMatchObject([{ code: 'fewer_than_total', expected: 320, received: 100 }])
    expect(body.truncated).toBe(true)
  })

  test.each([
    ['the API says that this is all', 'next', { total: 3 }],
    ['the answer says null', 'next', { next: null }],
    ['its protocol leaves the last link out', '["@odata.nextLink"]', { '@odata.context': '$metadata#Orders' }],
    ['the links are there without a next one', 'links.next', { links: { self: '/' } }],
    ['a number that is no total', 'next', { next: null, totals: { total: 900 }, error: null, errors: [] }],
  ])('says nothing where %s', async (_, path, more) => {
    serve(
      () => orders(3),
      () => more,
    )
    const table = await make({ type: 'next_link', path })
    expect((await load(table)).warnings).toEqual([])
    expect(await newest(table)).toMatchObject({ status: 'live', truncated: false, warnings: [] })
  })

  test('waits where less than half of the rows came, unless its author says what is too few', async () => {
    serve(
      () => orders(10),
      () => ({}),
    )
    const table = await make(null)
    await load(table)
    serve(
      () => orders(4),
      () => ({}),
    )
    const dropped = { code: 'rows_dropped', expected: 10, received: 4 }
    expect((await load(table)).warnings).toMatchObject([dropped])
    expect(await newest(table)).toMatchObject({ status: 'held', held_because: { reason: 'incomplete' } })
    await expectStatus(
      200,
      t.operator.patch(`${table.path}/schema`, { checks: [{ type: 'row_count_share', min: 0.3 }] }),
    )
    expect((await load(table)).warnings).toEqual([])
    expect(await newest(table)).toMatchObject({ status: 'live', row_count: 4 })
  })

  test('does not move its cursor where rows are missing, and holds rows that would come twice', async () => {
    const at = (day: number) => `2026-01-0${day}T00:00:00Z`
    source.answer({ results: [{ id: 1, at: at(1) }] })
    const parameters = { since: { value: '{{last_value}}' } }
    const config = { url: source.url, method: 'GET', responsePathExtractor: 'results', parameters }
    const cursor = { field: 'at' }
    const byKey = await make(null, { config, load: { mode: 'merge', primary_key: ['id'], cursor } })
    const plain = await make(null, { name: 'Plain', config, load: { mode: 'append', cursor } })
    await load(byKey)
    await load(plain)
    const rows = [
      { id: 3, at: at(3) },
      { id: 2, at: at(2) },
    ]
    source.answer({ results: rows, total: 9 })
    const short = { code: 'fewer_than_total', expected: 9, received: 2 }
    expect((await load(byKey)).warnings).toMatchObject([short])
    expect(await newest(byKey)).toMatchObject({
      status: 'live',
      row_count: 3,
      last_value: expect.stringContaining('01'),
    })
    await load(plain)
    expect(await newest(plain)).toMatchObject({ status: 'held', held_because: { reason: 'incomplete' } })
    // The number of rows of the whole table is no number of new ones.
    source.answer({ results: rows, total: 4 })
    expect((await load(byKey)).warnings).toEqual([])
  })
})

describe('errors that are no failure of HTTP', () => {
  const graphql = { type: 'graphql', content: { query: '{ orders { id } }' } }
  const post = { url: '', method: 'POST', body: graphql, responsePathExtractor: 'data.orders' }

  test('beside the rows of GraphQL are told, and hold what would take their place', async () => {
    const table = await make(null, { config: { ...post, url: source.url } })
    source.answer({ data: { orders: orders(3) } })
    await load(table)
    source.answer({ data: { orders: [{ id: 1 }, { id: 2 }, null] }, errors: [{ message: 'order 3 is locked' }] })
    const warning = { code: 'upstream_errors', message: expect.stringContaining('order 3 is locked') }
    expect((await load(table)).warnings).toMatchObject([warning])
    expect(await newest(table)).toMatchObject({ status: 'held', held_because: { reason: 'incomplete' } })
    expect(await table.rows()).toEqual(orders(3))
  })

  test.each([
    ['with an extractor', 'data.orders', { data: null }],
    ['without one', '', { data: null }],
    ['where the request itself is wrong', 'data.orders', {}],
  ])('instead of data are a failure %s', async (_, responsePathExtractor, beside) => {
    const config = { ...post, url: source.url, responsePathExtractor }
    const table = await make(null, { config })
    source.answer({ ...beside, errors: [{ message: 'Cannot query field "orders"' }] })
    expect((await t.operator.post('/v1/http/test-connection', config)).body).toMatchObject({
      success: false,
      status: 200,
      problem: { code: 'upstream_errors', message: expect.stringContaining('Cannot query field "orders"') },
    })
    expect(await failure(table)).toBe(
      `${source.host} answered with an error instead of rows: Cannot query field "orders"`,
    )
    expect((await t.operator.get(table.path)).body).toMatchObject({ last_error: { code: 'upstream_errors' } })
  })

  test.each([
    ['in place of the list', { error: { message: 'the backend is away' } }],
    ['beside an empty list', { results: [], error: 'the backend is away' }],
    ['as one object', { message: 'the backend is away' }],
  ])('halfway through, %s, are no end of the rows', async (_, body) => {
    source.handle((request, response) => {
      const page = Number(paramOf(request, 'page') ?? 1)
      const answer = page === 3 ? body : { results: orders(100, page * 100) }
      response.writeHead(200, json).end(JSON.stringify(answer))
    })
    const table = await make(byPage)
    expect(await failure(table)).toBe(
      `${source.host} answered with an error instead of rows on page 3: the backend is away`,
    )
    expect(await table.versions()).toEqual([])
  })
})

describe('rows that move while the pages are read', () => {
  test('are counted: those that came twice, and those that did not come', async () => {
    let all = orders(250)
    source.handle((request, response) => {
      const page = Number(paramOf(request, 'page') ?? 1)
      const body = { count: all.length, results: all.slice((page - 1) * 100, page * 100) }
      // Newest first: two orders come in while the first page is on its way.
      if (page === 1) all = [...orders(2, 900), ...all]
      response.writeHead(200, json).end(JSON.stringify(body))
    })
    const table = await make(byPage)
    const { warnings } = await load(table)
    expect(warnings).toMatchObject([
      { code: 'fewer_than_total', expected: 252, received: 250 },
      { code: 'rows_moved', expected: 252, received: 250 },
    ])
    expect(warnings[1]?.['message']).toContain('2 rows came twice, such as 100, 99, and 2 are missing')
  })

  test('are told where rows went, and not where each page is as it was', async () => {
    let all = orders(250)
    const table = await make({ type: 'page', stop_when: 'short' })
    const answers = (after: () => void) =>
      source.handle((request, response) => {
        const page = Number(paramOf(request, 'page') ?? 1)
        const body = { count: all.length, results: all.slice((page - 1) * 100, page * 100) }
        if (page === 1) after()
        response.writeHead(200, json).end(JSON.stringify(body))
      })
    answers(() => undefined)
    expect((await load(table)).warnings).toEqual([])
    answers(() => (all = all.slice(5)))
    const { warnings } = await load(table)
    expect(warnings).toMatchObject([{ code: 'rows_moved', received: 245 }])
    expect(warnings[0]?.['message']).toContain('up to 5 may have moved')
  })
})

describe('{{last_value}}', () => {
  /** Compares times as text, as SQLite does. */
  function serveByText(rows: Order[]): void {
    source.handle((request, response) => {
      const since = paramOf(request, 'since') ?? ''
      response.writeHead(200, json).end(JSON.stringify({ results: rows.filter(({ at = '' }) => at > since) }))
    })
  }

  test.each([
    ['2026-11-18 15:11:10.638Z', '{{last_value}}', '2026-11-18 15:11:10.638Z'],
    ['2026-11-18T15:11:10+02:00', '{{last_value}}', '2026-11-18T15:11:10+02:00'],
    ['2026-11-18 15:11:10.638Z', '{{last_value:iso}}', '2026-11-18T15:11:10.638Z'],
    ['2026-11-18 15:11:10.638Z', '{{last_value:%Y-%m-%d %H:%M:%S}}', '2026-11-18 15:11:10'],
    ['2026-11-18 15:11:10.638Z', '{{last_value:unix}}', '1795014670'],
  ])('%s is sent by %s as %s', async (at, value, sent) => {
    source.answer({ results: [{ id: 1, at }] })
    const config = {
      url: source.url,
      method: 'GET',
      responsePathExtractor: 'results',
      parameters: { since: { value, required: false } },
    }
    const table = await make(null, { config, load: { mode: 'merge', primary_key: ['id'], cursor: { field: 'at' } } })
    await load(table)
    source.requests.length = 0
    await load(table)
    expect(new URL(source.requests[0]?.url ?? '', source.url).searchParams.get('since')).toBe(sent)
  })

  test('brings a change of the same day from an API that compares text', async () => {
    const first = [{ id: 1, at: '2026-11-18 15:11:10.638Z' }]
    serveByText(first)
    const config = {
      url: source.url,
      method: 'GET',
      responsePathExtractor: 'results',
      parameters: { since: { value: '{{last_value}}', required: false } },
    }
    const cursor = { field: 'at', look_back: '2s' }
    const table = await make(null, { config, load: { mode: 'merge', primary_key: ['id'], cursor } })
    await load(table)
    serveByText([...first, { id: 2, at: '2026-11-18 15:12:00.001Z' }])
    source.requests.length = 0
    await load(table)
    expect(decodeURIComponent(source.requests[0]?.url ?? '').replace('+', ' ')).toContain(
      'since=2026-11-18 15:11:08.638Z',
    )
    expect(await table.rows()).toHaveLength(2)
  })

  test('of CSV is as it was written, too', async () => {
    source.answer('id,at\n1,2026-11-18 15:11:10\n', { 'content-type': 'text/csv' })
    const parameters = { since: { value: '{{last_value}}', required: false } }
    const config = { url: source.url, method: 'GET', parameters }
    const table = await make(null, { config, load: { mode: 'merge', primary_key: ['id'], cursor: { field: 'at' } } })
    await load(table)
    source.requests.length = 0
    await load(table)
    expect(new URL(source.requests[0]?.url ?? '', source.url).searchParams.get('since')).toBe('2026-11-18 15:11:10')
  })
})
