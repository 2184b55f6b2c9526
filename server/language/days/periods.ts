import type { Parser } from 'chrono-node'
import { day, dayMs } from './calendar.ts'
import { anyCount, spokenNumber } from '../words/quantities.ts'
import { asCounted, asRelative, dateParts, todayIn } from './components.ts'
import { dayParser, oneDay, period } from './day-parser.ts'
import { isComing } from './is-coming.ts'

const ordinals: Record<string, number> = {
  first: 1,
  second: 2,
  third: 3,
  fourth: 4,
  '1st': 1,
  '2nd': 2,
  '3rd': 3,
  '4th': 4,
}
// "7", "thirty", "twenty-one", "a couple of"
const count = `(?:(\\d{1,3}|(?:a )?couple of|(?:${anyCount})(?:[ -](?:${anyCount}))?)\\s+)?`
const which = '(this|last|past|previous|next|current)'

/** "Q2", "last quarter": one that has not begun is the one of last year. */
const quarter = dayParser(
  /\b(?:q([1-4])|(first|second|third|fourth|1st|2nd|3rd|4th|last|this|next|previous) quarter)(?:\s+(?:of\s+)?((?:19|20)\d{2}))?\b/iu,
  (context, match) => {
    const [, digit, word = '', named] = match
    const today = todayIn(context)
    const current = Math.floor(today.getUTCMonth() / 3)
    const shift = { last: -1, previous: -1, this: 0, next: 1 }[word.toLowerCase()]
    const index = shift === undefined ? Number(digit ?? ordinals[word.toLowerCase()]) - 1 : current + shift
    const isAhead = shift === undefined && index > current && !isComing(context.text, match.index)
    const year = named === undefined ? today.getUTCFullYear() - (isAhead ? 1 : 0) : Number(named)
    return period(context, match, [day(year, index * 3, 1), day(year, index * 3 + 3, 0)])
  },
)

/** "the first half of 2025". */
const half = dayParser(/\b(?:h([12])|(first|second) half)(?:\s+of)?\s+((?:19|20)\d{2})\b/iu, (context, match) => {
  const from = match[1] === '2' || match[2]?.toLowerCase() === 'second' ? 6 : 0
  const year = Number(match[3])
  return period(context, match, [day(year, from, 1), day(year, from + 6, 0)])
})

/** "last month" is the calendar month before; "the last 7 days" are the seven that end today, "past month" too. */
const relative = dayParser(
  new RegExp(`\\b${which}\\s+${count}(day|week|fortnight|month|quarter|half[ -]year|year)s?\\b(?!\\s+ago)`, 'iu'),
  (context, match) => {
    const [, word = '', counted, unit = ''] = match.map((each) => each?.toLowerCase())
    const steps = counted === undefined ? null : numberOf(counted)
    return period(context, match, stretch(todayIn(context), word, steps ?? (isRolling(unit) ? 1 : null), unit))
  },
)

/** Its last day, by our weeks, which begin on Monday. */
const endOfPeriod = dayParser(
  new RegExp(`\\b(?:last\\s+day|end)\\s+of\\s+(?:the\\s+)?${which}\\s+(week|month|quarter|year)\\b`, 'iu'),
  (context, match) => {
    const [, word = '', unit = ''] = match.map((each) => each.toLowerCase())
    const [, last] = stretch(todayIn(context), word === 'past' ? 'last' : word, null, unit)
    return asRelative(oneDay(context, match, last))
  },
)

const toDate = dayParser(/\b(month|quarter|year|week)[- ]to[- ]date\b|\b([mqy])td\b/iu, (context, match) => {
  const [, unit, letter = ''] = match.map((each) => each?.toLowerCase())
  const today = todayIn(context)
  return period(context, match, [startOf(today, unit ?? { m: 'month', q: 'quarter' }[letter] ?? 'year'), today])
})

const soFar = dayParser(
  /\b(?:so far (?:in )?(?:this|the current) (week|month|quarter|year)|(?:this|the current) (week|month|quarter|year) (?:so far|(?:up to|until|till) (?:now|today))|(?:since|from) the (?:beginning|start) of (?:the|this) (week|month|quarter|year))\b/iu,
  (context, match) => {
    const today = todayIn(context)
    const unit = match[1] ?? match[2] ?? match[3] ?? 'year'
    return period(context, match, [startOf(today, unit.toLowerCase()), today])
  },
)

export const periods: Parser[] = [quarter, half, relative, endOfPeriod, toDate, soFar]

const hourMs = 3_600_000

/** "The last 24 hours" end now: at the time on the caller's clocks, not at the noon that the library counts from. */
export function countedHours(local: Date): Parser {
  return dayParser(new RegExp(`\\b${which}\\s+${count}hours?\\b(?!\\s+ago)`, 'iu'), (context, match) => {
    const [, word = '', counted] = match.map((each) => each?.toLowerCase())
    const isBack = isBackward(word)
    const hours = counted === undefined ? 1 : numberOf(counted)
    const away = new Date(local.getTime() + (isBack ? -1 : 1) * hours * hourMs)
    const [from, to] = isBack ? [away, local] : [local, away]
    return asCounted(context.createParsingResult(match.index, match[0], instantParts(from), instantParts(to)))
  })
}

function instantParts(instant: Date): ReturnType<typeof dateParts> & Record<'hour' | 'minute' | 'second', number> {
  const clock = { hour: instant.getUTCHours(), minute: instant.getUTCMinutes(), second: instant.getUTCSeconds() }
  return { ...dateParts(instant), ...clock }
}

function numberOf(counted: string): number {
  return spokenNumber(counted) ?? (counted.endsWith('couple of') ? 2 : Number(counted))
}

/** No calendar says when a fortnight or a half year begins: it ends today. */
function isRolling(unit: string): boolean {
  return unit === 'fortnight' || unit.startsWith('half')
}

function isBackward(word: string): boolean {
  return word === 'last' || word === 'past' || word === 'previous'
}

function startOf(today: Date, unit: string): Date {
  const [year, month] = [today.getUTCFullYear(), today.getUTCMonth()]
  if (unit === 'year') return day(year, 0, 1)
  if (unit === 'quarter') return day(year, Math.floor(month / 3) * 3, 1)
  if (unit === 'month') return day(year, month, 1)
  // Weeks begin on Monday.
  return unit === 'week' ? day(year, month, today.getUTCDate() - ((today.getUTCDay() + 6) % 7)) : today
}

function stretch(today: Date, word: string, counted: number | null, unit: string): [Date, Date] {
  const isBack = isBackward(word)
  if (counted !== null || word === 'past') {
    const steps = counted ?? 1
    return isBack
      ? [new Date(move(today, unit, -steps).getTime() + dayMs), today]
      : [today, new Date(move(today, unit, steps).getTime() - dayMs)]
  }
  const from = move(startOf(today, unit), unit, isBack ? -1 : word === 'next' ? 1 : 0)
  return [from, new Date(move(from, unit, 1).getTime() - dayMs)]
}

function move(from: Date, unit: string, steps: number): Date {
  const [year, month, date] = [from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate()]
  if (unit === 'year') return day(year + steps, month, date)
  if (unit === 'quarter') return move(from, 'month', 3 * steps)
  if (unit.startsWith('half')) return move(from, 'month', 6 * steps)
  if (unit === 'month') return day(year, month + steps, Math.min(date, day(year, month + steps + 1, 0).getUTCDate()))
  return day(year, month, date + steps * (unit === 'fortnight' ? 14 : unit === 'week' ? 7 : 1))
}
