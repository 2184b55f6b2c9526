import { digitsEnd, minus, nine, noteCell, noteQuotes, zero, type CellShape } from './csv-cells.ts'
import { doubleDigits } from '../json/json-numbers.ts'
import { noteFraction, noteWhole } from '../json/shape.ts'

export const quote = 0x22
export const lineFeed = 0x0a
export const carriageReturn = 0x0d
const point = 0x2e

/** Multiplied by this, a byte stands in each of the four of a word. */
const four = 0x01010101
const quotes = quote * four
/** Both line ends are below this, and nothing that is common in texts. */
const controls = (carriageReturn + 1) * four
const highBits = 0x80808080

type RegularOptions = {
  separator: number
  newline: '\n' | '\r\n'
  cells: CellShape[]
  seen: { line: number; rowCount: number; maxBytes: number; hasLineBreaks: boolean }
}

/**
 * Reads records of CSV that are as they have to be: as many fields as there are columns, quotes around whole fields, one
 * kind of line end. So are nearly all of nearly all files. They need not be taken apart, only looked at; any other is
 * left to the reader that knows what to do with it, from its first byte. To note a cell twice changes nothing.
 */
// Over 70 lines: every byte of every file passes here, and calls cost more than what they would do.
export function createRegularReader({ separator, newline, cells, seen }: RegularOptions) {
  const width = cells.length
  const separators = Math.imul(separator, four)
  const ending = newline.charCodeAt(0)

  const isEnd = (byte: number | undefined): boolean => byte === separator || byte === ending

  /** Where the quoted field ends, or -1 where that cannot be told or something follows its quote. */
  function quotedEnd(data: Buffer, from: number, cell: CellShape): number {
    let isDoubled = false
    let hasLineBreak = false
    let close = from + 1
    for (; close < data.length; close += 1) {
      const byte = data[close] as number
      if (byte > quote) continue
      if (byte === lineFeed || byte === carriageReturn) hasLineBreak = true
      if (byte !== quote) continue
      if (data[close + 1] !== quote) break
      isDoubled = true
      close += 1
    }
    if (!isEnd(data[close + 1])) return -1
    if (hasLineBreak) seen.hasLineBreaks = true
    if (close === from + 1) cell.hasQuotedEmpty = true
    else if (isDoubled) noteQuotes(cell)
    else noteCell(cell, data, from + 1, close)
    return close + 1
  }

  /** Reads from `from` on, and answers where the first record begins that is not regular or not whole. */
  function read(data: Buffer, from: number): number {
    const view = new DataView(data.buffer, data.byteOffset, data.length)
    const lastWord = data.length - 4
    let record = from
    let column = 0
    for (let at = from; at < lastWord;) {
      const cell = cells[column] as CellShape
      const { shape } = cell
      const first = data[at] as number
      let end = at
      let isNoted = false
      if (first === quote) {
        end = quotedEnd(data, at, cell)
        if (end < 0) return record
        isNoted = true
      } else if (shape.texts !== 0 && first >= minus && first <= nine) {
        // A number, where it is short enough for a double. Among texts everything is a text.
        const start = first === minus ? at + 1 : at
        end = digitsEnd(data, start, data.length)
        const digits = end - start
        if (digits > 0 && digits <= doubleDigits && (digits === 1 || data[start] !== zero)) {
          if (isEnd(data[end])) {
            noteWhole(shape, digits)
            isNoted = true
          } else if (data[end] === point) {
            const behind = end + 1
            end = digitsEnd(data, behind, data.length)
            const scale = end - behind
            isNoted = scale > 0 && digits + scale <= doubleDigits && isEnd(data[end])
            if (isNoted) noteFraction(shape, digits, scale)
          }
        }
      }
      if (!isNoted) {
        // Four bytes are compared at once, as parts of one number: subtracting borrows from the highest bit of those that
        // end a field, since they are below the other or nothing is left of them.
        for (; ; end += 4) {
          if (end > lastWord) return record
          const word = view.getInt32(end, true)
          const split = word ^ separators
          const quoted = word ^ quotes
          const low = ((word - controls) & ~word) | ((split - four) & ~split) | ((quoted - four) & ~quoted)
          const marks = low & highBits
          if (marks === 0) continue
          end += (31 - Math.clz32(marks & -marks)) >> 3
          break
        }
        if (!isEnd(data[end])) return record
        if (end > at) noteCell(cell, data, at, end)
      }
      at = end + 1
      if (data[end] === separator) {
        column += 1
        if (column === width) return record
        continue
      }
      if (column < width - 1 || end === record) return record
      if (ending === carriageReturn) {
        if (data[at] !== lineFeed) return record
        at += 1
      }
      if (at - record > seen.maxBytes) seen.maxBytes = at - record
      seen.rowCount += 1
      seen.line += 1
      record = at
      column = 0
    }
    return record
  }

  return { read }
}
