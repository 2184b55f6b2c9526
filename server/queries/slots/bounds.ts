import type { SlotSchema } from '../../../api/slots.ts'
import type { CalendarUnit, CatalogTable, ComparedColumn, SlotComparison, TextEdit } from '../../engine/index.ts'

/**
 * Which end of a range a slot is, and whether its day belongs to the range. `from`: told by the SQL, by the slot's
 * `x-bound`, or assumed because no comparison could be read.
 */
export type SlotBound = {
  slot: string
  side: 'start' | 'end' | null
  bound: 'inclusive' | 'exclusive'
  from: 'sql' | 'slot' | 'assumed'
  /** Days that the SQL adds to a moment. */
  shiftDays: number
  /** A moment that is compared with days: of it only the day counts, as it is in UTC. */
  isUtcDay: boolean
  problem: BoundProblem | null
}

/**
 * `period_end`: a day is compared with moments so that a part of a day is lost, or gained. `edits` mend it; null where
 * only its author can.
 */
export type BoundProblem = { reason: 'period_end' | 'unread'; message: string; edits: TextEdit[] | null }

type Types = Pick<CatalogTable, 'name' | 'columns'>[]

/** The bound of a slot that holds a day or a moment; null for any other, and for one that names what is equal to it. */
export function boundOf(
  slot: string,
  schema: SlotSchema,
  { comparisons, tables }: { comparisons: SlotComparison[] | null; tables: Types },
): SlotBound | null {
  if (!isDated(schema)) return null
  const declared = schema['x-bound']
  const own = comparisons?.filter((each) => each.slot === slot) ?? []
  const isDay = schema.format === 'date'
  const read = own.filter(({ side }) => side !== 'same').map((each) => readingOf(each, { isDay, tables }))
  const sides = new Set(read.map(({ side }) => side))
  const side = sides.size === 1 ? (read[0]?.side ?? null) : null
  const isUtcDay = !isDay && read.some((each) => each.isUtcDay)
  const assumed: SlotBound = { slot, side, bound: 'inclusive', from: 'assumed', shiftDays: 0, isUtcDay, problem: null }
  if (declared !== undefined) return { ...assumed, bound: declared, from: 'slot' }
  const isPoint = own.length > 0 && (read.length === 0 || (sides.size > 1 && !read.some(({ bound }) => bound === null)))
  if (isPoint) return null
  return { ...assumed, ...together(slot, read, { side, wasParsed: comparisons !== null }) }
}

type DatedSlot = Extract<SlotSchema, { type: 'string' }> & { format: 'date' | 'date-time' }

export function isDated(schema: SlotSchema): schema is DatedSlot {
  return schema.type === 'string' && (schema.format === 'date' || schema.format === 'date-time')
}

/** The verdict of several comparisons of one slot together. */
function together(
  slot: string,
  read: Reading[],
  { side, wasParsed }: { side: SlotBound['side']; wasParsed: boolean },
): Partial<SlotBound> {
  const [first] = read
  const lost = read.filter(({ loss }) => loss !== null)
  if (lost.length > 0) {
    const edits = lost.map((each) => each.edits)
    const whole = edits.includes(null) ? null : edits.flatMap((each) => each ?? [])
    return { from: 'sql', problem: { reason: 'period_end', message: `$${slot} ${lost[0]?.loss}.`, edits: whole } }
  }
  const isAlike = read.every(({ bound, shiftDays }) => bound === first?.bound && shiftDays === first?.shiftDays)
  if (first !== undefined && first.bound !== null && isAlike && side !== null)
    return { bound: first.bound, from: 'sql', shiftDays: first.shiftDays }
  return { problem: unreadProblem(slot, read, wasParsed) }
}

function unreadProblem(slot: string, read: Reading[], wasParsed: boolean): BoundProblem {
  const why = !wasParsed
    ? 'the SQL could not be parsed'
    : read.length === 0
      ? 'the SQL compares it with nothing of a row'
      : read.every(({ bound }) => bound !== null)
        ? 'the SQL compares it in several ways'
        : 'the SQL compares it in a way that is not understood'
  return {
    reason: 'unread',
    message: `Whether the day of $${slot} belongs to the range cannot be read: ${why}. It is taken as inclusive; “x-bound” of the slot says otherwise.`,
    edits: null,
  }
}

type Reading = {
  side: 'start' | 'end' | null
  bound: SlotBound['bound'] | null
  shiftDays: number
  isUtcDay: boolean
  /** The fate of a day, to be said behind the name of the slot. */
  loss: string | null
  edits: TextEdit[] | null
}

const unread: Reading = { side: null, bound: null, shiftDays: 0, isUtcDay: false, loss: null, edits: null }

/** The effect of one comparison on the day that the slot holds. */
function readingOf(
  comparison: SlotComparison,
  { isDay: isDaySlot, tables }: { isDay: boolean; tables: Types },
): Reading {
  const { side, row, unit } = comparison
  if (side === 'same' || side === 'unread' || row === null) return unread
  const isMoment = !isDaySlot && unit === null
  const grain = grainOf(row, tables, comparison.isMoment || isMoment)
  const steps = stepsOf(comparison, grain)
  const common = { ...unread, side }
  if (steps === null) return common
  if (isMoment && grain !== 'day') return momentReading(comparison, steps)
  const isUtcDay = !isDaySlot
  if (grain === 'moment' || isFiner(row, unit)) return { ...lossyReading(comparison, steps), isUtcDay }
  return { ...common, isUtcDay, bound: dayBound(comparison, steps.units, grain === 'unknown') }
}

/** The values compared: days, moments, or unknown. */
function grainOf(column: ComparedColumn, tables: Types, isMoment: boolean): 'day' | 'moment' | 'unknown' {
  if (column.grain === 'day' || column.grain === 'moment' || column.grain === 'unknown') return column.grain
  const { at } = column
  const type = tables
    .filter(({ name }) => at?.tables.includes(name.toLowerCase()) === true)
    .flatMap(({ columns }) => columns)
    .find(({ name }) => name.toLowerCase() === at?.column)?.type
  if (type === undefined) return column.otherwise === null ? 'unknown' : grainOf(column.otherwise, tables, isMoment)
  if (type === 'DATE') return 'day'
  if (type.startsWith('TIMESTAMP')) return 'moment'
  if (type !== 'VARCHAR') return 'unknown'
  // Text becomes what it is compared with.
  return isMoment || column.grain === 'cast' ? 'moment' : 'day'
}

const monthsIn: Partial<Record<CalendarUnit, number>> = { month: 1, quarter: 3, year: 12 }
const dayMs = 86_400_000
/** An author who writes 23:59:59 means the whole day. */
const lastSecondMs = dayMs - 1_000

type Steps = { units: number; isWhole: boolean }

/** The amount added to the slot, in units of what it is cut to; null where it is not a whole number of them. */
function stepsOf({ shift, unit, side, isStrict }: SlotComparison, grain: string): Steps | null {
  const { months, days, ms } = shift
  const inMonths = unit === null ? undefined : monthsIn[unit]
  const inDays = unit === 'week' ? 7 : 1
  if (inMonths === undefined && months !== 0) return null
  const units = inMonths === undefined ? days / inDays : months / inMonths + (days !== 0 ? NaN : 0)
  if (!Number.isInteger(units) || Math.abs(units) > 1) {
    // `+ interval 1 month - interval 1 day` is the last day of the month.
    const isLastDay = inMonths !== undefined && months === inMonths && days === -1 && ms === 0 && grain === 'day'
    return isLastDay && side === 'end' && !isStrict ? { units: 1, isWhole: false } : null
  }
  if (ms === 0) return { units, isWhole: true }
  if (ms >= lastSecondMs && ms < dayMs) return { units: units + 1, isWhole: false }
  return ms < 0 && ms >= -1_000 ? { units, isWhole: false } : null
}

/** A month that is compared with days, or with moments. */
function isFiner(row: ComparedColumn, unit: CalendarUnit | null): boolean {
  return unit !== null && unit !== 'day' && row.unit !== unit && row.grain !== 'unknown'
}

/** Days with days: `<=` has the day itself. */
function dayBound({ side, isStrict }: SlotComparison, units: number, isUnknown: boolean): SlotBound['bound'] | null {
  // For moments and days alike, `<` leaves the day out and `>=` has it.
  if (isUnknown && isStrict !== (side === 'end')) return null
  if (side === 'end') return boundAt(units + (isStrict ? 0 : 1), 'exclusive')
  return boundAt(units + (isStrict ? 1 : 0), 'inclusive')
}

/** The bound where the range ends, or begins, so many days after the slot's. */
function boundAt(days: number, atOnce: SlotBound['bound']): SlotBound['bound'] | null {
  if (days === 0) return atOnce
  return days === 1 ? (atOnce === 'inclusive' ? 'exclusive' : 'inclusive') : null
}

/** A day against moments is its midnight: `<=` loses all of it but that, and `>` the midnight alone. */
function lossyReading({ side, isStrict, edits, unit }: SlotComparison, { units, isWhole }: Steps): Reading {
  const isEnd = side === 'end'
  const common: Reading = { ...unread, side: isEnd ? 'end' : 'start' }
  const isExact = isStrict === isEnd || !isWhole
  const bound = boundAt(units, isEnd ? 'exclusive' : 'inclusive')
  if (isExact || bound === null) return { ...common, bound }
  if (unit !== null && unit !== 'day') {
    return isEnd
      ? { ...common, bound, loss: `loses the end of a period: it is cut to the beginning of its ${unit}` }
      : common
  }
  const day = isEnd && units === 0 ? (edits?.day ?? null) : []
  const mended = edits === null || day === null ? null : [...day, ...edits.strict]
  const loss = !isEnd
    ? 'loses midnight of the first day: compared with a timestamp, a day is its midnight'
    : units === 0
      ? 'loses the last day but for its midnight: compared with a timestamp, a day is its midnight'
      : 'has midnight of the day after the last: compared with a timestamp, a day is its midnight'
  return { ...common, bound, loss, edits: mended }
}

/** A moment with moments is exact, whatever the operator. */
function momentReading({ side, isStrict }: SlotComparison, { units }: Steps): Reading {
  const isEnd = side === 'end'
  const common: Reading = { ...unread, side: isEnd ? 'end' : 'start', shiftDays: units }
  if (units !== 0 && units !== 1) return { ...common, shiftDays: 0 }
  return { ...common, bound: isStrict ? 'exclusive' : 'inclusive' }
}

/** Whether the slot's own day belongs to the range: with a day that the SQL adds to a moment it is the other way. */
export function saidBound({ side, bound, shiftDays }: SlotBound): SlotBound['bound'] {
  if (shiftDays === 0) return bound
  return side === 'end' ? 'inclusive' : 'exclusive'
}

/** The text with its edits, those at one place in their order. */
export function withEdits(sql: string, edits: readonly TextEdit[]): string {
  const inOrder = edits.map((edit, at) => ({ ...edit, at })).sort((a, b) => a.start - b.start || a.at - b.at)
  let out = ''
  let copied = 0
  for (const { start, end, text } of inOrder) {
    if (start < copied && end > start) continue
    out += sql.slice(copied, start) + text
    copied = Math.max(copied, end)
  }
  return out + sql.slice(copied)
}
