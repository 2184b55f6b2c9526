import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let project: QueryProject
beforeAll(async () => {
  const bounds = { shadowCallsPerSecond: 1_000, shadowQueueLength: 5 }
  t = await openTestApp({}, { bounds, ownProcesses: true })
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

test('what a project keeps out of the record is not kept of the calls that are run behind either', async () => {
  const path = `/v1/projects/${project.projectId}`
  const settings = { recording: false, redacted_slots: ['region'] }
  await expectStatus(200, t.operator.put(`${path}/replay-settings`, settings))
  const sql = 'SELECT count(*) AS n FROM orders WHERE region = $region AND id > $above'
  await project.deploy({ name: 'orders_above', description: 'How many', sql })
  const other = sql.replace('count(*)', 'count(*) + 1')
  await expectStatus(200, t.operator.put(`${project.path}/orders_above`, { description: 'How many', sql: other }))
  const running = (await expectStatus(200, t.operator.get(`${path}/releases?status=shadow`))).body.data
  for (const { id } of running) await expectStatus(200, t.operator.post(`${path}/releases/${id}/rollback`, {}))
  const body = { queries: [{ name: 'orders_above' }], shadow: true }
  const { shadow } = (await expectStatus(200, t.operator.post(`${path}/releases`, body))).body
  await expectStatus(200, project.caller.post('/v1/queries/orders_above', { region: 'north', above: 3 }))
  await t.app.behindCalls.settled()
  const calls = `${path}/replays/${shadow.replay_id}/calls`
  const { body: page } = await expectStatus(200, t.operator.get(calls))
  const { body: call } = await expectStatus(200, t.operator.get(`${calls}/${page.data[0].id}`))
  expect(call).toMatchObject({ outcome: 'different', parameters: { above: 3 }, redacted: ['region'] })
  expect(call.parameters).not.toHaveProperty('region')
})
