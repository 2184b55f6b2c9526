import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keepUsage } from '../../server/usage/index.ts'
import { expectStatus, openTestApp, type Answer, type Client, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
let narrow: Client
let narrowId: string
let path: string

/** Known traffic: 12 direct calls that are requests, 4 of them errors, and 3 that are rejected. */
beforeAll(async () => {
  t = await openTestApp()
  q = await openQueryProject(t)
  path = `/v1/projects/${q.projectId}`
  await q.deploy({ name: 'one', sql: 'SELECT id FROM orders WHERE id = $id::INTEGER' })
  await q.deploy({ name: 'one', sql: 'SELECT id FROM orders WHERE id = $id::INTEGER' }, 'staging')
  await q.deploy({ name: 'kept', sql: 'SELECT count(*) AS n FROM orders', cache_seconds: 60 })
  const made = await expectStatus(
    201,
    t.operator.post('/v1/api-keys', {
      name: 'narrow',
      plan: 'free',
      rate_limit: { per_minute: 1, burst: 3 },
      permissions: [{ project_id: q.projectId, environments: ['production'], queries: ['one'] }],
    }),
  )
  narrow = t.withToken(made.body.secret)
  narrowId = made.body.id
  for (const id of [1, 2, 3]) await expectStatus(200, q.caller.post('/v1/queries/one', { id }))
  await expectStatus(200, q.caller.post('/v1/queries/one', { id: 1 }, { 'x-sluice-environment': 'staging' }))
  for (let count = 0; count < 3; count += 1) await expectStatus(200, q.caller.post('/v1/queries/kept'))
  await expectStatus(400, q.caller.post('/v1/queries/one', {}))
  await expectStatus(404, q.caller.post('/v1/queries/never', {}))
  await expectStatus(400, q.caller.post('/v1/queries/one?environment=', { id: 1 }))
  const raw = { method: 'POST', url: '/v1/queries/one', payload: '{', headers: await headersOf() } as const
  await t.http.inject(raw)
  // The narrow key: one good call, one out of its reach, one good, then over its limit.
  await expectStatus(200, narrow.post('/v1/queries/one', { id: 1 }))
  await expectStatus(403, narrow.post('/v1/queries/kept'))
  await expectStatus(403, narrow.post('/v1/queries/one', { id: 1 }, { 'x-sluice-environment': 'staging' }))
  await expectStatus(429, narrow.post('/v1/queries/one', { id: 1 }))
  // Nobody's: no key, and a preview.
  await expectStatus(401, t.anonymous.post('/v1/queries/one', { id: 1 }))
  await expectStatus(200, t.operator.post(`${q.path}/one/preview`, { parameters: { id: 1 } }))
})
afterAll(() => t.close())

async function headersOf(): Promise<Record<string, string>> {
  const made = await expectStatus(
    201,
    t.operator.post('/v1/api-keys', {
      name: 'raw',
      plan: 'unlimited',
      permissions: [{ project_id: q.projectId, environments: '*' }],
    }),
  )
  return { authorization: `Bearer ${made.body.secret}`, 'content-type': 'application/json' }
}

async function metrics(query = ''): Promise<Answer['body']> {
  return (await expectStatus(200, t.operator.get(`${path}/metrics${query}`))).body
}

describe('200', () => {
  test('known traffic gives exactly known numbers', async () => {
    const report = await metrics()
    expect(report.totals).toMatchObject({
      requests: 12,
      errors: 4,
      rejected: 3,
      error_rate: 4 / 12,
      rows: 3 + 1 + 3 + 1,
      cache: { hit: 2, miss: 1, bypass: 0, hit_rate: 2 / 3 },
    })
    for (const name of ['average_ms', 'p50_ms', 'p95_ms', 'p99_ms']) expect(report.totals[name]).toBeGreaterThan(0)
    expect(report.popular_queries).toMatchObject([
      { query: 'one', requests: 6, errors: 1 },
      { query: 'kept', requests: 3, errors: 0 },
    ])
    expect(report.slowest_queries).toHaveLength(2)
    expect(report.errors).toHaveLength(6)
    expect(report.errors).toEqual(
      expect.arrayContaining([
        { status: 400, error: 'invalid_query', reason: 'missing_slots', count: 1 },
        { status: 400, error: 'invalid_query', reason: 'invalid_field', count: 1 },
        { status: 400, error: 'invalid_query', reason: 'malformed_json', count: 1 },
        { status: 404, error: 'query_not_found', reason: null, count: 1 },
        { status: 403, error: 'permission_denied', reason: null, count: 2 },
        { status: 429, error: 'rate_limit_exceeded', reason: null, count: 1 },
      ]),
    )
    expect(report.by_key).toMatchObject([
      { name: 'test', requests: 10, rejected: 0 },
      { key_id: narrowId, name: 'narrow', requests: 1, errors: 0, rejected: 3 },
      { name: 'raw', requests: 1, errors: 1 },
    ])
    expect(report.by_version).toMatchObject([
      { query: 'kept', version: 1, requests: 3 },
      { query: 'one', version: 1, requests: 6 },
    ])
    const environments = Object.fromEntries(
      report.by_environment.map((each: { environment: string; requests: number }) => [each.environment, each.requests]),
    )
    expect(environments).toEqual({ production: 11, staging: 1 })
    expect(report.questions).toEqual({
      asked: 0,
      answered: 0,
      refused: 0,
      flagged: 0,
      reasons: {},
      top: [],
      unanswered: [],
    })
  })

  test('the pieces of the series add up to the totals, whatever they are cut into', async () => {
    for (const query of [
      '?interval=5m',
      '?interval=1h',
      '?interval=1d&time_zone=Asia/Kathmandu',
      '?interval=1h&time_zone=Asia/Kolkata',
    ]) {
      const report = await metrics(query)
      const series: Array<Record<'requests' | 'errors' | 'rejected', number>> = report.series
      const sum = (name: 'requests' | 'errors' | 'rejected'): number =>
        series.reduce((all, each) => all + each[name], 0)
      expect({ requests: sum('requests'), errors: sum('errors'), rejected: sum('rejected') }, query).toEqual({
        requests: 12,
        errors: 4,
        rejected: 3,
      })
    }
    const local = await metrics('?interval=1d&time_zone=Asia/Kathmandu')
    expect(local.series[0].time).toMatch(/T18:15:00.000Z$/)
  })

  test('filters by environment, query and key', async () => {
    expect((await metrics('?environment=staging')).totals).toMatchObject({ requests: 1, errors: 0, rejected: 1 })
    expect((await metrics('?query=kept')).totals).toMatchObject({ requests: 3, errors: 0 })
    expect((await metrics(`?key_id=${narrowId}`)).totals).toMatchObject({ requests: 1, rejected: 3 })
    expect((await metrics('?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00%2B01:00')).totals).toMatchObject({
      requests: 0,
      error_rate: 0,
      average_ms: null,
      p95_ms: null,
    })
  })

  test('a key has its own figures, for those who may see the key', async () => {
    const { body } = await expectStatus(200, t.operator.get(`/v1/api-keys/${narrowId}/usage`))
    expect(body.totals).toMatchObject({ requests: 1, errors: 0, rejected: 3 })
    expect(body.by_project).toMatchObject([{ project_id: q.projectId, requests: 1 }])
    const viewer = await t.member(q.projectId, 'viewer')
    expect((await viewer.get(`/v1/api-keys/${narrowId}/usage`)).status).toBe(404)
  })

  test('hours and days made of minutes say the same, and old days are dropped whole', async () => {
    const from = new Date(Date.now() - 3_600_000).toISOString()
    const range = `?from=${from}&to=${new Date(Date.now() + 86_400_000).toISOString()}`
    const before = await metrics(range)
    const series = {
      '5m': (await metrics(`${range}&interval=5m`)).series,
      '1h': (await metrics(`${range}&interval=1h`)).series,
      '1d': (await metrics(`${range}&interval=1d`)).series,
    }
    t.advance(2 * 86_400_000)
    await keepUsage(t.app)
    await keepUsage(t.app)
    const grains = await t.app.store.db.selectFrom('usageRollups').select(['grain', 'calls']).execute()
    const callsOf = (grain: string): number =>
      grains.filter((row) => row.grain === grain).reduce((sum, row) => sum + row.calls, 0)
    const stored = ['minute', 'hour', 'day']
    expect(stored.map(callsOf)).toEqual([15, 15, 15])
    expect(stored.map((grain) => callsOf(`${grain}-sum`))).toEqual([15, 15, 15])
    expect(new Set(grains.map(({ grain }) => grain)).size).toBe(6)
    for (const interval of ['5m', '1h', '1d'] as const) {
      const after = await metrics(`${range}&interval=${interval}`)
      expect(after.series).toEqual(series[interval])
      expect(after.totals).toEqual(before.totals)
      expect(after.by_key).toEqual(before.by_key)
    }
    t.advance(8 * 86_400_000)
    await keepUsage(t.app)
    expect(await t.app.store.db.selectFrom('requestBatches').select('ids').execute()).toEqual([])
    expect((await metrics(range)).totals.requests).toBe(12)
    t.advance(-10 * 86_400_000)
  })

  test('a viewer may look; Prometheus counts calls by outcome', async () => {
    const viewer = await t.member(q.projectId, 'viewer')
    expect((await viewer.get(`${path}/metrics`)).status).toBe(200)
    const { body } = await t.operator.get('/metrics')
    expect(body).toMatch(/sluice_query_calls_total\{entry="direct",outcome="answered"\} 8/)
    expect(body).toMatch(/sluice_query_calls_total\{entry="direct",outcome="rate_limit_exceeded"\} 1/)
    expect(body).toMatch(/sluice_query_seconds_bucket/)
    expect(body).not.toContain(q.projectId)
  })
})

describe('refusals', () => {
  test.each([
    ['?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
    ['?from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
    ['?from=2000-01-01T00:00:00Z&interval=1m', 'interval'],
    ['?interval=2w', 'interval'],
    ['?from=9999-12-31T00:00:00Z&to=9999-12-31T23:59:59Z', 'to'],
    ['?time_zone=Mars/Base', 'time_zone'],
    ['?time_zone=%2B05:00', 'time_zone'],
    ['?from=yesterday', 'from'],
    ['?colour=red', 'colour'],
  ])('400 %s names %s', async (query, field) => {
    const answer = await t.operator.get(`${path}/metrics${query}`)
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request', details: [{ field }] } })
  })

  test('404 for a project one is no member of, 401 without a credential', async () => {
    const other = await t.project('Other')
    const stranger = await t.member(other, 'owner')
    expect((await stranger.get(`${path}/metrics`)).status).toBe(404)
    expect((await stranger.get(`${path}/requests`)).status).toBe(404)
    expect((await t.anonymous.get(`${path}/metrics`)).status).toBe(401)
  })
})
