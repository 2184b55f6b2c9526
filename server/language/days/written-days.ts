import type { Parser } from 'chrono-node'
import { anyMonth, day, iso, monthNames } from './calendar.ts'
import { asDayFirst, dateParts, todayIn, unreal } from './components.ts'
import { dayParser, oneDay, period } from './day-parser.ts'
import { isComing } from './is-coming.ts'

const isoDay = dayParser(/(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/u, (context, match) => {
  const on = day(Number(match[1]), Number(match[2]) - 1, Number(match[3]))
  if (iso(on) === match[0]) return oneDay(context, match, on)
  return context.createParsingResult(match.index, match[0], unreal(context, match[0], on))
})

const isoMonth = dayParser(/(?<![\d/-])((?:19|20)\d{2})[/-](0[1-9]|1[0-2])(?![\d/-])/u, (context, match) =>
  context.createParsingResult(
    match.index,
    match[0],
    context.createParsingComponents({ year: Number(match[1]), month: Number(match[2]) }).imply('day', 1),
  ),
)

/** Days are first between dots everywhere. */
const dottedDay = dayFirst(
  /(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?((?:19|20)?\d{2})(?![\d.])/u,
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
    const [, date, month, written = 0] = match.map(Number)
    const year = written < 100 ? 2000 + written : written
    const on = day(year, (month ?? 0) - 1, date ?? 0)
    if (on.getUTCDate() === date && on.getUTCMonth() + 1 === month) return asDayFirst(oneDay(context, match, on))
    return context.createParsingResult(match.index, match[0], unreal(context, match[0], on))
  })
}

/** "2025-2026": all days of both. */
const years = dayParser(
  /(?<![\p{L}\p{N}$€£.,/-])((?:19|20)\d{2})\s?-\s?((?:19|20)\d{2})(?![\p{L}\p{N}%]|[.,/-]\d)/u,
  (context, match) => {
    const [, first = 0, last = 0] = match.map(Number)
    return first < last ? period(context, match, [day(first, 0, 1), day(last, 11, 31)]) : null
  },
)

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

const dayOf = (name: string): string => `(?:the\\s+)?(?<${name}>[0-2]?\\d|3[01])(?:st|nd|rd|th)?`
const joinOfDays = '\\s*(?:-|\\b(?:up\\s+)?to(?:\\s+and\\s+including)?\\b|\\b(?:until|till|through|thru)\\b)\\s*'
const monthOf = (name: string): string => `(?:of\\s+)?(?<${name}>${anyMonth})[a-z]{0,6}\\.?`

/** "the 15th to the 22nd of December 2026", "10 May to 9 June 2026", which the library reads as hours and lone days. */
const daysOfMonths = dayParser(
  new RegExp(
    `(?<![\\p{L}\\p{N}.,/:-])${dayOf('from')}(?:\\s+${monthOf('begun')})?(?:,?\\s+(?<early>(?:19|20)\\d{2}))?${joinOfDays}${dayOf('to')}\\s+${monthOf('month')}(?:,?\\s+(?:of\\s+)?(?<year>(?:19|20)\\d{2}))?(?![\\p{L}\\p{N}])`,
    'iu',
  ),
  (context, match) => {
    const { from, to, begun, month = '', early, year } = match.groups ?? {}
    const [last, first] = [month, begun ?? month].map((name) => monthNames.indexOf(name.toLowerCase()))
    if (first === undefined || last === undefined) return null
    const today = todayIn(context)
    const on = (inYear: number): [Date, Date] => {
      const before = early === undefined ? inYear - (first > last ? 1 : 0) : Number(early)
      return [day(before, first, Number(from)), day(inYear, last, Number(to))]
    }
    const [guess] = on(today.getUTCFullYear())
    const isAhead = year === undefined && guess > today && !isComing(context.text, match.index)
    const [begin, end] = on(Number(year ?? today.getUTCFullYear()) - (isAhead ? 1 : 0))
    if (begin.getUTCDate() !== Number(from) || end.getUTCDate() !== Number(to) || begin >= end) return null
    const parts = [begin, end].map((each) => context.createParsingComponents(dateParts(each)))
    return asDayFirst(context.createParsingResult(match.index, match[0], parts[0], parts[1]))
  },
)

/** "1.9.-30.9.2026" */
const dottedDays = dayParser(
  /(?<![\d.])(?<from>\d{1,2})\.(?<begun>\d{1,2})\.\s?-\s?(?<to>\d{1,2})\.(?<month>\d{1,2})\.(?<year>(?:19|20)\d{2})(?![\d.])/u,
  (context, match) => {
    const { from, begun, to, month, year } = match.groups ?? {}
    const [begin, end] = [
      day(Number(year), Number(begun) - 1, Number(from)),
      day(Number(year), Number(month) - 1, Number(to)),
    ]
    const isReal = begin.getUTCDate() === Number(from) && end.getUTCDate() === Number(to)
    if (!isReal || begin >= end) return null
    return asDayFirst(context.createParsingResult(match.index, match[0], dateParts(begin), dateParts(end)))
  },
)

/** "on the 20th": the last one that was, or the next one where the words look ahead. */
const dayOfMonth = dayParser(
  /\b(?:on|since|until|till|before|after|by|from)\s+the\s+(?<said>(?<date>[12]?\d|3[01])(?:st|nd|rd|th)(?:\s+of (?:this|the) month\b)?)(?=\s*(?:$|[?.!,;)]|(?:to|until|till|and) the \d))/iu,
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

const feasts: Array<[said: string, on: (year: number) => Date]> = [
  ['(?:christmas|xmas) eve', (year) => day(year, 11, 24)],
  ['(?:christmas|xmas) day', (year) => day(year, 11, 25)],
  ['boxing day', (year) => day(year, 11, 26)],
  ["new year['’]?s? eve", (year) => day(year, 11, 31)],
  ["new year['’]?s? day", (year) => day(year, 0, 1)],
  ["(?<=\\b(?:since|from|after)\\s+)new year(?!['’]?s)", (year) => day(year, 0, 1)],
  ["valentine['’]?s? day", (year) => day(year, 1, 14)],
  ['halloween', (year) => day(year, 9, 31)],
  ['black friday', (year) => afterThanksgiving(year, 1)],
  ['cyber monday', (year) => afterThanksgiving(year, 4)],
]

/** The fourth Thursday of November, and so many days. */
function afterThanksgiving(year: number, days: number): Date {
  const weekday = day(year, 10, 1).getUTCDay()
  return day(year, 10, 1 + ((11 - weekday) % 7) + 21 + days)
}

/** "Christmas Eve 2025"; without its year the last that was. A date behind the name says it all. Days that move with the moon or the country are asked for. */
const feastDays = feasts.map(([said, on]) =>
  dayParser(
    new RegExp(
      `(?<!\\p{L})${said}(?:,?\\s+(?:of\\s+|in\\s+)?(?<year>(?:19|20)\\d{2}))?(?![\\p{L}\\p{N}]|[\\s,(]+(?:the\\s+)?(?:\\d|(?:${anyMonth})[a-z]{0,6}\\.?\\s+\\d))`,
      'iu',
    ),
    (context, match) => {
      const today = todayIn(context)
      const named = match.groups?.['year']
      const year = Number(named ?? today.getUTCFullYear())
      const isAhead = named === undefined && on(year) > today && !isComing(context.text, match.index)
      return oneDay(context, match, on(isAhead ? year - 1 : year))
    },
  ),
)

export const writtenDays: Parser[] = [
  ...feastDays,

  daysOfMonths,
  dottedDays,
  isoDay,
  isoMonth,
  dottedDay,
  slashedDay,
  years,
  ...unrealDays,
  dayOfMonth,
]
