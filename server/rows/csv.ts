import { Failure } from '../failure.ts'

/** A record that is still open after so many characters has lost its closing quote. */
const maxRecord = 16_777_216

type CsvOptions = {
  delimiter: string
  hasHeader: boolean
  /** Columns that are there already: fields go where their names are, and new names behind them. */
  known?: string[] | undefined
  /** A later page: its header is not written again. */
  isLater: boolean
  write: (text: string) => void
}

/**
 * Reads CSV in pieces and writes it regular, comma, double quotes, one header line: short rows are filled up, blank lines left out, line ends and quotes made
 * uniform. A quoted empty field stays quoted: it is an empty text, not an absent one.
 */
// Over 70 lines: every byte passes here, and its states share one cursor.
export function createCsvReader({ delimiter, hasHeader, known, isLater, write }: CsvOptions) {
  const stop = new RegExp(`[${delimiter === '|' ? '\\|' : delimiter}\r\n]`, 'g')
  let columns: string[] | null = null
  let width = 0
  /** Where each field goes; null while every one stays in its place. */
  let places: number[] | null = null
  let record: string[] = []
  let line = 1
  let rowCount = 0
  let carry = ''

  function begin(names: string[]): void {
    const own = uniqueNames(names)
    columns = known === undefined ? own : [...new Set([...known, ...own])]
    const all = columns
    width = isLater ? own.length : columns.length
    places = own.every((name, index) => all[index] === name) ? null : own.map((name) => all.indexOf(name))
    if (!isLater) write(`${columns.map(quoteField).join(',')}\n`)
  }

  /** A later page may come without a header: what names none of the columns, and is as wide, is a row. */
  function isHeader(names: string[]): boolean {
    if (!hasHeader) return false
    return (
      !isLater || known === undefined || names.length !== known.length || names.some((name) => known.includes(name))
    )
  }

  function endRecord(): void {
    const fields = record
    record = []
    if (fields.length === 1 && fields[0] === '') return
    if (columns === null) {
      const names = fields.map((field) => unquote(field).trim())
      if (isHeader(names)) return begin(names)
      begin(hasHeader ? (known ?? names) : fields.map((_, index) => `column_${index + 1}`))
    }
    if (fields.length > width) {
      throw new Failure('upstream_error', {
        reason: 'not_tabular',
        message: `The CSV of the external API has ${fields.length} fields in line ${line}, but its header has ${width}. The first line has to name the columns.`,
      })
    }
    writeRow(fields)
    rowCount += 1
  }

  function writeRow(fields: string[]): void {
    const all = columns?.length ?? 0
    if (places === null) return write(`${fields.join(',')}${','.repeat(all - fields.length)}\n`)
    const placed = Array.from({ length: all }, () => '')
    for (const [index, field] of fields.entries()) placed[places[index] ?? index] = field
    write(`${placed.join(',')}\n`)
  }

  /** One field from `at`; answers where it ends, or -1 when it may go on in the next piece. */
  function field(text: string, at: number, last: boolean): number {
    if (text[at] === '"') {
      let close = text.indexOf('"', at + 1)
      while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
      if (close < 0 && last) throw unclosed(line)
      // A quote at the very end may be the first half of a doubled one.
      if (close < 0 || (close + 1 >= text.length && !last)) return -1
      const next = text[close + 1]
      if (next === undefined || next === delimiter || next === '\n' || next === '\r') {
        record.push(text.slice(at, close + 1))
        return close + 1
      }
    }
    stop.lastIndex = at
    const end = stop.exec(text)?.index ?? text.length
    if (end === text.length && !last) return -1
    record.push(quoteField(text.slice(at, end)))
    return end
  }

  function push(piece: string, last: boolean): void {
    const text = carry + piece
    let at = 0
    let recordStart = 0
    while (at < text.length) {
      const end = field(text, at, last)
      if (end < 0) break
      const mark = text[end]
      if (mark === '\r' && end + 1 >= text.length && !last) break
      if (mark === delimiter) {
        at = end + 1
        if (at >= text.length && last) record.push('')
        if (at < text.length || last) continue
        break
      }
      endRecord()
      line += 1
      at = mark === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1
      recordStart = at
    }
    if (last) {
      if (record.length > 0) endRecord()
      return
    }
    // A record that is cut off starts over with the next piece.
    record = []
    carry = text.slice(recordStart)
    if (carry.length > maxRecord) throw unclosed(line)
  }

  function finish(): { rowCount: number; columns: string[] } {
    if (columns === null) {
      throw new Failure('upstream_error', { reason: 'not_tabular', message: 'The CSV of the external API is empty.' })
    }
    return { rowCount, columns }
  }

  return { push, finish }
}

function quoteField(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
}

function unquote(field: string): string {
  return field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field
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
