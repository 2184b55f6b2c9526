import { doubleDigits, isNumberSign, largeInteger, longFraction } from './json-numbers.ts'
import { texts, textsAt } from './json-texts.ts'

/** What was seen at one place of the documents: which kinds of values, and how large the numbers were. */
export type Shape = {
  kinds: number
  /** Most digits before and after the point, over all numbers. */
  intDigits: number
  scale: number
  /** Every number comes back from a double as it was sent. */
  doubleExact: boolean
  /** Whole numbers: the largest magnitude, once it may not fit 64 bits. */
  largest: bigint
  /** What all texts so far could be. */
  texts: number
  fields: Field[]
  byKey: Map<string, Field>
  items: Shape | null
}

export type Field = { key: string; name: string; bytes: Buffer; shape: Shape; next: Field | null }

export const kinds = { null: 1, boolean: 2, integer: 4, fraction: 8, text: 16, object: 32, array: 64 } as const

const depthMax = 64

export function newShape(): Shape {
  return {
    kinds: 0,
    intDigits: 0,
    scale: 0,
    doubleExact: true,
    largest: 0n,
    texts: texts.any,
    fields: [],
    byKey: new Map(),
    items: null,
  }
}

const quote = 0x22
const backslash = 0x5c

/**
 * Reads one JSON value at a time and notes its shape. It trusts that the text is JSON (DuckDB parses it again) but not
 * that it is kind. Keys mostly repeat in one order, so the next key is compared before it is looked up.
 */
export function createShapeScanner() {
  let bytes: Buffer = Buffer.alloc(0)
  let at = 0

  function fail(): never {
    throw new Error(`Invalid Input Error: not JSON at byte ${at}`)
  }

  function skipBlank(): void {
    let byte = bytes[at]
    while (byte === 0x20 || byte === 0x09 || byte === 0x0d) byte = bytes[++at]
  }

  /** Moves past the closing quote; `at` is on the opening one. */
  function skipText(): void {
    for (let byte = bytes[++at]; byte !== quote; byte = bytes[++at]) {
      if (byte === backslash) at += 1
      else if (byte === undefined) fail()
    }
    at += 1
  }

  function value(shape: Shape, depth: number): void {
    const byte = bytes[at]
    if (byte === quote) text(shape)
    else if (byte === 0x7b) object(shape, depth)
    else if (byte === 0x5b) array(shape, depth)
    else if (byte === 0x74) literal(shape, kinds.boolean, 4)
    else if (byte === 0x66) literal(shape, kinds.boolean, 5)
    else if (byte === 0x6e) literal(shape, kinds.null, 4)
    else number(shape)
  }

  function literal(shape: Shape, kind: number, length: number): void {
    shape.kinds |= kind
    at += length
  }

  function text(shape: Shape): void {
    const start = at + 1
    skipText()
    shape.kinds |= kinds.text
    if (shape.texts !== 0) shape.texts &= textsAt(bytes, start, at - 1)
  }

  function number(shape: Shape): void {
    const start = at
    let byte = bytes[at]
    if (byte === 0x2d) byte = bytes[++at]
    const first = at
    while (byte !== undefined && byte >= 0x30 && byte <= 0x39) byte = bytes[++at]
    const digits = at - first
    if (digits === 0) fail()
    if (byte !== 0x2e && byte !== 0x65 && byte !== 0x45) {
      shape.kinds |= kinds.integer
      if (digits > shape.intDigits) shape.intDigits = digits
      if (digits > doubleDigits) largeInteger(shape, bytes.toString('latin1', start, at))
      return
    }
    shape.kinds |= kinds.fraction
    let scale = 0
    if (byte === 0x2e) {
      const point = at
      do byte = bytes[++at]
      while (byte !== undefined && byte >= 0x30 && byte <= 0x39)
      scale = at - point - 1
    }
    if (byte !== 0x65 && byte !== 0x45 && digits + scale <= doubleDigits) {
      if (digits > shape.intDigits) shape.intDigits = digits
      if (scale > shape.scale) shape.scale = scale
      return
    }
    while (byte !== undefined && ((byte >= 0x30 && byte <= 0x39) || isNumberSign(byte))) byte = bytes[++at]
    longFraction(shape, bytes.toString('latin1', start, at))
  }

  function array(shape: Shape, depth: number): void {
    if (depth > depthMax) throw new Error(`Invalid Input Error: nested deeper than ${depthMax}`)
    shape.kinds |= kinds.array
    at += 1
    skipBlank()
    if (bytes[at] === 0x5d) {
      at += 1
      return
    }
    shape.items ??= newShape()
    for (;;) {
      skipBlank()
      value(shape.items, depth + 1)
      skipBlank()
      const byte = bytes[at]
      at += 1
      if (byte === 0x5d) return
      if (byte !== 0x2c) fail()
    }
  }

  function object(shape: Shape, depth: number): void {
    if (depth > depthMax) throw new Error(`Invalid Input Error: nested deeper than ${depthMax}`)
    shape.kinds |= kinds.object
    at += 1
    skipBlank()
    if (bytes[at] === 0x7d) {
      at += 1
      return
    }
    let expected: Field | null = shape.fields[0] ?? null
    let previous: Field | null = null
    for (;;) {
      skipBlank()
      if (bytes[at] !== quote) fail()
      const field: Field = expected !== null && startsWithKey(expected.bytes) ? take(expected) : lookUp(shape)
      if (previous !== null) previous.next = field
      previous = field
      expected = field.next
      skipBlank()
      if (bytes[at] !== 0x3a) fail()
      at += 1
      skipBlank()
      value(field.shape, depth + 1)
      skipBlank()
      const byte = bytes[at]
      at += 1
      if (byte === 0x7d) return
      if (byte !== 0x2c) fail()
    }
  }

  function take(field: Field): Field {
    at += field.bytes.length
    return field
  }

  /** Is the key here, with both its quotes, the expected one? */
  function startsWithKey(key: Buffer): boolean {
    for (let index = 1; index < key.length; index += 1) if (bytes[at + index] !== key[index]) return false
    return true
  }

  function lookUp(shape: Shape): Field {
    const start = at
    skipText()
    const raw = bytes.toString('latin1', start, at)
    const known = shape.byKey.get(raw)
    if (known !== undefined) return known
    const key = JSON.parse(bytes.toString('utf8', start, at)) as string
    // The same key may be spelled with escapes: one column.
    const same = shape.fields.find((field) => field.key === key)
    const shapeOfKey = same?.shape ?? newShape()
    const field: Field = {
      key,
      name: key,
      bytes: Buffer.from(bytes.subarray(start, at)),
      shape: shapeOfKey,
      next: null,
    }
    shape.byKey.set(raw, field)
    if (same === undefined) shape.fields.push(field)
    return field
  }

  /** Scans the document in `line` into `shape`. */
  function scan(line: Buffer, shape: Shape): void {
    bytes = line
    at = 0
    skipBlank()
    value(shape, 1)
    skipBlank()
    if (at !== bytes.length) fail()
  }

  return { scan }
}
