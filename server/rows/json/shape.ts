import { doubleDigits, largeInteger, longDecimal, powerOfTen } from './json-numbers.ts'
import { texts, textsAt } from './json-texts.ts'
import type { Shape } from './shape-tree.ts'

export const kinds = { null: 1, boolean: 2, integer: 4, fraction: 8, text: 16, object: 32, array: 64 } as const

export function newShape(): Shape {
  return {
    kinds: 0,
    intDigits: 0,
    scale: 0,
    doubleExact: true,
    largest: 0n,
    texts: texts.any,
    fields: new Map(),
    others: null,
    items: null,
    root: null,
    loose: null,
  }
}

/** Notes a word: `null`, `true` or `false`, told by its first letter. */
export function noteWord(shape: Shape, first: number): void {
  shape.kinds |= first === 0x6e ? kinds.null : kinds.boolean
}

/** Notes the text between `start` and `stop`, without its quotes. */
export function noteText(shape: Shape, bytes: Buffer, start: number, stop: number): void {
  shape.kinds |= kinds.text
  if (shape.texts !== 0) shape.texts &= textsAt(bytes, start, stop)
}

/** Notes a text that is too long or too odd to be anything else. */
export function notePlainText(shape: Shape): void {
  shape.kinds |= kinds.text
  shape.texts = 0
}

/** Notes the number between `start` and `stop`. */
export function noteNumber(shape: Shape, bytes: Buffer, start: number, stop: number): void {
  const first = bytes[start] === 0x2d ? start + 1 : start
  let at = first
  while (at < stop && isDigit(bytes[at] as number)) at += 1
  const digits = at - first
  if (at === stop) {
    noteWhole(shape, digits)
    if (digits > doubleDigits) largeInteger(shape, bytes.toString('latin1', start, stop))
    return
  }
  let scale = 0
  if (bytes[at] === 0x2e) {
    const point = at + 1
    at = point
    while (at < stop && isDigit(bytes[at] as number)) at += 1
    scale = at - point
  }
  if (at < stop) {
    shape.kinds |= kinds.fraction
    return powerOfTen(shape, bytes.toString('latin1', start, stop))
  }
  noteFraction(shape, digits, scale)
  if (digits + scale > doubleDigits) longDecimal(shape, bytes.toString('latin1', start, stop))
}

/** Notes a whole number of so many digits, no more than a double keeps. */
export function noteWhole(shape: Shape, digits: number): void {
  shape.kinds |= kinds.integer
  if (digits > shape.intDigits) shape.intDigits = digits
}

/** Notes a number with so many digits before and behind its point, no more than a double keeps. */
export function noteFraction(shape: Shape, digits: number, scale: number): void {
  shape.kinds |= kinds.fraction
  if (digits > shape.intDigits) shape.intDigits = digits
  if (scale > shape.scale) shape.scale = scale
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}
