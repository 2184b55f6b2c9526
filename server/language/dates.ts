import type { ParsedComponents } from 'chrono-node'
import { day, iso, localDay, localTime, type DateSpan } from './calendar.ts'
import { parseDays } from './parse-days.ts'
import { countedHours, isComing, periods, quarters } from './relative-days.ts'
import { squeeze } from './text.ts'
import { writtenDays, type Found } from './written-days.ts'

const bareYear = /(?<![\p{L}\p{N}.,$€£-])((?:19|20)\d{2})(?![\p{L}\p{N}%]|[.,-]\d)/gu
const openBefore = /\b(since|after|from|starting|beginning|before|until|till|prior to|up to|by)\s*(?:the\s+)?$/iu
/** Days named in a text. Calendar arithmetic is done in UTC on the caller's local date, so that no time zone moves it. */
export function recogniseDates(text: string, { now, timeZone }: { now: Date; timeZone: string }): DateSpan[] {
  const today = localDay(now, timeZone)
  const parsed = chronoDates(text, today)
  const found = [
    ...quarters(text, today),
    ...periods(text, today),
    ...countedHours(text, localTime(now, timeZone)),
    ...writtenDays(text),
    ...daysOfMonth(text, today),
    ...parsed,
    ...daysBeside(text, parsed),
    ...years(text),
  ]
  const kept: Found[] = []
  for (const each of found.sort((a, b) => b.end - b.start - (a.end - a.start) || a.start - b.start)) {
    if (!kept.some((other) => each.start < other.end && other.start < each.end)) kept.push(each)
  }
  return joinRanges(
    text,
    kept.sort((a, b) => a.start - b.start),
  ).map((each) => describe(text, each))
}

const joining = /^\s*(?:and|to|until|till|through|thru|-|–)\s*(?:the\s+)?$/iu
const opening = /\b(?:between|from)\s*(?:the\s+)?$/iu

/** "between January and April 2025", "from May to July": two days become one stretch. */
function joinRanges(text: string, found: Found[]): Found[] {
  const joined: Found[] = []
  for (const each of found) {
    const before = joined.at(-1)
    const between = before === undefined ? '' : text.slice(before.end, each.start)
    const opened = before !== undefined && opening.test(text.slice(0, before.start))
    if (before === undefined || !joining.test(between) || (!opened && /and/i.test(between))) joined.push(each)
    else
      joined.splice(-1, 1, {
        ...before,
        ...unrealOf(each),
        ...stretchOf(before, each),
        ...endTimeOf(before, each),
        end: each.end,
        range: true,
      })
  }
  return joined
}

function unrealOf({ unreal }: Found): { unreal?: string } {
  return unreal === undefined ? {} : { unreal }
}

/** "from 3 May 8 am to 5 May": the hour of the first day is not that of the last. */
function endTimeOf({ time }: Found, last: Found): { endTime?: string } {
  const said = last.endTime ?? last.time
  if (said !== undefined) return { endTime: said }
  return time === undefined ? {} : { endTime: '23:59:59' }
}

/** Who names the later day first means the same days. */
function stretchOf(before: Found, each: Found): { first: Date; last: Date } {
  const first = before.isAnyYear === true ? notAfter(yearOf(before.first, each), each.first) : before.first
  return first > each.last ? { first: each.first, last: before.last } : { first, last: each.last }
}

/** The year that only the later day names is that of both. */
function yearOf(first: Date, { first: next, isAnyYear }: Found): Date {
  return isAnyYear === true ? first : day(next.getUTCFullYear(), first.getUTCMonth(), first.getUTCDate())
}

/** A month named without its year belongs to the year of the day it leads to. */
function notAfter(first: Date, next: Date): Date {
  return first <= next
    ? first
    : day(
        next.getUTCFullYear() - (first.getUTCMonth() > next.getUTCMonth() ? 1 : 0),
        first.getUTCMonth(),
        first.getUTCDate(),
      )
}

function describe(text: string, { start, end, first, last, time, endTime, isCounted, range, unreal }: Found): DateSpan {
  const before = range === true ? undefined : openBefore.exec(text.slice(0, start))?.[1]?.toLowerCase()
  const open =
    before === undefined ? null : /^(?:since|after|from|starting|beginning)$/.test(before) ? 'after' : 'before'
  const isStrict = before !== undefined && /^(?:after|before|prior to)$/.test(before)
  const days = { first: unreal ?? iso(first), last: unreal ?? iso(last) }
  return {
    start,
    end,
    ...days,
    open,
    isStrict,
    isReal: unreal === undefined,
    time: time ?? null,
    endTime: endTime ?? null,
    isCounted: isCounted === true,
  }
}

function years(text: string): Found[] {
  return Array.from(text.matchAll(bareYear), (match) => {
    const year = Number(match[1])
    return { start: match.index, end: match.index + match[0].length, first: day(year, 0, 1), last: day(year, 11, 31) }
  })
}

const dayBeside = /(?<![\p{L}\p{N}.,-])(?<date>\d{1,2})(?:st|nd|rd|th)?(?<join>\s*(?:,|&|and|or)\s*(?:the\s+)?)$/iu

/** The 4th of "on 4 and 5 May". */
function daysBeside(text: string, parsed: Found[]): Found[] {
  return parsed.flatMap(({ start, first, last, isAnyYear }): Found[] => {
    const match =
      first.getTime() === last.getTime() && /\d/.test(text.charAt(start)) ? dayBeside.exec(text.slice(0, start)) : null
    const date = Number(match?.groups?.['date'] ?? NaN)
    if (match === null || date < 1 || date >= first.getUTCDate()) return []
    const on = day(first.getUTCFullYear(), first.getUTCMonth(), date)
    const end = start - (match.groups?.['join'] ?? '').length
    return [{ start: match.index, end, first: on, last: on, ...(isAnyYear === undefined ? {} : { isAnyYear }) }]
  })
}

const dayOfMonth =
  /\b(?:on|since|until|till|before|after|by|from)\s+the\s+(?<said>(?<date>[12]?\d|3[01])(?:st|nd|rd|th))(?=\s*(?:$|[?.!,;)]|of (?:this|the) month\b|(?:to|until|till|and) the \d))/giu

/** "on the 20th": the last one that was, or the next one where the words look ahead. */
function daysOfMonth(text: string, today: Date): Found[] {
  return Array.from(text.matchAll(dayOfMonth)).flatMap((match): Found[] => {
    const { said = '', date = '' } = match.groups ?? {}
    const start = match.index + match[0].length - said.length
    const isAhead = isComing(text, start)
    const steps = Array.from({ length: 3 }, (_, step) => (isAhead ? step : -step))
    const on = steps
      .map((step) => day(today.getUTCFullYear(), today.getUTCMonth() + step, Number(date)))
      .find((each) => each.getUTCDate() === Number(date) && (isAhead ? each >= today : each <= today))
    return on === undefined ? [] : [{ start, end: start + said.length, first: on, last: on }]
  })
}

/** "March", asked in November, is the one that was. */
function past(parts: ParsedComponents, [first, last]: [Date, Date], today: Date): [Date, Date] {
  if (first <= today || parts.isCertain('year')) return [first, last]
  const [year, month, date] = [first.getUTCFullYear(), first.getUTCMonth(), first.getUTCDate()]
  const isWeekday = parts.isCertain('weekday') && !parts.isCertain('day')
  if (!parts.isCertain('month') && !isWeekday) return [first, last]
  if (parts.isCertain('month') && !parts.isCertain('day')) return [day(year - 1, month, 1), day(year - 1, month + 1, 0)]
  const on = isWeekday ? day(year, month, date - 7) : day(year - 1, month, date)
  return [on, on]
}

function chronoDates(text: string, today: Date): Found[] {
  // The reference is noon, with the machine's own zone taken out: chrono reads local fields of the date it is given.
  const reference = new Date(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate(), 12)
  // Where several spaces stand between numbers of days, the parser tries every way to share them: for seconds.
  const { tight, place } = squeeze(text)
  return parseDays(tight, reference).flatMap(({ index: at, text: said, start, end }) => {
    const index = place(at)
    if (!['day', 'weekday', 'month', 'year'].some((part) => start.isCertain(part as 'day'))) return []
    // A lone number such as "325" must not become a date.
    if (!/[a-z]|[/.-]/i.test(said)) return []
    const guess = bounds(start)
    const isPast = !isComing(text, index) && !/\b(?:next|this|coming)\b/iu.test(said)
    const [first, single] = isPast ? past(start, guess, today) : guess
    const ended = end === null || end === undefined ? null : bounds(end)[1]
    // Both ends of "from 3 to 9 December" are of the same year.
    const last = ended === null ? single : new Date(ended.getTime() - guess[0].getTime() + first.getTime())
    // "now" and "2 hours ago" are counted from a noon that nobody meant.
    const isClock = !/\b(?:now|ago|hours?|minutes?)\b/iu.test(said)
    const time = isClock && start.isCertain('hour') ? clockOf(start) : undefined
    const endTime = end?.isCertain('hour') === true ? clockOf(end) : undefined
    return [
      {
        start: index,
        end: place(at + said.length - 1) + 1,
        first,
        last,
        ...(time === undefined ? {} : { time }),
        ...(endTime === undefined ? {} : { endTime }),
        range: last !== single,
        isAnyYear: !start.isCertain('year'),
      },
    ]
  })
}

/** A month or a year that was named without a day means all of it. */
function bounds(parts: ParsedComponents): [Date, Date] {
  const [year, month, date] = [parts.get('year') ?? 1970, (parts.get('month') ?? 1) - 1, parts.get('day') ?? 1]
  if (parts.isCertain('day') || parts.isCertain('weekday')) return [day(year, month, date), day(year, month, date)]
  if (parts.isCertain('month')) return [day(year, month, 1), day(year, month + 1, 0)]
  return parts.isCertain('year')
    ? [day(year, 0, 1), day(year, 11, 31)]
    : [day(year, month, date), day(year, month, date)]
}

function clockOf(parts: ParsedComponents): string {
  const two = (value: number | null): string => String(value ?? 0).padStart(2, '0')
  return `${two(parts.get('hour'))}:${two(parts.get('minute'))}:${two(parts.get('second'))}`
}
