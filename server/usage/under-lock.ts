import type { Database } from '../store/index.ts'

type Client = { query(text: string, values?: unknown[]): Promise<unknown> }

/** Locks with two numbers meet no others of ours but those that begin with this one; the second says what is locked. */
const family = 1_936_356_709
const numbers = { partitions: 2, figures: 3, questions: 5 } as const

/** A transaction that replicas take turns for. */
export async function underLock(
  store: Pick<Database, 'pool'>,
  name: keyof typeof numbers,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const client = await store.pool.connect()
  try {
    await client.query('begin')
    await client.query(`select pg_advisory_xact_lock(${family}, ${numbers[name]})`)
    await work(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  } finally {
    client.release()
  }
}

/** Says up to when something is counted, in the transaction that counted it. */
export async function noteProgress(client: Client, name: string, until: number): Promise<void> {
  await client.query(
    `insert into usage_progress values ($1, $2)
       on conflict (grain) do update set until = greatest(usage_progress.until, excluded.until)`,
    [name, new Date(until)],
  )
}
