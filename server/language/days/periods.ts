import type { Parser, ParsingContext, ParsingResult } from 'chrono-node'
import { anyMonth, day, dayMs } from './calendar.ts'
import { anyCount, spokenNumber } from '../words/quantities.ts'
import { asCounted, asRelative, dateParts, todayIn, withoutYear } from './components.ts'
import { dayParser, oneDay, period } from './day-parser.ts'
import { isComing } from './is-coming.ts'
import { mondayOf } from './weeks.ts'

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
// "7", "1,000", "thirty", "twenty-one", "a couple of"
const number = `\\d{1,4}|\\d,\\d{3}|(?:a )?couple of|(?:${anyCount})(?:[ -](?:${anyCount}))?`
const count = `(?:(${number})[\\s-]*)?`
const which = '(this|last|past|previous|prior|preceding|trailing|rolling|next|current)'

const fullYear = '(?:19|20)\\d{2}'
// "of 2025", "/2025", "'25"; behind "3Q" also "25"
const yearAfter = `(?:[\\s/,-]*(?:of\\s+)?(?<year>${fullYear})(?!-?\\d)|\\s?['’](?<short>\\d{2})|(?<=\\d[qh])(?<glued>\\d{2}))?`
const yearBefore = `(?:(?<before>${fullYear})[\\s/-]*)?`

/** "Q2", "2025-Q2", "last quarter": one that has not begun is the one of last year. */
const quarter = dayParser(
  new RegExp(
    `(?<![\\p{L}\\p{N}])${yearBefore}(?:q(?<digit>[1-4])|(?<digit>[1-4])q|quarter (?<digit>[1-4])|(?<word>first|second|third|fourth|1st|2nd|3rd|4th|last|this|next|previous) quarter)${yearAfter}(?![\\p{L}\\p{N}])`,
    'iu',
  ),
  (context, match) => {
    const { digit, word = '' } = match.groups ?? {}
    const current = Math.floor(todayIn(context).getUTCMonth() / 3)
    const shift = { last: -1, previous: -1, this: 0, next: 1 }[word.toLowerCase()]
    if (shift !== undefined && yearOf(match) === null) {
      const year = todayIn(context).getUTCFullYear()
      return period(context, match, [day(year, (current + shift) * 3, 1), day(year, (current + shift) * 3 + 3, 0)])
    }
    const index = Number(digit ?? ordinals[word.toLowerCase()] ?? (word.toLowerCase() === 'last' ? 4 : 1)) - 1
    return partOfYear(context, match, [index * 3, 3])
  },
)

/** "the first half of 2025", "H1". */
const half = dayParser(
  new RegExp(
    `(?<![\\p{L}\\p{N}])${yearBefore}(?:h(?<digit>[12])|(?<digit>[12])h(?=\\d{2}(?!\\d)|\\s(?:19|20)\\d{2})|(?<word>first|second) half(?=(?:\\s+of)?\\s+${fullYear})|(?<word>first|second) half of the year)${yearAfter}(?![\\p{L}\\p{N}])`,
    'iu',
  ),
  (context, match) => {
    const { digit, word = '' } = match.groups ?? {}
    return partOfYear(context, match, [digit === '2' || word.toLowerCase() === 'second' ? 6 : 0, 6])
  },
)

/** So many months of the year that is named, or of the last in which they have begun. */
function partOfYear(context: ParsingContext, match: RegExpExecArray, [from, months]: [number, number]): ParsingResult {
  const named = yearOf(match)
  const today = todayIn(context)
  const isAhead = from > today.getUTCMonth() && !isComing(context.text, match.index)
  const year = named ?? today.getUTCFullYear() - (isAhead ? 1 : 0)
  const result = period(context, match, [day(year, from, 1), day(year, from + months, 0)])
  return named === null ? withoutYear(result) : result
}

function yearOf({ groups = {} }: RegExpExecArray): number | null {
  const short = groups['short'] ?? groups['glued']
  const said = groups['before'] ?? groups['year'] ?? (short === undefined ? undefined : `20${short}`)
  return said === undefined ? null : Number(said)
}

/** "last month" is the calendar month before; "the last 7 days" are the seven that end today, "past month" too. */
const relative = dayParser(
  new RegExp(
    `\\b${which}(?:\\s+|(?=\\d))(?<whole>(?:full|complete|whole|entire|calendar)\\s+)?(?:${count}(day|week|wk|fortnight|month|mth|mo|quarter|qtr|half[ -]year|year|yr)s?|(\\d{1,4})\\s?([dwmqy]))\\b(?!\\s+(?:ago|of\\s+(?:${anyMonth}|${fullYear}|(?:this|last|the)\\s+(?:quarter|year)|q[1-4])))`,
    'iu',
  ),
  (context, match) => {
    const [, said = '', whole, spoken, named, digits, letter] = match.map((each) => each?.toLowerCase())
    // "The past calendar year" is one of the calendar.
    const word = whole !== undefined && isFromToday(said) ? 'last' : said
    const unit = units[named ?? letter ?? ''] ?? named ?? ''
    const counted = spoken ?? digits
    const steps = counted === undefined ? null : numberOf(counted)
    return period(context, match, stretch(todayIn(context), word, steps ?? (isRolling(unit) ? 1 : null), unit))
  },
)

/** Units as they are shortened. */
const units: Record<string, string> = {
  d: 'day',
  w: 'week',
  wk: 'week',
  m: 'month',
  mth: 'month',
  mo: 'month',
  q: 'quarter',
  qtr: 'quarter',
  y: 'year',
  yr: 'year',
}

/** Its first or last day, by our weeks, which begin on Monday. */
const endOfPeriod = dayParser(
  new RegExp(
    `\\b(?:(?<edge>first|last)\\s+day|end)\\s+of\\s+(?:(?:(?:the\\s+)?(?<word>${which.slice(1, -1)})|the)\\s+(?<unit>week|month|quarter|year)|(?:the\\s+year\\s+)?(?<year>${fullYear}))\\b`,
    'iu',
  ),
  (context, { index, 0: said, groups = {} }) => {
    const word = groups['word']?.toLowerCase() ?? 'this'
    const [first, last] =
      groups['year'] === undefined
        ? stretch(todayIn(context), isFromToday(word) ? 'last' : word, null, groups['unit']?.toLowerCase() ?? '')
        : [day(Number(groups['year']), 0, 1), day(Number(groups['year']), 11, 31)]
    return asRelative(oneDay(context, { index, 0: said }, groups['edge']?.toLowerCase() === 'first' ? first : last))
  },
)

const toDate = dayParser(/\b(?:this )?(month|quarter|year|week)[- ]to[- ]date\b|\b([wmqy])td\b/iu, (context, match) => {
  const [, unit, letter = ''] = match.map((each) => each?.toLowerCase())
  const today = todayIn(context)
  return period(context, match, [startOf(today, unit ?? units[letter] ?? 'year'), today])
})

const soFar = dayParser(
  /\b(?:so far (?:in )?(?:this|the current) (week|month|quarter|year)|(?:this|the current) (week|month|quarter|year) (?:so far|(?:up to|until|till) (?:now|today))|(?:since|from) the (?:beginning|start) of (?:the|this) (week|month|quarter|year))\b/iu,
  (context, match) => {
    const today = todayIn(context)
    const unit = match[1] ?? match[2] ?? match[3] ?? 'year'
    return period(context, match, [startOf(today, unit.toLowerCase()), today])
  },
)

/** "between 3 and 5 days ago" */
const daysAgo = dayParser(
  new RegExp(`\\b(${number})\\s*(?:-|to|and)\\s*(${number})\\s+(day|week|month|year)s?\\s+ago\\b`, 'iu'),
  (context, match) => {
    const [, one = '', other = '', unit = ''] = match.map((each) => each.toLowerCase())
    const ends = [one, other].map((steps) => move(todayIn(context), unit, -numberOf(steps)))
    const [first, last] = ends.toSorted((a, b) => a.getTime() - b.getTime())
    return first === undefined || last === undefined ? null : period(context, match, [first, last])
  },
)

/** "the day before yesterday", which the library takes for yesterday where no article stands before. */
const twoDays = dayParser(/\b(?:the\s+)?day\s+(before\s+yesterday|after\s+tomorrow)\b/iu, (context, match) => {
  const away = match[1]?.toLowerCase().startsWith('before') === true ? -2 : 2
  return asRelative(oneDay(context, match, move(todayIn(context), 'day', away)))
})

/** "last month-end", "month's end" */
const periodEnd = dayParser(
  new RegExp(
    `\\b(?:${which}\\s+(?<unit>week|month|quarter|year)(?:['’]?s)?[-\\s]end|(?<unit>month|quarter|year)['’]s\\s+end)\\b`,
    'iu',
  ),
  (context, match) => {
    const word = match[1]?.toLowerCase() ?? 'this'
    const [, last] = stretch(
      todayIn(context),
      isFromToday(word) ? 'last' : word,
      null,
      match.groups?.['unit']?.toLowerCase() ?? '',
    )
    return asRelative(oneDay(context, match, last))
  },
)

export const periods: Parser[] = [twoDays, periodEnd, quarter, half, daysAgo, relative, endOfPeriod, toDate, soFar]

const hourMs = 3_600_000
const minuteMs = 60_000

/** "The last 24 hours" end now: at the time on the caller's clocks, not at the noon that the library counts from. */
export function countedHours(local: Date): Parser {
  return dayParser(
    new RegExp(`\\b${which}\\s+${count}(hours?|hrs?|h|min(?:ute)?s?)\\b(?!\\s+ago)`, 'iu'),
    (context, match) => {
      const [, word = '', counted, unit = ''] = match.map((each) => each?.toLowerCase())
      const isBack = isBackward(word)
      const steps = counted === undefined ? 1 : numberOf(counted)
      const away = new Date(local.getTime() + (isBack ? -1 : 1) * steps * (unit.startsWith('m') ? minuteMs : hourMs))
      const [from, to] = isBack ? [away, local] : [local, away]
      return asCounted(context.createParsingResult(match.index, match[0], instantParts(from), instantParts(to)))
    },
  )
}

function instantParts(instant: Date): ReturnType<typeof dateParts> & Record<'hour' | 'minute' | 'second', number> {
  const clock = { hour: instant.getUTCHours(), minute: instant.getUTCMinutes(), second: instant.getUTCSeconds() }
  return { ...dateParts(instant), ...clock }
}

function numberOf(counted: string): number {
  return spokenNumber(counted) ?? (counted.endsWith('couple of') ? 2 : Number(counted.replace(',', '')))
}

/** No calendar says when a fortnight or a half year begins: it ends today. */
function isRolling(unit: string): boolean {
  return unit === 'fortnight' || unit.startsWith('half')
}

function isBackward(word: string): boolean {
  return word !== 'this' && word !== 'next' && word !== 'current'
}

/** "Past month", "trailing month": counted back from today, whatever the calendar calls a month. */
function isFromToday(word: string): boolean {
  return word === 'past' || word === 'trailing' || word === 'rolling'
}

function startOf(today: Date, unit: string): Date {
  const [year, month] = [today.getUTCFullYear(), today.getUTCMonth()]
  if (unit === 'year') return day(year, 0, 1)
  if (unit === 'quarter') return day(year, Math.floor(month / 3) * 3, 1)
  if (unit === 'month') return day(year, month, 1)
  return unit === 'week' ? mondayOf(today) : today
}

function stretch(today: Date, word: string, counted: number | null, unit: string): [Date, Date] {
  const isBack = isBackward(word)
  if (counted !== null || isFromToday(word)) {
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
