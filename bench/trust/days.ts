/** Days that depend on today, as the worlds write them: `@today-7`, `@month-1.end`, `@last-q2.start`, in UTC. */
const token =
  /^@(?:today(?<months>[+-]\d+m)?|(?<unit>year|quarter|month|week|usweek)(?<shift>[+-]\d+)?(?:\.(?<end>start|end))?|last-(?<last>\d\d-\d\d|\d\d|q\d|w\d+)(?:\.(?<lastEnd>start|end))?)(?<days>[+-]\d+)?$/u

type Stretch = { start: Date; end: Date }

/** A value of a world with its tokens resolved, whatever it is nested in. */
export function resolveDays(value: unknown, now: Date): unknown {
  if (Array.isArray(value)) return value.map((each) => resolveDays(each, now))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolveDays(each, now)]))
  }
  return typeof value === 'string' && value.startsWith('@') ? resolveToken(value, now) : value
}

function resolveToken(text: string, now: Date): unknown {
  const parts = token.exec(text)?.groups
  if (parts === undefined) throw new TypeError(`${text} is no day of a world.`)
  const today = day(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate())
  const { months, unit, shift = '0', end, last, lastEnd, days = '0' } = parts
  if (unit === 'year' && end === undefined) return today.getUTCFullYear() + Number(shift)
  const found =
    last !== undefined
      ? ends(lastOf(last, today), lastEnd ?? 'start')
      : unit !== undefined
        ? ends(stretchOf(unit, today, Number(shift)), end ?? 'start')
        : inMonths(today, Number.parseInt(months ?? '0', 10))
  return isoDay(addDays(found, Number(days)))
}

function stretchOf(unit: string, today: Date, shift: number): Stretch {
  const [year, month] = [today.getUTCFullYear(), today.getUTCMonth()]
  if (unit === 'year') return { start: day(year + shift, 0, 1), end: day(year + shift, 11, 31) }
  if (unit === 'quarter') return monthsFrom(year, (Math.floor(month / 3) + shift) * 3, 3)
  if (unit === 'month') return monthsFrom(year, month + shift, 1)
  const sinceFirst = unit === 'week' ? (today.getUTCDay() + 6) % 7 : today.getUTCDay()
  const start = addDays(today, shift * 7 - sinceFirst)
  return { start, end: addDays(start, 6) }
}

/** The last one that has begun. */
function lastOf(name: string, today: Date): Stretch {
  const of = (year: number): Stretch => {
    const [first = 0, second] = name.replace(/^[qw]/, '').split('-').map(Number)
    if (second !== undefined) return { start: day(year, first - 1, second), end: day(year, first - 1, second) }
    if (name.startsWith('q')) return monthsFrom(year, (first - 1) * 3, 3)
    if (!name.startsWith('w')) return monthsFrom(year, first - 1, 1)
    // Week 1 holds 4 January.
    const start = addDays(stretchOf('week', day(year, 0, 4), 0).start, (first - 1) * 7)
    return { start, end: addDays(start, 6) }
  }
  const year = today.getUTCFullYear()
  return of(year).start <= today ? of(year) : of(year - 1)
}

function monthsFrom(year: number, month: number, count: number): Stretch {
  return { start: day(year, month, 1), end: day(year, month + count, 0) }
}

function ends({ start, end }: Stretch, which: string): Date {
  return which === 'end' ? end : start
}

function inMonths(today: Date, months: number): Date {
  const wanted = day(today.getUTCFullYear(), today.getUTCMonth() + months, 1)
  const lastDay = day(wanted.getUTCFullYear(), wanted.getUTCMonth() + 1, 0).getUTCDate()
  return day(wanted.getUTCFullYear(), wanted.getUTCMonth(), Math.min(today.getUTCDate(), lastDay))
}

function addDays(from: Date, days: number): Date {
  return new Date(from.getTime() + days * 86_400_000)
}

function day(year: number, month: number, date: number): Date {
  return new Date(Date.UTC(year, month, date))
}

function isoDay(date: Date): string {
  return date.toISOString().slice(0, 10)
}
