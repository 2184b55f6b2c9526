import type { ParsingContext, ParsingResult, Refiner } from 'chrono-node'
import { anyCount, spokenNumber } from '../words/quantities.ts'
import { day, dayMs } from './calendar.ts'
import { between, dateParts, endOf, firstDay, isOwn, lastDay, todayIn } from './components.ts'
import { mondayOf, widened } from './weeks.ts'

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
      // "Jan -" of "Jan - Mar"
      result.text = result.text.replace(/[\s,-]+$/u, '')
      return [result]
    }),
}

const counted = /^\d+ \p{L}+ (?:before|after)\b/iu

const misread =
  /^(?:(?:in|for|by|of)\s+the\s+(?:day|week|month|quarter|year)|for\b.*|(?:within|last|past|previous|next)\s.*\b(?:days?|weeks?|months?|quarters?|years?|hours?|minutes?|hrs?|mins?|mos?|wks?|yrs?|\d+\s?\p{L}+)|weekend)$/iu

const number = `\\d{1,2}|${anyCount}`
const partBefore = new RegExp(
  `\\b(?:the\\s+)?(?:(?<half>first|second|last)\\s+half|(?<end>first|last)\\s+(?:(?<count>${number})\\s+)?(?<unit>days?|weeks?))\\s+of\\s+(?:the\\s+)?$`,
  'iu',
)
const weekBefore =
  /\b(?:the\s+)?week(?:end)?\s+(?<which>of|starting|beginning|commencing|from|ending)\s+(?:on\s+|the\s+)*$/iu

/** "the first half of October", "the last 10 days of October", "the week of 2 November". */
export const partsOfPeriods: Refiner = {
  refine: (context, results) =>
    results.map((result) => partOf(context, result) ?? weekAround(context, result) ?? result),
}

function partOf(context: ParsingContext, result: ParsingResult): ParsingResult | null {
  const match = partBefore.exec(context.text.slice(0, result.index))
  const [from, to] = [firstDay(result), lastDay(result)]
  if (match?.groups === undefined || from >= to) return null
  const { half, end, count = '1', unit = '' } = match.groups
  const isLast = (half ?? end)?.toLowerCase() !== 'first'
  const { year, month } = dateParts(from)
  const isMonth = from.getTime() === day(year, month - 1, 1).getTime() && to.getTime() === day(year, month, 0).getTime()
  // The middle of a quarter or a year is none that everybody agrees on.
  if (half !== undefined && !isMonth) return null
  const counted = (spokenNumber(count) ?? Number(count)) * (unit.startsWith('w') ? 7 : 1)
  const days = half === undefined ? counted : isLast ? dateParts(to).day - 15 : 15
  const away = (days - 1) * dayMs
  const [first, last] = isLast ? [new Date(to.getTime() - away), to] : [from, new Date(from.getTime() + away)]
  return first < from || last > to ? null : widened(context, result, { index: match.index, first, last })
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
