import type { DuckDBConnection } from '@duckdb/node-api'
import { withFiles } from '../instance/file-database.ts'
import { throwIfCancelled, withStatement, type Cancellable } from '../instance/instances.ts'
import { looksLike } from './looks-like.ts'
import { positionColumn } from '../instance/parted.ts'
import { partsOf } from './parts.ts'
import type {
  Column,
  ColumnProfile,
  DistinctCall,
  DistinctValues,
  ExecutorSettings,
  Profile,
} from '../socket/protocol.ts'
import { quoteName, quoteText } from '../instance/sql-text.ts'
import { typeName } from '../instance/values.ts'

/** Up to here distinct values are counted, beyond it estimated. */
const maxExactRows = 200_000
const maxTopValues = 10
const maxBins = 20
const maxSample = 500
const maxValueChars = 200
/** Columns beyond this get counts only: a table of thousands of columns is described in seconds, not minutes. */
const maxDetailedColumns = 200

/** The profile of each column of a file. */
export function profile(
  settings: ExecutorSettings,
  call: Cancellable,
  { parquetPath }: { parquetPath: string },
): Promise<Profile> {
  return withFiles(settings, [parquetPath], async (connection) => {
    call.interrupt = () => connection.interrupt()
    const table = `read_parquet(${quoteText(parquetPath)})`
    const columns = await tableColumns(connection, table)
    const rowCount = await rowCountOf(connection, table)
    const profiles: ColumnProfile[] = []
    for await (const { from, columns: part } of partsOf(connection, { table, columns, rowCount })) {
      throwIfCancelled(call)
      const looked = { connection, table: from, rowCount }
      for (const counted of await countColumns(looked, part)) {
        throwIfCancelled(call)
        profiles.push(
          profiles.length < maxDetailedColumns && !isNested(counted)
            ? await detailColumn(looked, counted)
            : { ...counted, topValues: [], histogram: [], looksLike: null },
        )
      }
    }
    return { rowCount, columns: profiles }
  })
}

type Table = { connection: DuckDBConnection; table: string; rowCount: number }
type Counted = Omit<ColumnProfile, 'topValues' | 'histogram' | 'looksLike'>

function isNested({ type }: Column): boolean {
  return /\[|STRUCT|MAP|JSON|UNION|BLOB/.test(type)
}

const countsPerColumn = 4

async function countColumns({ connection, table, rowCount }: Table, columns: Column[]): Promise<Counted[]> {
  const isExact = rowCount <= maxExactRows
  const counts = columns.map((column) => {
    const x = quoteName(column.name)
    const nested = isNested(column)
    const key = nested ? `${x}::VARCHAR` : x
    const distinct = isExact ? `count(DISTINCT ${key})` : `approx_count_distinct(${key})`
    const bounds = nested
      ? 'NULL, NULL'
      : `left(min(${x})::VARCHAR, ${maxValueChars}), left(max(${x})::VARCHAR, ${maxValueChars})`
    return `count(${x}), ${distinct}, ${bounds}`
  })
  const [found = []] = await rowsOf(connection, `SELECT ${counts.join(', ')} FROM ${table}`)
  return columns.map((column, index) => {
    const [present, distinctCount, min, max] = found.slice(index * countsPerColumn, (index + 1) * countsPerColumn)
    return {
      ...column,
      nullCount: rowCount - Number(present ?? 0),
      distinctCount: Math.min(Number(distinctCount ?? 0), Number(present ?? 0)),
      distinctIsExact: isExact,
      min: textOrNull(min),
      max: textOrNull(max),
    }
  })
}

async function detailColumn({ connection, table, rowCount }: Table, counted: Counted): Promise<ColumnProfile> {
  const frequent = await frequentValues(connection, table, { column: counted.name, cap: maxSample })
  return {
    ...counted,
    topValues: frequent.slice(0, maxTopValues),
    histogram: await histogramOf(connection, table, counted),
    looksLike: looksLike(
      counted,
      rowCount,
      frequent.map(({ value }) => value),
    ),
  }
}

/** Equal steps between the least and the largest value; times are seconds since 1970. */
async function histogramOf(
  connection: DuckDBConnection,
  table: string,
  { name, type }: Column,
): Promise<ColumnProfile['histogram']> {
  const isTime = /^(DATE|TIMESTAMP)/.test(type)
  if (!isTime && !/^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL)/.test(type)) return []
  const x = isTime ? 'epoch(cell)' : 'cell::DOUBLE'
  const numbers = `SELECT ${x} AS x FROM ${cellsOf(table, name)} WHERE isfinite(cell${isTime ? '' : '::DOUBLE'})`
  const rows = await rowsOf(
    connection,
    `WITH numbers AS (${numbers}), span AS (SELECT min(x) AS low, max(x) AS high FROM numbers)
     SELECT low, high, least(${maxBins - 1}, floor((x - low) / nullif(high - low, 0) * ${maxBins})) AS bin, count(*)
     FROM numbers, span GROUP BY ALL ORDER BY bin`,
  )
  const [low, high] = (rows[0] ?? []).map(Number)
  if (low === undefined || high === undefined) return []
  if (low === high) return [{ from: low, to: high, count: Number(rows[0]?.[3] ?? 0) }]
  const counts = new Map(rows.map((row) => [Number(row[2]), Number(row[3])]))
  const step = (high - low) / maxBins
  return Array.from({ length: maxBins }, (_, bin) => {
    return { from: low + bin * step, to: low + (bin + 1) * step, count: counts.get(bin) ?? 0 }
  })
}

/** The values of each named column by how often they occur, at most `cap` of one. */
export function distinctValues(
  settings: ExecutorSettings,
  call: Cancellable,
  { parquetPath, columns, cap }: DistinctCall,
): Promise<DistinctValues[]> {
  return withFiles(settings, [parquetPath], async (connection) => {
    call.interrupt = () => connection.interrupt()
    const table = `read_parquet(${quoteText(parquetPath)})`
    const named = columns.map((name) => ({ name }))
    const found: DistinctValues[] = []
    for await (const part of partsOf(connection, {
      table,
      columns: named,
      rowCount: await rowCountOf(connection, table),
    })) {
      for (const { name } of part.columns) {
        throwIfCancelled(call)
        const values = await frequentValues(connection, part.from, { column: name, cap: cap + 1 })
        found.push({ values: values.slice(0, cap), capped: values.length > cap })
      }
    }
    return found
  })
}

async function frequentValues(
  connection: DuckDBConnection,
  table: string,
  { column, cap }: { column: string; cap: number },
) {
  const rows = await rowsOf(
    connection,
    `SELECT cell::VARCHAR, count(*) FROM ${cellsOf(table, column)}
     WHERE cell IS NOT NULL AND length(cell::VARCHAR) <= ${maxValueChars} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${cap}`,
  )
  return rows.map(([value, count]) => ({ value: storable(String(value)), count: Number(count) }))
}

/** One column under a name of ours, with no other beside it: no column of someone's can be taken for it. */
function cellsOf(table: string, column: string): string {
  return `(SELECT ${quoteName(column)} FROM ${table}) AS cells(cell)`
}

/** PostgreSQL keeps no NUL in a text. The rows keep theirs; what is said about them shows a mark instead. */
function storable(text: string): string {
  return text.replaceAll('\0', '\u2400')
}

export async function tableColumns(connection: DuckDBConnection, table: string): Promise<Column[]> {
  const all = await withStatement(connection, `SELECT * FROM ${table}`, (statement) =>
    Array.from({ length: statement.columnCount }, (_, index) => {
      return { name: statement.columnName(index), type: typeName(statement.columnType(index)) }
    }),
  )
  // Ours, not the table's.
  return all.filter(({ name }) => name !== positionColumn)
}

async function rowCountOf(connection: DuckDBConnection, table: string): Promise<number> {
  const [counted] = await rowsOf(connection, `SELECT count(*) FROM ${table}`)
  return Number(counted?.[0] ?? 0)
}

export async function rowsOf(connection: DuckDBConnection, sql: string): Promise<unknown[][]> {
  return (await connection.run(sql)).getRows()
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? storable(value) : null
}
