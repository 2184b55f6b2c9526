import type { ClientBase, Pool } from 'pg'
import { inTransaction, type Connection } from './transaction.ts'

/** Any number: locks with two keys meet no others of ours but those that begin with it. Data folders' have one key. */
const family = 1_936_356_709

/** What processes take turns for. A number is never given to something else: an older version may still run. */
const numbers = { migrations: 1, partitions: 2, figures: 3, alerts: 4, questions: 5 } as const

export type LockName = keyof typeof numbers

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

/** As `underLock` without one transaction around it; false where another process is at it. */
export async function unlessLocked(
  { pool }: { pool: Pool },
  name: LockName,
  work: (connection: Connection) => Promise<boolean>,
): Promise<boolean> {
  const connection = await pool.connect()
  // The lock ends with the connection, so one that cannot be unlocked must not go back to the pool.
  let isLost = false
  try {
    const { rows } = await connection.query<{ taken: boolean }>('select pg_try_advisory_lock($1, $2) as taken', [
      family,
      numbers[name],
    ])
    if (rows[0]?.taken !== true) return false
    try {
      return await work(connection)
    } finally {
      await connection.query('select pg_advisory_unlock($1, $2)', [family, numbers[name]]).catch(() => (isLost = true))
    }
  } finally {
    connection.release(isLost)
  }
}

/** PostgreSQL has ended a statement that took too long, here one that waited. */
const ended = '57014'

/** Work that one process at a time does under a name; undefined where its turn did not come in time. */
export async function underNamedLock<Result>(
  { pool }: { pool: Pool },
  { name, waitMs }: { name: string; waitMs: number },
  work: () => Promise<Result>,
): Promise<{ result: Result } | undefined> {
  const connection = await pool.connect()
  let isLost = false
  try {
    if (!(await lockNamed(connection, { name, waitMs }))) return undefined
    try {
      return { result: await work() }
    } finally {
      const unlock = 'select pg_advisory_unlock(hashtextextended($1, 0))'
      await connection.query(unlock, [name]).catch(() => (isLost = true))
    }
  } finally {
    connection.release(isLost)
  }
}

async function lockNamed(connection: Connection, { name, waitMs }: { name: string; waitMs: number }): Promise<boolean> {
  const untilMs = performance.now() + waitMs
  for (;;) {
    try {
      await connection.query('select pg_advisory_lock(hashtextextended($1, 0))', [name])
      return true
    } catch (error) {
      if (!isEnded(error)) throw error
      if (performance.now() >= untilMs) return false
    }
  }
}

function isEnded(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === ended
}
