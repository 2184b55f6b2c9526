import { beginningOf, dayAfter, dayMs, inclusive, instantAt, written, type DateSpan } from './calendar.ts'

/** How a query bounds a range: which end a slot is, and whether the range has the slot's own day, or moment. */
type PeriodEnd = {
  side: 'start' | 'end'
  bound: 'inclusive' | 'exclusive'
  /** Days that the query adds to the moment. */
  shiftDays: number
  /** Only the day of a moment counts, as it is in UTC. */
  isUtcDay: boolean
}

/** The hour that stands for the end of a day which was named without one. */
const untold = '23:59:59'
const minuteMs = 60_000

/** The value by which a query gives just the rows of a stretch: no day more and no moment less. */
export function endValue(
  days: DateSpan,
  end: PeriodEnd,
  { format, timeZone }: { format: string | null; timeZone: string },
): string {
  const { first, last } = inclusive(days)
  if (!days.isReal) return end.side === 'start' ? days.first : days.last
  const day = end.side === 'start' ? first : last
  // A range that leaves a slot's day out begins after it, or ends before it.
  const away = end.bound === 'inclusive' ? 0 : end.side === 'start' ? -1 : 1
  if (format !== 'date-time') return dayAfter(day, away)
  if (end.isUtcDay) return written(Date.parse(dayAfter(day, away)))
  const { ms, isBefore } = momentOf({ ...days, first, last }, end, timeZone)
  const shifted = ms - end.shiftDays * dayMs
  return isBefore ? justBefore(shifted) : written(shifted)
}

/** Timestamps are exact to the microsecond: nothing lies between one and the next. */
function justBefore(instantMs: number): string {
  return `${new Date(instantMs - 1).toISOString().slice(0, -1)}999Z`
}

/** The moment at which a stretch begins or is over; `isBefore`: the last moment before it is the one to bind. */
function momentOf(days: DateSpan, { side, bound }: PeriodEnd, timeZone: string): { ms: number; isBefore: boolean } {
  const isExclusive = bound === 'exclusive'
  const { first, last, time, endTime } = days
  if (side === 'start') {
    if (time === null) return { ms: beginningOf(first, timeZone), isBefore: isExclusive }
    // "After 3 pm" leaves 3 pm out, as the query does.
    return { ms: instantAt(first, time, timeZone), isBefore: isExclusive && !days.isStrict }
  }
  const hour = endTime ?? time
  if (hour === null || (hour === untold && time !== hour)) {
    return { ms: beginningOf(dayAfter(last, 1), timeZone), isBefore: !isExclusive }
  }
  const ms = instantAt(last, hour, timeZone)
  // "At 10:30" is the minute that the clocks show it.
  const isOneMoment = days.open === null && first === last && (endTime === null || endTime === time)
  return isOneMoment ? { ms: ms + minuteMs, isBefore: !isExclusive } : { ms, isBefore: false }
}
