import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { execute, openAppWithSource, type Source } from '../harness/source.ts'

/** From an external API to an answer, and what holds its parts together. */
let t: TestApp
let source: Source
let projectId: string
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource())
  projectId = await t.project()
  source.answer([
    { id: 1, region: 'north', total: 10.5 },
    { id: 2, region: 'south', total: 20 },
    { id: 3, region: 'north', total: 1 },
  ])
})
afterAll(() => t.close())

const fetchOrders = () => execute(t.operator, { projectId, datasourceId: 'ds_orders', url: source.url, name: 'Orders' })
const at = (path: string) => `/v1/projects/${projectId}${path}`

test('connect, execute, query, deploy, call with a key', async () => {
  const executed = await expectStatus(200, fetchOrders())
  const sql = 'select region, sum(total) as revenue from orders where region = $region group by region'
  await expectStatus(201, t.operator.post(at('/queries'), { name: 'revenue', description: 'Revenue', sql }))
  const previewed = await t.operator.post(at('/queries/revenue/preview'), { parameters: { region: 'north' } })
  expect(previewed.body.data).toEqual([{ region: 'north', revenue: 11.5 }])
  await expectStatus(200, t.operator.post(at('/queries/revenue/deploy'), { environment: 'production' }))
  const permissions = [{ project_id: projectId, environments: ['production'] }]
  const key = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'Shop', permissions }))
  const caller = t.withToken(key.body.secret)
  const answer = await caller.post('/v1/queries/revenue', { region: 'north' })
  expect(answer).toMatchObject({
    status: 200,
    body: { data: [{ region: 'north', revenue: 11.5 }], execution_time_ms: expect.any(Number), version: 1 },
  })
  const reach = await t.operator.get(`/v1/api-keys/${key.body.id}/reach`)
  expect(reach.body.data[0].environments).toEqual([{ name: 'production', queries: '*', deployed: ['revenue'] }])
  const lineage = await t.operator.get(at(`/data-objects/${executed.body.data_object_id}/lineage`))
  const query = lineage.body.nodes.find((node: { kind: string }) => node.kind === 'query')
  expect(query.label).toBe('revenue')
  expect(lineage.body.edges).toContainEqual({ from: executed.body.data_object_id, to: query.id })
})

describe('what a deployed query reads', () => {
  test('409 in_use: neither its newest data nor its datasource can be deleted', async () => {
    const { body } = await t.operator.get(at('/data-objects'))
    const newest = body.data.find((object: { kind: string }) => object.kind === 'response_data')
    for (const path of [`/data-objects/${newest.id}`, '/datasources/ds_orders']) {
      expect(await t.operator.delete(at(path))).toMatchObject({ status: 409, body: { reason: 'in_use' } })
    }
  })

  test('drift names the deployed queries that read what is gone', async () => {
    source.answer([{ id: 1, area: 'north', total: 10.5 }])
    const { body } = await expectStatus(200, fetchOrders())
    const object = await t.operator.get(at(`/data-objects/${body.data_object_id}`))
    expect(object.body.drift).toEqual({ added: ['area'], removed: ['region'], changed: [], queries: ['revenue'] })
  })

  test('drift of each refresh names the queries that are deployed and read what it touches, and no others', async () => {
    const place = await t.project()
    const path = `/v1/projects/${place}`
    const refresh = async (rows: object[]) => {
      source.answer(rows)
      const given = { projectId: place, datasourceId: 'ds_sales', url: source.url, name: 'Sales' }
      return (await expectStatus(200, execute(t.operator, given))).body.data_object_id as string
    }
    const driftOf = async (id: string) => (await t.operator.get(`${path}/data-objects/${id}`)).body.drift
    await refresh([{ id: 1, region: 'north', total: 10 }])
    // Held data would be compared with what serves instead.
    const serving = t.operator.patch(`${path}/datasources/ds_sales/schema`, { on_breaking: 'serve' })
    await expectStatus(200, serving)
    const queries = {
      by_region: 'with r as (select region as place, id from sales) select s.id, place from sales s join r using (id)',
      everything: 'select * from sales',
      ids: 'select id from sales',
      sum: 'select sum(x.total) as total from sales as x',
      unused: 'select region, total from sales',
    }
    for (const [name, sql] of Object.entries(queries)) {
      await expectStatus(201, t.operator.post(`${path}/queries`, { name, description: name, sql }))
      if (name === 'unused') continue
      const deploy = { environment: 'staging', force: true }
      await expectStatus(200, t.operator.post(`${path}/queries/${name}/deploy`, deploy))
    }
    const second = await refresh([{ id: 1, region: 'north', total: 'ten' }])
    const changed = [{ name: 'total', from: 'BIGINT', to: 'VARCHAR' }]
    const touched = { added: [], removed: [], changed, queries: ['everything', 'sum'] }
    expect(await driftOf(second)).toEqual(touched)
    const third = await refresh([{ id: 1, total: 'ten', area: 'north' }])
    const lost = { added: ['area'], removed: ['region'], changed: [] }
    expect(await driftOf(third)).toEqual({ ...lost, queries: ['by_region', 'everything'] })
    expect(await driftOf(await refresh([{ id: 2, total: 'two', area: 'south' }]))).toBeNull()
    expect(await driftOf(second)).toEqual(touched)
    await expectStatus(200, t.operator.post(`${path}/queries/by_region/undeploy`, { environment: 'staging' }))
    expect(await driftOf(third)).toEqual({ ...lost, queries: ['everything'] })
  })

  test('a fresh execute is read by the next call, without waiting', async () => {
    const permissions = [{ project_id: projectId, environments: ['production'] }]
    const key = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'Fresh', permissions }))
    for (const total of [1, 2, 3, 4, 5]) {
      const others = ['south', 'west'].map((region, at) => ({ id: at + 2, region, total: 20 }))
      source.answer([{ id: 1, region: 'north', total }, ...others])
      await expectStatus(200, fetchOrders())
      const answer = await t.withToken(key.body.secret).post('/v1/queries/revenue', { region: 'north' })
      expect(answer.body.data).toEqual([{ region: 'north', revenue: total }])
    }
  })
})

test("429 by a query's own limit, for each key, beside the key's", async () => {
  source.answer([{ id: 1, region: 'north', total: 1 }])
  await expectStatus(200, fetchOrders())
  const rate_limit = { per_minute: 1, burst: 2 }
  const sql = 'select count(*) as n from orders'
  await expectStatus(201, t.operator.post(at('/queries'), { name: 'limited', description: '', sql, rate_limit }))
  expect((await t.operator.get(at('/queries/limited'))).body.rate_limit).toEqual(rate_limit)
  await expectStatus(200, t.operator.post(at('/queries/limited/deploy'), { environment: 'production' }))
  const permissions = [{ project_id: projectId, environments: ['production'] }]
  const make = async (name: string) =>
    t.withToken((await expectStatus(201, t.operator.post('/v1/api-keys', { name, permissions }))).body.secret)
  const [one, two] = [await make('one'), await make('two')]
  const statuses = []
  for (let count = 0; count < 3; count += 1) statuses.push((await one.post('/v1/queries/limited', {})).status)
  expect(statuses).toEqual([200, 200, 429])
  const refused = await one.post('/v1/queries/limited', {})
  expect(refused.body).toMatchObject({ error: 'rate_limit_exceeded', retry_after: 60 })
  expect(refused.headers['ratelimit-policy']).toContain('"limited";q=1;w=60')
  expect((await one.post('/v1/queries/revenue', { region: 'north' })).status).toBe(200)
  expect((await two.post('/v1/queries/limited', {})).status).toBe(200)
})
