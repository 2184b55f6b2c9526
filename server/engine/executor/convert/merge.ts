import { rm, stat } from 'node:fs/promises'
import type { DuckDBConnection } from '@duckdb/node-api'
import { Failure } from '../../../failure.ts'
import { moveWhole, parquetOptions } from './convert.ts'
import { withFiles } from '../instance/file-database.ts'
import type { Cancellable } from '../instance/instances.ts'
import { partFiles, partedFiles, pastPositions, positionColumn, rowColumn } from '../instance/parted.ts'
import { rowsOf } from '../profile/profile.ts'
import type {
  CompactCall,
  Compacted,
  ExecutorSettings,
  MergeCall,
  Merged,
  LocalPartedTable,
  TablePart,
} from '../socket/protocol.ts'
import { readAs } from '../instance/read-as.ts'
import { quoteName, quoteText } from '../instance/sql-text.ts'

/** Rows farther apart than this are not looked at to see whether they came again unchanged: that would read them all. */
const comparedSpan = 200_000
const position = quoteName(positionColumn)
const rowNumber = quoteName(rowColumn)

/**
 * Brings the rows of a load into a table without touching what is stored: a new part with those that are new or changed,
 * and the positions of those that they replace or delete. What it reads of the table are its key columns.
 */
export function mergeRows(settings: ExecutorSettings, call: Cancellable, input: MergeCall): Promise<Merged> {
  const { rowsPath, partPath, pastPath, table } = input
  const temporary = `${partPath}.partial`
  const reachable = [rowsPath, temporary, pastPath, ...(table === null ? [] : partFiles(table))]
  const natives = (table?.parts ?? []).flatMap(({ nativePath }) =>
    // The engine looks for a log beside it.
    nativePath === undefined ? [] : [nativePath, `${nativePath}.wal`],
  )
  return withFiles(settings, [...reachable, ...natives], async (connection) => {
    call.interrupt = () => connection.interrupt()
    try {
      return await merge(connection, input, temporary)
    } finally {
      await rm(temporary, { force: true })
    }
  })
}

async function merge(connection: DuckDBConnection, input: MergeCall, temporary: string): Promise<Merged> {
  const { key, rowsPath, partPath, pastPath, table, numbered } = input
  const { lastValue, isOrdered } = await cursorOf(connection, input)
  if (key.length === 0) {
    const rowCount = await count(connection, `read_parquet(${quoteText(rowsPath)})`)
    return { rowCount, pastRows: 0, past: null, lastValue, isOrdered, sizeBytes: null }
  }
  await choose(connection, input)
  if (table !== null) await meet(connection, input, table)
  const rowCount = await count(connection, 'chosen WHERE NOT is_gone')
  const pastRows = await count(connection, 'new_past')
  const past = pastRows === 0 || table === null ? null : await writePast(connection, table, pastPath)
  const list = numbered ? `* RENAME (${rowNumber} AS ${position})` : `* EXCLUDE (${rowNumber})`
  const rows = `SELECT ${list} FROM ${numberedRows(rowsPath)} SEMI JOIN (SELECT number FROM chosen WHERE NOT is_gone) AS kept ON ${rowNumber} = kept.number`
  await connection.run(`COPY (${rows}) TO ${quoteText(temporary)} (${parquetOptions})`)
  await moveWhole(temporary, partPath)
  const { size: sizeBytes } = await stat(partPath)
  return { rowCount, pastRows, past, lastValue, isOrdered, sizeBytes }
}

function numberedRows(path: string): string {
  return `(SELECT *, row_number() OVER () - 1 AS ${rowNumber} FROM read_parquet(${quoteText(path)}))`
}

/** Among rows with one key the newest by the cursor counts, and among equal ones the last; with `append` the first. */
async function choose(
  connection: DuckDBConnection,
  { key, marker, cursor, rowsPath, keepsFirst, refusesTwins }: MergeCall,
): Promise<void> {
  const keys = key.map(({ name }, index) => `${quoteName(name)} AS k${index}`)
  const gone =
    marker === null
      ? 'false'
      : `coalesce(CAST(${quoteName(marker.column)} AS VARCHAR) = ${quoteText(marker.value)}, false)`
  const age = cursor === null ? 'NULL' : quoteName(cursor.column)
  await connection.run(
    `CREATE TEMP TABLE chosen AS SELECT ${keys.join(', ')}, ${gone} AS is_gone, ${age} AS age, row_number() OVER () - 1 AS number
     FROM read_parquet(${quoteText(rowsPath)})`,
  )
  const names = key.map((_, index) => `k${index}`)
  const [[nulls = 0] = []] = await rowsOf(
    connection,
    `SELECT count(*) FROM chosen WHERE ${names.map((name) => `${name} IS NULL`).join(' OR ')}`,
  )
  if (Number(nulls) > 0) throw withoutKey(Number(nulls), { key, isBuilt: refusesTwins })
  const order = keepsFirst ? 'number' : 'age DESC NULLS LAST, number DESC'
  const [[rows = 0, distinct = 0] = []] = await rowsOf(
    connection,
    `SELECT count(*), count(DISTINCT (${names.join(', ')})) FROM chosen`,
  )
  if (rows !== distinct) {
    if (refusesTwins) throw twins(Number(rows), { distinct: Number(distinct), key })
    await connection.run(
      `CREATE OR REPLACE TEMP TABLE chosen AS SELECT * FROM chosen QUALIFY row_number() OVER (PARTITION BY ${names.join(', ')} ORDER BY ${order}) = 1`,
    )
  }
  await connection.run('CREATE TEMP TABLE new_past (place INTEGER, position BIGINT, number BIGINT)')
}

/** Finds the rows that are there already under the same keys. */
async function meet(connection: DuckDBConnection, input: MergeCall, table: LocalPartedTable): Promise<void> {
  for (const [place, part] of table.parts.entries()) {
    const same = input.key.map(({ name, type }, index) => {
      const at = table.columns.findIndex((column) => column.name === name)
      const stored = part.columns[at]
      const theirs =
        stored === null || stored === undefined ? 'NULL' : readAs(`part.${quoteName(stored.name)}`, stored.type, type)
      return `${theirs} = chosen.k${index}`
    })
    const from = await sourceOf(connection, part, place)
    const past = part.hasPast
      ? ` ANTI JOIN (${pastPositions(table, place)}) AS past ON part.${position} = past.position`
      : ''
    if (input.keepsFirst) {
      await connection.run(
        `DELETE FROM chosen WHERE number IN (SELECT chosen.number FROM ${from} AS part JOIN chosen ON ${same.join(' AND ')})`,
      )
      continue
    }
    await connection.run(
      `INSERT INTO new_past SELECT ${place}, part.${position}, chosen.number FROM ${from} AS part JOIN chosen ON ${same.join(' AND ')}${past}`,
    )
    await forgetUnchanged(connection, { input, table, place, from })
  }
  // Nothing is there to delete.
  await connection.run('DELETE FROM chosen WHERE is_gone AND number NOT IN (SELECT number FROM new_past)')
}

type Met = { input: MergeCall; table: LocalPartedTable; place: number; from: string }

/** A row that came again as it was, such as the last one of an API that says "since" for "after", changes nothing. */
async function forgetUnchanged(connection: DuckDBConnection, { input, table, place, from }: Met): Promise<void> {
  const [[low, high] = []] = await rowsOf(
    connection,
    `SELECT min(position), max(position) FROM new_past WHERE place = ${place}`,
  )
  if (low === null || low === undefined || Number(high) - Number(low) > comparedSpan) return
  const part = table.parts[place]
  const brought = new Map(input.columns.map((column) => [column.name, column]))
  const equal = table.columns.map(({ name, type }, index) => {
    const stored = part?.columns[index]
    const ours = brought.get(name)
    const value = (of: string, column: { name: string; type: string } | null | undefined) =>
      column === null || column === undefined ? 'NULL' : readAs(`${of}.${quoteName(column.name)}`, column.type, type)
    return `${value('part', stored)} IS NOT DISTINCT FROM ${value('came', ours)}`
  })
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE unchanged AS SELECT chosen.number FROM ${from} AS part
     JOIN new_past ON part.${position} = new_past.position AND new_past.place = ${place}
     JOIN chosen ON chosen.number = new_past.number AND NOT chosen.is_gone
     JOIN ${numberedRows(input.rowsPath)} AS came ON came.${rowNumber} = chosen.number
     WHERE part.${position} BETWEEN ${Number(low)} AND ${Number(high)} AND ${equal.join(' AND ')}`,
  )
  await connection.run('DELETE FROM new_past WHERE number IN (SELECT number FROM unchanged)')
  await connection.run('DELETE FROM chosen WHERE number IN (SELECT number FROM unchanged)')
}

/** The file to read a part from: its copy, in which keys are found sooner, where there is one that opens. */
async function sourceOf(connection: DuckDBConnection, part: TablePart, place: number): Promise<string> {
  const { parquetPath, nativePath } = part
  const file = `read_parquet(${quoteText(parquetPath)})`
  if (nativePath === undefined) return file
  try {
    await connection.run(`ATTACH ${quoteText(nativePath)} AS native_${place} (READ_ONLY)`)
    return `native_${place}.data`
  } catch {
    return file
  }
}

async function writePast(
  connection: DuckDBConnection,
  { pastPath: before }: LocalPartedTable,
  path: string,
): Promise<Merged['past']> {
  const old = before === undefined ? '' : `SELECT place, position FROM read_parquet(${quoteText(before)}) UNION ALL `
  await connection.run(`CREATE TEMP TABLE all_past AS ${old}SELECT place, position FROM new_past`)
  return copyPast(connection, path)
}

async function copyPast(connection: DuckDBConnection, path: string): Promise<{ rows: number; inPlaces: number[] }> {
  const sorted = 'SELECT place, position FROM all_past ORDER BY place, position'
  await connection.run(`COPY (${sorted}) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION zstd)`)
  const found = await rowsOf(connection, 'SELECT place, count(*) FROM all_past GROUP BY place ORDER BY place')
  return {
    rows: found.reduce((sum, [, rows]) => sum + Number(rows), 0),
    inPlaces: found.map(([place]) => Number(place)),
  }
}

/** The largest value of the cursor column, that of earlier loads included, and whether the rows came in its order. */
async function cursorOf(
  connection: DuckDBConnection,
  { cursor, rowsPath }: MergeCall,
): Promise<Pick<Merged, 'lastValue' | 'isOrdered'>> {
  if (cursor === null) return { lastValue: null, isOrdered: true }
  const { column, type, before } = cursor
  const x = quoteName(column)
  const old = before === null ? 'NULL' : `try_cast(${quoteText(before)} AS ${type})`
  const [[value] = []] = await rowsOf(
    connection,
    `SELECT CAST(greatest(max(${x}), ${old}) AS VARCHAR) FROM read_parquet(${quoteText(rowsPath)})`,
  )
  const [[disorder = 0] = []] = cursor.checkOrder
    ? await rowsOf(
        connection,
        `SELECT count(*) FROM (SELECT ${x} < lag(${x}) OVER (ORDER BY ${rowNumber}) AS falls FROM ${numberedRows(rowsPath)}) WHERE falls`,
      )
    : []
  return { lastValue: typeof value === 'string' ? value : null, isOrdered: Number(disorder) === 0 }
}

async function count(connection: DuckDBConnection, from: string): Promise<number> {
  const [[found = 0] = []] = await rowsOf(connection, `SELECT count(*) FROM ${from}`)
  return Number(found)
}

function withoutKey(rows: number, { key, isBuilt }: { key: MergeCall['key']; isBuilt: boolean }): Failure {
  const names = key.map(({ name }) => name).join(', ')
  return new Failure(isBuilt ? 'invalid_request' : 'upstream_error', {
    reason: 'missing_field',
    message: `${rows} ${rows === 1 ? 'row has' : 'rows have'} no value in the primary key (${names}), so that nobody can tell which row they are. Nothing was stored.`,
  })
}

function twins(rows: number, { distinct, key }: { distinct: number; key: MergeCall['key'] }): Failure {
  const names = key.map(({ name }) => name).join(', ')
  return new Failure('invalid_request', {
    reason: 'invalid_sql',
    message: `The SQL gives ${rows} rows with ${distinct} values of the primary key (${names}), which must be one row each. Nothing was stored.`,
  })
}

/** Puts parts of a table together: the same rows in one file. */
export function compactParts(settings: ExecutorSettings, call: Cancellable, input: CompactCall): Promise<Compacted> {
  const { table, partPath, pastPath, from, numbered } = input
  const temporary = `${partPath}.partial`
  return withFiles(settings, [...partFiles(table), temporary, pastPath], async (connection) => {
    call.interrupt = () => connection.interrupt()
    try {
      const rows = partedFiles(table, from)
      const list = numbered ? `*, row_number() OVER () - 1 AS ${position}` : '*'
      await connection.run(`COPY (SELECT ${list} FROM (${rows})) TO ${quoteText(temporary)} (${parquetOptions})`)
      await moveWhole(temporary, partPath)
      const rowCount = await count(connection, `(${rows})`)
      const { size: sizeBytes } = await stat(partPath)
      const hasEarlierPast = table.parts.some(({ hasPast }, place) => hasPast && place < from)
      if (!hasEarlierPast) return { rowCount, sizeBytes, past: null }
      await connection.run(
        `CREATE TEMP TABLE all_past AS SELECT place, position FROM read_parquet(${quoteText(table.pastPath ?? '')}) WHERE place < ${from}`,
      )
      return { rowCount, sizeBytes, past: await copyPast(connection, pastPath) }
    } finally {
      await rm(temporary, { force: true })
    }
  })
}
