import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Observation } from '../../server/observe.ts'
import { expectStatus, openTestApp, operatorToken, type TestApp } from '../harness/app.ts'

/** An alert that is tried on the past of data: what was loaded, held and changed, by the log of acts. */
let t: TestApp
let origin: string
let projectId: string
let sourceId: string
beforeAll(async () => {
  t = await openTestApp()
  origin = await t.listen()
})
afterAll(() => t.close())
beforeEach(async () => {
  projectId = await t.project()
  const made = await t.operator.post(`${path()}/datasources`, { name: 'Orders', kind: 'file' })
  sourceId = (await expectStatus(201, Promise.resolve(made))).body.id
})

const dayMs = 86_400_000
const path = () => `/v1/projects/${projectId}`
const daysAgo = (days: number): Date => new Date(t.app.now() - days * dayMs)

async function preview(rules: Record<string, unknown>) {
  return (await expectStatus(200, t.operator.post(`${path()}/alerts/preview`, { days: 7, ...rules }))).body
}

/** Loads a file, as if it had been so many days ago. */
async function load(text: string, days: number): Promise<void> {
  const answer = await fetch(`${origin}${path()}/datasources/${sourceId}/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'text/csv' },
    body: text,
  })
  expect(answer.status).toBe(201)
  await backdate(days)
}

/** What was done last was done so many days ago. */
async function backdate(days: number): Promise<void> {
  await t.app.store.pool.query(
    `update audit_log set at = $2 where id = (select id from audit_log where project_id = $1 order by id desc limit 1)`,
    [projectId, daysAgo(days)],
  )
}

const setSchema = (change: Record<string, unknown>) =>
  expectStatus(200, t.operator.patch(`${path()}/datasources/${sourceId}/schema`, change))

/** Where it would have fired, the oldest first: from and to in days ago. */
const spansOf = (found: { firings: Array<{ started_at: string; ended_at: string | null }> }) =>
  found.firings.toReversed().map(({ started_at: from, ended_at: to }) => [since(from), to === null ? null : since(to)])
const since = (at: string): number => Math.round(((t.app.now() - Date.parse(at)) / dayMs) * 100) / 100

const good = 'id,name\n1,Ada\n2,Bo\n'

describe('data that was held', () => {
  beforeEach(async () => {
    await load(good, 5)
    await setSchema({ checks: [{ type: 'unique', columns: ['id'] }] })
    await load('id,name\n1,Ada\n1,Bo\n', 3)
  })

  test('fires from when it came until its author let it serve', async () => {
    await expectStatus(200, t.operator.post(`${path()}/datasources/${sourceId}/versions/2/activate`, {}))
    await backdate(2.5)
    const found = await preview({ type: 'data_held' })
    expect(found).toMatchObject({ fired: 1, value: 0, judged_minutes: 7 * 1440, known_from: found.from })
    expect(spansOf(found)).toEqual([[3, 2.5]])
    // Nothing reads it in an environment where nothing is deployed.
    expect(await preview({ type: 'data_held', environment: 'production' })).toMatchObject({ fired: 0 })
  })

  test('fires still where nobody did, also when it came before the span', async () => {
    expect(spansOf(await preview({ type: 'data_held' }))).toEqual([[3, null]])
    expect(spansOf(await preview({ type: 'data_held', days: 2 }))).toEqual([[2, null]])
  })

  test('ends when the version that waits is deleted', async () => {
    const versions = await expectStatus(200, t.operator.get(`${path()}/datasources/${sourceId}/versions`))
    await expectStatus(204, t.operator.delete(`${path()}/data-objects/${versions.body.data[0].data_object_id}`))
    await backdate(1)
    expect(spansOf(await preview({ type: 'data_held' }))).toEqual([[3, 1]])
  })
})

describe('data that was late', () => {
  test('fires while it was older than the limit; what was held is as old as when it came', async () => {
    await load(good, 5)
    await setSchema({ checks: [{ type: 'unique', columns: ['id'] }] })
    await load('id,name\n1,Ada\n1,Bo\n', 3)
    await expectStatus(200, t.operator.post(`${path()}/datasources/${sourceId}/versions/2/activate`, {}))
    await backdate(2.5)
    await load(good, 0.5)
    const found = await preview({ type: 'data_stale', threshold: 2 * 1440 })
    expect(spansOf(found)).toEqual([
      [3, 2.5],
      [1, 0.5],
    ])
    expect(found.firings[0].worst).toBeCloseTo(2.5 * 1440, -1)
    // There was nothing to judge before the first load.
    expect(found.judged_minutes).toBeGreaterThan(4.9 * 1440)
    expect(found.judged_minutes).toBeLessThan(5.1 * 1440)
  })

  test('without a limit it is the schedule that promised; without a schedule there is nothing to judge by', async () => {
    await load(good, 5)
    expect(await preview({ type: 'data_stale' })).toMatchObject({ fired: 0, judged_minutes: 0, value: null })
    const config = { url: 'https://api.example.org/rates', method: 'GET' }
    const scheduled = { name: 'Rates', kind: 'http_api', config, schedule: '0 0 * * *', schedule_time_zone: 'UTC' }
    const { body } = await expectStatus(201, t.operator.post(`${path()}/datasources`, scheduled))
    await t.app.store.pool.query('update datasources set created_at = $2 where id = $1', [body.id, daysAgo(4)])
    const found = await preview({ type: 'data_stale', window_minutes: 60 })
    const midnight = Math.ceil(daysAgo(4).getTime() / dayMs) * dayMs
    expect(found).toMatchObject({ fired: 1, firings: [{ ended_at: null }] })
    expect(Math.abs(Date.parse(found.firings[0].started_at) - midnight - 3_600_000)).toBeLessThanOrEqual(120_000)
  })
})

describe('columns that changed', () => {
  test('touch what was deployed at that time, and for as long as the window is', async () => {
    await load(good, 5)
    await setSchema({ on_breaking: 'serve' })
    const names = { name: 'names', sql: 'select name from orders', description: 'Names.' }
    await expectStatus(201, t.operator.post(`${path()}/queries`, names))
    await expectStatus(200, t.operator.post(`${path()}/queries/names/deploy`, { force: true }))
    await t.app.store.pool.query('update deployment_acts set at = $1 where by is not null and act = $2', [
      daysAgo(4),
      'deploy',
    ])
    await load('id\n1\n2\n', 2)
    await expectStatus(200, t.operator.post(`${path()}/queries/names/undeploy`, {}))
    const found = await preview({ type: 'schema_drift', window_minutes: 720 })
    expect(spansOf(found)).toEqual([[2, 1.5]])
    expect(found).toMatchObject({ known_from: found.from, firings: [{ worst: 1 }] })
    expect(await preview({ type: 'schema_drift', window_minutes: 720, query: 'names' })).toMatchObject({ fired: 1 })
    await expectStatus(201, t.operator.post(`${path()}/environments`, { name: 'preview' }))
    expect(await preview({ type: 'schema_drift', environment: 'preview' })).toMatchObject({ fired: 0 })
  })

  test('are known only since loads say them', async () => {
    await load(good, 5)
    await t.app.store.pool.query(`update audit_log set details = details - 'drift' where project_id = $1`, [projectId])
    const found = await preview({ type: 'schema_drift' })
    expect(since(found.known_from)).toBe(5)
    expect(found.judged_minutes).toBeLessThan(5.1 * 1440)
  })
})

test('what calls are not kept for is not judged', async () => {
  const found = await preview({ type: 'confidence_below', threshold: 0.7, days: 30 })
  expect(since(found.known_from)).toBe(t.app.config.limits.requestRetentionDays)
  expect(found).toMatchObject({ fired: 0, judged_minutes: 0 })
})

describe('calls that were counted', () => {
  const answered = { code: null, reason: null, totalMs: 10 } as const
  const question = { entry: 'question', question: { text: 'how many?', confidence: 0.4 } } as const

  /** Eight calls of one minute an hour ago: two fail, one of four questions has no answer, one leaves something out. */
  async function call(): Promise<void> {
    const place = { projectId, environment: 'production', query: 'q', version: 1, keyId: 'key_a' }
    const figures = { queueMs: 1, sqlMs: 1, rows: 1, bytes: 1, cache: null }
    const calls: Array<Partial<Extract<Observation, { kind: 'query-answered' }>>> = [
      { totalMs: 900 },
      {},
      {},
      { code: 'query_timeout' },
      { ...question },
      { ...question },
      { ...question, reason: 'unexpressed' },
      { ...question, code: 'unanswerable', reason: 'no_match' },
    ]
    t.advance(-3_600_000)
    for (const each of calls) {
      t.app.observe({ kind: 'query-answered', entry: 'direct', ...place, ...figures, ...answered, ...each })
    }
    await t.app.usage.flush()
    t.advance(3_600_000)
  }

  test.each([
    ['error_rate_above', 0.2, 0.25],
    ['unanswered_rate_above', 0.2, 0.25],
    ['flagged_share_above', 0.3, 1 / 3],
    ['requests_above', 7, 8],
    ['p95_latency_above', 800, 900],
    ['confidence_below', 0.5, 0.4],
  ])('%s fires over the minutes whose window holds them', async (type, threshold, worst) => {
    await call()
    const found = await preview({ type, threshold, days: 1, window_minutes: 10, min_requests: 1, for_minutes: 0 })
    expect(found.fired).toBe(1)
    expect(Math.abs(found.firings[0].worst / worst - 1)).toBeLessThan(0.02)
    // Without calls there is no share to judge by, but a count of nought.
    expect(found.judged_minutes).toBe(type === 'requests_above' ? 1_440 : 10)
  })

  test('requests_below fires but for those minutes', async () => {
    await call()
    const found = await preview({ type: 'requests_below', threshold: 8, days: 1, window_minutes: 10, for_minutes: 0 })
    expect(found.fired).toBe(2)
  })
})
