import { afterAll, beforeAll, expect, test } from 'vitest'
import { warmProjects } from '../../server/queries/index.ts'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let projects: QueryProject[]
beforeAll(async () => {
  t = await openTestApp()
  projects = [await openQueryProject(t), await openQueryProject(t)]
  for (const project of projects) await project.deploy({ name: 'all', sql: 'SELECT count(*) AS n FROM orders' })
})
afterAll(() => t.close())

const known = () => projects.map(({ projectId }) => t.app.catalogs.peek(projectId) !== undefined)
const forget = () => projects.forEach(({ projectId }) => t.app.catalogs.forget(projectId))

test('what is deployed is opened before anybody calls it, and one that cannot be does not keep the others', async () => {
  forget()
  expect(known()).toEqual([false, false])
  await warmProjects(t.app)
  expect(known()).toEqual([true, true])
  forget()
  const [, newest] = projects
  const read: string[] = []
  const told: unknown[] = []
  await warmProjects({
    ...t.app,
    observe: (event) => told.push(event),
    engine: {
      ...t.app.engine,
      async stream(scope, catalog, input) {
        if (scope === newest?.projectId) throw new Error('no such file')
        read.push(scope)
        return t.app.engine.stream(scope, catalog, input)
      },
    },
  })
  expect(read).toEqual([projects[0]?.projectId])
  expect(told).toMatchObject([{ kind: 'fault', where: 'opening data ahead' }])
})
