import { sql, type SelectQueryBuilder, type Transaction } from 'kysely'
import { Failure } from '../failure.ts'
import type { Tables } from './tables.ts'

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

/** How many bytes of JSON they have in a column. */
export async function jsonBytesOf<Table extends keyof Tables>(
  query: SelectQueryBuilder<Tables, Table, object>,
  column: string,
): Promise<number> {
  const bytes = sql<number>`coalesce(sum(octet_length(${sql.ref(column)}::text)), 0)::float8`.as('bytes')
  return (await query.select(bytes).executeTakeFirstOrThrow()).bytes
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
