import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

const ofRegion = {
  name: 'orders_of_region',
  description: 'Orders of a region, oldest first',
  sql: 'SELECT id, amount FROM orders WHERE region = $region ORDER BY id',
  slots: {
    type: 'object',
    properties: { region: { type: 'string', description: 'A sales region', 'x-values-from': 'orders.region' } },
    required: ['region'],
  },
  cache_seconds: 60,
}

let [t, q] = [] as unknown as [TestApp, QueryProject]
beforeAll(async () => {
  t = await openTestApp()
  q = await openQueryProject(t)
  const { id: datasourceId } = await t.app.store.db
    .selectFrom('datasources')
    .select('id')
    .where('projectId', '=', q.projectId)
    .executeTakeFirstOrThrow()
  const values = ['north', 'south', 'east'].map((value) => ({
    datasourceId,
    columnName: 'region',
    value,
    occurrences: 10,
  }))
  await t.app.store.db.insertInto('columnValues').values(values).execute()
  await q.deploy(ofRegion)
}, 90_000)
afterAll(() => t.close())

test('a value that no row has is named beside the empty answer, with the nearest ones', async () => {
  const path = '/v1/queries/orders_of_region'
  const empty = await expectStatus(200, q.caller.post(path, { region: 'nrth' }))
  const warnings = [{ code: 'unknown_value', slot: 'region', value: 'nrth', nearest: ['north'] }]
  expect(empty.body).toMatchObject({ row_count: 0, warnings })
  // Also where the answer is kept.
  expect((await q.caller.post(path, { region: 'nrth' })).body).toMatchObject({ warnings })
  const found = await expectStatus(200, q.caller.post(path, { region: 'north' }))
  expect(found.body).toMatchObject({ row_count: 10 })
  expect(found.body.warnings).toBeUndefined()
  const asked = { query: 'orders', project_id: q.projectId, query_name: ofRegion.name, parameters: { region: 'Mars' } }
  expect((await expectStatus(200, q.caller.post('/v1/query', asked))).body).toMatchObject({
    row_count: 0,
    warnings: [{ slot: 'region', value: 'Mars', nearest: [] }],
  })
})

test('a stream without rows says the same: in its last event, and where a form has no place for it, in a header', async () => {
  const path = '/v1/queries/orders_of_region'
  const as = (accept: string, region: string) => q.caller.post(path, { region }, { accept })
  const events = await as('text/event-stream', 'nrth')
  const done = String(events.body)
    .split('\n')
    .findLast((line) => line.startsWith('data: '))
  expect(JSON.parse(done?.slice(6) ?? '{}')).toMatchObject({
    type: 'done',
    row_count: 0,
    warnings: [{ code: 'unknown_value', slot: 'region', value: 'nrth', nearest: ['north'] }],
  })
  for (const form of ['application/x-ndjson', 'text/csv', 'application/vnd.apache.parquet']) {
    expect({ form, told: (await as(form, 'nør,th')).headers['x-sluice-warnings'] }).toEqual({
      form,
      told: 'region=n%C3%B8r%2Cth',
    })
    const found = await as(form, 'north')
    expect({ form, told: found.headers['x-sluice-warnings'] }).toEqual({ form, told: undefined })
  }
  const rows = await as('application/x-ndjson', 'north')
  expect(String(rows.body).trim().split('\n')).toHaveLength(10)
})

test('the OpenAPI document lists the values, and to somebody with fixed values nothing is told of others', async () => {
  const document = await expectStatus(200, q.caller.get(`/v1/projects/${q.projectId}/openapi.json`))
  expect(JSON.stringify(document.body)).toContain('A sales region. One of: east, north, south.')
  const minted = await expectStatus(
    201,
    q.caller.post('/v1/browser-tokens', { environment: 'production', fixed_parameters: { region: 'nowhere' } }),
  )
  const visitor = t.withToken(minted.body.token)
  const { body } = await expectStatus(200, visitor.post('/v1/queries/orders_of_region', {}))
  expect(body.row_count).toBe(0)
  expect(body.warnings).toBeUndefined()
})
