import { Failure } from '../../failure.ts'
import type { CursorValue, LoadRule } from '../../store/index.ts'

const unitsSeconds: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 }
const dayMicros = 86_400_000_000n

/** Where a load goes on: at the last value, or as far before it as its author says; null for one that begins. */
export function startOf({ cursor }: LoadRule, last: CursorValue | null): CursorValue | null {
  if (cursor === undefined) return null
  if (last !== null) return cursor.lookBack === undefined ? last : lookBack(last, cursor.lookBack, cursor.field)
  const { initialValue: initial } = cursor
  if (initial === undefined) return null
  return { type: typeof initial === 'number' ? 'DOUBLE' : 'VARCHAR', value: String(initial) }
}

function lookBack({ type, value }: CursorValue, by: string | number, field: string): CursorValue {
  const micros = microsOf({ type, value })
  if (micros !== null && typeof by === 'string') {
    const [, count = '0', unit = 's'] = /^(\d+)([smhdw])$/.exec(by) ?? []
    const back = BigInt(Number(count) * (unitsSeconds[unit] ?? 1)) * 1_000_000n
    // Of days, whole ones.
    const moved =
      type === 'DATE' ? micros - (back + dayMicros - 1n - ((back + dayMicros - 1n) % dayMicros)) : micros - back
    return { type, value: textOf(moved, type) }
  }
  if (micros === null && typeof by === 'number') {
    if (type === 'BIGINT' && Number.isInteger(by)) return { type, value: String(BigInt(value) - BigInt(by)) }
    const moved = Number(value) - by
    if (type !== 'VARCHAR' && Number.isFinite(moved)) return { type, value: String(moved) }
  }
  const what = typeof by === 'number' ? 'a number needs a column of numbers' : `${by} needs a column of days or times`
  const message = `does not fit ${field}, which is ${type}: ${what}`
  throw new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `load.cursor.look_back ${message}.`,
    details: [{ field: 'load.cursor.look_back', message }],
  })
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

/** How `{{last_value}}` is written into a request; null for a form that it has not. */
export function writtenAs(last: CursorValue, form: string | undefined): string | null {
  const micros = microsOf(last) ?? (form === undefined ? null : microsOfText(last.value))
  if (form === undefined) {
    if (micros === null || last.type === 'DATE') return last.value
    return isoOf(micros)
  }
  if (micros === null) return null
  const seconds = (micros - (((micros % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n
  if (form === 'unix') return String(seconds)
  if (form === 'unix_ms') return String(micros / 1000n)
  if (form === 'date') return isoOf(micros).slice(0, 10)
  return form === 'local' ? isoOf(micros).slice(0, -1) : null
}
