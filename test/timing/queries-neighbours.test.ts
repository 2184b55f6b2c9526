import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let bad: QueryProject
let good: QueryProject
beforeAll(async () => {
  const environment = {
    SLUICE_QUERY_TIMEOUT_MS: '3000',
    SLUICE_EXECUTOR_MEMORY_BYTES: '268435456',
    SLUICE_EXECUTOR_PROCESSES: '2',
  }
  t = await openTestApp(environment, { ownProcesses: true })
  bad = await openQueryProject(t)
  good = await openQueryProject(t)
  // How long it takes is measured; a busy machine needs seconds to replace both executors, and that is no refusal.
  await good.deploy({ name: 'lookup', sql: 'SELECT * FROM orders WHERE id = $id', timeout_ms: 20_000 })
  for (const [name, { sql }] of Object.entries(troubles)) await bad.deploy({ name, sql })
})
afterAll(() => t.close())

const troubles: Record<string, { sql: string; status: number; error: string | undefined }> = {
  endless: {
    sql: 'SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE i * j = -1',
    status: 504,
    error: 'query_timeout',
  },
  fifty_million_rows: { sql: 'SELECT i FROM range(50000000) t(i)', status: 200, error: undefined },
  too_wide: { sql: "SELECT repeat('x', 1000000) AS x FROM range(1000)", status: 413, error: 'result_too_large' },
  hungry: {
    sql: "SELECT list(repeat('x', 1000) || i) AS x FROM range(20000000) t(i)",
    status: 413,
    error: 'result_too_large',
  },
}

test.each(Object.entries(troubles))('%s has its clear answer', async (name, { status, error }) => {
  const answer = await bad.caller.post(`/v1/queries/${name}`)
  expect(answer.status, JSON.stringify(answer.body).slice(0, 500)).toBe(status)
  expect(answer.body.error).toBe(error)
  if (status === 200) expect(answer.body).toMatchObject({ row_count: 100_000, truncated: true })
})

test('meanwhile a neighbour’s lookup stays under a second, and everything is healthy afterwards', async () => {
  const over = new AbortController()
  const trouble = Object.keys(troubles).map(async (name) => {
    while (!over.signal.aborted) await bad.caller.post(`/v1/queries/${name}`)
  })
  const times: number[] = []
  try {
    for (let id = 1; id <= 30; id += 1) {
      const startedMs = performance.now()
      const answer = await good.caller.post('/v1/queries/lookup', { id })
      times.push(performance.now() - startedMs)
      expect(answer).toMatchObject({ status: 200, body: { data: [{ id }] } })
    }
  } finally {
    over.abort()
    await Promise.all(trouble)
  }
  expect(Math.max(...times)).toBeLessThan(1_000)
  expect(t.app.engine.health().ready).toBe(true)
  expect((await bad.caller.post('/v1/queries/fifty_million_rows')).status).toBe(200)
})

test('a query under which DuckDB crashes is refused, and costs a neighbour nothing', async () => {
  const over = new AbortController()
  const crashing = bad.caller.post('/v1/queries/endless').finally(() => over.abort())
  const neighbours: Array<{ status: number }> = []
  for (const deadlineMs = performance.now() + 20_000; !over.signal.aborted && performance.now() < deadlineMs;) {
    // What a crash in native code looks like from outside: the only call that was inside is to blame.
    for (const { pid, calls } of t.app.engine.health().executors) {
      if (pid !== null && calls > 0) process.kill(pid, 'SIGSEGV')
    }
    neighbours.push(await good.caller.post('/v1/queries/lookup', { id: 7 }))
  }
  expect(await crashing).toMatchObject({ status: 400, body: { error: 'invalid_query', reason: 'ended_executor' } })
  expect(neighbours.map(({ status }) => status)).toEqual(neighbours.map(() => 200))
  expect((await bad.caller.post('/v1/queries/fifty_million_rows')).status).toBe(200)
})
