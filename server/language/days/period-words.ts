import { inclusive, type DateSpan } from './calendar.ts'

/** The days that a stretch covers, for people: "1–31 October 2025". */
export type Period = { first: string | null; last: string | null; text: string }

export function periodOf(days: DateSpan): Period {
  const { first, last } = inclusive(days)
  const [from, to] = [hourly(first, days.time), hourly(last, days.endTime ?? days.time)]
  if (!days.isReal) return { first: null, last: null, text: days.first }
  if (days.open === 'after') return { first, last: null, text: `from ${from} on` }
  if (days.open === 'before') return { first: null, last, text: `up to ${to}` }
  return { first, last, text: days.time === null ? between(first, last) : from === to ? from : `${from} – ${to}` }
}

const months = 'January February March April May June July August September October November December'.split(' ')

function parts(date: string): { day: number; month: string; year: string } {
  const [year = '', month = '', day = ''] = date.split('-')
  return { day: Number(day), month: months[Number(month) - 1] ?? month, year }
}

function written(date: string): string {
  const { day, month, year } = parts(date)
  return `${day} ${month} ${year}`
}

/** The part that both days have in common is said once. */
function between(first: string, last: string): string {
  if (first === last) return written(first)
  const [one, other] = [parts(first), parts(last)]
  if (one.year !== other.year) return `${written(first)} – ${written(last)}`
  if (one.month !== other.month) return `${one.day} ${one.month} – ${written(last)}`
  return `${one.day}–${written(last)}`
}

function hourly(date: string, time: string | null): string {
  return time === null ? written(date) : `${written(date)}, ${time.replace(/:00$/, '')}`
}
