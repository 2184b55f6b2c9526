import type { DuckDBConnection } from '@duckdb/node-api'
import { namesOf } from './column-types.ts'
import type { ConvertedColumn } from './protocol.ts'
import { quoteName, quoteText } from './sql-text.ts'

/** A source ready to copy: SQL that reads it, its columns, and how many rows it must give. */
export type Source = { sql: string; columns: ConvertedColumn[]; rowCount: number | null }

/** A type, and SQL that says whether the text `x` is such a value, written as the type itself would write it. */
const candidates: { type: string; holds: (x: string) => string }[] = [
  {
    type: 'BIGINT',
    holds: (x) => `regexp_full_match(${x}, '-?(0|[1-9][0-9]*)') AND try_cast(${x} AS BIGINT) IS NOT NULL`,
  },
  {
    type: 'DECIMAL(38,0)',
    holds: (x) => `regexp_full_match(${x}, '-?(0|[1-9][0-9]*)') AND try_cast(${x} AS DECIMAL(38,0)) IS NOT NULL`,
  },
  { type: 'DECIMAL(18,6)', holds: (x) => `regexp_full_match(${x}, '-?(0|[1-9][0-9]{0,11})(\\.[0-9]{1,6})?')` },
  {
    type: 'DOUBLE',
    holds: (x) =>
      `regexp_full_match(${x}, '-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?') AND length(regexp_replace(${x}, '[^0-9]', '', 'g')) <= 15 AND ${isInDoubles(x)}`,
  },
  { type: 'BOOLEAN', holds: (x) => `lower(${x}) IN ('true', 'false')` },
  {
    type: 'DATE',
    holds: (x) => `regexp_full_match(${x}, '[0-9]{4}-[0-9]{2}-[0-9]{2}') AND try_cast(${x} AS DATE) IS NOT NULL`,
  },
  {
    type: 'TIMESTAMP',
    holds: (x) =>
      `regexp_full_match(${x}, '[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,6})?)?Z?') AND try_cast(${x} AS TIMESTAMP) IS NOT NULL`,
  },
]

/** Neither so large nor so small that a double would be infinite, or zero. */
function isInDoubles(x: string): string {
  const size = `abs(try_cast(${x} AS DOUBLE))`
  return `(${size} BETWEEN 1e-290 AND 1e290 OR regexp_full_match(${x}, '-?[0.]+([eE].*)?'))`
}

/**
 * Every cell is read as text; a column gets a type only when every one of its values is one. A quoted empty cell is an
 * empty text among texts, and no value in a column of any other type.
 */
export async function csvColumns(
  connection: DuckDBConnection,
  path: string,
  previous: ConvertedColumn[] | null,
): Promise<Source> {
  const text = `read_csv(${quoteText(path)}, all_varchar = true, sample_size = -1, normalize_names = false, null_padding = false, allow_quoted_nulls = false)`
  const described = await connection.prepare(`SELECT * FROM ${text}`)
  const keys = Array.from({ length: described.columnCount }, (_, index) => described.columnName(index))
  const aliases = keys.map((_, index) => `c${index}`)
  const cells = `${text} AS cells(${aliases.join(', ')})`
  const checks = aliases.flatMap((alias) =>
    candidates.map(({ holds }) => `coalesce(bool_and(${holds(alias)}) FILTER (WHERE ${alias} <> ''), false)`),
  )
  const result = await connection.run(`SELECT count(*), ${checks.join(', ')} FROM ${cells}`)
  const [counted, ...verdicts] = (await result.getRows())[0] ?? []
  const before = new Map((previous ?? []).map((column) => [column.sourceKey, column]))
  const names = namesOf(keys, new Map([...before].map(([key, column]) => [key, column.name])))
  const columns = keys.map((key, index): ConvertedColumn => {
    const possible = candidates.filter((_, candidate) => verdicts[index * candidates.length + candidate] === true)
    const types = possible.map(({ type }) => type)
    const old = before.get(key)?.type
    const isEmpty = types.length === 0 && old !== undefined
    const type =
      old !== undefined && (types.includes(old) || old === 'VARCHAR' || isEmpty) ? old : (types[0] ?? 'VARCHAR')
    return { name: names.get(key) ?? key, type, sourceKey: key }
  })
  const list = columns.map(({ name, type }, index) => {
    return `${type === 'VARCHAR' ? `c${index}` : `CAST(nullif(c${index}, '') AS ${type})`} AS ${quoteName(name)}`
  })
  return { sql: `SELECT ${list.join(', ')} FROM ${cells}`, columns, rowCount: Number(counted) }
}
