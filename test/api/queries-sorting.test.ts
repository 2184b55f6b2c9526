import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
beforeAll(async () => {
  t = await openTestApp({}, { isShared: true })
  q = await openQueryProject(t)
})
afterAll(() => t.close())

const sql = 'SELECT id FROM orders'

describe('POST …/queries/run', () => {
  test('200 runs SQL that nobody saved, with values and no more rows than asked for', async () => {
    const body = {
      sql: 'SELECT id FROM orders WHERE id >= $from::INTEGER ORDER BY id',
      parameters: { from: 5 },
      max_rows: 3,
    }
    const { body: answer } = await expectStatus(200, t.operator.post(`${q.path}/run`, body))
    expect(answer).toMatchObject({ data: [{ id: 5 }, { id: 6 }, { id: 7 }], row_count: 3, truncated: true })
    expect((await t.operator.get(q.path)).body.data).toEqual([])
    const { body: log } = await t.operator.get(`/v1/projects/${q.projectId}/requests?limit=1`)
    expect(log.data[0]).toMatchObject({ entry: 'preview', query: null, status: 200, rows: 3 })
  })

  test('400 for what is no read of the project’s tables, and for values that do not fit', async () => {
    for (const bad of ['DROP TABLE orders', 'SELECT * FROM nowhere', "SELECT * FROM read_csv('/etc/passwd')"]) {
      expect((await t.operator.post(`${q.path}/run`, { sql: bad })).status).toBe(400)
    }
    const lacking = await t.operator.post(`${q.path}/run`, { sql: 'SELECT $n::INTEGER AS n' })
    expect(lacking).toMatchObject({ status: 400, body: { details: [{ field: 'parameters.n' }] } })
    const viewer = await t.member(q.projectId, 'viewer')
    expect((await viewer.post(`${q.path}/run`, { sql })).status).toBe(403)
  })
})

describe('tags', () => {
  test('200 sorts a query without editing it; 400 for what is no tag', async () => {
    await expectStatus(201, t.operator.post(q.path, { name: 'tagged', sql }))
    const tagged = await t.operator.put(`${q.path}/tagged/tags`, { tags: [' finance ', 'daily', 'daily'] })
    expect(tagged).toMatchObject({ status: 200, body: { tags: ['finance', 'daily'], revision: 1 } })
    const listed = (await t.operator.get(q.path)).body.data.find((each: { name: string }) => each.name === 'tagged')
    expect(listed.tags).toEqual(['finance', 'daily'])
    for (const tags of [['a,b'], [''], Array.from({ length: 21 }, (_, at) => `t${at}`), ['x'.repeat(41)]]) {
      expect((await t.operator.put(`${q.path}/tagged/tags`, { tags })).status).toBe(400)
    }
    expect((await t.operator.put(`${q.path}/nowhere/tags`, { tags: [] })).status).toBe(404)
  })

  test('a table has them by its datasource', async () => {
    const sources = `/v1/projects/${q.projectId}/datasources`
    const [{ id }] = (await t.operator.get(sources)).body.data
    const tagged = await expectStatus(200, t.operator.patch(`${sources}/${id}`, { tags: ['raw'] }))
    expect(tagged.body.tags).toEqual(['raw'])
  })
})

describe('POST …/queries/{name}/rename', () => {
  test('200 takes versions, evaluation cases and alerts along', async () => {
    await q.deploy({ name: 'before', sql })
    await expectStatus(200, t.operator.post(`${q.path}/before/undeploy`, {}))
    const project = `/v1/projects/${q.projectId}`
    const expected = { question: 'which orders are there', expected_query: 'before' }
    const { body: kept } = await expectStatus(201, t.operator.post(`${project}/evaluations`, expected))
    const alert = { name: 'busy', type: 'requests_above', threshold: 5, query: 'before' }
    const { body: watching } = await expectStatus(201, t.operator.post(`${project}/alerts`, alert))
    const renamed = await t.operator.post(`${q.path}/before/rename`, { name: 'after' })
    expect(renamed).toMatchObject({ status: 200, body: { name: 'after', sql } })
    expect((await t.operator.get(`${q.path}/before`)).status).toBe(404)
    expect((await t.operator.get(`${q.path}/after/versions`)).body.data).toHaveLength(1)
    const cases = (await t.operator.get(`${project}/evaluations`)).body.data
    expect(cases.find((each: { id: string }) => each.id === kept.id).expected_query).toBe('after')
    expect((await t.operator.get(`${project}/alerts/${watching.id}`)).body.query).toBe('after')
    await expectStatus(200, t.operator.post(`${q.path}/after/deploy`, { force: true }))
    await expectStatus(200, q.caller.post('/v1/queries/after', {}))
  })

  test('409 while it is deployed, and it goes on answering; 409 for a name that is taken', async () => {
    await q.deploy({ name: 'live', sql })
    const refused = await t.operator.post(`${q.path}/live/rename`, { name: 'other' })
    expect(refused).toMatchObject({ status: 409, body: { reason: 'in_use' } })
    expect(refused.body.message).toContain('copy under the new name')
    await expectStatus(200, q.caller.post('/v1/queries/live', {}))
    await expectStatus(201, t.operator.post(q.path, { name: 'free', sql }))
    const taken = await t.operator.post(`${q.path}/free/rename`, { name: 'live' })
    expect(taken).toMatchObject({ status: 409, body: { reason: 'name_taken' } })
    await expectStatus(200, t.operator.post(`${q.path}/free/rename`, { name: 'free' }))
    expect((await t.operator.post(`${q.path}/free/rename`, { name: 'Not a name' })).status).toBe(400)
  })
})
