import { Webhook } from 'standardwebhooks'
import { beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import type { QueryProject } from '../harness/queries.ts'
import type { Receiver } from '../harness/receivers.ts'
import { stageAlerts } from './alerts-stage.ts'

const stage = stageAlerts()
const { create, read, round, hooks, call } = stage
let t: TestApp
let q: QueryProject
let receiver: Receiver
let path: string
beforeEach(() => void ({ t, q, receiver, path } = stage.parts()))

const minuteMs = 60_000
const errors = { type: 'error_rate_above', threshold: 0.5, query: 'one', environment: 'production' }
const kindsOf = async (id: string) =>
  (await t.operator.get(`${path}/${id}/history`)).body.data.map(
    ({ kind, silenced }: { kind: string; silenced: boolean }) => `${kind}${silenced ? ', silent' : ''}`,
  )

describe('an alert that is silenced', () => {
  test('tells nobody that it fires, says so in its history, and tells afterwards what fires still', async () => {
    const alert = await create({ ...errors, channels: [{ type: 'webhook', url: `${receiver.origin}/hook` }] })
    const silenced = await expectStatus(
      200,
      t.operator.post(`${path}/${alert.id}/silence`, { minutes: 30, reason: 'We move the database.' }),
    )
    expect(silenced.body.silenced).toMatchObject({ by: 'operator', reason: 'We move the database.' })
    await call(0, 2)
    await round()
    expect((await read(alert.id)).state).toBe('firing')
    expect(hooks()).toHaveLength(0)
    expect(await kindsOf(alert.id)).toEqual(['firing, silent'])
    await expectStatus(200, t.operator.delete(`${path}/${alert.id}/silence`))
    await call(0, 1)
    await round()
    await round()
    expect(hooks().map(({ body }) => JSON.parse(body).type)).toEqual(['alert.firing'])
    expect((await read(alert.id)).silenced).toBeNull()
    const acts = (await t.operator.get(`/v1/audit?project_id=${q.projectId}&action=alert&target=${alert.id}`)).body.data
    expect(acts.map(({ action }: { action: string }) => action)).toEqual([
      'alert.unsilenced',
      'alert.silenced',
      'alert.created',
    ])
  })

  test('whose firing nobody heard does not tell that it is over; who had heard it is told', async () => {
    const channels = [{ type: 'webhook', url: `${receiver.origin}/hook` }]
    const unheard = await create({ ...errors, name: 'Unheard', channels })
    const heard = await create({ ...errors, name: 'Heard', channels })
    await expectStatus(200, t.operator.post(`${path}/${unheard.id}/silence`, { minutes: 600 }))
    await call(0, 2)
    await round()
    await expectStatus(200, t.operator.post(`${path}/${heard.id}/silence`, { minutes: 600 }))
    t.advance(20 * minuteMs)
    await call(3, 0)
    await round()
    const told = hooks().map(({ body }) => JSON.parse(body))
    expect(told.map(({ type, data }) => `${type} ${data.name}`)).toEqual(['alert.firing Heard', 'alert.resolved Heard'])
    expect(await kindsOf(unheard.id)).toEqual(['resolved, silent', 'firing, silent'])
  })

  test('is silenced for a time that is ahead and within 30 days', async () => {
    const alert = await create(errors)
    const late = { until: '2999-01-01T00:00:00Z' }
    for (const body of [{}, { minutes: 5, until: '2999-01-01T00:00:00Z' }, { until: '2001-01-01T00:00:00Z' }, late]) {
      expect((await t.operator.post(`${path}/${alert.id}/silence`, body)).status, JSON.stringify(body)).toBe(400)
    }
  })
})

describe('a channel of the project', () => {
  test('is made and tested once, tells for several alerts, moves for all of them, and stays while it is used', async () => {
    const channels = `/v1/projects/${q.projectId}/alert-channels`
    const made = await expectStatus(
      201,
      t.operator.post(channels, { name: 'On call', channel: { type: 'webhook', url: `${receiver.origin}/missing` } }),
    )
    const { id, secret } = made.body
    expect(secret).toMatch(/^whsec_/)
    await expectStatus(
      409,
      t.operator.post(channels, { name: 'On call', channel: { type: 'slack', url: `${receiver.origin}/slack` } }),
    )
    const failed = await expectStatus(200, t.operator.post(`${channels}/${id}/test`))
    expect(failed.body).toMatchObject({ test_error: 'The receiver answered 404.', alerts: [] })
    const shared = [{ type: 'shared', id }]
    const one = await create({ ...errors, name: 'One', channels: shared })
    const two = await create({ ...errors, name: 'Two', channels: shared })
    expect(one.channels).toMatchObject([{ type: 'webhook', shared: { id, name: 'On call' } }])
    const moved = await expectStatus(
      200,
      t.operator.patch(`${channels}/${id}`, { channel: { type: 'webhook', url: `${receiver.origin}/hook`, secret } }),
    )
    expect(moved.body.alerts.map(({ name }: { name: string }) => name)).toEqual(['One', 'Two'])
    const tested = await expectStatus(200, t.operator.post(`${channels}/${id}/test`))
    expect(tested.body.test_error).toBeNull()
    expect(tested.body.tested_at).not.toBeNull()
    const [sent] = hooks()
    const signedAt = new Date(Number(sent?.headers['webhook-timestamp']) * 1000)
    const signature = new Webhook(secret).sign(sent?.headers['webhook-id'] ?? '', signedAt, sent?.body ?? '')
    expect(sent?.headers['webhook-signature']).toBe(signature)
    await call(0, 2)
    await round()
    expect(hooks().map(({ body }) => JSON.parse(body).type)).toEqual(['alert.test', 'alert.firing', 'alert.firing'])
    const refused = await expectStatus(409, t.operator.delete(`${channels}/${id}`))
    expect(refused.body).toMatchObject({ reason: 'in_use', message: expect.stringContaining('One, Two') })
    // What was read is put back as it is: the definition names the channel and none of its secrets.
    const definition = `/v1/projects/${q.projectId}/definition`
    const { body: document } = await expectStatus(200, t.operator.get(definition))
    const written = document.alerts.find(({ name }: { name: string }) => name === 'One')
    expect(written.channels).toEqual([{ type: 'shared', name: 'On call' }])
    const again = await expectStatus(200, t.operator.put(`${definition}?check=true`, document))
    expect(again.body.plan.filter(({ action }: { action: string }) => action !== 'unchanged')).toEqual([])
    for (const alert of [one, two]) await expectStatus(200, t.operator.patch(`${path}/${alert.id}`, { channels: [] }))
    await expectStatus(204, t.operator.delete(`${channels}/${id}`))
    await expectStatus(400, t.operator.post(path, { ...errors, name: 'Three', channels: shared }))
  })
})

describe('a preview', () => {
  test('says when an alert would have fired, with how much, as it is judged', async () => {
    await call(2, 0)
    t.advance(30 * minuteMs)
    await call(1, 3)
    t.advance(10 * minuteMs)
    await call(0, 4)
    t.advance(60 * minuteMs)
    const tried = await expectStatus(200, t.operator.post(`${path}/preview`, { ...errors, window_minutes: 5, days: 2 }))
    expect(tried.body).toMatchObject({ fired: 2 })
    expect(tried.body.firings.map(({ worst }: { worst: number }) => worst)).toEqual([1, 0.75])
    const [last] = tried.body.firings
    expect(Date.parse(last.ended_at) - Date.parse(last.started_at)).toBe(5 * minuteMs)
    const milder = { ...errors, window_minutes: 5, threshold: 0.9, days: 2 }
    expect((await t.operator.post(`${path}/preview`, milder)).body.fired).toBe(1)
    // A longer window sees both as one, and a least number of calls too few.
    const wide = { ...errors, window_minutes: 15, days: 2 }
    expect((await t.operator.post(`${path}/preview`, wide)).body.fired).toBe(1)
    const many = { ...errors, window_minutes: 5, min_requests: 5, days: 2 }
    expect((await t.operator.post(`${path}/preview`, many)).body.fired).toBe(0)
    const slow = { ...errors, type: 'p95_latency_above', threshold: 0, window_minutes: 5, days: 2 }
    expect((await t.operator.post(`${path}/preview`, slow)).body.fired).toBe(3)
    await expectStatus(400, t.operator.post(`${path}/preview`, { ...errors, threshold: 7 }))
  })
})
