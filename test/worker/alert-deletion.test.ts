import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { forgetOldAlerts } from '../../server/usage/index.ts'
import { expectStatus, openTestApp, type Answer, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { openReceiver, type Receiver } from '../harness/receivers.ts'

let t: TestApp
let q: QueryProject
let receiver: Receiver
let path: string

beforeAll(async () => {
  receiver = await openReceiver()
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: receiver.host, SLUICE_ALERT_INTERVAL_SECONDS: '1' })
  q = await openQueryProject(t)
  path = `/v1/projects/${q.projectId}/alerts`
})
beforeEach(() => void receiver.received.splice(0))
afterAll(async () => {
  await t.close()
  await receiver.close()
})

/** An alert that fires as soon as it is looked at: nobody has called. */
async function fire(): Promise<Answer['body']> {
  const channels = [
    { type: 'webhook', url: `${receiver.origin}/hook` },
    { type: 'slack', url: `${receiver.origin}/slack` },
  ]
  const quiet = { name: 'Quiet', type: 'requests_below', threshold: 1, window_minutes: 1, channels }
  const { body } = await expectStatus(201, t.operator.post(path, quiet))
  await round()
  expect((await t.operator.get(`${path}/${body.id}`)).body.state).toBe('firing')
  return body
}

async function round(): Promise<void> {
  t.advance(1_000)
  expect(await t.app.alerts.evaluate()).toBe(true)
  await t.app.alerts.deliver()
}

const told = (): Array<{ type: string; data: Record<string, unknown> }> =>
  receiver.received.filter((each) => each.path === '/hook').map((each) => JSON.parse(each.body))
const known = async (id: string): Promise<number> =>
  (await t.app.store.db.selectFrom('alerts').select('id').where('id', '=', id).execute()).length
const waiting = async (): Promise<number> =>
  (
    await t.app.store.pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).rowCount ?? 0
const storedChannels = async (id: string): Promise<number> =>
  (await t.app.store.db.selectFrom('alertChannels').select('id').where('alertId', '=', id).execute()).length

test('an alert that is deleted while it fires tells every channel that it is over, and is gone at once', async () => {
  const { id } = await fire()
  await expectStatus(204, t.operator.delete(`${path}/${id}`))
  expect((await t.operator.get(`${path}/${id}`)).status).toBe(404)
  expect((await t.operator.get(`${path}/${id}/deliveries`)).status).toBe(404)
  expect((await t.operator.get(path)).body.data).toEqual([])
  await round()
  await round()
  expect(told().map(({ type }) => type)).toEqual(['alert.firing', 'alert.resolved'])
  expect(told()[1]?.data).toMatchObject({ alert_id: id, state: 'ok', started_at: told()[0]?.data['started_at'] })
  const slack = receiver.received.filter((each) => each.path === '/slack').map((each) => JSON.parse(each.body).text)
  expect(slack).toEqual([expect.stringMatching(/Firing: Quiet/), expect.stringMatching(/Resolved: Quiet/)])
  // Its channels and what was sealed for them end with the last delivery.
  expect(await known(id)).toBe(1)
  await forgetOldAlerts(t.app)
  expect(await known(id)).toBe(0)
})

test('a receiver that is away when an alert is deleted hears of it once it is back', async () => {
  const { id } = await fire()
  receiver.answer(503)
  await expectStatus(204, t.operator.delete(`${path}/${id}`))
  await t.app.alerts.deliver()
  await forgetOldAlerts(t.app)
  expect(await known(id)).toBe(1)
  receiver.answer(200)
  t.advance(60_000)
  await t.app.alerts.deliver()
  expect(told().at(-1)).toMatchObject({ type: 'alert.resolved', data: { alert_id: id } })
  await forgetOldAlerts(t.app)
  expect(await known(id)).toBe(0)
})

test('a channel that is removed as its alert is switched off is told that it is over, and hears nothing more', async () => {
  const { id, channels } = await fire()
  const [hook, slack] = channels
  receiver.answer(503)
  const { body } = await expectStatus(
    200,
    t.operator.patch(`${path}/${id}`, { enabled: false, channels: [{ id: slack.id }] }),
  )
  expect(body.channels).toMatchObject([{ id: slack.id }])
  expect((await t.operator.get(path)).body.data[0].channels).toHaveLength(1)
  // Out of sight it can neither be taken back nor be given a secret.
  expect((await t.operator.patch(`${path}/${id}`, { channels: [{ id: hook.id }] })).status).toBe(400)
  expect((await t.operator.post(`${path}/${id}/channels/${hook.id}/rotate`, {})).status).toBe(404)
  await t.app.alerts.deliver()
  await forgetOldAlerts(t.app)
  receiver.answer(200)
  t.advance(60_000)
  await t.app.alerts.deliver()
  expect(told().at(-1)).toMatchObject({ type: 'alert.resolved', data: { alert_id: id, state: 'ok' } })
  receiver.received.splice(0)
  await expectStatus(200, t.operator.post(`${path}/${id}/test`))
  await t.app.alerts.deliver()
  expect(receiver.received.map((each) => each.path)).toEqual(['/slack'])
  expect(await storedChannels(id)).toBe(2)
  await forgetOldAlerts(t.app)
  expect(await storedChannels(id)).toBe(1)
  await t.operator.delete(`${path}/${id}`)
})

test('a channel that is removed while its alert goes on firing is gone at once', async () => {
  const { id } = await fire()
  await expectStatus(200, t.operator.patch(`${path}/${id}`, { channels: [] }))
  expect(await storedChannels(id)).toBe(0)
  await t.operator.delete(`${path}/${id}`)
})

test('whoever changes or tests an alert while it is deleted finds it gone, and does not bring it back', async () => {
  const { id } = await fire()
  const { db } = t.app.store
  const answers: Array<Promise<Answer>> = []
  await db.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('alerts')
      .set({ enabled: false, deletedAt: new Date() })
      .where('id', '=', id)
      .execute()
    answers.push(
      t.operator.patch(`${path}/${id}`, { name: 'Again', enabled: true }),
      t.operator.post(`${path}/${id}/test`),
    )
    await expect.poll(() => waiting(), { timeout: 60_000 }).toBe(2)
  })
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([404, 404])
  expect(await db.selectFrom('alerts').select(['name', 'enabled']).where('id', '=', id).execute()).toEqual([
    { name: 'Quiet', enabled: false },
  ])
})

test('an alert that is well is deleted without a word', async () => {
  const alert = { name: 'Well', type: 'requests_above', threshold: 1_000, window_minutes: 1 }
  const channels = [{ type: 'webhook', url: `${receiver.origin}/hook` }]
  const { body } = await expectStatus(201, t.operator.post(path, { ...alert, channels }))
  await expectStatus(204, t.operator.delete(`${path}/${body.id}`))
  expect(await known(body.id)).toBe(0)
  await round()
  expect(told()).toEqual([])
})
