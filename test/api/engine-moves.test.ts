import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let project: QueryProject
const path = (): string => `/v1/projects/${project.projectId}/engine`

beforeAll(async () => {
  t = await openTestApp({}, { isShared: true })
  project = await openQueryProject(t)
})

afterAll(() => t.close())

test('409 where the server has no Trino, in words, for a check and for a switch', async () => {
  for (const search of ['', '?check=true']) {
    const refused = await t.operator.post(`${path()}${search}`, { engine: 'trino' })
    expect(refused).toMatchObject({ status: 409, body: { reason: 'no_trino' } })
    expect(refused.body.message).toContain('SLUICE_TRINO_URL')
  }
})

test('409 for the engine that it is on', async () => {
  const refused = await t.operator.post(path(), { engine: 'duckdb' })
  expect(refused).toMatchObject({ status: 409, body: { reason: 'same_engine' } })
})

test('400 for an engine that there is not, and for a query that is named twice', async () => {
  for (const body of [{ engine: 'oracle' }, {}, { engine: 'trino', queries: [{ name: 'a' }, { name: 'a' }] }]) {
    expect((await t.operator.post(path(), body)).status).toBe(400)
  }
})

test('a draft that a move left behind is not released until its SQL is saved for the engine of today', async () => {
  const sql = 'SELECT count(*) AS n FROM orders'
  const { body } = await expectStatus(201, t.operator.post(project.path, { name: 'left_behind', sql }))
  await t.app.store.db.updateTable('queries').set({ dialect: 'trino' }).where('id', '=', body.id).execute()
  const release = () =>
    t.operator.post(`/v1/projects/${project.projectId}/releases`, { queries: [{ name: 'left_behind' }] })
  const refused = await release()
  expect(refused).toMatchObject({ status: 400, body: { reason: 'invalid_sql' } })
  expect(refused.body.message).toContain('is written for trino, and the project is on duckdb')
  await expectStatus(200, t.operator.post(`${project.path}/left_behind/preview`, { sql }))
  const saved = await expectStatus(200, t.operator.put(`${project.path}/left_behind`, { sql }))
  expect(saved.body.dialect).toBe('duckdb')
  await expectStatus(200, release())
})
