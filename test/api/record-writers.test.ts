import type { Pool } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openKeyUses } from '../../server/access/keys/uses.ts'
import type { Observation } from '../../server/observe.ts'
import { openQueryCallers } from '../../server/queries/index.ts'
import { holdWordKeepers } from '../../server/questions/index.ts'
import { openTables, type Database } from '../../server/store/index.ts'
import { openUsage } from '../../server/usage/index.ts'
import { createDatabase, openPool, type TestDatabase } from '../harness/database.ts'
import { call } from '../unit/usage/sample-call.ts'

/** What happens is written in batches by one mechanism; these are its faults on each kind of record. */
let database: TestDatabase
let pool: Pool
let store: Database
let told: Observation[]
const closers: Array<() => Promise<void>> = []
beforeEach(async () => {
  database = await createDatabase()
  pool = openPool(database)
  store = { pool, db: openTables(pool) } as Database
  told = []
  await pool.query(`
    insert into projects (id, name) values ('prj_1', 'One');
    insert into queries (id, project_id, name, description, sql, slots, examples, content_hash, updated_by)
      values ('qry_1', 'prj_1', 'one', '', 'select 1', '[]', '[]', '', 'usr_1');
    insert into api_keys (id, name, secret_hash, start, last4, plan)
      select 'key_' || at, 'k', at::text::bytea, 's', 'l', 'p' from generate_series(1, 5) at;`)
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await pool.end()
  await database.drop()
})

const parts = () => ({
  store,
  observe: (event: Observation): void => void told.push(event),
  now: Date.now,
  closeTimeoutMs: 5_000,
})
const opened = <Part extends { close(): Promise<void> }>(part: Part): Part => {
  closers.push(() => part.close())
  return part
}
const drops = () => told.filter(({ kind }) => kind === 'records-dropped')

test('who called is written after the database was away, and an older word never replaces a newer one', async () => {
  const callers = opened(openQueryCallers(parts()))
  const called = { queryId: 'qry_1', environment: 'production', keyId: 'key_1' }
  await pool.query('alter table query_callers rename to away')
  callers.note(called)
  await expect(callers.flush()).rejects.toThrow('query_callers')
  await pool.query('alter table away rename to query_callers')
  await pool.query("insert into query_callers values ('qry_1', 'production', 'key_1', '2999-01-01')")
  await callers.flush()
  callers.note({ ...called, keyId: 'key_2' })
  await callers.close()
  const { rows } = await pool.query<{ key_id: string; year: number }>(
    'select key_id, extract(year from last_called_at)::int as year from query_callers order by key_id',
  )
  expect(rows).toEqual([
    { key_id: 'key_1', year: 2999 },
    { key_id: 'key_2', year: new Date().getFullYear() },
  ])
  expect(drops()).toEqual([])
})

test('the use of a key that the database does not know keeps no other from being written', async () => {
  const uses = openKeyUses({ ...parts(), dailyStateOf: () => undefined })
  for (const keyId of ['key_1', 'key_gone', 'key_2']) uses.note(keyId, '192.0.2.7')
  await uses.close()
  const { rows } = await pool.query('select key_id from api_key_uses order by key_id')
  expect(rows).toEqual([{ key_id: 'key_1' }, { key_id: 'key_2' }])
  const addresses = await pool.query('select key_id, address from api_key_addresses order by key_id')
  expect(addresses.rows).toEqual([
    { key_id: 'key_1', address: '192.0.2.7' },
    { key_id: 'key_2', address: '192.0.2.7' },
  ])
  expect(drops()).toMatchObject([{ where: 'api-key-uses', count: 1, reason: 'refused' }])
})

test('a call that cannot be written keeps no other from being written', async () => {
  const usage = opened(openUsage({ ...parts(), holdWordKeepers, queueLength: 100, flushMs: 600_000 }))
  usage.observe({ ...call, requestId: 'req_1' })
  usage.observe({ ...call, requestId: 'req_2', rows: Number.NaN, keyId: 'key_2' })
  usage.observe({ ...call, requestId: 'req_3', keyId: 'key_3' })
  await usage.flush()
  const { rows } = await pool.query<{ id: string }>('select id from requests order by id')
  expect(rows.map(({ id }) => id)).toEqual(['req_1', 'req_3'])
  expect(usage.dropped()).toBe(1)
  expect(drops()).toMatchObject([{ where: 'usage', count: 1, reason: 'refused' }])
  const { rows: counted } = await pool.query('select sum(calls)::int as calls from usage_rollups')
  expect(counted).toEqual([{ calls: 2 }])
})

test('a stop while the database does not answer ends in its time and tells what was lost', async () => {
  const blocker = await pool.connect()
  await blocker.query('begin; lock table query_callers in access exclusive mode')
  const callers = openQueryCallers({ ...parts(), closeTimeoutMs: 100 })
  callers.note({ queryId: 'qry_1', environment: 'production', keyId: 'key_1' })
  await callers.close()
  expect(drops()).toMatchObject([{ where: 'query-callers', count: 1, reason: 'closing' }])
  await blocker.query('rollback')
  blocker.release()
})
