import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { orders, putTable } from '../harness/tables.ts'

let t: TestApp
let q: QueryProject
let path: string
beforeAll(async () => {
  t = await openTestApp({}, { bounds: { mapQueries: 3 } })
  q = await openQueryProject(t)
  path = `/v1/projects/${q.projectId}/map`
  await putTable(t.app, q.projectId, { name: 'unread', rows: orders(3) })
  await q.deploy({ name: 'all_orders', sql: 'SELECT id FROM orders' })
  await q.deploy({ name: 'all_orders', sql: 'SELECT id FROM orders' }, 'staging')
  await expectStatus(201, t.operator.post(q.path, { name: 'drafted', sql: 'SELECT amount FROM orders', tags: ['new'] }))
  for (let calls = 0; calls < 3; calls += 1) await expectStatus(200, q.caller.post('/v1/queries/all_orders', {}))
})
afterAll(() => t.close())

describe('GET /v1/projects/{project_id}/map', () => {
  test('200 leads from sources over tables and queries to environments and the keys that called', async () => {
    const { body } = await expectStatus(200, t.operator.get(path))
    expect(body.tables).toMatchObject([
      { name: 'orders', status: 'fresh', rows: 30, tags: [] },
      { name: 'unread', status: 'fresh', rows: 3 },
    ])
    expect(body.sources).toMatchObject([
      { name: 'orders', table: 'orders', status: 'fresh', message: null },
      { table: 'unread' },
    ])
    expect(body.queries).toMatchObject([
      {
        name: 'all_orders',
        status: 'fresh',
        reads: ['orders'],
        deployments: [
          { environment: 'production', version: 1, reads: ['orders'], calls: 3, failed: 0 },
          { environment: 'staging', version: 1, reads: ['orders'], calls: 0 },
        ],
      },
      { name: 'drafted', status: 'draft', reads: ['orders'], tags: ['new'], deployments: [] },
    ])
    expect(body.environments).toMatchObject([
      { name: 'development', status: 'new', calls: 0 },
      { name: 'staging', status: 'fresh', calls: 0 },
      { name: 'production', status: 'fresh', calls: 3 },
    ])
    expect(body.callers).toMatchObject([{ name: 'test', calls: 3 }])
    expect(body.calls).toMatchObject([
      { query: 'all_orders', environment: 'production', key_id: body.callers[0].key_id, calls: 3 },
    ])
    expect(body.left_out).toEqual({ queries: 0, callers: 0 })
  })

  test('what is late, failed or waits is told at its source, its table and the queries that read it', async () => {
    const [source] = (await expectStatus(200, t.operator.get(path))).body.sources
    const change = (columns: Record<string, unknown>) =>
      t.app.store.db.updateTable('datasources').set(columns).where('id', '=', source.id).execute()
    await change({ schedule: '0 * * * *', refreshedAt: new Date(t.app.now()) })
    expect((await t.operator.get(path)).body.sources[0].status).toBe('fresh')
    t.advance(3 * 3_600_000)
    const late = (await t.operator.get(path)).body
    expect(late.sources[0]).toMatchObject({ status: 'stale', message: expect.stringContaining('should have been') })
    expect(late.tables[0].status).toBe('stale')
    expect(late.queries[0].status).toBe('stale')
    expect(late.environments[2].status).toBe('stale')
    await change({ lastError: JSON.stringify({ code: 'upstream', message: 'It answered 500.' }) })
    const failed = (await t.operator.get(path)).body
    expect(failed.sources[0]).toMatchObject({ status: 'failing', message: 'It answered 500.' })
    expect(failed.tables[0].status).toBe('stale')
    await change({ lastError: null, schedule: null })
  })

  test('it has an end, and says what lies beyond it', async () => {
    for (const name of ['more_a', 'more_b']) {
      await expectStatus(201, t.operator.post(q.path, { name, sql: 'SELECT 1 AS one' }))
    }
    const { body } = await expectStatus(200, t.operator.get(path))
    expect(body.queries).toHaveLength(3)
    expect(body.left_out).toEqual({ queries: 1, callers: 0 })
  })

  test('a day later its calls are no longer of the last day, and who called is', async () => {
    t.advance(2 * 86_400_000)
    const { body } = await expectStatus(200, t.operator.get(path))
    expect(body.queries[0].deployments[0].calls).toBe(0)
    expect(body.callers).toMatchObject([{ name: 'test', calls: 0 }])
  })
})
