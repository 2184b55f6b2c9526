import { Failure } from '../../failure.ts'

/** JSON that breaks a rule `at` a byte of the piece being read. The scanner knows where the piece stands. */
export function broken(what: string, at: number): Error & { at: number } {
  return Object.assign(new Error(what), { at })
}

/** Well-formed JSON that is beyond what a table holds. */
export function excessive(what: string, at: number): Error & { at: number } {
  return Object.assign(broken(what, at), { isExcess: true })
}

/** The error for the caller; any other error is handed back as it is. */
export function notJson(error: unknown, offset: number): unknown {
  if (!(error instanceof Error) || !('at' in error) || typeof error.at !== 'number') return error
  const hint =
    'isExcess' in error
      ? 'No table is made of that; point responsePathExtractor at the list of rows inside the answer.'
      : 'The answer of the external API is no well-formed JSON; look at it with a test of the connection.'
  return new Failure('upstream_error', {
    reason: 'not_tabular',
    message: `${error.message} (byte ${offset + error.at}). ${hint}`,
  })
}

/** Bytes that stand for themselves inside a string: not a quote, a backslash or a control character. */
export const plainInString = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== 0x22 && byte !== 0x5c ? 1 : 0,
)

const digit = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x30 && byte <= 0x39 ? 1 : 0))
const hexDigits = Int8Array.from({ length: 256 }, (_, byte) => {
  const value = Number.parseInt(String.fromCodePoint(byte), 16)
  return Number.isNaN(value) ? -1 : value
})

/** Characters that may follow a backslash, besides `u`. */
const escapes = new Set(Buffer.from('"\\/bfnrt'))

/** The number that four hexadecimal digits at `at` spell, or -1. */
function hexValue(buffer: Uint8Array, at: number): number {
  let value = 0
  for (let index = at; index < at + 4; index += 1) {
    const next = hexDigits[buffer[index] ?? 0] ?? -1
    if (next < 0) return -1
    value = value * 16 + next
  }
  return value
}

/**
 * Where the escape at `at` ends; 0 when it is cut off by `end`; -1 when it is none. Half of a surrogate pair cannot be
 * written as UTF-8 and readers refuse it, so it is overwritten with the replacement character, which is as long.
 */
export function escapeEnd(buffer: Uint8Array, at: number, end: number, last: boolean): number {
  if (at + 1 >= end) return 0
  const letter = buffer[at + 1] ?? 0
  if (letter !== 0x75) return escapes.has(letter) ? at + 2 : -1
  if (at + 6 > end) return 0
  const unit = hexValue(buffer, at + 2)
  if (unit < 0) return -1
  if (unit < 0xd800 || unit > 0xdfff) return at + 6
  if (unit < 0xdc00) {
    if (at + 12 > end && !last && !pairRuledOut(buffer, at + 6, end)) return 0
    const pair = at + 12 <= end && buffer[at + 6] === 0x5c && buffer[at + 7] === 0x75 ? hexValue(buffer, at + 8) : -1
    if (pair >= 0xdc00 && pair <= 0xdfff) return at + 12
  }
  buffer.set(replacement, at + 2)
  return at + 6
}

const replacement = Buffer.from('fffd')

function pairRuledOut(buffer: Uint8Array, at: number, end: number): boolean {
  return (at < end && buffer[at] !== 0x5c) || (at + 1 < end && buffer[at + 1] !== 0x75)
}

/** Where the number at `at` ends, or -1 when it is none. It may be cut off when it ends at `end`. */
export function numberEnd(buffer: Uint8Array, at: number, end: number): number {
  let index = at
  if (buffer[index] === 0x2d) index += 1
  if (index >= end) return end
  if (buffer[index] === 0x30) index += 1
  else {
    if (digit[buffer[index] ?? 0] === 0) return -1
    while (index < end && digit[buffer[index] as number] === 1) index += 1
  }
  if (index < end && buffer[index] === 0x2e) {
    index += 1
    if (index >= end) return end
    if (digit[buffer[index] ?? 0] === 0) return -1
    while (index < end && digit[buffer[index] as number] === 1) index += 1
  }
  if (index < end && ((buffer[index] as number) | 0x20) === 0x65) {
    index += 1
    if (index < end && (buffer[index] === 0x2b || buffer[index] === 0x2d)) index += 1
    if (index >= end) return end
    if (digit[buffer[index] ?? 0] === 0) return -1
    while (index < end && digit[buffer[index] as number] === 1) index += 1
  }
  return index
}

/** Whether a number as sent is complete: `1.`, `-` and `1e` are cut off. */
export function isCompleteNumber(buffer: Uint8Array, end: number): boolean {
  return digit[buffer[end - 1] ?? 0] === 1
}

const literals = ['true', 'false', 'null'].map((word) => Buffer.from(word))

/** Where `true`, `false` or `null` at `at` ends; 0 when it is cut off by `end`; -1 when it is none of them. */
export function literalEnd(buffer: Uint8Array, at: number, end: number): number {
  const word = literals.find((literal) => literal[0] === buffer[at])
  if (word === undefined) return -1
  for (let index = 0; index < word.length; index += 1) {
    if (at + index >= end) return 0
    if (buffer[at + index] !== word[index]) return -1
  }
  return at + word.length
}
