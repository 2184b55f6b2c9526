import type { DuckDBConnection } from '@duckdb/node-api'
import { quoteName } from '../instance/sql-text.ts'

/** Beyond this a statement spends more time on naming a file's columns than on the one it reads. */
const wideColumns = 50
const columnsPerPart = 100
/** The rows to copy into memory at a time. */
const cellsPerPart = 1_000_000

/** Some columns of a table, and what to read them from. */
export type Part<Column> = { from: string; columns: Column[] }

/**
 * The columns of a table in parts to be looked at one after the other. Those of a wide table are copied into memory
 * part by part, since every statement on its file opens all of its columns.
 */
export async function* partsOf<Column extends { name: string }>(
  connection: DuckDBConnection,
  { table, columns, rowCount }: { table: string; columns: Column[]; rowCount: number },
): AsyncGenerator<Part<Column>> {
  const isWide = columns.length > wideColumns && rowCount <= cellsPerPart
  const width = isWide ? Math.min(columnsPerPart, Math.floor(cellsPerPart / Math.max(1, rowCount))) : 1
  for (let at = 0; at < columns.length; at += width) {
    const part = columns.slice(at, at + width)
    if (!isWide) yield { from: table, columns: part }
    else {
      const names = part.map(({ name }) => quoteName(name)).join(', ')
      await connection.run(`CREATE OR REPLACE TEMP TABLE part AS SELECT ${names} FROM ${table}`)
      yield { from: 'part', columns: part }
    }
  }
}
