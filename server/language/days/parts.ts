import type { ParsingContext, ParsingResult, Refiner } from 'chrono-node'
import { anyCount, spokenNumber } from '../words/quantities.ts'
import { day, dayMs } from './calendar.ts'
import { between, dateParts, endOf, firstDay, isOwn, lastDay, overlaps, todayIn } from './components.ts'
import { mondayOf, weekday, weekdays, widened } from './weeks.ts'

/**
 * Readings of the library that are another stretch than was said: "last few days" is no day a few days ago, "for 2
 * weeks" none in two weeks, "in the year" not the next one. The words are left unread.
 */
export const unsaidDays: Refiner = {
  refine: ({ text }, results) =>
    results.flatMap((result) => {
      if (isOwn(result)) return [result]
      // "The 7 days before yesterday" are no day a week before.
      const isCounted = counted.test(result.text) && /\bthe\s+$/iu.test(text.slice(0, result.index))
      if (isCounted || misread.test(result.text)) return []
      // The library would join "night" of "the night of 18 July" with the day and forget both.
      if (partOfDay.test(result.text) && /^\s+of\b/iu.test(text.slice(endOf(result)))) return []
      if (result.start.isOnlyWeekdayComponent() && namedDay.test(text.slice(0, result.index))) return []
      // "Jan -" of "Jan - Mar"
      result.text = result.text.replace(/[\s,-]+$/u, '')
      return [result]
    }),
}

const counted = /^\d+ \p{L}+ (?:before|after)\b/iu

const misread =
  /^(?:24\/7|(?:in|for|by|of)\s+the\s+(?:day|week|month|quarter|year)|for\b.*|(?:within|last|past|previous|next)\s.*\b(?:days?|weeks?|months?|quarters?|years?|hours?|minutes?|hrs?|mins?|mos?|wks?|yrs?|\d+\s?\p{L}+)|weekend)$/iu

const partOfDay = /^(?:in the )?(?:morning|afternoon|evening|night)$/iu
const namedDay = /\b(?:black|good|cyber|easter|ash|maundy|shrove)\s+$/iu

const number = `\\d{1,3}|${anyCount}`
const ordinals = ['first', 'second', 'third', 'fourth', 'fifth']
const nth = `(?:${ordinals.join('|')}|1st|2nd|3rd|4th|5th)`
const partBefore = new RegExp(
  `\\b(?:the\\s+)?(?:(?<half>first|second|last)\\s+half|(?<end>first|last)\\s+(?:(?<count>${number})\\s+)?(?<unit>days?|weeks?|months?)|(?<nth>${nth})\\s+week|(?<nth>${nth}|last)\\s+(?<weekday>${weekday}))\\s+(?:of|in)\\s+(?:the\\s+)?$`,
  'iu',
)
const weekBefore =
  /\b(?:the\s+)?week(?:end)?\s+(?<which>of|starting|beginning|commencing|from|ending)\s+(?:on\s+|the\s+)*$/iu

/** "the first half of October", "the second Tuesday of October", "the week of 2 November", "the year to 30 June". */
export const partsOfPeriods: Refiner = {
  refine: (context, results) => {
    const parts = results.map(
      (result) => partOf(context, result) ?? weekAround(context, result) ?? stretchTo(context, result) ?? result,
    )
    // "Tuesday" of "the second Tuesday of October" is no day of its own.
    return parts.filter(
      (part) => !parts.some((other) => other !== part && other.index <= part.index && overlaps(part, other)),
    )
  },
}

function partOf(context: ParsingContext, result: ParsingResult): ParsingResult | null {
  const match = partBefore.exec(context.text.slice(0, result.index))
  const [from, to] = [firstDay(result), lastDay(result)]
  if (match?.groups === undefined || from >= to) return null
  const { half, end, count = '1', unit = '', nth: said, weekday: name } = match.groups
  const isLast = (half ?? end)?.toLowerCase() !== 'first'
  const counted = spokenNumber(count) ?? Number(count)
  const found =
    half !== undefined
      ? halfOf([from, to], isLast)
      : said !== undefined
        ? nthOf([from, to], said.toLowerCase(), name)
        : edgeOf([from, to], { isLast, counted, unit: unit.toLowerCase() })
  if (found === null || found[0] < from || found[1] > to) return null
  return widened(context, result, { index: match.index, first: found[0], last: found[1] })
}

type Days = [first: Date, last: Date]

/** Half of a month or of a year; nobody agrees on the middle of a quarter. */
function halfOf([from, to]: Days, isLast: boolean): Days | null {
  const { year, month } = dateParts(from)
  const isFrom = (start: Date, months: number): boolean =>
    from.getTime() === start.getTime() &&
    to.getTime() === day(start.getUTCFullYear(), start.getUTCMonth() + months, 0).getTime()
  const middle = isFrom(day(year, month - 1, 1), 1)
    ? day(year, month - 1, 16)
    : isFrom(day(year, 0, 1), 12)
      ? day(year, 6, 1)
      : null
  if (middle === null) return null
  return isLast ? [middle, to] : [from, new Date(middle.getTime() - dayMs)]
}

/** The second week of a month is its days from the 8th to the 14th. */
function nthOf([from, to]: Days, said: string, weekdayName: string | undefined): Days | null {
  if (to.getTime() - from.getTime() > 31 * dayMs) return null
  const nth = ordinals.indexOf(said)
  const place = nth < 0 ? Number.parseInt(said, 10) - 1 : nth
  const isLast = said === 'last'
  if (weekdayName === undefined) {
    const first = new Date(from.getTime() + place * 7 * dayMs)
    return [first, new Date(Math.min(first.getTime() + 6 * dayMs, to.getTime()))]
  }
  const at = weekdays.indexOf(weekdayName.slice(0, 3).toLowerCase())
  const monday = mondayOf(isLast ? to : from).getTime()
  const isOutside = isLast ? monday + at * dayMs > to.getTime() : monday + at * dayMs < from.getTime()
  const weeks = isLast ? (isOutside ? -1 : 0) : place + (isOutside ? 1 : 0)
  const on = new Date(monday + (weeks * 7 + at) * dayMs)
  return [on, on]
}

type Edge = { isLast: boolean; counted: number; unit: string }

/** "the first 10 days", "the last three months" of a stretch. */
function edgeOf([from, to]: Days, { isLast, counted, unit }: Edge): Days {
  if (!unit.startsWith('m')) {
    const away = (counted * (unit.startsWith('w') ? 7 : 1) - 1) * dayMs
    return isLast ? [new Date(to.getTime() - away), to] : [from, new Date(from.getTime() + away)]
  }
  const { year, month } = dateParts(isLast ? to : from)
  return isLast ? [day(year, month - counted, 1), to] : [from, day(year, month - 1 + counted, 0)]
}

const stretchBefore = new RegExp(
  `\\b(?:the\\s+)?(?:(?<count>${number})\\s+(?<unit>days?|weeks?|months?|years?)\\s+(?:to|up\\s+to)|(?:(?<count>${number})\\s+)?(?<unit>days?|weeks?|months?|years?)\\s+(?:ending|ended))\\s+(?:(?:in|on|with|at)\\s+)?(?:the\\s+)?$`,
  'iu',
)

/** "the 12 months to October", "the year ended 30 June 2026": so much, and its last day is the last of what is named. */
function stretchTo(context: ParsingContext, result: ParsingResult): ParsingResult | null {
  const match = stretchBefore.exec(context.text.slice(0, result.index))
  if (match?.groups === undefined) return null
  const { count = '1', unit = '' } = match.groups
  const last = lastDay(result)
  const counted = spokenNumber(count) ?? Number(count)
  return widened(context, result, { index: match.index, first: movedBack(last, unit.toLowerCase(), counted), last })
}

/** The first day of a stretch by its last. */
export function movedBack(last: Date, unit: string, counted: number): Date {
  const next = new Date(last.getTime() + dayMs)
  const { year, month, day: date } = dateParts(next)
  if (unit.startsWith('y')) return day(year - counted, month - 1, date)
  if (unit.startsWith('m')) return day(year, month - 1 - counted, date)
  return new Date(next.getTime() - counted * (unit.startsWith('w') ? 7 : 1) * dayMs)
}

function weekAround(context: ParsingContext, result: ParsingResult): ParsingResult | null {
  const match = weekBefore.exec(context.text.slice(0, result.index))
  const on = firstDay(result)
  if (match === null || on.getTime() !== lastDay(result).getTime()) return null
  const which = match.groups?.['which']?.toLowerCase()
  if (/weekend/iu.test(match[0])) {
    const saturday = new Date(mondayOf(on).getTime() + 5 * dayMs)
    return widened(context, result, { index: match.index, first: saturday, last: new Date(saturday.getTime() + dayMs) })
  }
  const first = which === 'of' ? mondayOf(on) : which === 'ending' ? new Date(on.getTime() - 6 * dayMs) : on
  return widened(context, result, { index: match.index, first, last: new Date(first.getTime() + 6 * dayMs) })
}

const toDate = /^[\s-]+to[\s-]date\b/iu

/** "Q3 to date", "November to date" */
export const toDates: Refiner = {
  refine: (context, results) =>
    results.map((result) => {
      const match = toDate.exec(context.text.slice(endOf(result)))
      const [first, today] = [firstDay(result), todayIn(context)]
      if (match === null || first > today || first.getTime() === lastDay(result).getTime()) return result
      const longer = context.createParsingResult(result.index, endOf(result) + match[0].length, result.start)
      return widened(context, longer, { index: result.index, first, last: today })
    }),
}

const wholeYear = /^(?:(?:last|this|next|previous|current)\s+year|['’]\d{2}|(?:19|20)\d{2})$/iu
const ofYear = /^(?:\s|,|['’]s\b|\b(?:of|in)\b|\bthe\b)*$/iu

/** "October last year", "last year in Q3", "Oct '25": the year beside a part of it is that part's year. */
export const yearsBeside: Refiner = {
  refine: (context, results) => {
    const joined: ParsingResult[] = []
    for (const each of results) {
      const before = joined.at(-1)
      const whole = before === undefined ? null : partAndYear(context, before, each)
      if (whole === null) joined.push(each)
      else joined.splice(-1, 1, whole)
    }
    return joined
  },
}

function partAndYear(context: ParsingContext, one: ParsingResult, other: ParsingResult): ParsingResult | null {
  if (!ofYear.test(between(context.text, one, other))) return null
  const [part, year] = wholeYear.test(other.text) ? [one, other] : wholeYear.test(one.text) ? [other, one] : []
  if (part === undefined || year === undefined || part.start.isCertain('year') || !part.start.isCertain('month'))
    return null
  const named = firstDay(year).getUTCFullYear()
  const away = named - firstDay(part).getUTCFullYear()
  const [start, end] = [part.start.clone(), part.end?.clone()]
  for (const each of end === undefined ? [start] : [start, end]) each.assign('year', (each.get('year') ?? named) + away)
  return context.createParsingResult(one.index, endOf(other), start, end)
}
