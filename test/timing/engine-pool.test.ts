import { afterEach, describe, expect, test } from 'vitest'
import { eventually, limits, lookup, openFixture, slow, type Fixture } from '../worker/engine-fixture.ts'

let fixture: Fixture

afterEach(() => fixture.close())

const busy = (): number => fixture.engine.health().executors.reduce((sum, { calls }) => sum + calls, 0)

describe('deadlines', () => {
  test('a query past its limit is stopped and its executor goes on', async () => {
    fixture = await openFixture()
    const before = fixture.pids()
    const startedMs = performance.now()
    await expect(fixture.rows(slow, { timeoutMs: 200 })).rejects.toMatchObject({ code: 'query_timeout' })
    expect(performance.now() - startedMs).toBeLessThan(1_500)
    expect(await fixture.rows(lookup)).toEqual([{ region: 'south' }])
    expect(fixture.pids()).toEqual(before)
  })
})

describe('load', () => {
  test('a scope full of slow queries leaves room for the lookups of another', async () => {
    fixture = await openFixture({ executors: 2, concurrencyPerExecutor: 2 })
    const { engine, catalog } = fixture
    await engine.read('quick', catalog, { ...limits, sql: lookup })
    const leaving = new AbortController()
    const hogs = Promise.allSettled(Array.from({ length: 50 }, () => fixture.rows(slow, { signal: leaving.signal })))
    // Three of four places are for one scope, and two of those for one query.
    await eventually(() => busy() === 2)
    const elapsed: number[] = []
    for (let round = 0; round < 10; round += 1) {
      const startedMs = performance.now()
      await engine.read('quick', catalog, { ...limits, sql: lookup })
      elapsed.push(performance.now() - startedMs)
    }
    leaving.abort()
    await hogs
    expect(elapsed.sort((left, right) => left - right)[5]).toBeLessThan(1_000)
  })
})

describe('opening and closing', () => {
  test('close lets calls finish, refuses new ones, and has a limit', async () => {
    fixture = await openFixture()
    const call = fixture.rows('SELECT sum(a.i) AS s FROM range(3000) a(i), range(3000) b(i)')
    const endless = fixture.rows(slow).catch((error: unknown) => error)
    await eventually(() => busy() === 2)
    const startedMs = performance.now()
    const closing = fixture.engine.close(1_500)
    await expect(fixture.rows(lookup)).rejects.toMatchObject({ code: 'overloaded' })
    expect(await call).toHaveLength(1)
    await closing
    expect(await endless).toMatchObject({ code: 'internal_error' })
    expect(performance.now() - startedMs).toBeLessThan(4_000)
    expect(fixture.engine.health()).toMatchObject({ ready: false })
  })
})
