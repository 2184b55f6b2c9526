import { sql, type Transaction } from 'kysely'
import type { Tables } from './tables.ts'

/** Writes every value of a column anew that is not null, in a table of the caller's room; answers how many there were. */
export async function rewriteColumn(
  transaction: Transaction<Tables>,
  { table, column }: { table: keyof Tables; column: string },
  rewrite: (value: Buffer) => Buffer,
): Promise<number> {
  const [from, name] = [sql.table(table), sql.ref(column)]
  const { rows } = await sql<{ id: string; value: Buffer }>`
    select id, ${name} as value from ${from} where ${name} is not null for update`.execute(transaction)
  for (const { id, value } of rows) {
    await sql`update ${from} set ${name} = ${rewrite(value)} where id = ${id}`.execute(transaction)
  }
  return rows.length
}
