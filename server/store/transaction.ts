import type { Pool, PoolClient } from 'pg'

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
