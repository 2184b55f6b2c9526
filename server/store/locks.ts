import type { ClientBase, Pool } from 'pg'
import { inTransaction, type Connection } from './transactions.ts'

/** Any number: locks with two keys meet no others of ours but those that begin with it. Data folders' have one key. */
const family = 1_936_356_709

/** Locks that processes take turns for. A number is never reused: an older version may still run. */
const numbers = { migrations: 1, partitions: 2, figures: 3, questions: 5 } as const

type LockName = keyof typeof numbers

/** A transaction that processes take turns for. */
export async function underLock(
  store: { pool: Pool },
  name: LockName,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  await inTransaction(store, async (connection) => {
    await connection.query('select pg_advisory_xact_lock($1, $2)', [family, numbers[name]])
    await work(connection)
  })
}

/** Work that one process does at a time, with statements of its own. Waits for its turn. */
export async function inTurn<Result>(client: ClientBase, name: LockName, work: () => Promise<Result>): Promise<Result> {
  await client.query('select pg_advisory_lock($1, $2)', [family, numbers[name]])
  try {
    return await work()
  } finally {
    await client.query('select pg_advisory_unlock($1, $2)', [family, numbers[name]]).catch(() => undefined)
  }
}
