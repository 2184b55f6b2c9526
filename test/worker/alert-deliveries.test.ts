import { Webhook } from 'standardwebhooks'
import { beforeEach, expect, test } from 'vitest'
import { expectStatus, type Answer, type TestApp } from '../harness/app.ts'
import type { MailServer, Receiver } from '../harness/receivers.ts'
import { stageAlerts } from './alerts-stage.ts'

const stage = stageAlerts({ patienceMs: 2_000 })
const { create, read, deliveries, round, hooks } = stage
let t: TestApp
let mail: MailServer
let receiver: Receiver
let path: string
beforeEach(() => void ({ t, mail, receiver, path } = stage.parts()))

const minuteMs = 60_000

const firing = async (url: string): Promise<Answer['body']> => {
  const alert = await create({ type: 'requests_below', threshold: 1, channels: [{ type: 'webhook', url }] })
  await round()
  return alert
}

test('a receiver that fails is tried again later and later, under the same id, for a day', async () => {
  receiver.answer(500)
  const alert = await firing(`${receiver.origin}/hook`)
  const [first] = await deliveries(alert.id)
  expect(first).toMatchObject({ status: 'pending', attempt: 1, response_status: 500 })
  expect(await t.app.alerts.deliver()).toBe(0)
  t.advance(5_000)
  expect(await t.app.alerts.deliver()).toBe(1)
  t.advance(5_000)
  expect(await t.app.alerts.deliver()).toBe(0)
  receiver.answer(200)
  t.advance(25_000)
  expect(await t.app.alerts.deliver()).toBe(1)
  expect(await deliveries(alert.id)).toMatchObject([{ status: 'delivered', attempt: 3, response_status: 200 }])
  expect(new Set(hooks().map((each) => each.headers['webhook-id']))).toEqual(new Set([first.id]))
  expect(new Set(hooks().map((each) => each.headers['webhook-timestamp'])).size).toBe(3)
})

test('one that another process is at is left to it until its lease lapses, by the clock of the database', async () => {
  receiver.answer(500)
  const alert = await firing(`${receiver.origin}/hook`)
  const [{ id }] = await deliveries(alert.id)
  const { pool } = t.app.store
  const lease = `delivery/${id}`
  await pool.query("insert into leases values ($1, 'other', now() + interval '1 minute')", [lease])
  t.advance(60 * minuteMs)
  expect(await t.app.alerts.deliver()).toBe(0)
  await pool.query("update leases set until = now() - interval '1 second' where name = $1", [lease])
  expect(await t.app.alerts.deliver()).toBe(1)
  expect((await pool.query('select from leases where name = $1', [lease])).rowCount).toBe(0)
})

test('after a day it is given up', async () => {
  receiver.answer(503)
  const alert = await firing(`${receiver.origin}/hook`)
  for (let hours = 0; hours < 30; hours += 1) {
    t.advance(60 * minuteMs)
    await t.app.alerts.deliver()
  }
  const [last] = await deliveries(alert.id)
  expect(last).toMatchObject({ status: 'failed', response_status: 503, next_attempt_at: null })
  expect(last.attempt).toBeGreaterThan(8)
})

test.each([
  ['/slow-headers', /did not finish its answer within 2 seconds/],
  ['/redirect', /redirects/],
  ['/close', /closed the connection/],
  ['/nowhere', /answered 404/],
])('a receiver at %s is a clear error, and holds up nobody', async (route, error) => {
  const good = { type: 'webhook', url: `${receiver.origin}/hook` }
  const bad = { type: 'webhook', url: `${receiver.origin}${route}` }
  const alert = await create({
    type: 'requests_below',
    threshold: 1,
    channels: [bad, good, { type: 'email', to: ['a@example.org'] }],
  })
  const before = mail.mails.length
  await round()
  const all = await deliveries(alert.id)
  const of = (target: string) => all.find((each: { target: string }) => each.target.endsWith(target))
  expect(of(route)).toMatchObject({ status: 'pending', error: expect.stringMatching(error) })
  expect(of('/hook')).toMatchObject({ status: 'delivered' })
  expect(mail.mails).toHaveLength(before + 1)
})

test('410 ends it', async () => {
  receiver.answer(410)
  const alert = await firing(`${receiver.origin}/hook`)
  expect(await deliveries(alert.id)).toMatchObject([{ status: 'failed', attempt: 1 }])
})

test('a test goes through every channel; a rotated secret is signed with beside the old one for a while', async () => {
  const channels = [{ type: 'webhook', url: `${receiver.origin}/hook` }]
  const alert = await create({ type: 'requests_above', threshold: 1_000, channels })
  const [{ id, secret: old }] = alert.channels
  const rotated = await expectStatus(
    200,
    t.operator.post(`${path}/${alert.id}/channels/${id}/rotate`, { grace_seconds: 60 }),
  )
  const { delivery_ids: sent } = (await expectStatus(200, t.operator.post(`${path}/${alert.id}/test`))).body
  expect(sent).toHaveLength(1)
  await t.app.alerts.deliver()
  const [first] = hooks()
  const moved = t.app.now() - Date.now()
  const verify = (secret: string, each = first): unknown => {
    // The library compares with its own clock, which no test moves.
    const real = Date.now
    Date.now = () => real() + moved
    try {
      return new Webhook(secret).verify(each?.body ?? '', each?.headers ?? {})
    } finally {
      Date.now = real
    }
  }
  expect(verify(old)).toMatchObject({ type: 'alert.test' })
  expect(verify(rotated.body.secret)).toMatchObject({ type: 'alert.test' })
  t.advance(61_000)
  await t.operator.post(`${path}/${alert.id}/test`)
  await t.app.alerts.deliver()
  expect(hooks()[1]?.headers['webhook-signature']).not.toContain(' ')
  expect((await read(alert.id)).state).toBe('ok')
})
