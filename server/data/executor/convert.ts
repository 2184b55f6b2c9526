import { open, rename, rm, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { Failure } from '../../failure.ts'
import { driftOf, keptType, namesOf, typeOf, type Typed } from './column-types.ts'
import { csvColumns } from './convert-csv.ts'
import { withFiles } from './files.ts'
import { throwIfCancelled, type Cancellable } from './instances.ts'
import { createRewriter, needsRewrite } from './json-rewrite.ts'
import { createShapeScanner, newShape, type Shape } from './json-shape.ts'
import { eachLine } from './lines.ts'
import type { ConvertCall, Converted, ConvertedColumn, ExecutorSettings } from './protocol.ts'
import { quoteText } from './sql-text.ts'

const rowGroupRows = 16_384
/** DuckDB's own default. It allocates a multiple of it, so it grows only with the longest line. */
const objectBytesMin = 16_777_216
const topLevelKeysMax = 20_000
const threadsMax = 4
const wideColumns = 500

/** A source ready to copy: SQL that reads it, its columns, and how many rows it must give. */
export type Source = { sql: string; columns: ConvertedColumn[]; rowCount: number | null }

/**
 * NDJSON or CSV to Parquet without losing a value. The types come from looking at every value, not at a sample; as many
 * rows must come out as went in; the file appears under its name only when it is whole and on disk.
 */
export async function convert(settings: ExecutorSettings, call: Cancellable, input: ConvertCall): Promise<Converted> {
  const { source, parquetPath, previousColumns } = input
  const temporary = `${parquetPath}.partial`
  const rewritten = `${parquetPath}.rewritten`
  try {
    const scanned =
      source.kind === 'ndjson' ? await jsonColumns({ path: source.path, rewritten }, call, previousColumns) : null
    const threads = threadsFor(scanned?.columns.length ?? 0)
    return await withFiles({ ...settings, threads }, [source.path, temporary, rewritten], async (connection) => {
      call.interrupt = () => connection.interrupt()
      throwIfCancelled(call)
      const { sql, columns, rowCount } = scanned ?? (await csvColumns(connection, source.path, previousColumns))
      const result = await connection.run(
        `COPY (${sql}) TO ${quoteText(temporary)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows})`,
      )
      const written = Number(result.getChunk(0).getColumnVector(0).getItem(0))
      if (rowCount !== null && written !== rowCount) throw new Error(`${rowCount} rows went in and ${written} came out`)
      await moveWhole(temporary, parquetPath)
      const { size } = await stat(parquetPath)
      return { rowCount: written, sizeBytes: size, columns, drift: driftOf(previousColumns, columns) }
    })
  } finally {
    await rm(temporary, { force: true })
    await rm(rewritten, { force: true })
  }
}

/** Every thread holds buffers for every column; a very wide table would fill the memory with them. */
function threadsFor(columnCount: number): number {
  return columnCount > wideColumns ? 1 : Math.min(threadsMax, availableParallelism())
}

/** A crash leaves either the whole file or none of that name. */
export async function moveWhole(from: string, to: string): Promise<void> {
  const file = await open(from, 'r')
  await file.sync()
  await file.close()
  await rename(from, to)
}

async function jsonColumns(
  paths: { path: string; rewritten: string },
  call: Cancellable,
  previous: ConvertedColumn[] | null,
): Promise<Source> {
  const shape = newShape()
  const { scan } = createShapeScanner()
  let longest = objectBytesMin / 2
  const rowCount = await eachLine(paths.path, call, (line) => {
    if (line.length > longest) longest = line.length
    scan(line, shape)
    if (shape.fields.length > topLevelKeysMax) throw tooWide()
  })
  const { typed, columns } = columnsOf(shape, previous)
  const rewrite = needsRewrite(typed)
  if (rewrite) await rewriteFile(paths, call, typed)
  const path = rewrite ? paths.rewritten : paths.path
  if (columns.length === 0) {
    const rows = `SELECT NULL::VARCHAR AS "value" FROM range(${rowCount})`
    return { sql: rows, columns: [{ name: 'value', type: 'VARCHAR', sourceKey: 'value' }], rowCount }
  }
  const list = columns.map(({ name, type }) => `${quoteText(name)}: ${quoteText(type)}`).join(', ')
  const options = `format = 'newline_delimited', columns = {${list}}, maximum_object_size = ${longest * 2}`
  return { sql: `SELECT * FROM read_json(${quoteText(path)}, ${options})`, columns, rowCount }
}

function tooWide(): Failure {
  return new Failure('upstream_error', {
    reason: 'not_tabular',
    message: `The rows have more than ${topLevelKeysMax} different keys.`,
  })
}

/** Columns in the order their keys were first seen. An empty table keeps the columns it had. */
function columnsOf(shape: Shape, previous: ConvertedColumn[] | null): { typed: Typed; columns: ConvertedColumn[] } {
  const before = new Map((previous ?? []).map((column) => [column.sourceKey, column]))
  const keys = shape.fields.map(({ key }) => key)
  const given = new Map([...before].map(([key, column]) => [key, column.name]))
  const renames = namesOf(keys, given)
  const fields = new Map(
    shape.fields.map((field) => {
      const old = before.get(field.key)
      return [field.key, old === undefined ? typeOf(field.shape) : keptType(field.shape, old.type)]
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
