import { sql, type RawBuilder, type SelectQueryBuilder, type Transaction } from 'kysely'
import { Failure } from '../failure.ts'
import type { Tables } from './tables.ts'
import { beforeCommit } from './transactions.ts'

/** One at a time adds to a project, so that two who each find room for one do not both take it. */
export async function lockProjectForQuota(transaction: Transaction<Tables>, projectId: string): Promise<void> {
  // Rows that name the project may be written meanwhile: only who adds something counted waits.
  await transaction.selectFrom('projects').select('id').where('id', '=', projectId).forNoKeyUpdate().execute()
}

/** Refuses one more row of a project in a table of the caller's room. Who adds waits for those that add beside them. */
export async function requireRoomInProject(
  transaction: Transaction<Tables>,
  { projectId, table, most, what }: { projectId: string; table: keyof Tables; most: number; what: string },
): Promise<void> {
  await lockProjectForQuota(transaction, projectId)
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)} where ${sql.ref('projectId')} = ${projectId}`.execute(transaction)
  refuseFull({ count: rows[0]?.count ?? 0, most, what })
}

/** How many rows a statement selects. */
export async function countOf<Table extends keyof Tables>(
  query: SelectQueryBuilder<Tables, Table, object>,
): Promise<number> {
  const { count } = await query.select((row) => row.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  return count
}

type Weighed = {
  projectId: string
  /** The row that is written. */
  table: keyof Tables
  key: string
  value: string
  /** Bytes of a row as SQL, by table, of all tables that count together. */
  weights: Partial<Record<keyof Tables, string>>
  most: number
  what: string
}

/**
 * Refuses a row that grows where all of a project are then larger than may be: they are read at once. What is there
 * stays, and may be made smaller. Two who write at once may both take the last room.
 */
export async function withinBytes<Result>(
  transaction: Transaction<Tables>,
  { projectId, table, key, value, weights, most, what }: Weighed,
  write: () => Promise<Result>,
): Promise<Result> {
  const ofProject = (each: string) =>
    sql`select coalesce(sum(${sql.raw(weights[each as keyof Tables] ?? '0')}), 0)::float8 as bytes from ${sql.table(each)} where ${sql.ref('projectId')} = ${projectId}`
  const bytesOf = async (select: RawBuilder<unknown>): Promise<number> => {
    const { rows } = await sql<{ bytes: number }>`${select}`.execute(transaction)
    return rows.reduce((sum, { bytes }) => sum + bytes, 0)
  }
  const row = sql`${ofProject(table)} and ${sql.ref(key)} = ${value}`
  const before = await bytesOf(row)
  const result = await write()
  if (before > 0 && (await bytesOf(row)) <= before) return result
  await beforeCommit(transaction, what, async () => {
    const all = await bytesOf(sql.join(Object.keys(weights).map(ofProject), sql` union all `))
    if (all > most) throw tooLarge(what, most)
  })
  return result
}

function tooLarge(what: string, most: number): Failure {
  return new Failure('conflict', {
    reason: 'quota_exceeded',
    message: `${what} hold at most ${most} bytes together. Make this one shorter, or delete another.`,
  })
}

/** One at a time adds to what all projects, or a person, have together. Ends with the transaction. */
export async function lockQuota(transaction: Transaction<Tables>, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`quota ${name}`}, 0))`.execute(transaction)
}

/** Refuses one more where as many as may be are there already. */
export function refuseFull({ count, most, what }: { count: number; most: number; what: string }): void {
  if (count < most) return
  throw new Failure('conflict', {
    reason: 'quota_exceeded',
    message: `${what} at most ${most}. Delete one first, or ask an administrator for more.`,
  })
}
