import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ReadInput, ReadStream } from '../../server/engine/index.ts'
import { openFixture, type Fixture } from './engine-fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  // One executor with one place: whatever took it would be felt at once.
  fixture = await openFixture({ executors: 1, concurrencyPerExecutor: 1 })
})
afterAll(() => fixture.close())

const limits = { slots: [], maxRows: 100_000, maxBytes: 50_000_000 }
const endless = 'SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE i * j = -1'

/** Of the process behind, whatever the others have. */
const places = 2
/** More than is sent before somebody reads. */
const unread = "SELECT repeat('x', 100000) AS x FROM range(1000000)"

function openBehind(sql: string, input: Partial<ReadInput> = {}): Promise<ReadStream> {
  return fixture.engine.streamBehind('project', fixture.catalog, { sql, ...limits, format: 'ndjson', ...input })
}

async function behind(sql: string, input: Partial<ReadInput> = {}): Promise<string> {
  const stream = await openBehind(sql, input)
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
  // A stream is there once its statement runs, and nobody reads on: both hold their places.
  const hogs = await Promise.all(Array.from({ length: places }, () => openBehind(unread, { signal: over.signal })))
  const more = Array.from({ length: 4 }, (_, at) =>
    behind(endless, { timeoutMs: 60_000, signal: over.signal }).then(
      () => ended.push(`behind ${at}`),
      () => ended.push(`behind ${at}`),
    ),
  )
  const late = behind('SELECT 1 AS one').then(() => ended.push('late'))
  for (let call = 0; call < 20; call += 1) {
    expect(await fixture.rows(`SELECT ${call}::INTEGER AS call`)).toEqual([{ call }])
    ended.push(`caller ${call}`)
  }
  expect(ended).toEqual(Array.from({ length: 20 }, (_, call) => `caller ${call}`))
  over.abort()
  await Promise.all([...hogs.map(({ finished }) => finished), ...more, late])
  expect(ended).toHaveLength(25)
})

test('what fails behind says why', async () => {
  await expect(behind("SELECT error('no such luck') AS x")).rejects.toMatchObject({
    message: expect.stringContaining('no such luck'),
  })
  await expect(behind(endless, { timeoutMs: 300 })).rejects.toMatchObject({ code: 'query_timeout' })
})
