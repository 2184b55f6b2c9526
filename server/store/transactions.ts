import { sql, type Kysely, type Transaction } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import type { Tables } from './tables.ts'

export type Connection = PoolClient

/** For SQL that Kysely does not write: all that `work` sends is there together, or nothing of it. */
export async function inTransaction(
  { pool }: { pool: Pool },
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  const connection = await pool.connect()
  // One that does not even take this back is not given to the next: it may be stuck, or still in the transaction.
  let isLost = false
  try {
    await connection.query('begin')
    await work(connection)
    await connection.query('commit')
  } catch (error) {
    await connection.query('rollback').catch(() => (isLost = true))
    throw error
  } finally {
    connection.release(isLost)
  }
}

/** Longer than any work between two statements of it takes. */
const idleMs = 600_000

const checks = new WeakMap<Transaction<Tables>, Map<string, () => Promise<void>>>()

/** Runs a check at once; of many verbs as one, once behind them all. Later checks of a name take the place of earlier ones. */
export async function beforeCommit(
  transaction: Transaction<Tables>,
  name: string,
  check: () => Promise<void>,
): Promise<void> {
  const waiting = checks.get(transaction)
  if (waiting === undefined) await check()
  else waiting.set(name, check)
}

/** Rolls everything back without being a failure. */
const taken = new Error('rolled back')

/**
 * Many verbs as one: each does what it always does on the store it is handed, and all of it is there together or nothing.
 * Their own transactions become steps of this one, so that one that is refused takes back its own step only. With
 * `takeBack` nothing stays: it was only to be seen what would happen.
 */
export async function inOneTransaction<Result, Store extends { db: Kysely<Tables> }>(
  store: Store,
  { takeBack }: { takeBack: boolean },
  work: (store: Store, transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  const done: { result?: Result } = {}
  try {
    await store.db.transaction().execute(async (transaction) => {
      await sql`set local idle_in_transaction_session_timeout = ${sql.lit(idleMs)}`.execute(transaction)
      const waiting = new Map<string, () => Promise<void>>()
      checks.set(transaction, waiting)
      done.result = await work(storeWithin(store, transaction), transaction)
      for (const check of waiting.values()) await check()
      if (takeBack) throw taken
    })
  } catch (error) {
    if (error !== taken) throw error
  }
  return done.result as Result
}

function storeWithin<Store extends { db: Kysely<Tables> }>(store: Store, transaction: Transaction<Tables>): Store {
  let steps = 0
  const step = async <Value>(work: (transaction: Transaction<Tables>) => Promise<Value>): Promise<Value> => {
    steps += 1
    const name = sql.id(`step_${steps}`)
    await sql`savepoint ${name}`.execute(transaction)
    try {
      const value = await work(transaction)
      await sql`release savepoint ${name}`.execute(transaction)
      return value
    } catch (error) {
      await sql`rollback to savepoint ${name}`.execute(transaction)
      throw error
    }
  }
  const db = new Proxy<Kysely<Tables>>(transaction, {
    get: (target, property) => {
      if (property === 'transaction') return () => ({ execute: step })
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return { ...store, db }
}
