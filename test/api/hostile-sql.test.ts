import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { hostileSql } from '../harness/hostile-sql.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
beforeAll(async () => {
  t = await openTestApp()
  q = await openQueryProject(t)
  await q.deploy({ name: 'one', sql: 'SELECT id FROM orders WHERE id = $id::INTEGER' })
})
afterAll(() => t.close())

test('a server refuses every escape when it is saved and when it is tried, and stays healthy', async () => {
  const before = t.app.engine.health().executors
  for (const [at, statement] of hostileSql.entries()) {
    const sql = statement.replaceAll('DIR', t.app.config.dataDir)
    const shown = sql.slice(0, 120)
    expect((await t.operator.post(q.path, { name: `escape_${at}`, sql })).status, shown).toBe(400)
    expect((await t.operator.post(`${q.path}/one/preview`, { sql, parameters: {} })).status, shown).toBe(400)
  }
  expect(t.app.engine.health().executors.map(({ pid }) => pid)).toEqual(before.map(({ pid }) => pid))
  await expectStatus(200, t.anonymous.get('/readyz'))
  await expectStatus(200, q.caller.post('/v1/queries/one', { id: 1 }))
})
