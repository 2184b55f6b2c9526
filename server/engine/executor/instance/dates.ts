const day = /^(\d{4})-(\d\d)-(\d\d)$/
const timestamp = /^(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6})\d{0,3})?)?\s?(Z|z|[+-]\d\d(?::?\d\d)?)?$/
const time = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6})\d{0,3})?)?$/
const dayMs = 86_400_000

/** Days since 1970 of `YYYY-MM-DD`, or nothing when there is no such day. */
export function parseDay(text: string): number | undefined {
  const [, year, month, date] = day.exec(text) ?? []
  if (year === undefined) return undefined
  const time = new Date(0).setUTCFullYear(Number(year), Number(month) - 1, Number(date))
  return new Date(time).toISOString().slice(0, 10) === text ? time / dayMs : undefined
}

/** Microseconds since 1970 of an ISO 8601 time; without an offset it is UTC. */
export function parseTimestamp(text: string): bigint | undefined {
  const parts = timestamp.exec(text)
  if (parts === null) {
    const days = parseDay(text)
    return days === undefined ? undefined : BigInt(days) * 86_400_000_000n
  }
  const [, date = '', hour, minute, second = '0', fraction = '', offset = 'Z'] = parts
  const days = parseDay(date)
  if (days === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const seconds = days * 86_400 + Number(hour) * 3_600 + Number(minute) * 60 + Number(second) - offsetSeconds(offset)
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}

/** Microseconds since midnight of `HH:MM`, `HH:MM:SS` or `HH:MM:SS.ffffff`. */
export function parseTime(text: string): bigint | undefined {
  const [, hour, minute, second = '0', fraction = ''] = time.exec(text) ?? []
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const seconds = Number(hour) * 3_600 + Number(minute) * 60 + Number(second)
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}

function offsetSeconds(offset: string): number {
  if (offset === 'Z' || offset === 'z') return 0
  const sign = offset.startsWith('-') ? -1 : 1
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0')
  return sign * (Number(digits.slice(0, 2)) * 3_600 + Number(digits.slice(2)) * 60)
}

/** `2024-01-31`, for the years 1 to 9999. */
export function formatDay(days: number): string | undefined {
  const year = days > -719_163 && days < 2_932_897
  return year ? new Date(days * dayMs).toISOString().slice(0, 10) : undefined
}

/** `2024-01-31T10:00:00.5Z`: no more digits of a second than there are. */
export function formatTimestamp(micros: bigint): string | undefined {
  const seconds = Number(micros / 1_000_000n) - (micros % 1_000_000n < 0n ? 1 : 0)
  const fraction = Number(micros - BigInt(seconds) * 1_000_000n)
  if (formatDay(Math.floor(seconds / 86_400)) === undefined) return undefined
  const whole = new Date(seconds * 1_000).toISOString().slice(0, 19)
  return fraction === 0 ? `${whole}Z` : `${whole}.${String(fraction).padStart(6, '0').replace(/0+$/, '')}Z`
}
