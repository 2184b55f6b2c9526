import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import type { DuckDBConnection } from '@duckdb/node-api'
import { Failure } from '../../../failure.ts'
import { createRowReader, normalise, type Normalised, type Shape } from '../../../rows/index.ts'
import { followBody } from './arriving.ts'
import { isUnseen, namesOf, typeAfter, type Typed } from './column-types.ts'
import { underContract, type CopySource, type WrittenRows } from './contract.ts'
import { csvSource } from './convert-csv.ts'
import { isOutOfMemory } from '../instance/failed.ts'
import { withFiles } from '../instance/file-database.ts'
import { readableBody } from './readable-body.ts'
import { throwIfCancelled, type Cancellable } from '../instance/instances.ts'
import { createRewriter, needsRewrite } from './json-rewrite.ts'
import { editLines, eachLine } from './lines.ts'
import { lookAtRows } from './look.ts'
import { createReshaper, reshapedCsv } from './reshape.ts'
import type {
  AnswerBody,
  Contract,
  Converted,
  ConvertCall,
  ConvertedColumn,
  ExecutorSettings,
  RowsPageCall,
  PageRows,
  WrittenTable,
} from '../socket/protocol.ts'
import { quoteName, quoteText } from '../instance/sql-text.ts'

const rowGroupRows = 16_384
export const parquetOptions = `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows}`
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
  const { parquetPath, rejectedPath, contract } = input
  const paths = {
    rows: `${parquetPath}.rows`,
    temporary: `${parquetPath}.partial`,
    rewritten: `${parquetPath}.rewritten`,
    reshaped: `${parquetPath}.reshaped`,
  }
  try {
    const came = await rowsOf(settings, call, input.source, paths.rows)
    const file = await reshapedRows(came, call, { contract, path: paths.reshaped })
    const source =
      input.source.kind === 'table'
        ? tableSource(input.source)
        : await sourceOf(file, call, { rewritten: paths.rewritten, contract })
    const threads = threadsFor(source.columns.length)
    const reachable = [
      file.path,
      paths.temporary,
      paths.rewritten,
      ...(rejectedPath === undefined ? [] : [rejectedPath]),
    ]
    return await withFiles({ ...settings, threads }, reachable, async (connection) => {
      call.interrupt = () => connection.interrupt()
      throwIfCancelled(call)
      const written = await underContract(connection, source, contract)
      // Rows that are as they are to be need not be written twice.
      const isWritten = input.source.kind === 'table' && written.sql === source.plain
      if (isWritten) await rename(file.path, paths.temporary)
      const rowCount = isWritten ? source.rowCount : await copyRows(connection, written, paths.temporary)
      const expected = source.rowCount
      if (rowCount === null || (expected !== null && rowCount !== expected))
        throw new Error(`${expected} rows went in and ${rowCount} came out`)
      if (written.rejected !== null && rejectedPath !== undefined) {
        await connection.run(
          `COPY (${written.rejected}) TO ${quoteText(rejectedPath)} (FORMAT parquet, COMPRESSION zstd)`,
        )
      }
      const { columns, mismatches } = written
      const { look } = input
      const looked = look && (await lookAtRows(connection, { source, columns, path: paths.temporary }, look))
      await moveWhole(paths.temporary, parquetPath)
      const { size: sizeBytes } = await stat(parquetPath)
      const isOneObject = file.shape === 'one_row'
      return { rowCount, sizeBytes, columns, mismatches, isOneObject, ...(looked && { looked }) }
    })
  } finally {
    await Promise.all(Object.values(paths).map((path) => rm(path, { force: true })))
  }
}

async function copyRows(
  connection: DuckDBConnection,
  { sql, columns }: Pick<WrittenRows, 'sql' | 'columns'>,
  temporary: string,
): Promise<number> {
  try {
    const result = await connection.run(`COPY (${sql}) TO ${quoteText(temporary)} (${parquetOptions})`)
    return Number(result.getChunk(0).getColumnVector(0).getItem(0))
  } catch (error) {
    throw columns.length > wideColumns && isOutOfMemory(error) ? tooWide(columns.length) : error
  }
}

/** Writes the rows of one page behind those of the pages before. */
export async function appendPage(
  settings: ExecutorSettings,
  call: Cancellable,
  { body: given, rowsPath, columns, lead }: RowsPageCall,
): Promise<PageRows> {
  await using body = await readableBody(settings, call, given, `${rowsPath}.body`)
  const from = await stat(rowsPath).then(
    ({ size }) => size,
    () => 0,
  )
  const found = await normalise(body.path, rowsPath, { ...bodyOptions(body, call), append: true, columns, lead })
  const { rowCount, format, csv } = found
  const digest = await digestOf(rowsPath, from + (csv?.headerBytes ?? 0))
  return { rowCount, format, columns: found.columns, digest, isOneObject: found.shape === 'one_row' }
}

async function digestOf(path: string, start: number): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(path, { start }) as AsyncIterable<Buffer>) hash.update(piece)
  return hash.digest('base64')
}

/** Rows one a line, and what is known of them: nothing where they were gathered from pages. */
type RowFile = Pick<Normalised, 'format' | 'shape' | 'csv' | 'columns' | 'learned'> & {
  path: string
  rowCount: number | null
}

async function rowsOf(
  settings: ExecutorSettings,
  call: Cancellable,
  source: ConvertCall['source'],
  path: string,
): Promise<RowFile> {
  if (source.kind === 'ndjson') {
    const shape = source.isOneObject === true ? 'one_row' : 'rows'
    return { path: source.path, format: 'ndjson', shape, rowCount: null, learned: null, columns: null }
  }
  if (source.kind === 'table') {
    const { path: written, rowCount } = source
    return { path: written, format: 'ndjson', shape: 'rows', rowCount, learned: null, columns: null }
  }
  if (source.kind === 'answer') {
    const more = source.wholeMark === undefined ? undefined : await followBody(source, source.wholeMark, call)
    await using body = await readableBody(settings, call, source, `${path}.body`)
    // The unpacked file is gone when the rows are read.
    const mayStay = body.path === source.path
    const found = await normalise(body.path, path, { ...bodyOptions(body, call), bare: true, mayStay, more })
    return { path: found.isAsItCame === true ? body.path : path, ...found }
  }
  const goOn = () => throwIfCancelled(call)
  // A later page may have brought columns that the first line does not name yet.
  const options = { contentType: 'text/csv', columns: source.columns, maxDepth: 1, bare: true, mayStay: true, goOn }
  const found = await normalise(source.path, path, options)
  return { path: found.isAsItCame === true ? source.path : path, ...found }
}

/** Rows of JSON as they are to be stored; those of CSV are reshaped where they are read. */
async function reshapedRows(
  file: RowFile,
  call: Cancellable,
  { contract, path }: { contract: Contract | null; path: string },
): Promise<RowFile> {
  if (contract?.reshape === undefined || file.csv !== undefined) return file
  const edit = createReshaper(contract.reshape)
  await editLines({ from: file.path, to: path }, call, (line) => edit(line.toString()))
  return { ...file, path, learned: null }
}

async function sourceOf(
  file: RowFile,
  call: Cancellable,
  { rewritten, contract }: { rewritten: string; contract: Contract | null },
): Promise<CopySource> {
  const { path, rowCount, csv, columns } = file
  if (csv !== undefined && columns !== null) {
    const source = csvSource({ path, rowCount: rowCount ?? 0, csv, columns }, contract)
    return contract?.reshape === undefined ? source : reshapedCsv(source, contract.reshape)
  }
  return jsonSource({ ...file, rewritten }, call, contract)
}

/** Rows that have types, as the engine gave them. */
function tableSource({ path, rowCount, columns: found }: WrittenTable & { path: string }): CopySource {
  const columns = found.map(({ name, type }): ConvertedColumn => ({ name, type, sourceKey: name }))
  const rows = `read_parquet(${quoteText(path)})`
  const text = (index: number): string => textOf(columns[index]?.type ?? 'VARCHAR', `c${index}`)
  return {
    columns,
    rowCount,
    plain: `SELECT * FROM ${rows}`,
    from: () => `${rows} AS rows(${columns.map((_, index) => `c${index}`).join(', ')})`,
    json: (index) => `to_json(c${index})`,
    text,
    raw: (index) => `(SELECT ${quoteName(columns[index]?.name ?? '')}::VARCHAR AS raw FROM ${rows})`,
  }
}

function bodyOptions({ contentType, extractor, included, maxDepth }: AnswerBody, call: Cancellable) {
  return { contentType, path: extractor, included, maxDepth, goOn: () => throwIfCancelled(call) }
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

async function jsonSource(
  file: RowFile & { rewritten: string },
  call: Cancellable,
  contract: Contract | null,
): Promise<CopySource> {
  const { shape, rowCount, maxBytes } = await learn(file, call)
  if (shape.fields.size > maxTopLevelKeys) throw tooWide(shape.fields.size)
  const { typed, columns } = columnsOf(shape, contract)
  const rewrite = needsRewrite(typed)
  if (rewrite) {
    const rewriter = createRewriter()
    await editLines({ from: file.path, to: file.rewritten }, call, (line) => rewriter(line, typed))
  }
  const path = rewrite ? file.rewritten : file.path
  const objectBytes = Math.max(objectBytesMin, maxBytes * 2)
  const json = (index: number): string => `to_json(c${index})`
  // As it came: a row that was rewritten has other names.
  const raw = (index: number): string =>
    `(SELECT json_extract_string(json, ${quoteText(`$.${JSON.stringify(columns[index]?.sourceKey ?? '')}`)}) AS raw
      FROM read_ndjson_objects(${quoteText(file.path)}, maximum_object_size = ${objectBytes}))`
  const text = (index: number): string => textOf(columns[index]?.type ?? 'VARCHAR', `c${index}`)
  if (shape.fields.size === 0) {
    const some = columns.length > 0 ? columns : [{ name: 'value', type: 'VARCHAR', sourceKey: 'value' }]
    const nulls = (named: (name: string, index: number) => string) =>
      `SELECT ${some.map(({ name, type }, index) => `CAST(NULL AS ${type}) AS ${named(name, index)}`).join(', ')} FROM range(${rowCount})`
    const from = () => `(${nulls((_, index) => `c${index}`)})`
    return { columns: some, rowCount, plain: nulls(quoteName), from, json, text, raw }
  }
  const list = columns.map(({ name, type }) => `${quoteText(name)}: ${quoteText(type)}`).join(', ')
  const options = `format = 'newline_delimited', columns = {${list}}, maximum_object_size = ${objectBytes}`
  const rows = `read_json(${quoteText(path)}, ${options})`
  const from = () => `${rows} AS rows(${columns.map((_, index) => `c${index}`).join(', ')})`
  return { columns, rowCount, plain: `SELECT * FROM ${rows}`, from, json, text, raw }
}

/** A value as text: a word without the quotes that it has in JSON. */
function textOf(type: string, x: string): string {
  if (type === 'VARCHAR') return x
  if (type === 'JSON') return `json_extract_string(${x}, '$')`
  return /[\])]$/.test(type) && !type.startsWith('DECIMAL') ? `to_json(${x})::VARCHAR` : `${x}::VARCHAR`
}

/** The shape of the rows: as it was learned when they were made, or by reading them. */
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
function columnsOf(shape: Shape, contract: Contract | null): { typed: Typed; columns: ConvertedColumn[] } {
  const before = new Map((contract?.columns ?? []).map((column) => [column.sourceKey, column]))
  const keys = [...shape.fields.keys()]
  const given = new Map([...before].map(([key, column]) => [key, column.name]))
  const renames = namesOf(keys, given)
  const fields = new Map(
    [...shape.fields].map(([key, field]) => [key, typeAfter(field, before.get(key)?.type ?? null)]),
  )
  const typed: Typed = { type: 'STRUCT', numbersAsText: false, renames, fields, items: null }
  if (keys.length === 0) return { typed, columns: keptColumns(contract) }
  const columns = keys.map((key): ConvertedColumn => {
    const field = shape.fields.get(key)
    const isUntyped = (before.get(key)?.type ?? null) === null && (field === undefined || isUnseen(field))
    const type = fields.get(key)?.type ?? 'VARCHAR'
    return { name: renames.get(key) ?? key, type, sourceKey: key, ...(isUntyped && { untyped: true }) }
  })
  return { typed, columns }
}

function keptColumns(contract: Contract | null): ConvertedColumn[] {
  return (contract?.columns ?? []).map(({ name, type, sourceKey }) => {
    return { name, type: type ?? 'VARCHAR', sourceKey, ...(type === null && { untyped: true }) }
  })
}
