import { open, rename, rm, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import type { DuckDBConnection } from '@duckdb/node-api'
import { Failure } from '../../failure.ts'
import { createRowReader, normalise, type Learned, type Shape } from '../../rows/index.ts'
import { keptType, namesOf, typeOf, type Typed } from './column-types.ts'
import { csvColumns, type Source } from './convert-csv.ts'
import { isOutOfMemory } from './failed.ts'
import { withFiles } from './files.ts'
import { throwIfCancelled, type Cancellable } from './instances.ts'
import { createRewriter, needsRewrite } from './json-rewrite.ts'
import { eachLine } from './lines.ts'
import type {
  AnswerBody,
  Converted,
  ConvertCall,
  ConvertedColumn,
  ExecutorSettings,
  PageCall,
  PageRows,
} from './protocol.ts'
import { quoteText } from './sql-text.ts'

const rowGroupRows = 16_384
/** DuckDB's own default. It allocates a multiple of it, so it grows only with the longest line. */
const objectBytesMin = 16_777_216
const maxTopLevelKeys = 20_000
const maxThreads = 4
const maxDepth = 64
const wideColumns = 500

/**
 * The answer of an API, or rows of its pages, to Parquet without losing a value. The types come from looking at every
 * value, not at a sample; as many rows must come out as went in; the file appears under its name only when it is whole
 * and on disk.
 */
export async function convert(settings: ExecutorSettings, call: Cancellable, input: ConvertCall): Promise<Converted> {
  const { parquetPath, previousColumns } = input
  const paths = {
    rows: `${parquetPath}.rows`,
    temporary: `${parquetPath}.partial`,
    rewritten: `${parquetPath}.rewritten`,
  }
  try {
    const source = await rowsOf(input.source, call, paths.rows)
    const { rewritten, temporary } = paths
    const scanned =
      source.format === 'ndjson' ? await jsonColumns({ ...source, rewritten }, call, previousColumns) : null
    const threads = threadsFor(scanned?.columns.length ?? 0)
    return await withFiles({ ...settings, threads }, [source.path, temporary, rewritten], async (connection) => {
      call.interrupt = () => connection.interrupt()
      throwIfCancelled(call)
      const { sql, columns, rowCount } = scanned ?? (await csvColumns(connection, source.path, previousColumns))
      const expected = source.rowCount ?? rowCount
      const written = await copyRows(connection, { sql, columns, temporary })
      if (expected !== null && written !== expected) throw new Error(`${expected} rows went in and ${written} came out`)
      await moveWhole(temporary, parquetPath)
      const { size } = await stat(parquetPath)
      return { rowCount: written, sizeBytes: size, columns }
    })
  } finally {
    await Promise.all(Object.values(paths).map((path) => rm(path, { force: true })))
  }
}

async function copyRows(
  connection: DuckDBConnection,
  { sql, columns, temporary }: Pick<Source, 'sql' | 'columns'> & { temporary: string },
): Promise<number> {
  try {
    const result = await connection.run(
      `COPY (${sql}) TO ${quoteText(temporary)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows})`,
    )
    return Number(result.getChunk(0).getColumnVector(0).getItem(0))
  } catch (error) {
    throw columns.length > wideColumns && isOutOfMemory(error) ? tooWide(columns.length) : error
  }
}

/** Writes the rows of one page behind those of the pages before. */
export async function appendPage(call: Cancellable, { body, rowsPath, columns }: PageCall): Promise<PageRows> {
  const found = await normalise(body.path, rowsPath, { ...bodyOptions(body, call), append: true, columns })
  return { rowCount: found.rowCount, format: found.format, columns: found.columns }
}

/** Rows one a line, how many, and what they hold: `null` where that is not known yet. */
type RowFile = { path: string; format: 'ndjson' | 'csv'; rowCount: number | null; learned: Learned | null }

async function rowsOf(source: ConvertCall['source'], call: Cancellable, path: string): Promise<RowFile> {
  if (source.kind === 'ndjson') return { path: source.path, format: 'ndjson', rowCount: null, learned: null }
  if (source.kind === 'answer') return { path, ...(await normalise(source.path, path, bodyOptions(source, call))) }
  if (source.columns === undefined) return { path: source.path, format: 'csv', rowCount: null, learned: null }
  // A later page brought a column that the first line does not name yet.
  const options = {
    contentType: 'text/csv',
    columns: source.columns,
    maxDepth: 1,
    goOn: () => throwIfCancelled(call),
  }
  return { path, ...(await normalise(source.path, path, options)) }
}

function bodyOptions({ contentType, extractor, maxDepth }: AnswerBody, call: Cancellable) {
  return { contentType, path: extractor, maxDepth, goOn: () => throwIfCancelled(call) }
}

/** Every thread holds buffers for every column; a very wide table would fill the memory with them. */
function threadsFor(columnCount: number): number {
  return columnCount > wideColumns ? 1 : Math.min(maxThreads, availableParallelism())
}

/** A crash leaves either the whole file or none of that name. */
export async function moveWhole(from: string, to: string): Promise<void> {
  const file = await open(from, 'r')
  await file.sync()
  await file.close()
  await rename(from, to)
}

async function jsonColumns(
  source: RowFile & { rewritten: string },
  call: Cancellable,
  previous: ConvertedColumn[] | null,
): Promise<Source> {
  const { shape, rowCount, maxBytes } = await learn(source, call)
  if (shape.fields.size > maxTopLevelKeys) throw tooWide(shape.fields.size)
  const { typed, columns } = columnsOf(shape, previous)
  const rewrite = needsRewrite(typed)
  if (rewrite) await rewriteFile(source, call, typed)
  const path = rewrite ? source.rewritten : source.path
  if (columns.length === 0) {
    const rows = `SELECT NULL::VARCHAR AS "value" FROM range(${rowCount})`
    return { sql: rows, columns: [{ name: 'value', type: 'VARCHAR', sourceKey: 'value' }], rowCount }
  }
  const list = columns.map(({ name, type }) => `${quoteText(name)}: ${quoteText(type)}`).join(', ')
  const objectBytes = Math.max(objectBytesMin, maxBytes * 2)
  const options = `format = 'newline_delimited', columns = {${list}}, maximum_object_size = ${objectBytes}`
  return { sql: `SELECT * FROM read_json(${quoteText(path)}, ${options})`, columns, rowCount }
}

/** What the rows hold: as it was learned when they were made, or by reading them. */
async function learn({ path, learned, rowCount }: RowFile, call: Cancellable) {
  if (learned !== null && rowCount !== null) return { ...learned, rowCount }
  const { read, shape } = createRowReader(maxDepth)
  let maxBytes = 0
  const counted = await eachLine(path, call, (line) => {
    if (line.length > maxBytes) maxBytes = line.length
    read(line)
  })
  return { shape, maxBytes, rowCount: counted }
}

function tooWide(keys: number): Failure {
  return new Failure('upstream_error', {
    reason: 'not_tabular',
    message: `The rows have ${keys} different keys, too many for the columns of a table. Point responsePathExtractor at the list of rows inside the answer.`,
  })
}

/** Columns in the order their keys were first seen. An empty table keeps the columns it had. */
function columnsOf(shape: Shape, previous: ConvertedColumn[] | null): { typed: Typed; columns: ConvertedColumn[] } {
  const before = new Map((previous ?? []).map((column) => [column.sourceKey, column]))
  const keys = [...shape.fields.keys()]
  const given = new Map([...before].map(([key, column]) => [key, column.name]))
  const renames = namesOf(keys, given)
  const fields = new Map(
    [...shape.fields].map(([key, field]) => {
      const old = before.get(key)
      return [key, old === undefined ? typeOf(field) : keptType(field, old.type)]
    }),
  )
  const typed: Typed = { type: 'STRUCT', numbersAsText: false, renames, fields, items: null }
  if (keys.length === 0) return { typed, columns: previous ?? [] }
  const columns = keys.map((key) => {
    return { name: renames.get(key) ?? key, type: fields.get(key)?.type ?? 'VARCHAR', sourceKey: key }
  })
  return { typed, columns }
}

async function rewriteFile(paths: { path: string; rewritten: string }, call: Cancellable, typed: Typed): Promise<void> {
  const rewrite = createRewriter()
  const file = await open(paths.rewritten, 'w')
  const stream = file.createWriteStream({ highWaterMark: 1_048_576 })
  try {
    let failed: Error | null = null
    stream.on('error', (error) => {
      failed = error
    })
    await eachLine(paths.path, call, (line) => {
      if (failed !== null) throw failed
      stream.write(rewrite(line, typed))
      return stream.write('\n') ? undefined : drained(stream)
    })
  } finally {
    await new Promise<void>((resolve) => {
      stream.end(resolve)
    })
  }
}

function drained(stream: { once(event: 'drain' | 'close', listener: () => void): unknown }): Promise<void> {
  return new Promise((resolve) => {
    stream.once('drain', resolve)
    stream.once('close', resolve)
  })
}
