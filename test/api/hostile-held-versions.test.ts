import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { expectStatus, type Client, type TestApp } from '../harness/app.ts'
import { connectMcp } from '../harness/mcp.ts'
import { execute, openAppWithSource, type Source } from '../harness/source.ts'

/** What a held version holds, and nothing that serves. */
const mark = 'zyxheldqv'
let t: TestApp
let source: Source
let projectId: string
let caller: Client
let secret: string
let held: { id: string; version: number }

const good = Array.from({ length: 40 }, (_, id) => ({ id, amount: id * 10, region: id % 2 === 0 ? 'north' : 'south' }))
const spoilt = good.map((row) => ({ ...row, amount: `${mark}${row.id}`, region: `${mark} region` }))
const slots = (properties: object) => ({ type: 'object', properties, required: [] })
const queries = [
  { name: 'total', description: 'The total of all sales', sql: 'SELECT sum(amount) AS total FROM sales' },
  { name: 'all_sales', description: 'Every sale', sql: 'SELECT * FROM sales ORDER BY id', cache_seconds: 60 },
  {
    name: 'sale',
    description: 'One sale by its number',
    sql: 'SELECT id, amount, region FROM sales WHERE id = $id',
    slots: slots({ id: { type: 'integer' } }),
  },
  {
    name: 'of_region',
    description: 'Sales of a region',
    sql: 'SELECT id, region FROM sales WHERE region = $region OR $region IS NULL ORDER BY id',
    slots: slots({ region: { type: 'string', 'x-values-from': 'sales.region' } }),
    examples: [{ question: 'Sales of the north', parameters: { region: 'north' } }],
  },
]

const load = async (rows: unknown) => {
  source.answer(rows)
  const input = { projectId, datasourceId: `ds_${projectId}`, url: source.url, name: 'sales' }
  return (await expectStatus(200, execute(t.operator, input))).body
}
/** Once nothing is prepared any more. */
const settled = () =>
  vi.waitUntil(
    async () => {
      const { body } = await t.operator.get(`/v1/projects/${projectId}/jobs?limit=200`)
      return body.data.every(({ status }: { status: string }) => status !== 'queued' && status !== 'running')
    },
    { timeout: 60_000, interval: 50 },
  )

beforeAll(async () => {
  ;({ t, source } = await openAppWithSource({ SLUICE_LOOKUP_BYTES: '100000000' }))
  await t.app.jobs.start()
  projectId = await t.project()
  const permissions = [{ project_id: projectId, environments: '*' }]
  const key = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'k', plan: 'unlimited', permissions }))
  secret = key.body.secret
  caller = t.withToken(secret)
  await load(good)
  for (const query of queries) {
    await expectStatus(201, t.operator.post(`/v1/projects/${projectId}/queries`, query))
    await expectStatus(200, t.operator.post(`/v1/projects/${projectId}/queries/${query.name}/deploy`, {}))
  }
  await settled()
  const answer = await load(spoilt)
  if (answer.held_because?.reason !== 'breaking') throw new Error(`not held: ${JSON.stringify(answer)}`)
  held = { id: answer.data_object_id, version: 2 }
  await settled()
})
afterAll(() => t.close())

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body))

test('no call of a key reads it, in any format, from memory, from a lookup or anew', async () => {
  const calls = queries.flatMap(({ name }) => [
    caller.post(`/v1/queries/${name}`, name === 'sale' ? { id: 7 } : {}),
    caller.post(`/v1/queries/${name}`, name === 'sale' ? { id: 7 } : {}, { 'cache-control': 'no-cache' }),
    ...['csv', 'ndjson', 'json'].map((format) =>
      caller.get(`/v1/queries/${name}?format=${format}${name === 'sale' ? '&id=7' : ''}`),
    ),
  ])
  for (const { status, body } of await Promise.all(calls)) {
    expect(status).toBe(200)
    expect(textOf(body)).not.toContain(mark)
  }
  const none = await expectStatus(200, caller.post('/v1/queries/of_region', { region: `${mark} region` }))
  expect(none.body).toMatchObject({ row_count: 0, warnings: [{ value: `${mark} region` }] })
  const near = await caller.post('/v1/queries/of_region', { region: `${mark.slice(0, 6)} regi` })
  expect(textOf(near.body)).not.toContain(mark)
})

test('no question finds its values, and no document or tool tells them', async () => {
  for (const query of ['Sales of the zyxheld region', 'Sales of the zyxheld', 'Every sale', 'The total of all sales']) {
    const { body } = await caller.post('/v1/query', { query, project_id: projectId, explain: true })
    expect(textOf(body).replaceAll(query, '')).not.toContain(mark)
  }
  const mcp = await connectMcp(await t.listen(), secret)
  const { resources } = await mcp.listResources()
  const shown: unknown[] = [
    await mcp.listTools(),
    resources,
    ...(await Promise.all(resources.map(({ uri }) => mcp.readResource({ uri })))),
    await mcp.callTool({ name: 'query-all_sales', arguments: {} }).catch(() => null),
    (await caller.get(`/v1/projects/${projectId}/openapi.json`)).body,
  ]
  await mcp.close()
  expect(textOf(shown)).toContain('north')
  expect(textOf(shown)).not.toContain(mark)
})

test('no key reads it by its address, and nobody from another project', async () => {
  const stranger = await t.member(await t.project(), 'owner')
  const own = `/v1/projects/${projectId}`
  for (const path of [
    `data-objects/${held.id}/rows`,
    `data-objects/${held.id}/download`,
    `data-objects/${held.id}/download?format=csv`,
    `data-objects/${held.id}`,
    `data-objects/${held.id}/lineage`,
    `datasources/ds_${projectId}/versions`,
    `datasources/ds_${projectId}/versions/2`,
    `datasources/ds_${projectId}/schema`,
    'map',
    'lineage',
  ]) {
    for (const who of [caller, stranger, t.anonymous]) {
      const { status, body } = await who.get(`${own}/${path}`)
      expect([401, 403, 404], path).toContain(status)
      expect(textOf(body)).not.toContain(mark)
    }
  }
})

test('SQL of an editor, and of a viewer who may not write any, reads what serves', async () => {
  const viewer = await t.member(projectId, 'viewer')
  const editor = await t.member(projectId, 'editor')
  const preview = (who: Client, sql: string) =>
    who.post(`/v1/projects/${projectId}/queries/total/preview`, { sql, slots: { properties: {} } })
  const { body } = await expectStatus(200, preview(editor, 'SELECT * FROM sales ORDER BY id'))
  expect(textOf(body)).toContain('north')
  expect(textOf(body)).not.toContain(mark)
  for (const sql of ['SELECT * FROM sales_2', 'SELECT * FROM "sales@2"', `SELECT * FROM read_parquet('${held.id}')`])
    expect((await preview(editor, sql)).status).toBe(400)
  expect((await preview(viewer, 'SELECT 1')).status).toBe(403)
  // Members look at its rows, to decide; that is what it is held for.
  const rows = await expectStatus(200, viewer.get(`/v1/projects/${projectId}/data-objects/${held.id}/rows`))
  expect(textOf(rows.body)).toContain(mark)
  // The map and the schema tell them that it is held; its rows are no part of either.
  for (const path of ['map', `datasources/ds_${projectId}/schema`]) {
    const told = await viewer.get(`/v1/projects/${projectId}/${path}`)
    expect(textOf(told.body)).not.toContain(`${mark} region`)
  }
})
