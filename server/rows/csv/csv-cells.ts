import { kinds, newShape, noteNumber } from '../json/shape.ts'
import { texts, textsAt } from '../json/json-texts.ts'
import type { Shape } from '../json/shape-tree.ts'

/** The kinds of cells in a CSV column, as if their text stood bare in JSON. */
export type CellShape = {
  shape: Shape
  /** Some cells are quoted and empty: an empty text, or no value where the column is none. */
  hasQuotedEmpty: boolean
}

export function newCell(): CellShape {
  return { shape: newShape(), hasQuotedEmpty: false }
}

export const minus = 0x2d
export const zero = 0x30
export const nine = 0x39

/** Notes the cell between `start` and `stop`, without its quotes. */
export function noteCell({ shape }: CellShape, data: Buffer, start: number, stop: number): void {
  // Among texts everything is a text: most columns are looked at once.
  if (shape.texts === 0) return
  const first = data[start] as number
  if (first === minus || (first >= zero && first <= nine)) {
    if (isNumber(data, start, stop)) return noteNumber(shape, data, start, stop)
    return noteTime(shape, data, start, stop)
  }
  if (isBoolean(data, start, stop)) shape.kinds |= kinds.boolean
  else notePlain(shape)
}

/** Notes a cell with quotes in it, which nothing but a text has. */
export function noteQuotes({ shape }: CellShape): void {
  notePlain(shape)
}

function notePlain(shape: Shape): void {
  shape.kinds |= kinds.text
  shape.texts = 0
}

/** Times with and without a Z stand in one column of many files: both are read as UTC. */
function noteTime(shape: Shape, data: Buffer, start: number, stop: number): void {
  const found = textsAt(data, start, stop)
  const isPlain = (found & (texts.utc | texts.local)) !== 0
  shape.kinds |= kinds.text
  shape.texts &= isPlain ? found | texts.utc | texts.local : found
}

/** A number as JSON writes it: without a plus, a leading zero or a bare point. */
function isNumber(data: Buffer, start: number, stop: number): boolean {
  let at = data[start] === minus ? start + 1 : start
  const whole = digitsEnd(data, at, stop)
  if (whole === at || (data[at] === zero && whole > at + 1)) return false
  at = whole
  if (data[at] === 0x2e && at < stop) {
    const part = digitsEnd(data, at + 1, stop)
    if (part === at + 1) return false
    at = part
  }
  if (at < stop && (data[at] === 0x65 || data[at] === 0x45)) {
    const sign = data[at + 1] === 0x2b || data[at + 1] === minus ? 1 : 0
    const power = digitsEnd(data, at + 1 + sign, stop)
    if (power === at + 1 + sign) return false
    at = power
  }
  return at === stop
}

/** Where the digits from `from` on end, at `stop` at the latest. */
export function digitsEnd(data: Buffer, from: number, stop: number): number {
  let at = from
  while (at < stop && (data[at] as number) >= zero && (data[at] as number) <= nine) at += 1
  return at
}

const booleans = [Buffer.from('true'), Buffer.from('false')]

/** In letters of either case. Byte by byte: a column of these would make a string of every cell. */
function isBoolean(data: Buffer, start: number, stop: number): boolean {
  const word = booleans[stop - start - 4]
  if (word === undefined) return false
  for (let at = 0; at < word.length; at += 1) {
    // The bit that small letters have and large ones have not.
    if (((data[start + at] as number) | 0x20) !== word[at]) return false
  }
  return true
}
