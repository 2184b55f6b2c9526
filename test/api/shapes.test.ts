import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { openAppWithSource, type Source } from '../harness/source.ts'

/** Shapes that public APIs answer with and nobody tuned for: from URL to a queryable table with the right rows. */
let t: TestApp
let source: Source
let projectId: string
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource())
})
afterAll(() => t.close())
beforeEach(async () => {
  projectId = await t.project()
})

async function query(
  name: string,
  config: Record<string, unknown>,
  sql: string,
  pagination?: object,
): Promise<unknown> {
  const body = {
    project_id: projectId,
    datasource_id: `ds_${name}_${projectId}`,
    connect_spec: { name, id: 'http_api', config },
    url: source.url,
    method: 'GET',
    ...(pagination !== undefined && { pagination }),
  }
  await expectStatus(200, t.operator.post('/v1/http/execute-request', body))
  const path = `/v1/projects/${projectId}/queries`
  await expectStatus(201, t.operator.post(path, { name: 'q', description: 'q', sql }))
  return (await expectStatus(200, t.operator.post(`${path}/q/preview`, { parameters: {} }))).body.data
}

test('GeoJSON', async () => {
  source.answer({
    type: 'FeatureCollection',
    metadata: { generated: 1_700_000_000_000, count: 2 },
    features: [
      {
        type: 'Feature',
        id: 'a',
        properties: { mag: 4.5, place: 'Oslo' },
        geometry: { type: 'Point', coordinates: [10.7, 59.9, 7] },
      },
      {
        type: 'Feature',
        id: 'b',
        properties: { mag: null, place: 'Rome' },
        geometry: { type: 'Point', coordinates: [12.5, 41.9, 2.5] },
      },
    ],
  })
  const sql = 'select id, properties.place as place, geometry.coordinates[1] as lon from quakes order by id'
  expect(await query('quakes', { responsePathExtractor: 'features' }, sql)).toEqual([
    { id: 'a', place: 'Oslo', lon: 10.7 },
    { id: 'b', place: 'Rome', lon: 12.5 },
  ])
})

test('a JSON:API document', async () => {
  source.answer({
    data: [
      {
        type: 'articles',
        id: '1',
        attributes: { title: 'One' },
        relationships: { author: { data: { type: 'people', id: '9' } } },
      },
      { type: 'articles', id: '2', attributes: { title: 'Two' }, relationships: {} },
    ],
    included: [{ type: 'people', id: '9', attributes: { name: 'Dan' } }],
    links: { self: '/articles' },
  })
  const sql = 'select id, attributes.title as title, relationships.author.data.id as author from articles order by id'
  expect(await query('articles', { responsePathExtractor: 'data' }, sql)).toEqual([
    { id: '1', title: 'One', author: '9' },
    { id: '2', title: 'Two', author: null },
  ])
})

test('a stringified envelope', async () => {
  source.answer({ statusCode: 200, body: JSON.stringify({ rows: [{ n: 1 }, { n: 2 }] }) })
  const sql = 'select sum(n) as total from lambda_rows'
  expect(await query('lambda_rows', { responsePathExtractor: 'body.rows' }, sql)).toEqual([{ total: 3 }])
})

test('GeoJSON of mixed geometries, with properties that are missing', async () => {
  const line = [
    [1, 2],
    [3, 4.5],
  ]
  source.answer({
    type: 'FeatureCollection',
    features: [
      { properties: { name: 'a', 'addr:street': 'S' }, geometry: { type: 'LineString', coordinates: line } },
      { properties: {}, geometry: { type: 'Point', coordinates: [1, 2] } },
      { properties: null, geometry: null },
    ],
  })
  const sql = 'select properties.name, properties."addr:street" as street, geometry.coordinates as at from places'
  expect(await query('places', { responsePathExtractor: 'features' }, sql)).toEqual([
    { name: 'a', street: 'S', at: line },
    { name: null, street: null, at: [1, 2] },
    { name: null, street: null, at: null },
  ])
})

test('a string of JSON inside a string of JSON', async () => {
  source.answer({ wrapper: JSON.stringify({ inner: JSON.stringify([{ n: 1 }, { n: 2 }]), note: 'x' }) })
  expect(await query('twice', { responsePathExtractor: 'wrapper.inner' }, 'select sum(n) as n from twice')).toEqual([
    { n: 3 },
  ])
})

test('columns of measurements, and a list behind its own description', async () => {
  const hourly = { time: ['2026-01-01T00:00', '2026-01-01T01:00'], temperature: [1.5, -2] }
  source.answer({ latitude: 52.5, hourly_units: { time: 'iso8601' }, hourly })
  const sql = 'select max(temperature) as warmest, count(time) as hours from weather'
  expect(await query('weather', { responsePathExtractor: 'hourly' }, sql)).toEqual([{ warmest: 1.5, hours: 2 }])
  projectId = await t.project()
  source.answer([
    { page: 1, total: 2 },
    [
      { country: { id: 'PL' }, value: 1.5 },
      { country: { id: 'DE' }, value: null },
    ],
  ])
  expect(await query('bank', { responsePathExtractor: '[1]' }, 'select country.id, value from bank')).toEqual([
    { id: 'PL', value: 1.5 },
    { id: 'DE', value: null },
  ])
})

test('columns named once and rows as lists, as databases answer', async () => {
  const meta = [
    { name: 'city', type: 'String' },
    { name: 'people', type: 'UInt32' },
  ]
  const data = [
    ['Oslo', 700_000],
    ['Voss', 16_000],
  ]
  source.answer({ meta, data, rows: 2, statistics: { elapsed: 0.1 } })
  expect(await query('cities', {}, 'select city from cities where people > 100000')).toEqual([{ city: 'Oslo' }])
})

test('an OData list, a JSON:API document with links, and CSV, each in pages', async () => {
  type Page = (page: number, next: string) => [body: unknown, type: string]
  const paged = (answer: Page) =>
    source.handle((request, response) => {
      const page = Number(new URL(request.url ?? '', source.url).searchParams.get('page') ?? 1)
      const [body, type] = answer(page, `/data?page=${page + 1}`)
      response.writeHead(200, { 'content-type': type }).end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  paged((page, next) => {
    const value = [{ '@odata.etag': `W/"${page}"`, ID: page }]
    return [{ value, ...(page < 3 && { '@odata.nextLink': next }) }, 'application/json;odata.metadata=minimal']
  })
  const odata = { type: 'next_link', path: '@odata.nextLink' }
  const sql = 'select sum(ID) as ids, max("@odata.etag") as tag from parts'
  expect(await query('parts', { responsePathExtractor: 'value' }, sql, odata)).toEqual([{ ids: 6, tag: 'W/"3"' }])

  projectId = await t.project()
  paged((page, next) => {
    const links = { self: 'x', next: page < 3 ? { href: next, meta: {} } : null }
    return [{ data: [{ id: String(page), attributes: { size: page } }], links }, 'application/vnd.api+json']
  })
  const jsonApi = { type: 'next_link', path: 'links.next' }
  const sizes = 'select list(attributes.size order by id) as sizes from things'
  expect(await query('things', { responsePathExtractor: 'data' }, sizes, jsonApi)).toEqual([{ sizes: [1, 2, 3] }])

  projectId = await t.project()
  const csv = ['id,day\n1,2026-01-01\n', 'day,id\n2026-01-02,2\n', 'id,day,note\n3,2026-01-03,"late, but there"\n']
  paged((page) => [csv[page - 1] ?? '', 'text/csv'])
  const days = 'select id, day, note from days order by day desc limit 2'
  expect(await query('days', {}, days, { type: 'page' })).toEqual([
    { id: 3, day: '2026-01-03', note: 'late, but there' },
    { id: 2, day: '2026-01-02', note: null },
  ])
})

test('a list in pages that link to the next, in the body and in the header, with an honest cut', async () => {
  source.handle((request, response) => {
    const page = Number(new URL(request.url ?? '', source.url).searchParams.get('page') ?? 1)
    const next = `${source.url}?page=${page + 1}`
    const headers = { 'content-type': 'application/json', ...(page < 4 && { link: `<${next}>; rel="next"` }) }
    response.writeHead(200, headers).end(JSON.stringify({ items: [{ id: page * 10 }], next: page < 4 ? next : null }))
  })
  const run = (datasourceId: string, pagination: Record<string, unknown>) =>
    t.operator.post('/v1/http/execute-request', {
      project_id: projectId,
      datasource_id: datasourceId,
      connect_spec: { name: datasourceId, id: 'http_api', config: { responsePathExtractor: 'items' } },
      url: source.url,
      method: 'GET',
      pagination,
    })
  const rows = async (id: string) => (await t.operator.get(`/v1/projects/${projectId}/data-objects/${id}`)).body
  const all = await expectStatus(200, run('ds_next', { type: 'next_link', path: 'next' }))
  expect(await rows(all.body.data_object_id)).toMatchObject({ row_count: 4, truncated: false })
  const byHeader = await expectStatus(200, run('ds_header', { type: 'link_header' }))
  expect(await rows(byHeader.body.data_object_id)).toMatchObject({ row_count: 4, truncated: false })
  const cut = await expectStatus(200, run('ds_cut', { type: 'next_link', path: 'next', max_pages: 2 }))
  expect(cut.body.truncated).toBe(true)
  expect(await rows(cut.body.data_object_id)).toMatchObject({ row_count: 2, truncated: true })
})
