import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Observation } from '../../server/observe.ts'
import { keepUsage } from '../../server/usage/index.ts'
import { expectStatus, openTestApp, type Answer, type TestApp } from '../harness/app.ts'

type Call = Extract<Observation, { kind: 'query-answered' }>

let t: TestApp
let projectId: string
beforeAll(async () => {
  t = await openTestApp()
})
afterAll(() => t.close())

function clock(time: string): void {
  t.advance(Date.parse(time) - t.app.now())
}

/** Tells of a call as the path that answers does. */
function call(more: Partial<Call> = {}): void {
  const plain = {
    entry: 'direct',
    environment: 'production',
    query: 'q',
    version: 1,
    keyId: 'key_a',
    code: null,
  } as const
  const times = { totalMs: 10, queueMs: 1, sqlMs: 5, rows: 2, bytes: 100 }
  t.app.observe({ kind: 'query-answered', projectId, reason: null, cache: null, ...plain, ...times, ...more })
}

async function metrics(query: Record<string, string>): Promise<Answer['body']> {
  const path = `/v1/projects/${projectId}/metrics?${new URLSearchParams(query).toString()}`
  return (await expectStatus(200, t.operator.get(path))).body
}

type Figures = { requests: number; errors: number; rejected: number }
const sumOf = (groups: Figures[]): Figures =>
  groups.reduce<Figures>(
    (sum, { requests, errors, rejected }) => ({
      requests: sum.requests + requests,
      errors: sum.errors + errors,
      rejected: sum.rejected + rejected,
    }),
    { requests: 0, errors: 0, rejected: 0 },
  )

describe('days on which clocks change', () => {
  const berlin = { interval: '1d', time_zone: 'Europe/Berlin' }
  const counts = (series: Array<{ time: string; requests: number }>) =>
    series.map(({ time, requests }) => [time.slice(0, 16), requests])

  const traffic = async (times: string[]) => {
    for (const time of times) {
      clock(`2027-${time}Z`)
      call()
      await t.app.usage.flush()
    }
  }

  test('23 hours: each call counts on its own day, before and after roll-up', async () => {
    projectId = await t.project()
    await traffic(['03-27T22:59:59', '03-27T23:00:00', '03-28T00:59:59', '03-28T01:00:00', '03-28T21:59:59'])
    await traffic(['03-28T22:00:00'])
    const range = { from: '2027-03-26T23:00:00Z', to: '2027-03-29T22:00:00Z' }
    const days = [
      ['2027-03-26T23:00', 1],
      ['2027-03-27T23:00', 4],
      ['2027-03-28T22:00', 1],
    ]
    expect(counts((await metrics({ ...berlin, ...range })).series)).toEqual(days)
    clock('2027-03-30T00:30:00Z')
    await keepUsage(t.app)
    expect(counts((await metrics({ ...berlin, ...range })).series)).toEqual(days)
  })

  test('25 hours, of which one comes twice', async () => {
    projectId = await t.project()
    await traffic(['10-30T21:59:59', '10-30T22:00:00', '10-31T00:30:00', '10-31T01:30:00', '10-31T22:59:59'])
    await traffic(['10-31T23:00:00'])
    const days = await metrics({ ...berlin, from: '2027-10-29T22:00:00Z', to: '2027-11-01T23:00:00Z' })
    expect(counts(days.series)).toEqual([
      ['2027-10-29T22:00', 1],
      ['2027-10-30T22:00', 4],
      ['2027-10-31T23:00', 1],
    ])
    const night = { from: '2027-10-31T00:00:00Z', to: '2027-10-31T02:00:00Z', interval: '1h' }
    expect(counts((await metrics({ ...berlin, ...night })).series)).toEqual([
      ['2027-10-31T00:00', 1],
      ['2027-10-31T01:00', 1],
    ])
  })
})

describe('every figure', () => {
  const range = { from: '2027-04-01T00:00:00Z', to: '2027-04-02T00:00:00Z' }

  beforeAll(async () => {
    projectId = await t.project()
    clock('2027-04-01T09:00:00Z')
    // 100 calls of 1 to 100 ms in four hours, two keys, two versions and two environments.
    for (let ms = 1; ms <= 100; ms += 1) {
      if (ms % 25 === 1 && ms > 1) t.advance(3_600_000)
      const more = { version: ms <= 40 ? 1 : 2, keyId: ms % 2 === 0 ? 'key_a' : 'key_b' }
      const cache = ms % 10 === 0 ? 'hit' : ms % 10 === 5 ? 'miss' : null
      call({ totalMs: ms, ...more, cache, environment: ms % 4 === 0 ? 'staging' : 'production' })
    }
    // Errors, the rejected, and every way in.
    call({ totalMs: 400, query: 'slow', code: 'query_timeout', rows: 0 })
    call({ totalMs: 400, query: 'slow', code: 'query_timeout', rows: 0 })
    call({ totalMs: 7, query: null, version: null, code: 'invalid_query', reason: 'missing_slots', rows: 0 })
    call({ totalMs: 900, code: 'rate_limit_exceeded', rows: 0, bytes: 0 })
    call({ totalMs: 900, code: 'permission_denied', rows: 0, bytes: 0 })
    call({ totalMs: 30, entry: 'tool', query: 'slow' })
    call({ totalMs: 20, entry: 'question', question: { text: 'How many?', confidence: 0.9 }, routeMs: 3 })
    call({ totalMs: 9_000, entry: 'preview' })
  })

  test('of the totals', async () => {
    const { totals } = await metrics(range)
    const totalMs = 5_050 + 400 + 400 + 7 + 30 + 20
    expect(totals).toMatchObject({ requests: 105, errors: 3, rejected: 2, error_rate: 3 / 105, rows: 204 })
    expect(totals.average_ms).toBeCloseTo(totalMs / 105, 2)
    const sorted = [...Array.from({ length: 100 }, (_, index) => index + 1), 400, 400, 7, 30, 20].toSorted(
      (a, b) => a - b,
    )
    for (const [name, share] of [
      ['p50_ms', 0.5],
      ['p95_ms', 0.95],
      ['p99_ms', 0.99],
    ] as const) {
      const exact = sorted[Math.ceil(share * 105) - 1] ?? 0
      expect(Math.abs(totals[name] - exact) / exact, name).toBeLessThanOrEqual(0.01)
    }
    expect(totals.cache).toEqual({ hit: 10, miss: 10, bypass: 0, hit_rate: 0.5 })
  })

  test('by query, key, version and environment adds up to the totals', async () => {
    const report = await metrics(range)
    expect(
      report.popular_queries.map(({ query, requests, errors }: Figures & { query: string }) => [
        query,
        requests,
        errors,
      ]),
    ).toEqual([
      ['q', 101, 0],
      ['slow', 3, 2],
    ])
    expect(report.slowest_queries[0]).toMatchObject({ query: 'q' })
    const totals = { requests: 105, errors: 3, rejected: 2 }
    for (const by of ['by_key', 'by_environment']) expect(sumOf(report[by]), by).toEqual(totals)
    // The call that found no query has no version either.
    expect(sumOf(report.by_version)).toEqual({ requests: 104, errors: 2, rejected: 2 })
    expect(
      report.by_key.map(({ key_id, requests }: { key_id: string; requests: number }) => [key_id, requests]),
    ).toEqual([
      ['key_a', 55],
      ['key_b', 50],
    ])
    const staging = report.by_environment.find((each: { environment: string }) => each.environment === 'staging')
    expect(staging).toMatchObject({ requests: 25, errors: 0 })
    expect(report.errors[0]).toEqual({ status: 504, error: 'query_timeout', reason: null, count: 2 })
    const once = (report.errors as Array<{ status: number }>).slice(1).toSorted((a, b) => a.status - b.status)
    expect(once).toEqual([
      { status: 400, error: 'invalid_query', reason: 'missing_slots', count: 1 },
      { status: 403, error: 'permission_denied', reason: null, count: 1 },
      { status: 429, error: 'rate_limit_exceeded', reason: null, count: 1 },
    ])
    expect(report.questions).toMatchObject({ asked: 1, answered: 1, refused: 0 })
  })

  test('of each piece of the series', async () => {
    const { series } = await metrics({ ...range, interval: '1h' })
    expect(series).toHaveLength(24)
    const busy = series.filter(({ requests }: Figures) => requests > 0)
    expect(busy.map(({ time, requests, errors }: Figures & { time: string }) => [time, requests, errors])).toEqual([
      ['2027-04-01T09:00:00.000Z', 25, 0],
      ['2027-04-01T10:00:00.000Z', 25, 0],
      ['2027-04-01T11:00:00.000Z', 25, 0],
      ['2027-04-01T12:00:00.000Z', 30, 3],
    ])
    expect(busy[0].average_ms).toBeCloseTo(13, 5)
    expect(Math.abs(busy[1].p95_ms - 49) / 49).toBeLessThanOrEqual(0.01)
  })

  test('is the same once minutes have become hours and days', async () => {
    const before = await metrics({ ...range, interval: '1h' })
    const days = await metrics({ ...range, interval: '1d' })
    clock('2027-04-02T00:30:00Z')
    await keepUsage(t.app)
    await keepUsage(t.app)
    expect(await metrics({ ...range, interval: '1h' })).toEqual(before)
    expect(await metrics({ ...range, interval: '1d' })).toEqual(days)
  })
})
