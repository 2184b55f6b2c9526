/** Kinds of a text, as bits: a day, a time in UTC, one without a zone, one with an offset. */
export const texts = { day: 1, utc: 2, local: 4, offset: 8, any: 15 } as const

/** The possible kinds of the text between `start` and `end`. Reads bytes, because this runs for every date of every row. */
export function textsAt(bytes: Buffer, start: number, end: number): number {
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
