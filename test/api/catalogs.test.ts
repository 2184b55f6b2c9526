import { afterAll, beforeAll, expect, test } from 'vitest'
import { openCatalogs, type Catalogs } from '../../server/data/index.ts'
import { engineOf } from '../../server/projects/index.ts'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { orders, putTable } from '../harness/tables.ts'

let t: TestApp
let catalogs: Catalogs
let projectId: string
const database = { isAway: false }

beforeAll(async () => {
  t = await openTestApp()
  const { store, files, datasources, observe, now } = t.app
  catalogs = await openCatalogs({
    store,
    files,
    datasources: {
      ...datasources,
      async ofProject(id) {
        if (database.isAway) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
        return datasources.ofProject(id)
      },
    },
    engines: { engineOf: (id) => engineOf(store, id) },
    observe,
    now,
  })
  projectId = await t.project()
  await putTable(t.app, projectId, { name: 'orders', rows: orders(3) })
})
afterAll(async () => {
  catalogs.close()
  await t.close()
})

test('a change is read at the next use, and while the database is away what was known before answers', async () => {
  // The rows that the table began with may be announced after the first read.
  await expect.poll(async () => (await catalogs.get(projectId)) === catalogs.peek(projectId)).toBe(true)
  const before = await catalogs.get(projectId)
  database.isAway = true
  // It said that there is something new, and was gone before it could be asked what.
  await putTable(t.app, projectId, { name: 'orders', rows: orders(4) })
  await expect.poll(() => catalogs.peek(projectId)).toBeUndefined()
  expect(await catalogs.get(projectId)).toBe(before)
  catalogs.forget(projectId)
  expect(await catalogs.get(projectId)).toBe(before)
  expect(catalogs.peek(projectId)).toBeUndefined()
  database.isAway = false
  const after = await catalogs.get(projectId)
  expect(after.version).not.toBe(before.version)
  expect(catalogs.peek(projectId)).toBe(after)
})

test('what nobody has read before is not made up', async () => {
  const another = await t.project()
  database.isAway = true
  await expect(catalogs.get(another)).rejects.toThrow('ECONNREFUSED')
  database.isAway = false
  expect((await catalogs.get(another)).tables).toEqual([])
})
