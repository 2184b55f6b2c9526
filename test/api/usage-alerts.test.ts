import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
let path: string
beforeAll(async () => {
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: 'hooks.test' })
  q = await openQueryProject(t)
  path = `/v1/projects/${q.projectId}/alerts`
})
afterAll(() => t.close())

const good = { name: 'Errors', type: 'error_rate_above', threshold: 0.05 }

describe('201, 200 and 204', () => {
  test('an alert is made, read, changed and deleted, each in the audit log', async () => {
    const made = await expectStatus(
      201,
      t.operator.post(path, {
        ...good,
        environment: 'production',
        channels: [{ type: 'webhook', url: 'http://hooks.test/a?token=hidden' }],
      }),
    )
    const { id, channels } = made.body
    expect(made.body).toMatchObject({
      ...good,
      window_minutes: 5,
      for_minutes: 0,
      min_requests: 1,
      remind_minutes: null,
      environment: 'production',
      query: null,
      enabled: true,
      state: 'ok',
      channels: [{ type: 'webhook', target: 'http://hooks.test/a', secret: expect.stringMatching(/^whsec_.{44}$/) }],
    })
    const read = await t.operator.get(`${path}/${id}`)
    expect(read.body.channels).toEqual([
      { id: channels[0].id, type: 'webhook', target: 'http://hooks.test/a', shared: null },
    ])
    const change = {
      name: 'More errors',
      channels: [{ id: channels[0].id }, { type: 'slack', url: 'http://hooks.test/T/B/x' }],
    }
    const changed = await expectStatus(200, t.operator.patch(`${path}/${id}`, change))
    expect(changed.body).toMatchObject({
      name: 'More errors',
      threshold: 0.05,
      channels: [{ id: channels[0].id }, { type: 'slack', target: 'http://hooks.test/…' }],
    })
    const sealed = await t.app.store.db.selectFrom('alertChannels').selectAll().execute()
    expect(JSON.stringify(sealed)).not.toMatch(/hidden|whsec_|T\/B\/x/)
    expect((await t.operator.get(path)).body.data).toHaveLength(1)
    await expectStatus(204, t.operator.delete(`${path}/${id}`))
    expect((await t.operator.get(`${path}/${id}`)).status).toBe(404)
    const acts = (await t.operator.get(`/v1/audit?project_id=${q.projectId}`)).body.data
    expect(acts.map((act: { action: string }) => act.action)).toEqual(
      expect.arrayContaining(['alert.created', 'alert.updated', 'alert.deleted']),
    )
    expect(JSON.stringify(acts)).not.toMatch(/hidden|whsec_/)
  })

  test('a given secret is taken and not shown', async () => {
    const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
    const made = await t.operator.post(path, {
      ...good,
      channels: [{ type: 'webhook', url: 'http://hooks.test/', secret }],
    })
    expect(made.status).toBe(201)
    expect(JSON.stringify(made.body)).not.toContain(secret)
  })
})

describe('400', () => {
  test.each([
    ['a share above 1', { threshold: 5 }, 'threshold'],
    ['a share below 0', { threshold: -0.1 }, 'threshold'],
    ['no threshold', { threshold: null }, 'threshold'],
    ['half a request', { type: 'requests_above', threshold: 1.5 }, 'threshold'],
    ['a wrong type', { type: 'sunspots' }, 'type'],
    ['no window', { window_minutes: 0 }, 'window_minutes'],
    ['an endless window', { window_minutes: 1_000_000 }, 'window_minutes'],
    ['hysteresis on the wrong side', { resolve_threshold: 0.5 }, 'resolve_threshold'],
    ['an unknown environment', { environment: 'moon' }, 'environment'],
    ['an unknown query', { query: 'never' }, 'query'],
    ['jobs of an environment', { type: 'job_failed', threshold: 1, environment: 'production' }, 'environment'],
    ['an unknown field', { colour: 'red' }, 'colour'],
    ['mail without a mail server', { channels: [{ type: 'email', to: 'a@example.org' }] }, 'channels.0'],
    ['no address', { channels: [{ type: 'webhook', url: 'ftp://hooks.test/' }] }, 'channels.0.url'],
    ['a password', { channels: [{ type: 'webhook', url: 'http://a:b@hooks.test/' }] }, 'channels.0.url'],
    [
      'a short secret',
      { channels: [{ type: 'webhook', url: 'http://hooks.test/', secret: 'whsec_YQ==' }] },
      'channels.0.secret',
    ],
  ])('%s', async (_name, change, field) => {
    const answer = await t.operator.post(path, { ...good, ...change })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect(answer.body.details[0].field).toBe(field)
  })

  test.each([
    'http://127.0.0.1:9/',
    'http://localhost/',
    'http://169.254.169.254/latest',
    'http://[::1]/',
    'http://10.0.0.1/',
  ])('a webhook to %s is refused before anything is kept', async (url) => {
    for (const type of ['webhook', 'slack']) {
      const answer = await t.operator.post(path, { ...good, channels: [{ type, url }] })
      expect(answer).toMatchObject({ status: 400, body: { reason: 'url_not_allowed' } })
    }
  })
})

test('403 for viewers who change, 404 for strangers and for alerts of another project', async () => {
  const { body } = await expectStatus(201, t.operator.post(path, good))
  const viewer = await t.member(q.projectId, 'viewer')
  expect((await viewer.get(`${path}/${body.id}`)).status).toBe(200)
  expect((await viewer.post(path, good)).status).toBe(403)
  expect((await viewer.post(`${path}/${body.id}/test`)).status).toBe(403)
  expect((await viewer.delete(`${path}/${body.id}`)).status).toBe(403)
  const other = await t.project('Other')
  const stranger = await t.member(other, 'owner')
  expect((await stranger.get(path)).status).toBe(404)
  expect((await stranger.get(`/v1/projects/${other}/alerts/${body.id}`)).status).toBe(404)
  expect((await stranger.get(`/v1/projects/${other}/alerts/${body.id}/deliveries`)).status).toBe(404)
})
