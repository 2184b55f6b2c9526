import { invalidField } from '../../failure.ts'
import type { CursorValue, LoadRule } from '../../store/index.ts'

const unitsSeconds: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 }
const dayMicros = 86_400_000_000n

/** Start of a load: the last value, or as far before it as its author says; null for a first load. */
export function startOf({ cursor }: LoadRule, last: CursorValue | null): CursorValue | null {
  if (cursor === undefined) return null
  if (last !== null) return cursor.lookBack === undefined ? last : lookBack(last, cursor.lookBack, cursor.field)
  const { initialValue: initial } = cursor
  if (initial === undefined) return null
  return { type: typeof initial === 'number' ? 'DOUBLE' : 'VARCHAR', value: String(initial) }
}

function lookBack({ type, value, raw }: CursorValue, by: string | number, field: string): CursorValue {
  const micros = microsOf({ type, value })
  if (micros !== null && typeof by === 'string') {
    const [, count = '0', unit = 's'] = /^(\d+)([smhdw])$/.exec(by) ?? []
    const back = BigInt(Number(count) * (unitsSeconds[unit] ?? 1)) * 1_000_000n
    // Days move by whole days.
    const moved =
      type === 'DATE' ? micros - (back + dayMicros - 1n - ((back + dayMicros - 1n) % dayMicros)) : micros - back
    const alike = raw === undefined ? null : writtenLike(raw, moved)
    return { type, value: textOf(moved, type), ...(alike !== null && { raw: alike }) }
  }
  if (micros === null && typeof by === 'number') {
    if (type === 'BIGINT' && Number.isInteger(by)) return { type, value: String(BigInt(value) - BigInt(by)) }
    const moved = Number(value) - by
    if (type !== 'VARCHAR' && Number.isFinite(moved)) return { type, value: String(moved) }
  }
  const what = typeof by === 'number' ? 'a number needs a column of numbers' : `${by} needs a column of days or times`
  const message = `does not fit ${field}, which is ${type}: ${what}`
  throw invalidField('load.cursor.look_back', message, { message: `load.cursor.look_back ${message}.` })
}

/** Microseconds since 1970 of a day or time as the engine writes it; null for anything else. */
function microsOf({ type, value }: CursorValue): bigint | null {
  if (!/^(DATE|TIMESTAMP)/.test(type)) return null
  return microsOfText(value)
}

function microsOfText(text: string): bigint | null {
  const [, day, time = '00:00:00', fraction = '', zone = ''] =
    /^(\d{4,}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,9}))?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/.exec(text) ?? []
  if (day === undefined) return null
  const [, sign = '+', hours = '00', minutes = '00'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? []
  const ms = Date.parse(`${day}T${time}${time.length === 5 ? ':00' : ''}${sign}${hours}:${minutes}`)
  if (Number.isNaN(ms)) return null
  return BigInt(ms) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'))
}

function textOf(micros: bigint, type: string): string {
  const iso = isoOf(micros)
  if (type === 'DATE') return iso.slice(0, 10)
  return `${iso.slice(0, -1).replace('T', ' ')}${type === 'TIMESTAMPTZ' ? '+00' : ''}`
}

/** ISO 8601 in UTC, with as many decimals of a second as there are. */
function isoOf(micros: bigint): string {
  const rest = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n
  const seconds = new Date(Number((micros - rest) / 1000n)).toISOString().slice(0, 19)
  const decimals = rest === 0n ? '' : `.${String(rest).padStart(6, '0').replace(/0+$/, '')}`
  return `${seconds}${decimals}Z`
}

/** A moment in the form of another one: its separator, its decimals and its zone. */
function writtenLike(raw: string, micros: bigint): string | null {
  const [, separator, seconds, decimals = '', zone = ''] =
    /^\d{4}-\d{2}-\d{2}(?:([T ])\d{2}:\d{2}(:\d{2})?(?:\.(\d{1,9}))?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/.exec(raw) ?? []
  if (separator === undefined) return isoOf(micros).slice(0, 10)
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? []
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
  const there = micros + BigInt(offset) * 60_000_000n
  const time = seconds === undefined ? '%H:%M' : decimals === '' ? '%H:%M:%S' : '%H:%M:%S.%f'
  const written = byPattern(there, `%Y-%m-%d${separator}${time}`)
  if (written === null) return null
  return (decimals === '' ? written : `${written.slice(0, -6)}${written.slice(-6).slice(0, decimals.length)}`) + zone
}

/** Parts of a moment in UTC, as strftime calls them; `%L` is milliseconds. */
function byPattern(micros: bigint, pattern: string): string | null {
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n
  const seconds = (micros - fraction) / 1_000_000n
  const at = new Date(Number(seconds) * 1000)
  const [day = '', time = ''] = at.toISOString().slice(0, 19).split('T')
  const parts: Record<string, string> = {
    Y: day.slice(0, -6),
    y: day.slice(-8, -6),
    m: day.slice(-5, -3),
    d: day.slice(-2),
    H: time.slice(0, 2),
    M: time.slice(3, 5),
    S: time.slice(6),
    f: String(fraction).padStart(6, '0'),
    L: String(fraction / 1000n).padStart(3, '0'),
    s: String(seconds),
    z: '+0000',
    Z: 'UTC',
    '%': '%',
  }
  if ([...pattern.matchAll(/%(.?)/gs)].some(([, name = '']) => parts[name] === undefined)) return null
  return pattern.replaceAll(/%(.)/gs, (_, name: string) => parts[name] ?? '')
}

/** `{{last_value}}` as it goes into a request; null for a form that it has not. */
export function writtenAs(last: CursorValue, form: string | undefined): string | null {
  if (form === undefined && last.raw !== undefined) return last.raw
  const micros = microsOf(last) ?? (form === undefined ? null : microsOfText(last.value))
  if (form === undefined) {
    if (micros === null || last.type === 'DATE') return last.value
    return isoOf(micros)
  }
  if (micros === null) return null
  const seconds = (micros - (((micros % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n
  if (form === 'iso') return isoOf(micros)
  if (form === 'unix') return String(seconds)
  if (form === 'unix_ms') return String(micros / 1000n)
  if (form === 'date') return isoOf(micros).slice(0, 10)
  if (form === 'local') return isoOf(micros).slice(0, -1)
  return form.includes('%') ? byPattern(micros, form) : null
}
