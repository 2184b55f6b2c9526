import type { Parser } from 'chrono-node'
import { anyMonth, day, iso, monthNames } from './calendar.ts'
import { asDayFirst, todayIn, unreal } from './components.ts'
import { dayParser, oneDay } from './day-parser.ts'
import { isComing } from './is-coming.ts'

const isoDay = dayParser(/(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/u, (context, match) => {
  const on = day(Number(match[1]), Number(match[2]) - 1, Number(match[3]))
  if (iso(on) === match[0]) return oneDay(context, match, on)
  return context.createParsingResult(match.index, match[0], unreal(context, match[0], on))
})

const isoMonth = dayParser(/(?<![\d-])((?:19|20)\d{2})-(0[1-9]|1[0-2])(?![\d-])/u, (context, match) =>
  context.createParsingResult(
    match.index,
    match[0],
    context.createParsingComponents({ year: Number(match[1]), month: Number(match[2]) }).imply('day', 1),
  ),
)

/** Days are first between dots everywhere. */
const dottedDay = dayFirst(
  /(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?((?:19|20)\d{2})(?!\d)/u,
  (_text, match) => Number(match[2]) <= 12,
)

const slashed = /(?<![\d/])(\d{1,2})\/(\d{1,2})\/((?:19|20)\d{2})(?![\d/])/u
const anySlashed = new RegExp(slashed.source, 'gu')

/** Between slashes days are first only where some day of the text says so; else the library reads the month first. */
const slashedDay = dayFirst(slashed, (text) =>
  [...text.matchAll(anySlashed)].some((match) => Number(match[1]) > 12 && Number(match[2]) <= 12),
)

function dayFirst(pattern: RegExp, isDayFirst: (text: string, match: RegExpExecArray) => boolean): Parser {
  return dayParser(pattern, (context, match) => {
    if (!isDayFirst(context.text, match)) return null
    const [, date, month, year] = match.map(Number)
    const on = day(year ?? 0, (month ?? 0) - 1, date ?? 0)
    if (on.getUTCDate() === date && on.getUTCMonth() + 1 === month) return asDayFirst(oneDay(context, match, on))
    return context.createParsingResult(match.index, match[0], unreal(context, match[0], on))
  })
}

const monthWord = `(?<month>${anyMonth})[a-z]{0,6}\\.?`
const leapYear = 2024

/** Named days that the calendar does not have: the library drops them, and a part of them might be read as another. */
const unrealDays = [
  `(?<date>\\d{1,2})(?:st|nd|rd|th)?(?:\\s+of)?\\s+${monthWord}`,
  `${monthWord}\\s+(?<date>\\d{1,2})(?:st|nd|rd|th)?`,
].map((written) =>
  dayParser(
    new RegExp(`(?<![\\p{L}\\p{N}])${written}(?![\\p{L}\\p{N}])(?:,?\\s+(?<year>(?:19|20)\\d{2})(?!\\d))?`, 'iu'),
    (context, match) => {
      const { date: said, month = '', year } = match.groups ?? {}
      const [date, at] = [Number(said), monthNames.indexOf(month.toLowerCase())]
      if (date <= 28 || date > 31 || day(Number(year ?? leapYear), at, date).getUTCDate() === date) return null
      const near = day(Number(year ?? todayIn(context).getUTCFullYear()), at, 1)
      return context.createParsingResult(match.index, match[0], unreal(context, match[0], near))
    },
  ),
)

/** "on the 20th": the last one that was, or the next one where the words look ahead. */
const dayOfMonth = dayParser(
  /\b(?:on|since|until|till|before|after|by|from)\s+the\s+(?<said>(?<date>[12]?\d|3[01])(?:st|nd|rd|th))(?=\s*(?:$|[?.!,;)]|of (?:this|the) month\b|(?:to|until|till|and) the \d))/iu,
  (context, match) => {
    const { said = '', date = '' } = match.groups ?? {}
    const index = match.index + match[0].length - said.length
    const today = todayIn(context)
    const isAhead = isComing(context.text, index)
    const on = [0, 1, 2]
      .map((step) => day(today.getUTCFullYear(), today.getUTCMonth() + (isAhead ? step : -step), Number(date)))
      .find((each) => each.getUTCDate() === Number(date) && (isAhead ? each >= today : each <= today))
    return on === undefined ? null : oneDay(context, { index, 0: said }, on)
  },
)

export const writtenDays: Parser[] = [isoDay, isoMonth, dottedDay, slashedDay, ...unrealDays, dayOfMonth]
