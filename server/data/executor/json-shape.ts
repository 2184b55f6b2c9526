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
export const texts = { day: 1, utc: 2, local: 4, offset: 8, any: 15 } as const

export const depthMax = 64
/** A decimal of so many digits comes back from a double as it was. */
const doubleDigits = 15

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

function isNumberSign(byte: number): boolean {
  return byte === 0x2e || byte === 0x65 || byte === 0x45 || byte === 0x2b || byte === 0x2d
}

function largeInteger(shape: Shape, digits: string): void {
  const value = BigInt(digits)
  const magnitude = value < 0n ? -value : value
  if (magnitude > shape.largest) shape.largest = magnitude
  if (magnitude > 9_007_199_254_740_992n && shape.doubleExact) shape.doubleExact = isDoubleExact(digits)
}

function longFraction(shape: Shape, source: string): void {
  const { intDigits, scale, significant } = measure(source)
  if (intDigits > shape.intDigits) shape.intDigits = intDigits
  if (scale > shape.scale) shape.scale = scale
  if (shape.doubleExact && (significant > doubleDigits || intDigits > 300 || scale > 300))
    shape.doubleExact = isDoubleExact(source)
}

/** Digits before and after the point once the exponent is worked in, and how many of them count. */
function measure(source: string): { intDigits: number; scale: number; significant: number } {
  const [mantissa = '', exponent = '0'] = splitExponent(source)
  const [whole = '', part = ''] = mantissa.split('.')
  const shift = Math.max(-9_999, Math.min(9_999, Number(exponent)))
  return {
    intDigits: Math.max(1, whole.length + shift),
    scale: Math.max(0, part.length - shift),
    significant: (whole + part).replace(/^0+/, '').length,
  }
}

function splitExponent(source: string): string[] {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e')
  return [mantissa.replace('-', ''), exponent]
}

/** Does the double nearest to `source` print the same number? */
function isDoubleExact(source: string): boolean {
  const value = Number(source)
  return Number.isFinite(value) && plainDigits(String(value)) === plainDigits(source)
}

function plainDigits(source: string): string {
  const [mantissa = '', exponent = '0'] = splitExponent(source)
  const [whole = '', part = ''] = mantissa.split('.')
  const digits = (whole + part).replace(/^0+/, '')
  const trimmed = digits.replace(/0+$/, '')
  const power = Number(exponent) - part.length + digits.length - trimmed.length
  return `${source.startsWith('-') && trimmed !== '' ? '-' : ''}${trimmed}e${trimmed === '' ? 0 : power}`
}

/** What the text between `start` and `end` could be. Reads bytes, because this runs for every date of every row. */
function textsAt(bytes: Buffer, start: number, end: number): number {
  const length = end - start
  if (length < 10 || length > 32) return 0
  const year = digitsAt(bytes, start, 4)
  const month = digitsAt(bytes, start + 5, 2)
  const day = digitsAt(bytes, start + 8, 2)
  if (bytes[start + 4] !== 0x2d || bytes[start + 7] !== 0x2d || year < 1 || month < 1 || month > 12) return 0
  if (day < 1 || day > daysOf(year, month)) return 0
  if (length === 10) return texts.day
  const separator = bytes[start + 10]
  if (length < 16 || (separator !== 0x54 && separator !== 0x20) || bytes[start + 13] !== 0x3a) return 0
  const hour = digitsAt(bytes, start + 11, 2)
  const minute = digitsAt(bytes, start + 14, 2)
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return 0
  return zoneAt(bytes, secondsEnd(bytes, start + 16, end), end)
}

/** Where the seconds and their digits end, or -1. DuckDB keeps six digits; a text with more stays a text. */
function secondsEnd(bytes: Buffer, start: number, end: number): number {
  if (bytes[start] !== 0x3a) return start
  const second = digitsAt(bytes, start + 1, 2)
  if (start + 3 > end || second < 0 || second > 59) return -1
  if (bytes[start + 3] !== 0x2e) return start + 3
  let at = start + 4
  while (at < end && isDigit(bytes[at])) at += 1
  const digits = at - start - 4
  return digits < 1 || digits > 6 ? -1 : at
}

function zoneAt(bytes: Buffer, at: number, end: number): number {
  if (at === -1 || at > end) return 0
  if (at === end) return texts.local
  if (bytes[at] === 0x5a) return at + 1 === end ? texts.utc | texts.offset : 0
  if (bytes[at] !== 0x2b && bytes[at] !== 0x2d) return 0
  return /^[+-]([01]\d|2[0-3])(:?[0-5]\d)?$/.test(bytes.toString('latin1', at, end)) ? texts.offset : 0
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

/** The number that `count` digits at `start` make, or -1. */
function digitsAt(bytes: Buffer, start: number, count: number): number {
  let value = 0
  for (let at = start; at < start + count; at += 1) {
    const byte = bytes[at]
    if (byte === undefined || byte < 0x30 || byte > 0x39) return -1
    value = value * 10 + byte - 0x30
  }
  return value
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
