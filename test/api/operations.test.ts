import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
let path: string
beforeAll(async () => {
  t = await openTestApp()
  q = await openQueryProject(t)
  path = `/v1/projects/${q.projectId}`
  const one = { name: 'one', sql: 'SELECT id FROM orders WHERE id = $id::INTEGER' }
  await q.deploy(one)
  for (const id of [1, 2, 3]) await expectStatus(200, q.caller.post('/v1/queries/one', { id }))
  await expectStatus(400, q.caller.post('/v1/queries/one', {}))
  await q.deploy({ ...one, sql: 'SELECT id, region FROM orders WHERE id = $id::INTEGER' })
  await q.deploy({ name: 'all_of_it', sql: 'SELECT count(*) AS n FROM orders' })
  await expectStatus(200, q.caller.post('/v1/queries/one', { id: 4 }))
  await expectStatus(200, q.caller.post('/v1/queries/all_of_it'))
})
afterAll(() => t.close())

describe('metrics', () => {
  test.each([
    ['a version', 'query=one&version=2', 1, 0],
    ['the version before', 'query=one&version=1', 4, 1],
    ['a status', 'status=400', 1, 1],
    ['what was answered', 'outcome=answered', 5, 0],
    ['what failed', 'outcome=failed', 1, 1],
    ['an entry', 'entry=direct', 6, 1],
    ['another entry', 'entry=tool', 0, 0],
  ])('of %s', async (_, search, requests, errors) => {
    const { body } = await expectStatus(200, t.operator.get(`${path}/metrics?${search}`))
    expect(body.totals).toMatchObject({ requests, errors })
    const summed = body.series.reduce((sum: number, piece: { requests: number }) => sum + piece.requests, 0)
    expect(summed).toBe(requests)
  })

  test('of every query at once, with the week before', async () => {
    const { body } = await expectStatus(200, t.operator.get(`${path}/metrics/queries?environment=production`))
    expect(body.data).toMatchObject([
      { query: 'all_of_it', requests: 1, errors: 0, before: { requests: 0 } },
      { query: 'one', requests: 5, errors: 1, error_rate: 0.2, before: { requests: 0, p95_ms: null } },
    ])
    expect(body.data[1].p95_ms).toBeGreaterThan(0)
    expect(body.data[1].days.reduce((sum: number, day: number) => sum + day, 0)).toBe(5)
    expect((await t.operator.get(`${path}/metrics/queries?environment=staging`)).body.data).toEqual([])
  })

  test('and the calls of a version, one by one', async () => {
    const { body } = await expectStatus(200, t.operator.get(`${path}/requests?query=one&version=1`))
    expect(body.data.map(({ version }: { version: number }) => version)).toEqual([1, 1, 1, 1])
  })

  test('400 for a version, status or entry that cannot be', async () => {
    for (const search of ['version=0', 'status=99', 'entry=preview', 'outcome=well']) {
      expect((await t.operator.get(`${path}/metrics?${search}`)).status, search).toBe(400)
    }
  })
})

test('the time line has releases and alerts, each leading to what it is about', async () => {
  const alert = await expectStatus(
    201,
    t.operator.post(`${path}/alerts`, { name: 'Busy', type: 'requests_above', threshold: 1, window_minutes: 60 }),
  )
  t.advance(60_000)
  await t.app.alerts.evaluate()
  const { body } = await expectStatus(200, t.operator.get(`${path}/timeline?environment=production`))
  expect(body.truncated).toBe(false)
  expect(body.data[0]).toMatchObject({ kind: 'alert_firing', id: alert.body.id, title: 'Busy' })
  const released = body.data.filter(({ kind }: { kind: string }) => kind === 'release')
  expect(released.map(({ title }: { title: string }) => title)).toEqual(['all_of_it', 'one', 'one'])
  await expectStatus(200, t.operator.get(`${path}/releases/${released[0].id}`))
  const elsewhere = (await t.operator.get(`${path}/timeline?environment=staging`)).body.data
  expect(elsewhere).toMatchObject([{ kind: 'alert_firing' }])
  const before = (await t.operator.get(`${path}/timeline?to=2020-01-01T00:00:00Z`)).body.data
  expect(before).toEqual([])
  await expectStatus(204, t.operator.delete(`${path}/alerts/${alert.body.id}`))
})

describe('saved views', () => {
  test('of one’s own are one’s own, shared ones everyone’s, and names are used once', async () => {
    const viewer = await t.member(q.projectId, 'viewer')
    const editor = await t.member(q.projectId, 'editor')
    const views = `${path}/views`
    const view = { page: 'requests', name: 'Failures', filter: { outcome: 'failed', hours: '24' } }
    const own = await expectStatus(201, viewer.post(views, view))
    expect(own.body).toMatchObject({ ...view, shared: false })
    await expectStatus(409, viewer.post(views, { ...view, name: 'failures' }))
    await expectStatus(403, viewer.post(views, { ...view, shared: true }))
    const shared = await expectStatus(201, editor.post(views, { ...view, shared: true }))
    const namesFor = async (who: typeof viewer, search = '') =>
      (await who.get(`${views}${search}`)).body.data.map(({ id }: { id: string }) => id).toSorted()
    expect(await namesFor(viewer)).toEqual([own.body.id, shared.body.id].toSorted())
    expect(await namesFor(editor)).toEqual([shared.body.id])
    expect(await namesFor(viewer, '?page=metrics')).toEqual([])
    await expectStatus(404, editor.delete(`${views}/${own.body.id}`))
    await expectStatus(403, viewer.patch(`${views}/${shared.body.id}`, { name: 'Mine' }))
    const changed = await expectStatus(200, editor.patch(`${views}/${shared.body.id}`, { filter: { status: '429' } }))
    expect(changed.body).toMatchObject({ name: 'Failures', filter: { status: '429' } })
    await expectStatus(204, viewer.delete(`${views}/${own.body.id}`))
    await expectStatus(400, viewer.post(views, { ...view, page: 'moon' }))
    await expectStatus(400, t.operator.post(views, { ...view, name: 'Nobody’s' }))
  })
})

describe('keys', () => {
  test('have tags, and tell from where they were used', async () => {
    const permissions = [{ project_id: q.projectId, environments: '*' }]
    const made = await expectStatus(
      201,
      t.operator.post('/v1/api-keys', { name: 'tagged', permissions, tags: ['mobile', 'team-a'] }),
    )
    const { id, secret } = made.body
    expect(made.body.tags).toEqual(['mobile', 'team-a'])
    const changed = await expectStatus(200, t.operator.patch(`/v1/api-keys/${id}`, { tags: ['mobile'] }))
    expect(changed.body.tags).toEqual(['mobile'])
    await expectStatus(400, t.operator.patch(`/v1/api-keys/${id}`, { tags: ['a', 'a'] }))
    await expectStatus(400, t.operator.patch(`/v1/api-keys/${id}`, { tags: [' '] }))
    const addresses = `/v1/api-keys/${id}/addresses`
    expect((await t.operator.get(addresses)).body.data).toEqual([])
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    for (let last = 1; last <= 12; last += 1) {
      t.advance(1_000)
      const remoteAddress = `192.0.2.${last}`
      await t.http.inject({ method: 'POST', url: '/v1/queries/all_of_it', headers, payload: '{}', remoteAddress })
    }
    const found = (await expectStatus(200, t.operator.get(addresses))).body.data
    expect(found).toHaveLength(10)
    expect(found[0].address).toBe('192.0.2.12')
    expect(found[9].address).toBe('192.0.2.3')
  })

  test('tell nobody where visitors of a page are', async () => {
    const permissions = [{ project_id: q.projectId, environments: ['production'] }]
    const made = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'page', permissions }))
    const { token } = (await expectStatus(201, t.withToken(made.body.secret).post('/v1/browser-tokens', {}))).body
    const before = (await t.operator.get(`/v1/api-keys/${made.body.id}/addresses`)).body.data.length
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const call = { method: 'POST', url: '/v1/queries/all_of_it', headers, payload: '{}' } as const
    expect((await t.http.inject({ ...call, remoteAddress: '198.51.100.9' })).statusCode).toBe(200)
    const after = (await t.operator.get(`/v1/api-keys/${made.body.id}/addresses`)).body.data
    expect(after).toHaveLength(before)
  })
})

describe('the audit log', () => {
  const acts = async (search: string): Promise<string[]> =>
    (await expectStatus(200, t.operator.get(`/v1/audit?project_id=${q.projectId}&limit=200&${search}`))).body.data.map(
      ({ action }: { action: string }) => action,
    )

  test('is filtered by who, what, when and to what', async () => {
    const owner = await t.member(q.projectId, 'owner')
    const alert = { name: 'Of 100 % _x', type: 'requests_above', threshold: 100 }
    await expectStatus(201, owner.post(`${path}/alerts`, alert))
    const me = owner.userId
    expect((await acts(`actor=${me}`))[0]).toBe('alert.created')
    expect(await acts(`actor=${me}&action=api_key`)).toEqual([])
    expect(await acts('actor=system')).toEqual([])
    expect(await acts('action=alert.created&target=100%20%25%20_x')).toEqual(['alert.created'])
    expect(await acts('target=100%20%25%25')).toEqual([])
    expect(new Set((await acts('action=query')).map((action) => action.split('.')[0]))).toEqual(new Set(['query']))
    expect(await acts('to=2020-01-01T00:00:00Z')).toEqual([])
    expect((await acts('from=2020-01-01T00:00:00Z')).length).toBeGreaterThan(5)
    const { body } = await expectStatus(200, owner.get(`/v1/audit/choices?project_id=${q.projectId}`))
    expect(body.actors).toContainEqual({ kind: 'user', id: me, label: expect.any(String) })
    expect(body.actions).toContain('alert.created')
  })

  test('is a file of CSV or of JSON lines, in which no cell is a formula', async () => {
    await expectStatus(201, t.operator.post(`${path}/alerts`, { name: '=1+1', type: 'requests_above', threshold: 100 }))
    const get = (search: string) => t.operator.get(`/v1/audit/export?project_id=${q.projectId}&${search}`)
    const csv = await expectStatus(200, get('action=alert.created'))
    expect(csv.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="audit.csv"',
    })
    const lines = String(csv.body).trimEnd().split('\r\n')
    expect(lines[0]).toBe('id,at,actor_kind,actor_id,actor,project_id,action,target,details,request_id')
    expect(lines[1]).toMatch(/,operator,,operator,prj_.*,alert\.created,alr_.*,"\{""name"":""=1\+1""/)
    const json = await expectStatus(200, get('format=ndjson&action=alert.created'))
    expect(
      String(json.body)
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).action),
    ).toEqual(lines.slice(1).map(() => 'alert.created'))
    await expectStatus(400, get('format=xlsx'))
  })
})

describe('the values of a call', () => {
  const detail = async (id: unknown) =>
    (await expectStatus(200, t.operator.get(`${path}/requests/${String(id)}`))).body as Record<string, unknown>

  test('are told where the project records calls, also of one that failed, and without what is kept out', async () => {
    const settings = `${path}/replay-settings`
    await q.deploy({
      name: 'by_token',
      sql: 'SELECT count(*) AS n FROM orders WHERE region = $region AND id::VARCHAR <> $access_token AND id > $least',
      slots: {
        properties: { region: { type: 'string' }, access_token: { type: 'string' }, least: { type: 'integer' } },
        required: ['region', 'access_token', 'least'],
      },
    })
    const values = { region: 'north', access_token: 'hush-hush', least: 3 }
    const before = await expectStatus(200, q.caller.post('/v1/queries/by_token', values))
    expect(await detail(before.headers['x-request-id'])).toMatchObject({ parameters: null, recording: false })
    const on = { recording: true, max_calls: 100, days: 7, redacted_slots: ['region'] }
    await expectStatus(200, t.operator.put(settings, on))
    await expect.poll(() => t.app.callWatch.isOn).toBe(true)
    const good = await expectStatus(200, q.caller.post('/v1/queries/by_token', values))
    const same = await expectStatus(200, q.caller.post('/v1/queries/by_token', values))
    for (const { headers } of [good, same]) {
      const { parameters } = await detail(headers['x-request-id'])
      expect(parameters).toEqual({ access_token: '***', least: 3 })
    }
    const viewer = await t.member(q.projectId, 'viewer')
    const seen = await expectStatus(200, viewer.get(`${path}/requests/${String(good.headers['x-request-id'])}`))
    expect(seen.body).toMatchObject({ recording: true, parameters: null })
    const bad = await expectStatus(400, q.caller.post('/v1/queries/by_token', { ...values, least: 'many' }))
    expect(await detail(bad.headers['x-request-id'])).toMatchObject({ status: 400, parameters: { least: 'many' } })
    await expectStatus(200, t.operator.put(settings, { ...on, recording: false }))
    expect(await detail(good.headers['x-request-id'])).toMatchObject({ parameters: null, recording: false })
  })
})

test('after a week the figures of every query stand beside those of the week before', async () => {
  t.advance(8 * 86_400_000)
  await expectStatus(200, q.caller.post('/v1/queries/all_of_it'))
  const later = (await t.operator.get(`${path}/metrics/queries`)).body.data
  expect(later).toMatchObject([
    { query: 'all_of_it', requests: 1, before: { errors: 0 } },
    expect.objectContaining({ query: 'by_token', requests: 0 }),
    { query: 'one', requests: 0, before: { requests: 5, errors: 1 } },
  ])
})
