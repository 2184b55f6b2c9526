import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let project: QueryProject
beforeAll(async () => {
  const few = { SLUICE_SHADOW_CALLS_PER_SECOND: '1000', SLUICE_SHADOW_QUEUE_LENGTH: '5' }
  t = await openTestApp(few, { ownProcesses: true })
  project = await openQueryProject(t)
  // Slow only on the version that is run behind.
  await project.deploy({ name: 'orders_of', description: 'Orders', sql: 'SELECT id FROM orders WHERE id = $id' })
})
afterAll(() => t.close())

test('under load callers are answered as ever, and what is not compared is counted', async () => {
  const slow = 'SELECT id FROM orders WHERE id = $id AND (SELECT count(*) FROM range(3000000) a(i), range(3) b) > 0'
  await expectStatus(200, t.operator.put(`${project.path}/orders_of`, { description: 'Orders', sql: slow }))
  const path = `/v1/projects/${project.projectId}`
  const body = { queries: [{ name: 'orders_of' }], shadow: true }
  const { body: release } = await expectStatus(200, t.operator.post(`${path}/releases`, body))
  const calls = 200
  const answers = await Promise.all(
    Array.from({ length: calls }, (_, at) => project.caller.post('/v1/queries/orders_of', { id: 1 + (at % 30) })),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(answers.map((answer) => answer.body.version))).toEqual(new Set([1]))
  await t.app.behindCalls.settled()
  const { body: replay } = await expectStatus(200, t.operator.get(`${path}/replays/${release.shadow.replay_id}`))
  expect(replay.calls + replay.dropped).toBe(calls)
  expect(replay.dropped).toBeGreaterThan(0)
  expect(replay.calls).toBeGreaterThan(0)
  expect(replay).toMatchObject({ different: 0, failed: 0, equal: replay.calls })
  // It is told with the release as well.
  await t.app.canaries.judge()
  const { body: told } = await expectStatus(200, t.operator.get(`${path}/releases/${release.id}`))
  expect(told.shadow.compared).toMatchObject({ calls: replay.calls, different: 0, dropped: replay.dropped })
})
