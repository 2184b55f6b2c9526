import { constants } from 'node:fs'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { Failure } from '../failure.ts'
import { charsetOf, delimiterOf, isBinary, kindOf, parseContentType } from './text/content.ts'
import { createCsvReader, type CsvRows } from './csv/csv.ts'
import { createCsvOutput } from './csv/csv-output.ts'
import { expandMembers, memberLead, withColumns } from './each-member.ts'
import { dropDuplicateKeys } from './json/json-repair.ts'
import { noMatch, parseExtractor, type JsonPath, type PathStep } from './json/json-path.ts'
import { createJsonScanner, type ScanOptions, type ScanResult } from './json/json-scan.ts'
import { createKeyShapes, type KeyShapes } from './json/key-shapes.ts'
import { createLineReader } from './text/lines.ts'
import { readResources, withResources } from './included.ts'
import { nameElements, namedLists, readNames } from './named-lists.ts'
import { createRowReader } from './json/row-reader.ts'
import { createRowWriter, mostRowBytes, pump } from './text/row-file.ts'
import { kinds } from './json/shape.ts'
import type { Shape } from './json/shape-tree.ts'
import { transcode, unescapeText } from './text/text-file.ts'
import { zipColumns } from './packed/zip.ts'

export type NormaliseOptions = {
  /** The `responsePathExtractor`; empty or absent for the whole response. */
  path?: string | undefined
  contentType?: string | null | undefined
  maxDepth: number
  chunkBytes?: number
  /** Asked between pieces; throws when nobody wants the rows any more. */
  goOn?: (() => void) | undefined
  /** At the end of what is there so far: whether there is more. For an input that is still being written. */
  more?: ((position: number) => Promise<boolean>) | undefined
  /** Write behind what is there: a later page of the same rows. */
  append?: boolean | undefined
  /** CSV: the columns of the pages before, or of all of them. Those of this file are found in them by name. */
  columns?: string[] | undefined
  /** CSV: rows alone, in the delimiter that they came with. */
  bare?: boolean | undefined
  /** CSV: write nothing where the rows of the input are regular as they stand; `isAsItCame` says so. */
  mayStay?: boolean | undefined
  /** Columns that every row begins with, their values as JSON. */
  lead?: Record<string, string> | undefined
  /** JSON:API: rows get the resources that the answer includes beside them. */
  included?: boolean | undefined
}

export type Normalised = {
  rowCount: number
  format: 'ndjson' | 'csv'
  /** How the rows came about. */
  shape: 'rows' | 'one_row' | 'zipped' | 'table' | 'scalar' | 'lines' | 'csv'
  /** The columns of CSV, as its first line names them. */
  columns: string[] | null
  /** The shape of the rows and the length of the longest, where they were learned on the way. */
  learned: Learned | null
  /** How CSV is written, and what its columns hold. */
  csv?: CsvFile
  /** The rows are those of the input, behind its first line where that has the names. Nothing was written. */
  isAsItCame?: boolean
}

export type CsvFile = Omit<CsvRows, 'rowCount' | 'columns' | 'cameWithHeaderBytes'> & { delimiter: string }

export type Learned = { shape: Shape; maxBytes: number }

type Run = {
  source: FileHandle
  rows: FileHandle
  /** Where the rows of this run start in the output. */
  base: number
  workPath: string
  options: NormaliseOptions
}

type Target = { steps: PathStep[]; path: JsonPath; documents: ScanOptions['documents']; from: number }

/** An object with more lists than this is a dictionary, not a table. */
const maxColumns = 20_000

/** A row with what it includes is one text. */
const maxRowBytes = 268_435_456

const headBytes = 16_384
/** The bytes that `{"value":…}` adds to a row that is a bare value. */
const wrapBytes = 10
const ordinaryChunkBytes = 524_288

/**
 * Turns the body of an answer into one row a line without ever holding it: JSON and NDJSON become NDJSON, CSV becomes
 * regular CSV. Values keep the bytes they were sent with.
 */
export async function normalise(inputPath: string, outputPath: string, options: NormaliseOptions): Promise<Normalised> {
  const path = parseExtractor(options.path ?? '')
  const workPath = `${outputPath}.work`
  const start = options.append === true ? 0 : constants.O_TRUNC
  await using input = await open(inputPath, 'r')
  await using rows = await open(outputPath, constants.O_RDWR | constants.O_CREAT | start, 0o600)
  try {
    const head = Buffer.alloc(headBytes)
    const { bytesRead } = await input.read(head, 0, headBytes, 0)
    const { kind, charset, markBytes, text } = readHead(head.subarray(0, bytesRead), options.contentType)
    await using decoded = charset === 'utf-8' ? null : await transcode(input, `${workPath}.utf8`, charset)
    const base = (await rows.stat()).size
    const source = decoded ?? input
    const run: Run = { source, rows, base, workPath, options }
    const from = decoded === null ? markBytes : 0
    const mayStay = options.mayStay === true && decoded === null
    if (kind === 'csv') return await runCsv(run, { from, text, path, mayStay })
    const documents = kind === 'lines' ? 'lines' : 'sniff'
    const target: Target = { steps: path.steps, path, documents, from }
    const came = path.each === undefined ? await runJson(run, target) : await runEach(run, target)
    const found = options.included === true ? await joinIncluded(run, target, came) : came
    return options.lead === undefined ? found : await leadRows(run, found, options.lead)
  } finally {
    await removeWork(workPath)
  }
}

function readHead(head: Buffer, contentType: string | null | undefined) {
  const charset = charsetOf(contentType, head)
  if (charset === null) {
    const named = parseContentType(contentType).parameters['charset'] ?? ''
    throw notTabular(`The external API says its answer is in the charset ${JSON.stringify(named)}, which is not known`)
  }
  const isWide = charset.startsWith('utf-16')
  if (!isWide && isBinary(head)) throw notTabular('The external API answered with binary content')
  const text = new TextDecoder(charset).decode(head, { stream: true })
  const kind = kindOf(contentType, text)
  if (kind === 'empty') throw notTabular('The external API answered with an empty body')
  if (kind === 'html') throw notTabular('The external API answered with an HTML page')
  if (kind === 'xml') throw notTabular('The external API answered with XML inside of something else', askForJson)
  if (kind === 'text' || kind === 'binary')
    throw notTabular('The external API answered with something that is no table')
  return { kind, charset, markBytes: head[0] === 0xef && charset === 'utf-8' ? 3 : 0, text }
}

const askForJson = 'Many APIs give JSON to who asks for it by a parameter such as format=json, or at another address.'
const checkTheCall = 'Check the URL, or whether the API needs a header or a login.'

function notTabular(what: string, hint = checkTheCall): Failure {
  const message = `${what}; rows come from JSON, NDJSON, CSV, Parquet, Excel or XML. ${hint}`
  return new Failure('upstream_error', { reason: 'not_tabular', message })
}

async function runJson(run: Run, target: Target, unwrap = target.path.text !== ''): Promise<Normalised> {
  const found = await scan(run, target, { emit: 'rows', file: run.rows, base: run.base })
  if (found.kind === 'string' && found.documents === 1 && unwrap) return await runText(run, target, found)
  if (unwrap && isNull(found)) return await noRows(run)
  const table = found.documents === 1 && found.kind === 'object' ? await runNamedLists(run, target, found) : null
  if (table !== null) return table
  const zipped = found.documents === 1 && found.holdsOnlyLists ? await runZip(run, target) : null
  if (zipped !== null) return zipped
  const shapes = { array: 'rows', object: 'one_row', string: 'scalar', scalar: 'scalar' } as const
  const shape = found.documents > 1 || target.documents === 'lines' ? 'lines' : shapes[found.kind]
  return { rowCount: found.rowCount, shape, format: 'ndjson', columns: null, learned: await settled(run, found) }
}

/** Many servers write an empty list as null. */
function isNull({ kind, documents, shapes }: Scanned): boolean {
  return kind === 'scalar' && documents === 1 && shapes.rows.fields.get('value')?.kinds === kinds.null
}

async function noRows(run: Run): Promise<Normalised> {
  await run.rows.truncate(run.base)
  return { rowCount: 0, shape: 'rows', format: 'ndjson', columns: null, learned: null }
}

/** Rows that repeat a key lose the earlier values; what was learned from those is given up with them. */
async function settled(run: Run, { shapes, isAgain, maxBytes }: Scanned): Promise<Learned | null> {
  const hasDuplicates = shapes.hasDuplicates()
  if (hasDuplicates) await repair(run)
  return hasDuplicates || isAgain ? null : { shape: shapes.rows, maxBytes: maxBytes + wrapBytes }
}

type Emit = {
  emit: ScanOptions['emit']
  file: FileHandle
  base: number
  column?: (name: string | null, at: number, before: number, lead: (text: string) => void) => void
}

type Scanned = ScanResult & { shapes: KeyShapes }

async function scan(run: Run, target: Target, { emit, file, base, column }: Emit): Promise<Scanned> {
  const shapes = createKeyShapes()
  const writer = createRowWriter(file, base)
  const scanner = createJsonScanner({
    steps: target.steps,
    exactKey:
      target.steps === target.path.steps && target.steps.length > 0 && emit !== 'members' ? target.path.text : null,
    pathText: target.path.text,
    emit,
    documents: target.documents,
    maxDepth: run.options.maxDepth,
    shapes,
    sink: {
      bytes: writer.bytes,
      restart: writer.restart,
      column: (name, before) => column?.(name, writer.position(), before, writer.text),
    },
  })
  const left = await pump(run.source, scanner.push, {
    from: target.from,
    chunkBytes: run.options.chunkBytes ?? ordinaryChunkBytes,
    afterEach: writer.drain,
    goOn: run.options.goOn,
    more: run.options.more,
  })
  const result = scanner.finish(left)
  await writer.finish()
  return { ...result, shapes }
}

/** A path through every member: those of the first `*` one a line, and then whatever the path finds in each. */
async function runEach(run: Run, target: Target): Promise<Normalised> {
  const { path } = target
  await using members = await open(`${run.workPath}.members`, 'w+', 0o600)
  const column = (name: string | null, _at: number, _before: number, lead: (text: string) => void) =>
    lead(memberLead(name))
  await scan(run, target, { emit: 'members', file: members, base: 0, column })
  const { rows, base } = run
  const { maxDepth, goOn } = run.options
  const { rowCount, hasDuplicates } = await expandMembers({ members, path, maxDepth, goOn, rows, base })
  if (hasDuplicates) await repair(run)
  return { rowCount, shape: 'rows', format: 'ndjson', columns: null, learned: null }
}

/** The path ends at, or leads through, a string: its text is JSON of its own. Where it is not, it is one value. */
async function runText(run: Run, target: Target, found: ScanResult): Promise<Normalised> {
  const textPath = `${run.workPath}.text`
  try {
    await using text = await unescapeText(run.rows, run.base, textPath)
    await run.rows.truncate(run.base)
    const inner = { ...target, steps: found.rest, documents: 'one', from: 0 } as const
    // Where the path goes on inside, it may end at one more string.
    return await runJson({ ...run, source: text, workPath: `${run.workPath}.in` }, inner, found.rest.length > 0)
  } catch (error) {
    const isNoJson = error instanceof Failure && error.code === 'upstream_error'
    if (!isNoJson) throw error
    const miss = { steps: target.path.steps, matched: target.path.steps.length - found.rest.length, kind: 'text' }
    if (found.rest.length > 0) throw noMatch(target.path.text, miss)
    await run.rows.truncate(run.base)
    return await runJson(run, target, false)
  } finally {
    await removeWork(run.workPath)
  }
}

async function removeWork(path: string): Promise<void> {
  await Promise.all(
    ['utf8', 'text', 'columns', 'rows', 'members', 'included'].map((end) => rm(`${path}.${end}`, { force: true })),
  )
}

/** An object of lists becomes rows where all are of one length; `null` where they are not. */
async function runZip(run: Run, target: Target): Promise<Normalised | null> {
  await using columns = await open(`${run.workPath}.columns`, 'w+', 0o600)
  const starts = new Map<string, number>()
  const counts: number[] = []
  const found = await scan(run, target, {
    emit: 'columns',
    file: columns,
    base: 0,
    column(name, at, before) {
      starts.set(name ?? '', at)
      counts.push(before)
    },
  })
  const lengths = counts.map((before, index) => (counts[index + 1] ?? found.rowCount) - before)
  const [rowCount] = lengths
  if (rowCount === undefined || starts.size > maxColumns || lengths.some((length) => length !== rowCount)) return null
  await run.rows.truncate(run.base)
  found.maxBytes = await zipColumns({ columns, starts, rowCount, rows: run.rows, base: run.base })
  return { rowCount, shape: 'zipped', format: 'ndjson', columns: null, learned: await settled(run, found) }
}

/** An object that names its columns once and lists the values of each row; `null` where it is none. */
async function runNamedLists(run: Run, target: Target, found: Scanned): Promise<Normalised | null> {
  const keys = namedLists(found.shapes.rows)
  if (keys === null || found.isAgain || found.shapes.hasDuplicates()) return null
  await using lists = await open(`${run.workPath}.columns`, 'w+', 0o600)
  const part = (key: string): Target => ({ ...target, steps: [...target.steps, key] })
  try {
    await scan(run, part(keys.columns), { emit: 'rows', file: lists, base: 0 })
    const names = await readNames(lists, maxColumns)
    if (names === null) return null
    await lists.truncate(0)
    const { rowCount } = await scan(run, part(keys.rows), { emit: 'rows', file: lists, base: 0 })
    await run.rows.truncate(run.base)
    await nameElements({ lists, names, rows: run.rows, base: run.base })
    return { rowCount, shape: 'table', format: 'ndjson', columns: null, learned: null }
  } catch (error) {
    // The object itself was found by a key with dots in it, which a longer path does not find.
    if (error instanceof Failure && error.reason === 'extractor_no_match') return null
    throw error
  }
}

/** Puts the resources that rows name before their own columns. */
async function joinIncluded(run: Run, target: Target, found: Normalised): Promise<Normalised> {
  await using list = await open(`${run.workPath}.included`, 'w+', 0o600)
  const path = parseExtractor('included')
  try {
    await scan(run, { ...target, path, steps: path.steps }, { emit: 'rows', file: list, base: 0 })
  } catch (error) {
    // A page whose rows name none includes none.
    if (error instanceof Failure && error.reason === 'extractor_no_match') return found
    throw error
  }
  const resources = await readResources(list)
  const most = Math.min(maxRowBytes, await mostRowBytes(run.source))
  await rewrite(run, (line) => withResources(line, resources, most))
  return { ...found, learned: null }
}

/** Puts columns before those of every row. */
async function leadRows(run: Run, found: Normalised, lead: Record<string, string>): Promise<Normalised> {
  const columns = Object.entries(lead).map(([name, json]) => `${JSON.stringify(name)}:${json}`)
  const { read, shape } = createRowReader(run.options.maxDepth)
  await rewrite(run, (line) => {
    read(line)
    return Buffer.concat(withColumns(line, columns.join(',')))
  })
  const taken = Object.keys(lead).find((name) => shape.fields.has(name))
  if (taken === undefined) return { ...found, learned: null }
  const message = `The rows have a column ${taken} of their own. Choose another name for the key with for_each.keys.`
  throw new Failure('invalid_request', { reason: 'invalid_field', message })
}

async function repair(run: Run): Promise<void> {
  await rewrite(run, dropDuplicateKeys)
}

async function rewrite({ source, rows, base, workPath }: Run, change: (line: Buffer) => Buffer): Promise<void> {
  await using copy = await open(`${workPath}.rows`, 'w+', 0o600)
  const lines = createLineReader(rows, { from: base })
  const writer = createRowWriter(copy, 0, await mostRowBytes(source))
  for (;;) {
    const line = lines.next() ?? (await lines.read())
    if (line === null) break
    writer.copy(change(line))
    writer.text('\n')
    if (writer.isFull()) await writer.drain()
  }
  await writer.drain()
  await rows.truncate(base)
  const back = createRowWriter(rows, base)
  const push = (buffer: Buffer, end: number) => {
    back.bytes(buffer, 0, end)
    return end
  }
  await pump(copy, push, { from: 0, chunkBytes: ordinaryChunkBytes, afterEach: back.drain })
}

type CsvTarget = { from: number; text: string; path: JsonPath; mayStay: boolean }

async function runCsv(run: Run, { from, text, path, mayStay }: CsvTarget): Promise<Normalised> {
  if (run.options.lead !== undefined) throw notTabular('One request for each row was answered with CSV', askForJson)
  if (path.steps.length > 0 || path.each !== undefined)
    throw noMatch(path.text, { steps: path.steps, matched: 0, kind: 'CSV' })
  // Spreadsheets tell each other the delimiter in a line before the header.
  const [hint = '', hinted] = /^sep=([,;|\t])\r?\n/i.exec(text) ?? []
  const delimiter = hinted ?? delimiterOf(text)
  const start = from + hint.length
  const { contentType, columns: known, chunkBytes = ordinaryChunkBytes, goOn, more, bare = false } = run.options
  const hasHeader = parseContentType(contentType).parameters['header'] !== 'absent'
  const outDelimiter = bare ? delimiter : ','
  const out = createCsvOutput(run, mayStay && bare && start === 0)
  const reader = createCsvReader({
    delimiter,
    outDelimiter,
    hasHeader,
    writesHeader: !bare,
    known,
    isLater: run.base > 0,
    out,
  })
  await pump(run.source, reader.push, { from: start, chunkBytes, afterEach: out.drain, goOn, more })
  const { rowCount, columns, cameWithHeaderBytes, ...found } = reader.finish()
  const isAsItCame = await out.finish(cameWithHeaderBytes)
  const headerBytes = isAsItCame ? cameWithHeaderBytes : found.headerBytes
  const csv = { ...found, headerBytes, delimiter: outDelimiter }
  return { rowCount, columns, shape: 'csv', format: 'csv', learned: null, csv, isAsItCame }
}
