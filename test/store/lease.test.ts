import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  claimLeases,
  forgetLapsedLeases,
  openTables,
  releaseLeases,
  takeLease,
  type Tables,
} from '../../server/store/index.ts'
import { createDatabase, openPool, type TestDatabase } from '../harness/database.ts'

let database: TestDatabase
let store: { pool: Pool; db: Kysely<Tables> }
beforeEach(async () => {
  database = await createDatabase()
  const pool = openPool(database)
  store = { pool, db: openTables(pool) }
})
afterEach(async () => {
  await store.pool.end()
  await database.drop()
})

/** As if its holder had not renewed it for so long. */
const lapse = (ago: string) => store.pool.query('update leases set until = now() - $1::interval', [ago])

test('one at a time holds a lease, and the next one gets it when it is let go of', async () => {
  const first = await takeLease(store, 'a')
  expect(first).toBeDefined()
  expect(await takeLease(store, 'a')).toBeUndefined()
  await using other = await takeLease(store, 'b')
  expect(other).toBeDefined()
  await first?.[Symbol.asyncDispose]()
  await using next = await takeLease(store, 'a')
  expect(next).toBeDefined()
})

test('of many who ask at once one gets it', async () => {
  const asked = await Promise.all(Array.from({ length: 20 }, () => takeLease(store, 'a')))
  const held = asked.filter((lease) => lease !== undefined)
  expect(held).toHaveLength(1)
  for (const lease of held) await lease[Symbol.asyncDispose]()
})

test('one that lapsed by the clock of the database is taken over; who had it can store nothing and frees nothing', async () => {
  await using dead = await takeLease(store, 'a')
  await lapse('1 second')
  await using heir = await takeLease(store, 'a')
  const isHeld = (lease: typeof dead) => store.db.transaction().execute(async (trx) => lease?.isHeld(trx))
  expect([await isHeld(dead), await isHeld(heir)]).toEqual([false, true])
  await dead?.[Symbol.asyncDispose]()
  expect(await isHeld(heir)).toBe(true)
  expect(await takeLease(store, 'a')).toBeUndefined()
})

test('whoever stores under a lease keeps others from taking it over until that is done', async () => {
  await using lease = await takeLease(store, 'a')
  const stored = Promise.withResolvers<void>()
  const storing = store.db.transaction().execute(async (trx) => {
    expect(await lease?.isHeld(trx)).toBe(true)
    await trx
      .updateTable('leases')
      .set({ until: new Date(0) })
      .execute()
    stored.resolve()
    // The other waits for the row; its statement is seen waiting before this transaction ends.
    await expect
      .poll(async () => (await store.pool.query('select from pg_locks where not granted')).rowCount)
      .toBeGreaterThan(0)
  })
  await stored.promise
  const taking = takeLease(store, 'a')
  await storing
  await using taken = await taking
  expect(taken).toBeDefined()
})

test('several are claimed at once, each by its own right, and lapsed ones are swept in time', async () => {
  const mine = { holder: 'me', seconds: 60 }
  expect((await claimLeases(store.pool, ['a', 'b'], mine)).toSorted()).toEqual(['a', 'b'])
  expect(await claimLeases(store.pool, ['b', 'c'], { holder: 'you', seconds: 60 })).toEqual(['c'])
  expect((await claimLeases(store.pool, ['a', 'b', 'c'], mine)).toSorted()).toEqual(['a', 'b'])
  await releaseLeases(store.pool, ['a', 'c'], 'me')
  expect((await store.pool.query('select name from leases order by name')).rows).toEqual([{ name: 'b' }, { name: 'c' }])
  await lapse('2 days')
  await forgetLapsedLeases({ store })
  expect((await store.pool.query('select from leases')).rowCount).toBe(0)
})
