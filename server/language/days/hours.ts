import type { ParsingContext, ParsingResult, Refiner } from 'chrono-node'
import { between, endOf, isOwn, isPeriod, namesDay, overlaps } from './components.ts'
import { dayParser } from './day-parser.ts'

/**
 * "3 March 8:00 to 5 March": the library reads an hour "8:00 to 5" and days "00 to 5 March", and of "2025-03-04 to 5
 * April" days "04 to 5 April". The hour ends before the word that leads to the day, and the day begins after it.
 */
export const daysAfterJoins: Refiner = {
  refine: (context, results) => {
    let split = results
    for (const before of results.filter((result) => isHour(result) || isOwn(result))) {
      const days = split.find((result) => !isOwn(result) && result.start.isCertain('month') && runsOn(before, result))
      const pieces = days === undefined ? null : splitAtJoin(context, before, days)
      if (pieces !== null) split = split.map((result) => pieces.get(result) ?? result)
    }
    return split.toSorted((a, b) => a.index - b.index)
  },
}

/** Whether days begin inside a result and end after it. */
function runsOn(before: ParsingResult, days: ParsingResult): boolean {
  return before.index < days.index && days.index < endOf(before) && endOf(before) < endOf(days)
}

const joining = /\s+(?:to|until|till|through)\s+(?:the\s+)?|\s*[-–]\s*/iu

function splitAtJoin(
  context: ParsingContext,
  before: ParsingResult,
  days: ParsingResult,
): Map<ParsingResult, ParsingResult> | null {
  const { text } = context
  const from = isHour(before) ? before.index : endOf(before)
  const join = joining.exec(text.slice(from, endOf(days)))
  if (join === null || (!isHour(before) && join.index > 0)) return null
  const at = from + join.index + join[0].length
  if (at < days.index || at >= endOf(days)) return null
  // Else the hour is none: "from 3 to 9" of "from 3 to 9 December".
  if (at > days.index && isHour(before) && !/\d[:.]$/u.test(text.slice(0, days.index))) return null
  return new Map([
    [before, isHour(before) ? context.createParsingResult(from, from + join.index, before.start) : before],
    [days, at === days.index ? days : context.createParsingResult(at, endOf(days), days.end ?? days.start)],
  ])
}

/** "20:30 March": the minutes of an hour are no day of the month. */
export const minutesAreNoDays: Refiner = {
  refine: ({ text }, results) =>
    results.filter(
      (result) => isHour(result) || !/\d:$/u.test(text.slice(0, result.index)) || !/^\d/u.test(result.text),
    ),
}

/** An hour is no bound of a period: that of "last month after 3 pm" is a value of its own, which is read elsewhere. */
export const hoursBesidePeriods: Refiner = {
  refine: ({ text }, results) => {
    // "last week" of "Monday last week" is a part of a day, which may have its hour.
    const isPart = (result: ParsingResult): boolean =>
      results.some((other) => overlaps(result, other) && other.text.length > result.text.length)
    const periods = results.filter((result) => isPeriod(result.start) && !isPart(result))
    const days = results.filter((result) => !isHour(result) && !periods.some((other) => overlaps(result, other)))
    const isBeside = (one: ParsingResult, other: ParsingResult): boolean => beside.test(between(text, one, other))
    return results.filter(
      (result) =>
        !isHour(result) ||
        days.some((other) => isBeside(other, result)) ||
        !periods.some((other) => isBeside(result, other) || isBeside(other, result)),
    )
  },
}

const beside = /^\s*(?:(?!to\b|till\b|until\b|and\b|or\b)\p{L}{1,6}|[,.:-])?\s*$/iu

/** "01.03.2025-05.03.2025": the library would read a zone of five hours, but zones belong to hours. */
export const zonesOfHours: Refiner = {
  refine: ({ text, reference }, results) => {
    for (const result of results) {
      const isZoneAhead = /^\s*[+-]\d/u.test(text.slice(endOf(result)))
      if (isZoneAhead && result.start.isOnlyDate()) {
        result.start.assign('timezoneOffset', reference.getTimezoneOffset())
      }
    }
    return results
  },
}

function isHour({ start }: ParsingResult): boolean {
  return !namesDay(start)
}

/** "between 5 and 9 pm": the library joins hours by "to" only. Without minutes or a half of the day they are numbers. */
export const betweenHours = dayParser(
  /\bbetween\s+(\d{1,2})(?::(\d{2}))?\s?([ap]m)?\s+and\s+(\d{1,2})(?::(\d{2}))?\s?([ap]m)?(?![\p{L}\p{N}]|[:.]\d|\s?[ap]\.?m)/iu,
  (context, match) => {
    const [, hour, minute, half, endHour, endMinute, endHalf] = match
    if ((endMinute ?? endHalf) === undefined) return null
    const end = clock(endHour, endMinute, endHalf)
    const said = clock(hour, minute, half ?? endHalf)
    // "between 11 and 2 pm" begins before noon.
    const start = half === undefined && said.hour > end.hour ? clock(hour, minute, 'am') : said
    if ([start, end].some((each) => each.hour > 23 || each.minute > 59)) return null
    return context.createParsingResult(match.index, match[0], start, end)
  },
)

function clock(hour: string | undefined, minute = '0', half = ''): { hour: number; minute: number } {
  const isHalf = half !== ''
  const later = half.toLowerCase() === 'pm' ? 12 : 0
  return { hour: isHalf ? (Number(hour) % 12) + later : Number(hour), minute: Number(minute) }
}
