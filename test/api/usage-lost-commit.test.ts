import { afterEach, beforeEach, expect, test } from 'vitest'
import { holdWordKeepers } from '../../server/questions/index.ts'
import { openTables } from '../../server/store/index.ts'
import { openUsage, type Usage } from '../../server/usage/index.ts'
import { isWritten } from '../../server/usage/record/write.ts'
import { createDatabase, type TestDatabase } from '../harness/database.ts'
import { openLossyDatabase, type LossyDatabase } from '../harness/lossy-database.ts'
import { call } from '../unit/usage/sample-call.ts'

let database: TestDatabase
let lossy: LossyDatabase
let usage: Usage
beforeEach(async () => {
  database = await createDatabase()
  lossy = await openLossyDatabase(database.url)
  const observe = () => undefined
  const db = openTables(lossy.pool)
  const store = { db, pool: lossy.pool }
  usage = openUsage({
    store,
    holdWordKeepers,
    observe,
    now: Date.now,
    queueLength: 3,
    closeTimeoutMs: 5_000,
    flushMs: 600_000,
  })
  // The first write makes the tables of the day, in a transaction of their own.
  answer('req_0')
  await usage.flush()
})
afterEach(async () => {
  await usage.close()
  await lossy.close()
  await database.drop()
})

const answer = (requestId: string): void => usage.observe({ ...call, requestId })

async function written(): Promise<{ ids: string[]; counted: number }> {
  const { rows: calls } = await lossy.pool.query<{ id: string }>('select id from requests order by id')
  const { rows } = await lossy.pool.query<{ calls: number }>('select sum(calls)::int as calls from usage_rollups')
  return { ids: calls.map(({ id }) => id), counted: rows[0]?.calls ?? 0 }
}

test.each(['commit', 'answer'] as const)('each call is written once where the %s of a write is lost', async (what) => {
  for (const id of ['req_1', 'req_2']) answer(id)
  lossy.loseNext(what)
  await expect(usage.flush()).rejects.toThrow('Connection terminated')
  answer('req_3')
  // The server may need a moment to see that nobody is there any more, and says so until then.
  await expect.poll(() => usage.flush().then(() => 'written', String), { timeout: 60_000 }).toBe('written')
  await usage.flush()
  expect(await written()).toEqual({ ids: ['req_0', 'req_1', 'req_2', 'req_3'], counted: 4 })
  expect(usage.dropped()).toBe(0)
})

test('where there is no room for what was lost and what came meanwhile, what came last goes', async () => {
  for (const id of ['req_1', 'req_2']) answer(id)
  lossy.loseNext('commit')
  await expect(usage.flush()).rejects.toThrow('Connection terminated')
  for (const id of ['req_3', 'req_4']) answer(id)
  await expect.poll(() => usage.flush().then(() => 'written', String), { timeout: 60_000 }).toBe('written')
  expect((await written()).ids).toEqual(['req_0', 'req_1', 'req_2', 'req_3'])
  expect(usage.dropped()).toBe(1)
})

test('a database that was set back to before the write has not got it', async () => {
  const { rows } = await lossy.pool.query<{ id: string }>('select pg_current_xact_id()::text as id')
  const ofLater = { transactionId: String(BigInt(rows[0]?.id ?? 0) + 1_000_000n), error: null }
  expect(await isWritten(lossy, ofLater)).toBe(false)
})
