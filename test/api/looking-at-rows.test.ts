import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, operatorToken, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
let rowsPath: string
let origin: string
beforeAll(async () => {
  t = await openTestApp({}, { isShared: true })
  origin = await t.listen()
  q = await openQueryProject(t)
  const objects = await expectStatus(200, t.operator.get(`/v1/projects/${q.projectId}/data-objects`))
  rowsPath = `/v1/projects/${q.projectId}/data-objects/${objects.body.data[0].id}`
})
afterAll(() => t.close())

const idsOf = async (search: string): Promise<number[]> => {
  const { body } = await expectStatus(200, t.operator.get(`${rowsPath}/rows?limit=1000&${search}`))
  return body.data.map(({ id }: { id: number }) => id)
}

describe('rows of a table', () => {
  test('are sorted, filtered and searched before a page is cut from them', async () => {
    expect((await idsOf('sort=amount&order=desc')).slice(0, 3)).toEqual([30, 29, 28])
    expect(await idsOf('filter=at_least:amount:42&sort=id')).toEqual([28, 29, 30])
    expect(await idsOf('filter=is:region:north&filter=at_most:id:7&sort=id')).toEqual([1, 4, 7])
    expect(await idsOf('filter=at_least:day:2024-01-28')).toEqual([28])
    expect(await idsOf('filter=is:paid:true&filter=at_most:id:4&sort=id')).toEqual([1, 3])
    expect(await idsOf('filter=contains:region:OUT&filter=at_most:id:6&sort=id')).toEqual([2, 5])
    expect(await idsOf('filter=empty:region')).toEqual([])
    expect(await idsOf('search=EAST&filter=at_most:id:6&sort=id')).toEqual([3, 6])
    const page = await expectStatus(200, t.operator.get(`${rowsPath}/rows?limit=4&cursor=8&search=north&sort=id`))
    expect(page.body).toMatchObject({ row_count: 10, truncated: false, next_cursor: null })
    expect(page.body.data.map(({ id }: { id: number }) => id)).toEqual([25, 28])
  })

  test('are never found by what is no value of their columns, and what is searched for is no SQL', async () => {
    expect(await idsOf(`search=${encodeURIComponent("' or 1=1 --")}`)).toEqual([])
    expect(await idsOf('filter=at_least:amount:much')).toEqual([])
    const unknown = await t.operator.get(`${rowsPath}/rows?sort=nothing`)
    expect(unknown.status).toBe(400)
    expect(unknown.body.message).toContain('There is no column nothing')
    expect((await t.operator.get(`${rowsPath}/rows?filter=is:nothing:1`)).status).toBe(400)
    expect((await t.operator.get(`${rowsPath}/rows?filter=like:region:x`)).status).toBe(400)
    expect((await t.operator.get(`${rowsPath}/rows?filter=is`)).status).toBe(400)
  })

  test('are a file in every form', async () => {
    const file = async (format: string): Promise<Response> =>
      fetch(`${origin}${rowsPath}/download${format}`, { headers: { authorization: `Bearer ${operatorToken}` } })
    const stored = Buffer.from(await (await file('')).arrayBuffer())
    expect(stored.subarray(0, 4).toString()).toBe('PAR1')
    const csv = await file('?format=csv')
    expect(csv.headers.get('content-type')).toContain('text/csv')
    expect(csv.headers.get('content-disposition')).toContain('orders-1.csv')
    expect((await csv.text()).trimEnd().split('\n')).toHaveLength(31)
    expect((await (await file('?format=ndjson')).text()).trimEnd().split('\n')).toHaveLength(30)
    expect(await (await file('?format=json')).json()).toHaveLength(30)
    expect((await (await file('?format=arrow')).arrayBuffer()).byteLength).toBeGreaterThan(100)
    expect((await file('?format=xls')).status).toBe(400)
  })
})

describe('a draft', () => {
  test('is a file with all of its rows, of which a preview shows the first', async () => {
    await expectStatus(
      201,
      t.operator.post(q.path, { name: 'many', sql: 'select i from range(5000) r(i) where i < $n::bigint' }),
    )
    const body = { parameters: { n: 3000 } }
    expect((await expectStatus(200, t.operator.post(`${q.path}/many/preview`, body))).body.row_count).toBe(1000)
    const answer = await fetch(`${origin}${q.path}/many/preview?format=csv`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect((await answer.text()).trimEnd().split('\n')).toHaveLength(3001)
    const wrong = await t.operator.post(`${q.path}/many/preview?format=csv`, { parameters: { n: 'x' } })
    expect(wrong.body).toMatchObject({ error: 'invalid_request', details: [{ field: 'parameters.n' }] })
  })
})

describe('a chart', () => {
  const chart = { type: 'bar', x: 'region', y: ['orders'], series: null, stacked: false }
  const sql = 'select region, count(*) as orders from orders group by region order by region'
  const example = { question: 'how many orders has each region', parameters: {} }

  test('is kept with the query, frozen in its versions, and told with the answer to a question', async () => {
    const query = { name: 'by_region', description: 'Orders of each region.', sql, examples: [example] }
    await q.deploy(query)
    const asked = { query: example.question, project_id: q.projectId }
    expect((await expectStatus(200, q.caller.post('/v1/query', asked))).body).not.toHaveProperty('chart')
    const changed = await expectStatus(
      200,
      t.operator.put(`${q.path}/by_region`, { chart: { type: 'bar', x: 'region', y: ['orders'] } }),
    )
    expect(changed.body).toMatchObject({ chart, changed: true })
    // Another edit and back again is the same content, however it was stored.
    await t.operator.put(`${q.path}/by_region`, { description: 'Other.' })
    await q.deploy({ ...query, chart })
    expect((await t.operator.get(`${q.path}/by_region`)).body).toMatchObject({ changed: false, chart })
    expect((await t.operator.get(`${q.path}/by_region/versions/2`)).body.chart).toEqual(chart)
    expect((await t.operator.get(`${q.path}/by_region/diff?from=1&to=2`)).body.diff).toContain('chart')
    expect((await expectStatus(200, q.caller.post('/v1/query', asked))).body.chart).toEqual(chart)
    const tried = { question: example.question, run: true }
    const told = await expectStatus(200, t.operator.post(`/v1/projects/${q.projectId}/ask`, tried))
    expect(told.body).toMatchObject({ chart, version: 2, columns: [{ name: 'region' }, { name: 'orders' }] })
    const definition = await expectStatus(200, t.operator.get(`/v1/projects/${q.projectId}/definition`))
    expect(definition.body.queries.find(({ name }: { name: string }) => name === 'by_region').chart).toEqual(chart)
  })

  test('that is none is refused in words', async () => {
    const wrong = await t.operator.put(`${q.path}/by_region`, { chart: { type: 'radar', x: 'region', y: [] } })
    expect(wrong.status).toBe(400)
    expect(wrong.body.details[0].field).toBe('chart.type')
  })
})
