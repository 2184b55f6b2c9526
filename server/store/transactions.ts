import { sql, type Kysely, type Transaction } from 'kysely'
import type { Database } from './open-database.ts'
import type { Tables } from './tables.ts'

/** Longer than any work between two statements of it takes. */
const idleMs = 600_000

/** What takes back all that was done, without being a failure. */
const taken = new Error('taken back')

/**
 * Many verbs as one: each does what it always does on the store it is handed, and all of it is there together or nothing.
 * Their own transactions become steps of this one, so that one that is refused takes back its own step only. With
 * `takeBack` nothing stays: it was only to be seen what would happen.
 */
export async function inOneTransaction<Result>(
  store: Database,
  { takeBack }: { takeBack: boolean },
  work: (store: Database, transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  const done: { result?: Result } = {}
  try {
    await store.db.transaction().execute(async (transaction) => {
      await sql`set local idle_in_transaction_session_timeout = ${sql.lit(idleMs)}`.execute(transaction)
      done.result = await work(storeWithin(store, transaction), transaction)
      if (takeBack) throw taken
    })
  } catch (error) {
    if (error !== taken) throw error
  }
  return done.result as Result
}

function storeWithin(store: Database, transaction: Transaction<Tables>): Database {
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
