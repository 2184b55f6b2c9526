import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ReadInput } from '../../server/data/index.ts'
import { openFixture, type Fixture } from './engine-fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  // One executor with one place: whatever took it would be felt at once.
  fixture = await openFixture({ executors: 1, concurrencyPerExecutor: 1 })
})
afterAll(() => fixture.close())

const limits = { slots: [], maxRows: 100_000, maxBytes: 50_000_000 }
const endless = 'SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE i * j = -1'

async function behind(sql: string, input: Partial<ReadInput> = {}): Promise<string> {
  const stream = await fixture.engine.streamBehind('project', fixture.catalog, {
    sql,
    ...limits,
    format: 'ndjson',
    ...input,
  })
  const parts: Buffer[] = []
  for await (const { bytes } of stream.chunks) parts.push(bytes)
  return Buffer.concat(parts).toString()
}

test('reads what callers read', async () => {
  const lines = await behind('SELECT id, region FROM orders WHERE id < 3 ORDER BY id')
  expect(
    lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { id: 0, region: 'north' },
    { id: 1, region: 'south' },
    { id: 2, region: 'east' },
  ])
})

test('a caller is answered while every place behind is taken and more wait', async () => {
  const over = new AbortController()
  const ended: string[] = []
  const hogs = Array.from({ length: 6 }, (_, at) =>
    behind(endless, { timeoutMs: 60_000, signal: over.signal }).then(
      () => ended.push(`behind ${at}`),
      () => ended.push(`behind ${at}`),
    ),
  )
  // They run: a read behind them would have to wait.
  const late = behind('SELECT 1 AS one').then(() => ended.push('late'))
  await wait(200)
  for (let call = 0; call < 20; call += 1) {
    expect(await fixture.rows(`SELECT ${call}::INTEGER AS call`)).toEqual([{ call }])
    ended.push(`caller ${call}`)
  }
  expect(ended).toEqual(Array.from({ length: 20 }, (_, call) => `caller ${call}`))
  over.abort()
  await Promise.all([...hogs, late])
  expect(ended).toHaveLength(27)
})

test('what fails behind says why', async () => {
  await expect(behind("SELECT error('no such luck') AS x")).rejects.toMatchObject({
    message: expect.stringContaining('no such luck'),
  })
  await expect(behind(endless, { timeoutMs: 300 })).rejects.toMatchObject({ code: 'query_timeout' })
})
