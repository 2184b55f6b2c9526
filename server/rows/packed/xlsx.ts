import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import sax from 'sax'
import yauzl from 'yauzl'
import { Failure } from '../../failure.ts'
import { noMatch } from '../json/json-path.ts'
import { createRowWriter } from '../text/row-file.ts'
import { cellJson, dateFormats, type CellKind } from './xlsx-cells.ts'

export type XlsxOptions = {
  /** The name of a sheet; the first one without. */
  sheet?: string | undefined
  /** All parts that are read, unpacked. */
  maxBytes: number
  goOn?: (() => void) | undefined
}

const maxEntries = 10_000
const maxColumns = 16_384
const maxSheets = 10_000
const maxStyles = 65_536
/** Excel's own limit for a sheet, in rows times ten. */
const maxSharedTexts = 10_485_760
/** A few texts that are shared can stand in every cell: what is written is counted, too. */
const maxRowChars = 67_108_864
const maxNameChars = 1_048_576
/** Texts that cells share are held while the sheet is read. */
const maxSharedChars = 134_217_728

/**
 * The rows of a sheet of an Excel file as one object a line: the first row that holds something names the columns. Of a
 * formula its last result is read; nothing in the file is ever evaluated.
 */
export async function xlsxToLines(inputPath: string, outputPath: string, options: XlsxOptions): Promise<void> {
  const book = await openBook(inputPath, options)
  try {
    const sheets = await readSheets(book)
    const sheet = chosen(sheets.names, options.sheet)
    const shared = await readShared(book)
    const formats = await readFormats(book)
    await using file = await open(outputPath, 'w', 0o600)
    const writer = createRowWriter(file, 0)
    const rows = createRowMaker((line) => {
      if (writer.position() + line.length > options.maxBytes) throw tooLarge(options.maxBytes)
      writer.text(line)
    })
    const cells = createCellReader({ shared, formats, is1904: sheets.is1904, row: (row) => rows.take(row) })
    await book.walk(sheet.path, cells, async () => {
      if (writer.isFull()) await writer.drain()
    })
    await writer.drain()
  } finally {
    book.close()
  }
}

type Handlers = {
  opened: (name: string, attributes: Record<string, string>) => void
  onText?: (text: string) => void
  closed?: (name: string) => void
}
type Book = {
  has: (path: string) => boolean
  walk: (path: string, handlers: Handlers, drain?: () => Promise<void>) => Promise<void>
  close: () => void
}

async function openBook(path: string, { maxBytes, goOn }: XlsxOptions): Promise<Book> {
  const zip = await openZip(path)
  const entries = new Map<string, yauzl.Entry>()
  await new Promise<void>((resolve, reject) => {
    zip.on('entry', (entry: yauzl.Entry) => {
      entries.set(entry.fileName.replace(/^\//, ''), entry)
      if (entries.size > maxEntries) reject(unreadable('has too many parts'))
      else zip.readEntry()
    })
    zip.on('end', resolve)
    zip.on('error', (error: Error) => reject(unreadable(`is damaged: ${error.message}`)))
    zip.readEntry()
  })
  let unpackedBytes = 0

  async function walk(name: string, handlers: Handlers, drain?: () => Promise<void>): Promise<void> {
    const entry = entries.get(name)
    if (entry === undefined) throw unreadable(`lacks its part ${name}`)
    const parser = sax.parser(true, { xmlns: false })
    parser.onerror = (error) => {
      throw unreadable(`is damaged: ${error.message.split('\n', 1)[0] ?? ''}`)
    }
    parser.onopentag = ({ name: tag, attributes }) => handlers.opened(local(tag), attributes as Record<string, string>)
    parser.ontext = (text) => handlers.onText?.(text)
    parser.oncdata = (text) => handlers.onText?.(text)
    parser.onclosetag = (tag) => handlers.closed?.(local(tag))
    const decoder = new TextDecoder()
    try {
      for await (const piece of (await openEntry(zip, entry)) as AsyncIterable<Buffer>) {
        goOn?.()
        unpackedBytes += piece.length
        if (unpackedBytes > maxBytes) throw tooLarge(maxBytes)
        parser.write(decoder.decode(piece, { stream: true }))
        await drain?.()
      }
    } catch (error) {
      // Sizes and checksums that are not what the directory of the file says.
      throw error instanceof Failure || !(error instanceof Error) ? error : unreadable(`is damaged: ${error.message}`)
    }
    parser.write(decoder.decode()).close()
  }

  return { has: (name) => entries.has(name), walk, close: () => zip.close() }
}

function openZip(path: string): Promise<yauzl.ZipFile> {
  return new Promise((resolve, reject) => {
    yauzl.open(path, { lazyEntries: true, autoClose: false, validateEntrySizes: true }, (error, zip) => {
      if (error !== null) reject(unreadable(`cannot be opened: ${error.message}`))
      else resolve(zip)
    })
  })
}

function openEntry(zip: yauzl.ZipFile, entry: yauzl.Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error !== null) reject(unreadable(`is damaged: ${error.message}`))
      else resolve(stream)
    })
  })
}

/** Prefixes of names differ between the programs that write such files. */
function local(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

type Sheet = { name: string; path: string }

async function readSheets(book: Book): Promise<{ names: Sheet[]; is1904: boolean }> {
  if (!book.has('xl/workbook.xml')) throw unreadable('is no Excel workbook (.xlsx)')
  const targets = new Map<string, string>()
  await book.walk('xl/_rels/workbook.xml.rels', {
    opened: (name, { Id: id = '', Target: target = '' }) => {
      if (name === 'Relationship') targets.set(id, target.startsWith('/') ? target.slice(1) : `xl/${target}`)
    },
  })
  const names: Sheet[] = []
  let is1904 = false
  await book.walk('xl/workbook.xml', {
    opened(name, attributes) {
      if (name === 'workbookPr') is1904 = /^(1|true)$/.test(attributes['date1904'] ?? '')
      const [, id = ''] = Object.entries(attributes).find(([key]) => local(key) === 'id') ?? []
      if (names.length === maxSheets) throw unreadable(`has more than ${maxSheets} sheets`)
      if (name === 'sheet') names.push({ name: attributes['name'] ?? '', path: targets.get(id) ?? '' })
    },
  })
  return { names, is1904 }
}

function chosen(sheets: Sheet[], wanted: string | undefined): Sheet {
  const name = wanted?.trim() ?? ''
  const found = name === '' ? sheets[0] : sheets.find((sheet) => sheet.name === name)
  if (found !== undefined) return found
  throw noMatch(name, { steps: [name], matched: 0, kind: 'an object', keys: sheets.map((sheet) => sheet.name) })
}

async function readShared(book: Book): Promise<string[]> {
  const texts: string[] = []
  if (!book.has('xl/sharedStrings.xml')) return texts
  let chars = 0
  let isText = false
  let isPhonetic = false
  await book.walk('xl/sharedStrings.xml', {
    opened(name) {
      if (texts.length === maxSharedTexts) throw tooMuchText()
      if (name === 'si') texts.push('')
      if (name === 'rPh') isPhonetic = true
      isText = name === 't' && !isPhonetic
    },
    onText(text) {
      if (!isText || texts.length === 0) return
      texts[texts.length - 1] += text
      chars += text.length
      if (chars > maxSharedChars) throw tooMuchText()
    },
    closed(name) {
      if (name === 't') isText = false
      if (name === 'rPh') isPhonetic = false
    },
  })
  return texts
}

/** Which styles of cells show a date. */
async function readFormats(book: Book): Promise<CellKind[]> {
  const kinds: CellKind[] = []
  if (!book.has('xl/styles.xml')) return kinds
  const custom = new Map<string, string>()
  let isCellStyles = false
  await book.walk('xl/styles.xml', {
    opened(name, attributes) {
      if (name === 'numFmt') custom.set(attributes['numFmtId'] ?? '', attributes['formatCode'] ?? '')
      if (name === 'cellXfs') isCellStyles = true
      if (kinds.length > maxStyles || custom.size > maxStyles) throw unreadable(`has more than ${maxStyles} styles`)
      if (name === 'xf' && isCellStyles) kinds.push(dateFormats(attributes['numFmtId'] ?? '', custom))
    },
    closed: (name) => void (isCellStyles &&= name !== 'cellXfs'),
  })
  return kinds
}

type Cell = { column: number; json: string }
type CellOptions = { shared: string[]; formats: CellKind[]; is1904: boolean; row: (cells: Cell[]) => void }

function createCellReader({ shared, formats, is1904, row }: CellOptions): Handlers {
  let cells: Cell[] = []
  let chars = 0
  let column = -1
  let attributes: Record<string, string> = {}
  let text = ''
  let isValue = false
  return {
    opened(name, given) {
      if (name === 'row') {
        cells = []
        chars = 0
        column = -1
      }
      if (name === 'c') {
        attributes = given
        text = ''
        const letters = /^[A-Z]+/.exec(given['r'] ?? '')?.[0]
        column = letters === undefined ? column + 1 : columnOf(letters)
        if (column >= maxColumns) throw unreadable(`has more than ${maxColumns} columns`)
      }
      if (name === 'v' || name === 't') isValue = true
    },
    onText: (onText) => void (isValue && (text += onText)),
    closed(name) {
      if (name === 'v' || name === 't') isValue = false
      if (name === 'c') {
        const json = cellJson({
          type: attributes['t'] ?? 'n',
          text,
          shared,
          kind: formats[Number(attributes['s'])] ?? 'number',
          is1904,
        })
        chars += json?.length ?? 0
        if (chars > maxRowChars || cells.length > maxColumns) throw unreadable('holds a row of more than 64 MB')
        if (json !== null) cells.push({ column, json })
      }
      if (name === 'row' && cells.length > 0) row(cells)
    },
  }
}

function columnOf(letters: string): number {
  let column = 0
  for (let at = 0; at < letters.length; at += 1) column = column * 26 + letters.charCodeAt(at) - 64
  return column - 1
}

/** The first row names the columns; one without a name, or with the name of another, is called by its place. */
function createRowMaker(write: (line: string) => void) {
  let names: Map<number, string> | null = null
  /** Each name, with the number to try next where it comes once more. */
  const taken = new Map<string, number>()
  let nameChars = 0
  const nameOf = (wanted: string, column: number): string => {
    const base = wanted === '' ? `column_${column + 1}` : wanted
    let name = base
    let count = taken.get(base) ?? 1
    for (; taken.has(name); count += 1) name = `${base}_${count}`
    if (name !== base) taken.set(base, count)
    taken.set(name, 1)
    nameChars += name.length
    if (nameChars > maxNameChars) throw unreadable('has names of columns of more than a million letters')
    return name
  }
  return {
    take(cells: Cell[]): void {
      if (names === null) {
        names = new Map(cells.map(({ column, json }) => [column, nameOf(textOf(json), column)]))
        return
      }
      const known = names
      const fields = cells.map(({ column, json }) => {
        const name = known.get(column) ?? nameOf('', column)
        known.set(column, name)
        return `${JSON.stringify(name)}:${json}`
      })
      write(`{${fields.join(',')}}\n`)
    },
  }
}

function textOf(json: string): string {
  const value = JSON.parse(json) as unknown
  return (typeof value === 'string' ? value : json).trim()
}

function tooLarge(maxBytes: number): Failure {
  return unreadable(`unpacks to more than ${maxBytes} bytes, which is all that may be read`)
}

function tooMuchText(): Failure {
  return unreadable('holds more text than can be held while it is read')
}

function unreadable(what: string): Failure {
  return new Failure('upstream_error', { reason: 'not_tabular', message: `The Excel file ${what}.` })
}
