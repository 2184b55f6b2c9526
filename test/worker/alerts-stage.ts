import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { expectStatus, openTestApp, type Answer, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { openMailServer, openReceiver, type MailServer, type Receiver } from '../harness/receivers.ts'

type Parts = { t: TestApp; q: QueryProject; mail: MailServer; receiver: Receiver; path: string }

/**
 * An app for all tests of a file; for each a project with the endpoint `one`, and someone who is told of alerts. Whoever
 * takes longer than `patienceMs` to answer is told once more.
 */
export function stageAlerts({ patienceMs = 5_000 }: { patienceMs?: number } = {}) {
  let t: TestApp
  let q: QueryProject
  let mail: MailServer
  let receiver: Receiver
  let path: string

  beforeAll(async () => {
    mail = await openMailServer()
    t = await openTestApp(
      {
        SLUICE_SMTP_URL: mail.url,
        SLUICE_OUTBOUND_ALLOW: '127.0.0.1',
        SLUICE_ALERT_INTERVAL_SECONDS: '1',
      },
      { bounds: { webhookTimeoutMs: patienceMs } },
    )
  })
  beforeEach(async () => {
    receiver = await openReceiver()
    q = await openQueryProject(t)
    path = `/v1/projects/${q.projectId}/alerts`
    await q.deploy({ name: 'one', sql: 'SELECT id FROM orders WHERE id = $id::INTEGER' })
  })
  afterEach(async () => {
    await t.app.store.db.deleteFrom('alerts').execute()
    await receiver.close()
  })
  afterAll(async () => {
    await t.close()
    await mail.close()
  })

  return {
    /** Those of the test that runs. */
    parts: (): Parts => ({ t, q, mail, receiver, path }),
    create: async (alert: Record<string, unknown>): Promise<Answer['body']> => {
      const made = await expectStatus(201, t.operator.post(path, { name: 'Errors', window_minutes: 1, ...alert }))
      return made.body
    },
    read: async (id: string): Promise<Answer['body']> => (await t.operator.get(`${path}/${id}`)).body,
    deliveries: async (id: string): Promise<Answer['body']> =>
      (await t.operator.get(`${path}/${id}/deliveries`)).body.data,
    /** One round of the evaluation, `afterMs` after the last, and of deliveries. */
    round: async (afterMs = 1_000): Promise<void> => {
      t.advance(afterMs)
      expect(await t.app.alerts.evaluate()).toBe(true)
      await t.app.alerts.deliver()
    },
    call: async (good: number, bad: number): Promise<void> => {
      for (let count = 0; count < good; count += 1) await q.caller.post('/v1/queries/one', { id: 1 })
      for (let count = 0; count < bad; count += 1) await q.caller.post('/v1/queries/one', {})
    },
    hooks: () => receiver.received.filter((each) => each.path === '/hook'),
  }
}
