import type { Typed } from './column-types.ts'

const quote = 0x22
const safeDigits = 15

/** Does any part of the document have to change before DuckDB reads it? */
export function needsRewrite(typed: Typed): boolean {
  if ([...typed.renames].some(([key, name]) => key !== name)) return true
  if (typed.numbersAsText) return true
  return (typed.items !== null && needsRewrite(typed.items)) || [...typed.fields.values()].some(needsRewrite)
}

/**
 * Copies a document with its keys renamed and its numbers of many digits as texts, as `typed` says. Only documents
 * that would lose something otherwise come through here.
 */
// Over 70 lines: its parts share the output that each of them appends to.
export function createRewriter() {
  let bytes: Buffer = Buffer.alloc(0)
  let at = 0
  let copied = 0
  let parts: Buffer[] = []

  function replace(from: number, to: number, text: string): void {
    parts.push(bytes.subarray(copied, from), Buffer.from(text))
    copied = to
  }

  function skipBlank(): void {
    while (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0d) at += 1
  }

  function skipText(): void {
    for (at += 1; bytes[at] !== quote && at < bytes.length; at += 1) if (bytes[at] === 0x5c) at += 1
    at += 1
  }

  function value(typed: Typed | null): void {
    skipBlank()
    const byte = bytes[at]
    if (byte === quote) skipText()
    else if (byte === 0x7b) members(0x7d, typed)
    else if (byte === 0x5b) members(0x5d, typed)
    else scalar(typed)
    skipBlank()
  }

  function scalar(typed: Typed | null): void {
    const start = at
    while (at < bytes.length && !isEnd(bytes[at])) at += 1
    if (typed?.numbersAsText !== true) return
    const text = bytes.toString('latin1', start, at)
    if (!/^-?\d/.test(text)) return
    const isJson = typed.type === 'JSON'
    const digits = text.toLowerCase().split('e')[0]?.replaceAll(/[-.]/g, '').replace(/^0+/, '') ?? ''
    // Inside a JSON column a number stays a number while a double can hold it.
    if (isJson && digits.length <= safeDigits && Number.isFinite(Number(text))) return
    replace(start, at, `"${text}"`)
  }

  function members(close: number, typed: Typed | null): void {
    at += 1
    skipBlank()
    if (bytes[at] === close) {
      at += 1
      return
    }
    while (at < bytes.length) {
      skipBlank()
      value(close === 0x7d ? member(typed) : typed?.type === 'JSON' ? typed : (typed?.items ?? null))
      const byte = bytes[at]
      at += 1
      if (byte === close) return
    }
  }

  /** Reads `"key":` and answers what its value is. */
  function member(typed: Typed | null): Typed | null {
    const start = at
    skipText()
    const end = at
    skipBlank()
    at += 1
    if (typed === null || typed.type === 'JSON') return typed
    const key = JSON.parse(bytes.toString('utf8', start, end)) as string
    const name = typed.renames.get(key)
    if (name !== undefined && name !== key) replace(start, end, JSON.stringify(name))
    return typed.fields.get(key) ?? null
  }

  return (line: Buffer, typed: Typed): Buffer => {
    bytes = line
    at = 0
    copied = 0
    parts = []
    value(typed)
    parts.push(bytes.subarray(copied))
    return Buffer.concat(parts)
  }
}

function isEnd(byte: number | undefined): boolean {
  return byte === 0x2c || byte === 0x7d || byte === 0x5d || byte === 0x20 || byte === 0x09 || byte === 0x0d
}
