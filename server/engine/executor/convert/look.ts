import type { DuckDBConnection } from '@duckdb/node-api'
import { rowsOf } from '../profile/profile.ts'
import { quoteName, quoteText } from '../instance/sql-text.ts'
import type { CopySource } from './contract.ts'
import type { ConvertedColumn, Looked, RowsLook } from '../socket/protocol.ts'

/** Columns that tell a row where nobody named a key. */
const idNames = ['id', '_id', 'uuid', 'guid']
const maxExamples = 3

/** Looks at rows for what their Parquet file does not say: how times were written, and rows that came on two pages. */
export async function lookAtRows(
  connection: DuckDBConnection,
  { source, columns, path }: { source: CopySource; columns: ConvertedColumn[]; path: string },
  { cursor, pages }: RowsLook,
): Promise<Looked> {
  const cursorText = cursor === undefined ? null : await textOfLargest(connection, source, { cursor, columns })
  const repeated = pages === undefined ? null : await repeatedRows(connection, { columns, path }, pages)
  return { cursorText, repeated }
}

/** The largest time as the API wrote it; null where the column is no time. */
async function textOfLargest(
  connection: DuckDBConnection,
  source: CopySource,
  { cursor, columns }: { cursor: string; columns: ConvertedColumn[] },
): Promise<string | null> {
  const index = source.columns.findIndex(({ sourceKey }) => sourceKey === cursor)
  const type = columns.find(({ sourceKey }) => sourceKey === cursor)?.type ?? ''
  // A path of the engine has no way to write a quote.
  if (index === -1 || !/^(DATE|TIMESTAMP)/.test(type) || /["\\]/.test(cursor)) return null
  const sql = `SELECT arg_max(raw, try_cast(raw AS ${type})) FROM ${source.raw(index)}`
  const [[text] = []] = await rowsOf(connection, sql)
  return typeof text === 'string' ? text : null
}

/** Rows whose key came before. A column that repeats within the first page is no key. */
async function repeatedRows(
  connection: DuckDBConnection,
  { columns, path }: { columns: ConvertedColumn[]; path: string },
  { key, firstRows }: NonNullable<RowsLook['pages']>,
): Promise<Looked['repeated']> {
  const names =
    key ?? idNames.filter((id) => columns.some(({ sourceKey }) => sourceKey.toLowerCase() === id)).slice(0, 1)
  const found = names.map((field) =>
    columns.find(({ sourceKey }) => sourceKey === field || (key === undefined && sourceKey.toLowerCase() === field)),
  )
  if (found.length === 0 || found.includes(undefined)) return null
  const list = found.map((column) => quoteName(column?.name ?? ''))
  const words = list.map((name) => `CAST(${name} AS VARCHAR)`).join(` || ', ' || `)
  const filled = list.map((name) => `${name} IS NOT NULL`).join(' AND ')
  const rows = `read_parquet(${quoteText(path)})`
  const first = `SELECT count(*) = count(DISTINCT (${list.join(', ')})) FROM (SELECT * FROM ${rows} LIMIT ${firstRows}) WHERE ${filled}`
  const [[isKey] = []] = await rowsOf(connection, first)
  if (isKey !== true) return null
  const twice = `SELECT ${words} AS key, count(*) - 1 AS more FROM ${rows} WHERE ${filled} GROUP BY ${list.join(', ')} HAVING count(*) > 1`
  const sql = `SELECT coalesce(sum(more), 0), list_slice(list(key ORDER BY key), 1, ${maxExamples})::JSON::VARCHAR FROM (${twice})`
  const [[count = 0, examples] = []] = await rowsOf(connection, sql)
  if (Number(count) === 0) return null
  return { rows: Number(count), examples: JSON.parse(String(examples)) as string[] }
}
