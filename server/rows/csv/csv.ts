import { Failure } from '../../failure.ts'
import { newCell, noteCell, noteQuotes, type CellShape } from './csv-cells.ts'
import { carriageReturn, createRegularReader, lineFeed, quote } from './csv-regular.ts'

/** A record that is still open after so many bytes has lost its closing quote. */
const maxRecord = 16_777_216

const nothing: Buffer = Buffer.alloc(0)

type CsvOptions = {
  delimiter: string
  /** Between the fields that are written. */
  outDelimiter: string
  hasHeader: boolean
  /** For a file that others are joined to: with the names of the columns, and one line end whatever comes. */
  writesHeader: boolean
  /** Columns that are there already: fields go where their names are, and new names behind them. */
  known?: string[] | undefined
  /** A later page: its header is not written again. */
  isLater: boolean
  out: CsvOutput
}

export type CsvOutput = {
  /** Takes a piece as it is; it stays untouched until the rows of this call are written. */
  bytes: (buffer: Buffer, start: number, end: number) => void
  write: (text: string) => void
  /** From here on the rows are not what stands in the file behind its first line. */
  differ: () => void
  /** Whether the last row may lack its line end, as it does in many files. */
  mayEndBare: () => boolean
}

export type CsvRows = {
  rowCount: number
  columns: string[]
  /** The kinds of values in each column, in the order of `columns`. */
  cells: CellShape[]
  /** The length of the longest record. */
  maxBytes: number
  /** A quoted field goes over several lines. */
  hasLineBreaks: boolean
  newline: '\n' | '\r\n'
  /** The length of the line with the names, as it was written. */
  headerBytes: number
  /** The length of the line with the names, as it came. */
  cameWithHeaderBytes: number
}

/**
 * Reads CSV in pieces and writes it regular: double quotes, one line end, every row as wide as the header. Short rows are
 * filled up, blank lines left out, quotes made uniform; what is regular already passes through as it came. A quoted
 * empty field stays quoted: it is an empty text, not an absent one. On the way it learns what each column holds.
 */
// Over 70 lines: every byte passes here, and its states share one cursor.
export function createCsvReader(options: CsvOptions) {
  const { delimiter, outDelimiter, hasHeader, writesHeader, known, isLater, out } = options
  const separator = delimiter.charCodeAt(0)
  const mustRewrite = delimiter !== outDelimiter
  /** Above all that means something: most bytes of most files are, which one look tells. */
  const highest = Math.max(separator, quote)
  const needsQuotes = new RegExp(`["\r\n${outDelimiter === '|' ? '\\|' : outDelimiter}]`)
  let columns: string[] | null = null
  let width = 0
  /** Where each field goes; null while every one stays in its place. */
  let places: number[] | null = null
  let cells: CellShape[] = []
  let newline: '\n' | '\r\n' = '\n'
  /** Facts of the records so far. */
  const seen = { line: 1, rowCount: 0, maxBytes: 0, hasLineBreaks: false }
  let regular: ReturnType<typeof createRegularReader> | null = null
  /** The record before was as it has to be; so is the next one, most likely. */
  let isRegular = true
  let headerBytes = 0
  let cameWithHeaderBytes = 0
  /** Bytes of the records that were read to their end in the pieces before. */
  let readBytes = 0
  let carry = nothing
  /** The fields of the record under the cursor: where they begin and end, without their quotes. */
  let starts = new Int32Array(64)
  let stops = new Int32Array(64)
  /** 0 bare, 1 quoted, 2 quoted with doubled quotes inside, 3 bare with a quote in it. */
  let marks = new Uint8Array(64)
  let count = 0

  function addField(start: number, stop: number, mark: number): void {
    if (count === starts.length) {
      starts = grown(starts)
      stops = grown(stops)
      marks = Uint8Array.from({ length: count * 2 }, (_, index) => marks[index] ?? 0)
    }
    starts[count] = start
    stops[count] = stop
    marks[count] = mark
    count += 1
  }

  const textOf = (data: Buffer, index: number): string => {
    const text = data.toString('utf8', starts[index], stops[index])
    return marks[index] === 2 ? text.replaceAll('""', '"') : text
  }

  function begin(names: string[]): void {
    const own = uniqueNames(names)
    columns = known === undefined ? own : [...new Set([...known, ...own])]
    const all = columns
    width = isLater ? own.length : columns.length
    places = own.every((name, index) => all[index] === name) ? null : own.map((name) => all.indexOf(name))
    cells = columns.map(newCell)
    if (isLater || !writesHeader) return
    const header = `${columns.map((name) => quoted(name)).join(outDelimiter)}${newline}`
    headerBytes = Buffer.byteLength(header)
    out.write(header)
  }

  /** Where rows may pass as they came, once it is known what a row is. */
  function regularReader() {
    const mayPass = columns !== null && places === null && !mustRewrite && width === columns.length
    return mayPass ? createRegularReader({ separator, newline, cells, seen }) : null
  }

  /** A later page may come without a header: what names none of the columns, and is as wide, is a row. */
  function isHeader(names: string[]): boolean {
    if (!hasHeader) return false
    return (
      !isLater || known === undefined || names.length !== known.length || names.some((name) => known.includes(name))
    )
  }

  const quoted = (text: string): string => (needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

  /** The record as a row; answers whether it may pass as it came. */
  function takeRow(data: Buffer): boolean {
    if (count > width) {
      throw new Failure('upstream_error', {
        reason: 'not_tabular',
        message: `The CSV of the external API has ${count} fields in line ${seen.line}, but its header has ${width}. The first line has to name the columns.`,
      })
    }
    seen.rowCount += 1
    let passes = places === null && !mustRewrite && count === columns?.length
    for (let index = 0; index < count; index += 1) {
      const mark = marks[index] as number
      const start = starts[index] as number
      const stop = stops[index] as number
      const cell = cells[places === null ? index : (places[index] ?? index)]
      if (mark === 3) passes = false
      if (cell === undefined || (start === stop && mark === 0)) continue
      if (start === stop) cell.hasQuotedEmpty = true
      else if (mark > 1) noteQuotes(cell)
      else noteCell(cell, data, start, stop)
    }
    return passes
  }

  function writeRow(data: Buffer): void {
    const placed = Array.from({ length: columns?.length ?? 0 }, () => '')
    for (let index = 0; index < count; index += 1) {
      const text = textOf(data, index)
      placed[places?.[index] ?? index] = text === '' && marks[index] === 1 ? '""' : quoted(text)
    }
    out.write(`${placed.join(outDelimiter)}${newline}`)
  }

  /** The kind of a record; `passes` where its bytes may be handed on as they came, with its line end. */
  function take(data: Buffer, ending: string | null): 'passes' | 'row' | 'header' | 'nothing' {
    if (count === 1 && starts[0] === stops[0] && marks[0] === 0) return 'nothing'
    if (columns === null) {
      if (ending === '\r\n' && !writesHeader) newline = ending
      const names = Array.from({ length: count }, (_, index) => textOf(data, index).trim())
      if (isHeader(names)) {
        begin(names)
        return 'header'
      }
      begin(hasHeader ? (known ?? names) : names.map((_, index) => `column_${index + 1}`))
    }
    const isEnded = ending === newline || (ending === null && out.mayEndBare())
    return takeRow(data) && isEnded ? 'passes' : 'row'
  }

  /** One field from `at`; answers where it ends, or -1 when it may go on in the next piece. */
  function field(data: Buffer, at: number, last: boolean): number {
    if (data[at] === quote) {
      let close = data.indexOf(quote, at + 1)
      let mark = 1
      while (close >= 0 && data[close + 1] === quote) {
        mark = 2
        close = data.indexOf(quote, close + 2)
      }
      if (close < 0 && last) throw unclosed(seen.line)
      // A quote at the very end may be the first half of a doubled one.
      if (close < 0 || (close + 1 >= data.length && !last)) return -1
      const next = data[close + 1]
      if (next === undefined || next === separator || next === lineFeed || next === carriageReturn) {
        addField(at + 1, close, mark)
        if (!seen.hasLineBreaks) seen.hasLineBreaks = hasBreak(data, at, close)
        return close + 1
      }
    }
    let end = at
    let mark = 0
    for (; end < data.length; end += 1) {
      const byte = data[end] as number
      if (byte > highest) continue
      if (byte === separator || byte === lineFeed || byte === carriageReturn) break
      if (byte === quote) mark = 3
    }
    if (end === data.length && !last) return -1
    addField(at, end, mark)
    return end
  }

  /** Answers how many bytes of the piece were read; those behind them belong to a record that is cut off. */
  function push(piece: Buffer, length: number, last: boolean): number {
    const carried = carry.length
    const data = carry.length === 0 ? piece.subarray(0, length) : Buffer.concat([carry, piece.subarray(0, length)])
    let at = 0
    let recordStart = 0
    /** The start of bytes that pass as they came and are not handed on yet. */
    let spanStart = 0
    const handOn = (): void => {
      if (recordStart > spanStart) out.bytes(data, spanStart, recordStart)
    }
    const endAt = (end: number, ending: string | null): void => {
      const next = end + (ending?.length ?? 0)
      if (next - recordStart > seen.maxBytes) seen.maxBytes = next - recordStart
      const taken = take(data, ending)
      isRegular = taken === 'passes' || taken === 'header'
      if (taken !== 'passes') {
        handOn()
        const isFirst = readBytes + recordStart === 0
        if (taken === 'header') cameWithHeaderBytes = next - recordStart
        if (taken !== 'header' || !isFirst || seen.hasLineBreaks) out.differ()
        if (taken === 'row') writeRow(data)
        spanStart = next
      }
      count = 0
      seen.line += 1
      at = next
      recordStart = next
    }
    while (at < data.length) {
      if (at === recordStart && isRegular) {
        regular ??= regularReader()
        at = regular?.read(data, at) ?? at
        recordStart = at
        if (at === data.length) break
      }
      const end = field(data, at, last)
      if (end < 0) break
      const mark = data[end]
      if (mark === carriageReturn && end + 1 >= data.length && !last) break
      if (mark === separator) {
        at = end + 1
        if (at >= data.length && last) addField(at, at, 0)
        if (at < data.length || last) continue
        break
      }
      endAt(end, mark === undefined ? null : mark === lineFeed ? '\n' : data[end + 1] === lineFeed ? '\r\n' : '\r')
    }
    if (last && count > 0) endAt(data.length, null)
    handOn()
    // A record that is cut off starts over with the next piece; one that is longer than a piece grows here.
    count = 0
    readBytes += recordStart
    const isLong = recordStart <= carried && !last
    carry = isLong ? Buffer.from(data.subarray(recordStart)) : nothing
    if (carry.length > maxRecord) throw unclosed(seen.line)
    return isLong ? length : recordStart - carried
  }

  function finish(): CsvRows {
    if (columns === null) {
      throw new Failure('upstream_error', { reason: 'not_tabular', message: 'The CSV of the external API is empty.' })
    }
    const { rowCount, maxBytes, hasLineBreaks } = seen
    return { rowCount, columns, cells, maxBytes, hasLineBreaks, newline, headerBytes, cameWithHeaderBytes }
  }

  return { push, finish }
}

function grown(values: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(values.length * 2)
  larger.set(values)
  return larger
}

function hasBreak(data: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (data[at] === lineFeed || data[at] === carriageReturn) return true
  return false
}

/** `name`, `name_1` for keys that differ only in case; a nameless column is called by its place. */
function uniqueNames(names: string[]): string[] {
  const taken = new Set<string>()
  return names.map((given, index) => {
    const base = given === '' ? `column_${index + 1}` : given
    let name = base
    for (let suffix = 1; taken.has(name.toLowerCase()); suffix += 1) name = `${base}_${suffix}`
    taken.add(name.toLowerCase())
    return name
  })
}

function unclosed(line: number): Failure {
  return new Failure('upstream_error', {
    reason: 'transfer_error',
    message: `The CSV of the external API breaks off inside a quoted field of line ${line}.`,
  })
}
