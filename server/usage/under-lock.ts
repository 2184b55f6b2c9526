import { inTransaction, type Connection, type Database } from '../store/index.ts'

/** Locks with two numbers meet no others of ours but those that begin with this one; the second says what is locked. */
const family = 1_936_356_709
const numbers = { partitions: 2, figures: 3, questions: 5 } as const

/** A transaction that replicas take turns for. */
export async function underLock(
  store: Pick<Database, 'pool'>,
  name: keyof typeof numbers,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  await inTransaction(store, async (connection) => {
    await connection.query(`select pg_advisory_xact_lock(${family}, ${numbers[name]})`)
    await work(connection)
  })
}

/** Says up to when something is counted, in the transaction that counted it. */
export async function noteProgress(connection: Connection, name: string, until: number): Promise<void> {
  await connection.query(
    `insert into usage_progress values ($1, $2)
       on conflict (grain) do update set until = greatest(usage_progress.until, excluded.until)`,
    [name, new Date(until)],
  )
}
