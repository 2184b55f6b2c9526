import { LRUCache } from 'lru-cache'

/** As people shorten them; what follows the three letters is told by whoever looks for a month. */
export const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
/** Any of them, for a pattern. */
export const anyMonth = monthNames.join('|')

/** A day or a stretch of days, first and last included, as the caller's calendar has them. */
export type DateSpan = {
  start: number
  end: number
  first: string
  last: string
  /** "since March" has no end, "before 2020" no beginning: the bound that was said. */
  open: 'after' | 'before' | null
  /** "after March" begins when March is over, "since March" with it. */
  isStrict: boolean
  /** The calendar has no 30 February; such a day is kept as it was written. */
  isReal: boolean
  /** The hour of the day, where one was named. */
  time: string | null
  /** The hour at which it ends, where it is another. */
  endTime: string | null
  /** Its hours were counted from now ("the last 24 hours"), not named: a slot for days takes the days they touch. */
  isCounted: boolean
}

export const dayMs = 86_400_000

/** Local time at the caller's clocks, as if it were UTC. */
export function localTime(now: Date, timeZone: string): Date {
  return new Date(now.getTime() + offsetMs(now, timeZone))
}

/** Midnight UTC of the day it is for the caller. */
export function localDay(now: Date, timeZone: string): Date {
  const local = localTime(now, timeZone)
  return day(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate())
}

export function iso(day: Date): string {
  return day.toISOString().slice(0, 10)
}

export function day(year: number, month: number, date: number): Date {
  return new Date(Date.UTC(year, month, date))
}

/** A stretch of which both ends belong to what was meant: "before 2020" ends with 2019, "after March" begins in April. */
export function inclusive(days: DateSpan): DateSpan {
  if (!days.isStrict || !days.isReal || days.time !== null) return days
  return days.open === 'after'
    ? { ...days, first: dayAfter(days.last, 1) }
    : { ...days, last: dayAfter(days.first, -1) }
}

/** Whether all of it lies in one month. */
export function isWithinMonth({ first, last, open }: DateSpan): boolean {
  return open === null && first.slice(0, 7) === last.slice(0, 7)
}

/** The day it is for the caller, in the place of other days. */
export function todayOf(days: DateSpan, { now, timeZone }: { now: Date; timeZone: string }): DateSpan {
  const today = iso(localDay(now, timeZone))
  return {
    ...days,
    first: today,
    last: today,
    open: null,
    isStrict: false,
    time: null,
    endTime: null,
    isCounted: false,
  }
}

/** One end of a stretch as a slot binds it: a date, its month, or the instant at which that day begins or ends for the caller. */
export function dayValue(days: DateSpan, bound: 'first' | 'last', format: string | null, timeZone: string): string {
  const date = days[bound]
  if (format === 'month') return date.slice(0, 7)
  if (format !== 'date-time' || !days.isReal) return date
  const hour = bound === 'first' ? days.time : (days.endTime ?? days.time)
  if (hour !== null) return written(instantAt(date, hour, timeZone))
  const midnight = Date.parse(date)
  return written(bound === 'first' ? beginning(midnight, timeZone) : beginning(midnight + dayMs, timeZone) - 1_000)
}

/** When clocks of a zone show an hour of a day. */
export function instantAt(date: string, hour: string, timeZone: string): number {
  return instantOf(Date.parse(`${date}T${hour}Z`), timeZone)
}

/** When a day begins for the caller. */
export function beginningOf(date: string, timeZone: string): number {
  return beginning(Date.parse(date), timeZone)
}

/** A day so many days later. */
export function dayAfter(date: string, by: number): string {
  return iso(new Date(Date.parse(date) + by * dayMs))
}

export function written(instantMs: number): string {
  return new Date(instantMs).toISOString().replace('.000Z', 'Z')
}

/** When clocks of a zone show a time, given as if it were UTC's. */
function instantOf(shownMs: number, timeZone: string): number {
  // Twice, because the offset at the guess may differ from the offset at the answer on the day clocks change.
  const guess = shownMs - offsetMs(new Date(shownMs), timeZone)
  return shownMs - offsetMs(new Date(guess), timeZone)
}

/** When a day begins: where clocks change at midnight it may have none, or two. */
function beginning(midnightMs: number, timeZone: string): number {
  const found = [-dayMs, dayMs]
    .map((away) => midnightMs - offsetMs(new Date(midnightMs + away), timeZone))
    .filter((instant) => instant + offsetMs(new Date(instant), timeZone) >= midnightMs)
  return found.length === 0 ? instantOf(midnightMs, timeZone) : Math.min(...found)
}

// Making one takes longer than everything else that reads a question; callers live in few zones.
const clocks = new LRUCache<string, Intl.DateTimeFormat>({
  max: 500,
  memoMethod: (timeZone) =>
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }),
})

// Since then clocks have changed at full quarters of an hour only: all instants of a quarter share their offset.
const evenSinceMs = Date.UTC(1980, 0, 1)
const quarterMs = 900_000
const offsets = new LRUCache<string, number>({ max: 1_000 })

/** How far the clocks of a zone, which show full seconds, are ahead of UTC. */
function offsetMs(instant: Date, timeZone: string): number {
  const at = instant.getTime()
  if (at < evenSinceMs) return shownOffset(instant, timeZone)
  const key = `${timeZone} ${Math.floor(at / quarterMs)}`
  const known = offsets.get(key) ?? shownOffset(instant, timeZone) + (at % 1_000)
  offsets.set(key, known)
  return known - (at % 1_000)
}

function shownOffset(instant: Date, timeZone: string): number {
  const shown = clocks.memo(timeZone).formatToParts(instant)
  const part = (type: string): number => Number(shown.find((each) => each.type === type)?.value ?? 0)
  return (
    Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second')) -
    instant.getTime()
  )
}
