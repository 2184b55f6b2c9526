import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { execute, openSource, type Source } from '../harness/source.ts'

/** Shapes that public APIs answer with and nobody tuned for: from URL to a queryable table with the right rows. */
let t: TestApp
let source: Source
let projectId: string
beforeAll(async () => {
  source = await openSource()
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: source.host })
})
afterAll(async () => {
  await t.close()
  await source.close()
})
beforeEach(async () => {
  projectId = await t.project()
})

async function query(name: string, config: Record<string, unknown>, sql: string): Promise<unknown> {
  await expectStatus(
    200,
    execute(t.operator, { projectId, datasourceId: `ds_${name}_${projectId}`, name, url: source.url, config }),
  )
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
