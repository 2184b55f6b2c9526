import { Webhook } from 'standardwebhooks'
import { beforeEach, describe, expect, test } from 'vitest'
import { forgetOldAlerts } from '../../server/usage/index.ts'
import { expectStatus, type TestApp } from '../harness/app.ts'
import type { QueryProject } from '../harness/queries.ts'
import type { MailServer, Receiver } from '../harness/receivers.ts'
import { stageAlerts } from './alerts-stage.ts'

const stage = stageAlerts()
const { create, read, deliveries, round, hooks, call } = stage
let t: TestApp
let q: QueryProject
let mail: MailServer
let receiver: Receiver
let path: string
beforeEach(() => void ({ t, q, mail, receiver, path } = stage.parts()))

const minuteMs = 60_000

describe('an error rate', () => {
  test('fires once and resolves once through webhook, mail and Slack, signed as Standard Webhooks say', async () => {
    const alert = await create({
      type: 'error_rate_above',
      threshold: 0.5,
      query: 'one',
      environment: 'production',
      channels: [
        { type: 'webhook', url: `${receiver.origin}/hook` },
        { type: 'slack', url: `${receiver.origin}/slack` },
        { type: 'email', to: 'ops@example.org' },
      ],
    })
    const { secret } = alert.channels[0]
    expect(secret).toMatch(/^whsec_/)
    expect(JSON.stringify(await read(alert.id))).not.toContain(secret)
    await call(1, 1)
    await round()
    expect((await read(alert.id)).state).toBe('ok')
    await call(0, 1)
    await round()
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'firing', value: 2 / 3 })
    expect(hooks()).toHaveLength(1)
    const [first] = hooks()
    const message = new Webhook(secret).verify(first?.body ?? '', first?.headers ?? {})
    expect(message).toMatchObject({
      type: 'alert.firing',
      timestamp: expect.stringMatching(/Z$/),
      data: {
        alert_id: alert.id,
        name: 'Errors',
        state: 'firing',
        value: 2 / 3,
        threshold: 0.5,
        project_id: q.projectId,
        environment: 'production',
        query: 'one',
        started_at: expect.stringMatching(/Z$/),
      },
    })
    t.advance(minuteMs)
    await call(3, 0)
    await round()
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'ok', value: 0, started_at: null })
    expect(hooks()).toHaveLength(2)
    expect(JSON.parse(hooks()[1]?.body ?? '')).toMatchObject({ type: 'alert.resolved', data: { state: 'ok' } })
    const slack = receiver.received.filter((each) => each.path === '/slack').map((each) => JSON.parse(each.body).text)
    expect(slack).toEqual([
      expect.stringMatching(/Firing: Errors.*66\.7 %, threshold 50 % \(one in production\)/),
      expect.stringMatching(/Resolved: Errors/),
    ])
    expect(mail.mails).toHaveLength(2)
    expect(mail.mails[0]).toMatch(/Subject: \[Sluice\] Firing: Errors/)
    expect(mail.mails[0]).toMatch(/Content-Type: text\/plain[\s\S]*Content-Type: text\/html/)
    const history = (await t.operator.get(`${path}/${alert.id}/history`)).body.data
    expect(history.map((event: { kind: string }) => event.kind)).toEqual(['resolved', 'firing'])
    expect(new Set((await deliveries(alert.id)).map((each: { status: string }) => each.status))).toEqual(
      new Set(['delivered']),
    )
  })

  test('waits for enough requests and for its duration, and holds on until it is well below', async () => {
    const alert = await create({
      type: 'error_rate_above',
      threshold: 0.5,
      resolve_threshold: 0.2,
      for_minutes: 1,
      min_requests: 3,
      window_minutes: 3,
    })
    await call(0, 2)
    await round()
    await call(0, 1)
    await round()
    expect((await read(alert.id)).state).toBe('ok')
    await round(minuteMs)
    expect((await read(alert.id)).state).toBe('firing')
    await call(6, 0)
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'firing', value: 3 / 9 })
    await call(9, 0)
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'ok', value: 3 / 18 })
  })

  test('that is switched off or watches something else while it fires is told to be over, once', async () => {
    const channels = [{ type: 'webhook', url: `${receiver.origin}/hook` }]
    const alert = await create({ type: 'error_rate_above', threshold: 0.5, channels })
    await call(0, 2)
    await round()
    await expectStatus(200, t.operator.patch(`${path}/${alert.id}`, { name: 'Renamed' }))
    expect((await read(alert.id)).state).toBe('firing')
    await expectStatus(200, t.operator.patch(`${path}/${alert.id}`, { enabled: false }))
    await t.app.alerts.deliver()
    await round()
    const told = hooks().map((each) => JSON.parse(each.body))
    expect(told.map(({ type }) => type)).toEqual(['alert.firing', 'alert.resolved'])
    expect(told[1].data).toMatchObject({ state: 'ok', started_at: told[0].data.started_at })
    expect(await read(alert.id)).toMatchObject({ state: 'ok', enabled: false })
  })

  test('named like a call to everyone calls nobody in Slack', async () => {
    const channels = [{ type: 'slack', url: `${receiver.origin}/slack` }]
    const alert = await create({ name: '<!channel> & co', type: 'requests_below', threshold: 1, channels })
    await t.operator.post(`${path}/${alert.id}/test`)
    await t.app.alerts.deliver()
    const text: string = JSON.parse(receiver.received.find((each) => each.path === '/slack')?.body ?? '').text
    expect(text).toContain('&lt;!channel&gt; &amp; co')
  })

  test('reminds while it fires, as often as asked', async () => {
    const channels = [{ type: 'webhook', url: `${receiver.origin}/hook` }]
    await create({ type: 'error_rate_above', threshold: 0.1, window_minutes: 60, remind_minutes: 10, channels })
    await call(0, 1)
    await round()
    await round(9 * minuteMs)
    expect(hooks()).toHaveLength(1)
    await round(minuteMs)
    await round()
    expect(hooks()).toHaveLength(2)
    expect(JSON.parse(hooks()[1]?.body ?? '')).toMatchObject({ type: 'alert.firing', data: { reminder: true } })
  })
})

describe('every other type', () => {
  test('requests above and below, and slow answers', async () => {
    const above = await create({ type: 'requests_above', threshold: 2 })
    const below = await create({ type: 'requests_below', threshold: 2 })
    const slow = await create({ type: 'p95_latency_above', threshold: 0.001 })
    const quick = await create({ type: 'p95_latency_above', threshold: 60_000 })
    await round()
    expect([(await read(above.id)).state, (await read(below.id)).state]).toEqual(['ok', 'firing'])
    await call(3, 0)
    await round()
    expect([(await read(above.id)).state, (await read(below.id)).state]).toEqual(['firing', 'ok'])
    expect([(await read(slow.id)).state, (await read(quick.id)).state]).toEqual(['firing', 'ok'])
    expect((await read(above.id)).value).toBe(3)
  })

  test('unanswered questions', async () => {
    const alert = await create({ type: 'unanswered_rate_above', threshold: 0.4 })
    const asked = (answered: boolean): void =>
      t.app.usage.observe({
        kind: 'query-answered',
        entry: 'question',
        projectId: q.projectId,
        environment: 'production',
        query: answered ? 'one' : null,
        version: answered ? 1 : null,
        keyId: 'key_1',
        code: answered ? null : 'unanswerable',
        reason: answered ? null : 'no_match',
        totalMs: 1,
        queueMs: 0,
        sqlMs: 0,
        rows: 0,
        bytes: 0,
        cache: null,
      })
    asked(true)
    await call(0, 3)
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'ok', value: 0 })
    asked(false)
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'firing', value: 0.5 })
  })

  test('answers that are given unsurely', async () => {
    const alert = await create({ type: 'confidence_below', threshold: 0.7, min_requests: 2 })
    const answered = (confidence: number | null): void =>
      t.app.usage.observe({
        kind: 'query-answered',
        entry: 'question',
        projectId: q.projectId,
        environment: 'production',
        query: 'one',
        version: 1,
        keyId: 'key_1',
        code: null,
        reason: null,
        totalMs: 1,
        queueMs: 0,
        sqlMs: 0,
        rows: 0,
        bytes: 0,
        cache: null,
        question: { text: 'how many', confidence },
      })
    answered(0.5)
    answered(null)
    await round()
    // One is too few to judge by, and where the caller named the query nothing was compared.
    expect(await read(alert.id)).toMatchObject({ state: 'ok' })
    answered(0.75)
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'firing', value: 0.625 })
    for (let more = 0; more < 8; more += 1) answered(1)
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'ok' })
  })

  test('answers that leave out a part of the question', async () => {
    const answered = (reason: 'unexpressed' | null): void =>
      t.app.usage.observe({
        kind: 'query-answered',
        entry: 'question',
        projectId: q.projectId,
        environment: 'production',
        query: 'one',
        version: 1,
        keyId: 'key_1',
        code: null,
        reason,
        totalMs: 1,
        queueMs: 0,
        sqlMs: 0,
        rows: 0,
        bytes: 0,
        cache: null,
        question: { text: 'how many of the red ones', confidence: 0.7 },
      })
    const alert = await create({ type: 'flagged_share_above', threshold: 0.4, query: 'one', min_requests: 2 })
    answered('unexpressed')
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'ok' })
    answered(null)
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'firing', value: 0.5 })
    for (let more = 0; more < 8; more += 1) answered(null)
    await round()
    expect(await read(alert.id)).toMatchObject({ state: 'ok', value: 0.1 })
  })
})

test('history is kept for as long as the setting says', async () => {
  const alert = await create({
    type: 'requests_below',
    threshold: 1,
    channels: [{ type: 'webhook', url: receiver.origin }],
  })
  await round()
  const history = async () => (await t.operator.get(`${path}/${alert.id}/history`)).body.data.length
  const { limits } = t.app.config
  const after = (days: number) => forgetOldAlerts({ ...t.app, now: () => t.app.now() + days * 86_400_000 })
  await after(limits.alertRetentionDays - 1)
  expect([await history(), (await deliveries(alert.id)).length]).toEqual([1, 1])
  await after(limits.alertRetentionDays + 1)
  expect([await history(), (await deliveries(alert.id)).length]).toEqual([0, 0])
})

test('one replica at a time evaluates, and none again within the interval', async () => {
  t.advance(1_000)
  const rounds = await Promise.all([t.app.alerts.evaluate(), t.app.alerts.evaluate(), t.app.alerts.evaluate()])
  expect(rounds.filter(Boolean)).toHaveLength(1)
  expect(await t.app.alerts.evaluate()).toBe(false)
})
