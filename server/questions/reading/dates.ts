import { de, en, es, fr, it, nl, pt, type ParsedComponents } from 'chrono-node'
import { LRUCache } from 'lru-cache'
import { languageOf } from './language.ts'

/** A day or a stretch of days, first and last included, as the caller's calendar has them. */
export type DateSpan = {
  start: number
  end: number
  first: string
  last: string
  /** "since March" has no end, "before 2020" no beginning: the bound that was said. */
  open: 'after' | 'before' | null
  /** The hour of the day, where one was named. */
  time: string | null
}

const quarter =
  /\b(?:q([1-4])|(first|second|third|fourth|1st|2nd|3rd|4th|last|this|next|previous) quarter)(?:\s+(?:of\s+)?((?:19|20)\d{2}))?\b/giu
const half = /\b(?:h([12])|(first|second) half)(?:\s+of)?\s+((?:19|20)\d{2})\b/giu
const relative =
  /\b(this|last|past|previous|next|current)\s+(?:(\d{1,3}|two|three|four|five|six|seven|ten|twelve)\s+)?(day|week|month|year)s?\b(?!\s+ago)/giu
const period = /\b(month|quarter|year|week)[- ]to[- ]date\b|\b([mqy]td)\b/giu
const soFar =
  /\b(?:so far (?:in )?(?:this|the current) (week|month|quarter|year)|(?:this|the current) (week|month|quarter|year) (?:so far|(?:up to|until|till) (?:now|today)))\b/giu
const bareYear = /(?<![\p{L}\p{N}.,$€£-])((?:19|20)\d{2})(?![\p{L}\p{N}%]|[.,-]\d)/gu
const isoDay = /(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/gu
const openBefore = /\b(since|after|from|starting|beginning|before|until|till|prior to|up to|by)\s*(?:the\s+)?$/iu
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
const counts: Record<string, number> = { two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, ten: 10, twelve: 12 }

type Found = { start: number; end: number; first: Date; last: Date; time?: string; range?: boolean }

/** Days named in a text. Calendar arithmetic is done in UTC on the caller's local date, so that no time zone moves it. */
export function recogniseDates(text: string, { now, timeZone }: { now: Date; timeZone: string }): DateSpan[] {
  const today = localDay(now, timeZone)
  const found = [...quarters(text, today), ...periods(text, today), ...chronoDates(text, today), ...years(text)]
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
        first: notAfter(before.first, each.first),
        last: each.last,
        end: each.end,
        range: true,
      })
  }
  return joined
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

function describe(text: string, { start, end, first, last, time, range }: Found): DateSpan {
  const before = range === true ? undefined : openBefore.exec(text.slice(0, start))?.[1]?.toLowerCase()
  const open =
    before === undefined ? null : /^(?:since|after|from|starting|beginning)$/.test(before) ? 'after' : 'before'
  return { start, end, first: iso(first), last: iso(last), open, time: time ?? null }
}

/** Midnight UTC of the day it is for the caller. */
function localDay(now: Date, timeZone: string): Date {
  const local = new Date(now.getTime() + offsetMs(now, timeZone))
  return day(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate())
}

function iso(day: Date): string {
  return day.toISOString().slice(0, 10)
}

function day(year: number, month: number, date: number): Date {
  return new Date(Date.UTC(year, month, date))
}

function quarters(text: string, today: Date): Found[] {
  const found: Found[] = []
  for (const match of text.matchAll(quarter)) {
    const [said, digit, word = '', yearText] = match
    const current = Math.floor(today.getUTCMonth() / 3)
    const year = yearText === undefined ? today.getUTCFullYear() : Number(yearText)
    const shift = { last: -1, previous: -1, this: 0, next: 1 }[word.toLowerCase()]
    const index = shift === undefined ? Number(digit ?? ordinals[word.toLowerCase()]) - 1 : current + shift
    found.push({
      start: match.index,
      end: match.index + said.length,
      first: day(year, index * 3, 1),
      last: day(year, index * 3 + 3, 0),
    })
  }
  for (const match of text.matchAll(half)) {
    const second = (match[1] ?? match[2]?.toLowerCase()) === '2' || match[2]?.toLowerCase() === 'second'
    const year = Number(match[3])
    const from = second ? 6 : 0
    found.push({
      start: match.index,
      end: match.index + match[0].length,
      first: day(year, from, 1),
      last: day(year, from + 6, 0),
    })
  }
  return found
}

function periods(text: string, today: Date): Found[] {
  const found: Found[] = []
  for (const match of text.matchAll(relative)) {
    const [said, which = '', countText, unit = ''] = match
    const count = countText === undefined ? null : (counts[countText.toLowerCase()] ?? Number(countText))
    const [first, last] = stretch(today, which.toLowerCase(), count, unit.toLowerCase())
    found.push({ start: match.index, end: match.index + said.length, first, last })
  }
  for (const match of text.matchAll(period)) {
    const unit = { m: 'month', q: 'quarter', y: 'year' }[match[2]?.charAt(0).toLowerCase() ?? ''] ?? match[1] ?? 'year'
    found.push({
      start: match.index,
      end: match.index + match[0].length,
      first: startOf(today, unit.toLowerCase()),
      last: today,
    })
  }
  for (const match of text.matchAll(soFar)) {
    const unit = (match[1] ?? match[2] ?? 'year').toLowerCase()
    found.push({ start: match.index, end: match.index + match[0].length, first: startOf(today, unit), last: today })
  }
  return found
}

function startOf(today: Date, unit: string): Date {
  const [year, month] = [today.getUTCFullYear(), today.getUTCMonth()]
  if (unit === 'year') return day(year, 0, 1)
  if (unit === 'quarter') return day(year, Math.floor(month / 3) * 3, 1)
  if (unit === 'month') return day(year, month, 1)
  // Weeks begin on Monday.
  return unit === 'week' ? day(year, month, today.getUTCDate() - ((today.getUTCDay() + 6) % 7)) : today
}

/** "last month" is the calendar month before; "last 3 months" and "past month" end today. */
function stretch(today: Date, which: string, count: number | null, unit: string): [Date, Date] {
  const back = which === 'last' || which === 'past' || which === 'previous'
  if (count !== null || which === 'past') {
    const steps = count ?? 1
    return back ? [move(today, unit, -steps), today] : [today, move(today, unit, steps)]
  }
  const from = move(startOf(today, unit), unit, back ? -1 : which === 'next' ? 1 : 0)
  return [from, new Date(move(from, unit, 1).getTime() - 86_400_000)]
}

function move(from: Date, unit: string, steps: number): Date {
  const [year, month, date] = [from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate()]
  if (unit === 'year') return day(year + steps, month, date)
  if (unit === 'month') return day(year, month + steps, Math.min(date, day(year, month + steps + 1, 0).getUTCDate()))
  return day(year, month, date + steps * (unit === 'week' ? 7 : 1))
}

function years(text: string): Found[] {
  return Array.from(text.matchAll(bareYear), (match) => {
    const year = Number(match[1])
    return { start: match.index, end: match.index + match[0].length, first: day(year, 0, 1), last: day(year, 11, 31) }
  })
}

// Parsing costs more than all other recognisers together: most questions name no day, and this finds out at once.
const dayWord =
  /\d|day|night|noon|morning|morrow|tmr|evening|week|month|year|hour|ago|now|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|\b(?:mon|tue|wed|thu|fri|sat|sun)\b/iu
const otherLanguages = { de, fr, es, it, nl, pt }

/** In English, unless the words around the day speak for another language. */
function parseDays(text: string, reference: Date): ReturnType<typeof en.casual.parse> {
  const language = languageOf(text)
  if (language === null || language === 'other') {
    return dayWord.test(text) ? en.casual.parse(text, reference, { forwardDate: false }) : []
  }
  return otherLanguages[language].casual.parse(text, reference, { forwardDate: false })
}

function chronoDates(text: string, today: Date): Found[] {
  const iso: Found[] = Array.from(text.matchAll(isoDay), (match) => {
    const on = day(Number(match[1]), Number(match[2]) - 1, Number(match[3]))
    return { start: match.index, end: match.index + match[0].length, first: on, last: on }
  })
  // The reference is noon, with the machine's own zone taken out: chrono reads local fields of the date it is given.
  const reference = new Date(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate(), 12)
  const dated = parseDays(text, reference).flatMap(({ index, text: said, start, end }) => {
    if (!['day', 'weekday', 'month', 'year'].some((part) => start.isCertain(part as 'day'))) return []
    // A lone number such as "325" must not become a date.
    if (!/[a-z]|[/.-]/i.test(said)) return []
    const [first, single] = bounds(start)
    const last = end === null || end === undefined ? single : bounds(end)[1]
    const time = start.isCertain('hour') ? clockOf(start) : undefined
    return [
      {
        start: index,
        end: index + said.length,
        first,
        last,
        ...(time === undefined ? {} : { time }),
        range: last !== single,
      },
    ]
  })
  return [...iso, ...dated]
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

/** One end of a stretch as a slot binds it: a date, or the instant at which that day begins or ends for the caller. */
export function dayValue(
  days: DateSpan,
  bound: 'first' | 'last',
  format: string | undefined,
  timeZone: string,
): string {
  const date = days[bound]
  if (format !== 'date-time') return date
  const clock = days.time ?? (bound === 'first' ? '00:00:00' : '23:59:59')
  const asUtc = new Date(`${date}T${clock}Z`)
  // Twice, because the offset at the guess may differ from the offset at the answer on the day clocks change.
  const guess = new Date(asUtc.getTime() - offsetMs(asUtc, timeZone))
  return new Date(asUtc.getTime() - offsetMs(guess, timeZone)).toISOString().replace('.000Z', 'Z')
}

// Making one takes longer than everything else that reads a question; callers live in few zones.
const clocks = new LRUCache<string, Intl.DateTimeFormat>({
  max: 500,
  memoMethod: (timeZone) =>
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }),
})

/** How far the clocks of a zone are ahead of UTC. */
function offsetMs(instant: Date, timeZone: string): number {
  const shown = clocks.memo(timeZone).formatToParts(instant)
  const part = (type: string): number => Number(shown.find((each) => each.type === type)?.value ?? 0)
  return (
    Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second')) -
    instant.getTime()
  )
}
