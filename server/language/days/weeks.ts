import type { Parser, ParsingContext, ParsingResult } from 'chrono-node'
import { anyMonth, day, dayMs } from './calendar.ts'
import { asPeriod, dateParts, todayIn } from './components.ts'
import { dayParser, oneDay, period } from './day-parser.ts'
import { isComing } from './is-coming.ts'

const weekMs = 7 * dayMs

/** Weeks begin on Monday. */
export function mondayOf(on: Date): Date {
  return new Date(on.getTime() - ((on.getUTCDay() + 6) % 7) * dayMs)
}

const year = '(?:19|20)\\d{2}'
const week = '(?:(?:calendar\\s+)?weeks?|wks?|[ck]w)\\s?'

/** "2026-W45", "week 45", "weeks 40 to 42 of 2025": as ISO counts them. One that has not begun is last year's. */
const numberedWeek = dayParser(
  new RegExp(
    `(?<![\\p{L}\\p{N}-])(?:(?<before>${year})[\\s-]?w(?<first>\\d{2})|(?:${week}|(?<=\\b(?:in|for|since|until|till|from|to|of|during)\\s+)w(?=\\d{2}\\b)|w(?=\\d{2}\\s*(?:-\\s*w?\\d{2}\\b|(?:of\\s+)?${year})))(?<first>\\d{1,2}))` +
      `(?:\\s*(?:-|to|until|till|through|and)\\s*(?:${week}|w)?(?<last>\\d{1,2})(?!\\d|\\s*(?:days?|weeks?|months?|${anyMonth})))?(?:[\\s,/-]*(?:of\\s+)?(?<after>${year}))?(?![\\p{L}\\p{N}-])`,
    'iu',
  ),
  (context, match) => {
    const { before, after, first, last = first } = match.groups ?? {}
    const today = todayIn(context)
    const named = before ?? after
    const guess = Number(named ?? today.getUTCFullYear())
    const isAhead = weekOf(guess, Number(first)) > today && !isComing(context.text, match.index)
    const from = weekOf(named === undefined && isAhead ? guess - 1 : guess, Number(first))
    const weeks = Number(last) - Number(first) + 1
    if (weeks < 1 || Number(first) < 1 || Number(last) > 53) return null
    return period(context, match, [from, new Date(from.getTime() + weeks * weekMs - dayMs)])
  },
)

/** The fourth of January lies in the first week of its year. */
function weekOf(inYear: number, number: number): Date {
  return new Date(mondayOf(day(inYear, 0, 4)).getTime() + (number - 1) * weekMs)
}

/** Its Saturday and Sunday; without a word beside it, the last that has begun. */
const weekend = dayParser(
  /\b(?:(?<which>last|past|previous|this|next|coming)\s+)?weekend\b(?!\s+of\b)/iu,
  (context, match) => {
    const which = match.groups?.['which']?.toLowerCase()
    const today = todayIn(context)
    const saturday = new Date(mondayOf(today).getTime() + 5 * dayMs)
    const isAhead = saturday > today && which === undefined && !isComing(context.text, match.index)
    const weeks = which === 'next' ? 1 : isAhead || /^(?:last|past|previous)$/.test(which ?? '') ? -1 : 0
    const from = new Date(saturday.getTime() + weeks * weekMs)
    return period(context, match, [from, new Date(from.getTime() + dayMs)])
  },
)

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
const weekdayName = '(mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?'
export const weekday = weekdayName.replace('(', '(?:')
const shifts: Record<string, number> = { last: -1, previous: -1, this: 0, next: 1 }

/** "Monday last week", "Monday to Friday of this week": the library counts from the weekday that is nearest. */
const dayOfWeek = dayParser(
  new RegExp(
    `\\b${weekdayName}(?:\\s*(?:-|to|and|until|till|through)\\s*${weekdayName})?,?\\s+(?:of\\s+)?(?:the\\s+)?(last|previous|this|next)\\s+week\\b`,
    'iu',
  ),
  (context, match) => {
    const [, first = '', last, which = ''] = match.map((each) => each?.toLowerCase())
    return inWeek(context, match, { first, last: last ?? first, weeks: shifts[which] ?? 0 })
  },
)

/** "last week on Monday" */
const weekThenDay = dayParser(
  new RegExp(`\\b(last|previous|this|next)\\s+week(?:'s|,)?\\s+(?:on\\s+)?${weekdayName}\\b`, 'iu'),
  (context, match) => {
    const [, which = '', first = ''] = match.map((each) => each.toLowerCase())
    return inWeek(context, match, { first, last: first, weeks: shifts[which] ?? 0 })
  },
)

type InWeek = { first: string; last: string; weeks: number }

function inWeek(context: ParsingContext, match: RegExpExecArray, { first, last, weeks }: InWeek): ParsingResult {
  const monday = mondayOf(todayIn(context)).getTime() + weeks * weekMs
  const [from, to] = [first, last].map((name) => new Date(monday + weekdays.indexOf(name.slice(0, 3)) * dayMs))
  if (from === undefined || to === undefined || from.getTime() === to.getTime()) {
    return oneDay(context, match, from ?? todayIn(context))
  }
  return period(context, match, from < to ? [from, to] : [to, from])
}

/** "the month before last" */
const beforeLast = dayParser(/\b(?:the\s+)?(week|month|quarter|year)\s+before\s+last\b/iu, (context, match) => {
  const today = todayIn(context)
  const [inYear, month] = [today.getUTCFullYear(), today.getUTCMonth()]
  const unit = match[1]?.toLowerCase()
  if (unit === 'year') return period(context, match, [day(inYear - 2, 0, 1), day(inYear - 2, 11, 31)])
  if (unit === 'week') {
    const from = mondayOf(today).getTime() - 2 * weekMs
    return period(context, match, [new Date(from), new Date(from + weekMs - dayMs)])
  }
  const months = unit === 'quarter' ? 3 : 1
  const from = month - (month % months) - 2 * months
  return period(context, match, [day(inYear, from, 1), day(inYear, from + months, 0)])
})

export const weeks: Parser[] = [numberedWeek, dayOfWeek, weekThenDay, weekend, beforeLast]

/** A result as another stretch that takes in words before it: "the week of 2 November". */
export function widened(
  context: ParsingContext,
  result: ParsingResult,
  { index, first, last }: { index: number; first: Date; last: Date },
): ParsingResult {
  const end = result.index + result.text.length
  return asPeriod(context.createParsingResult(index, end, dateParts(first), dateParts(last)))
}
