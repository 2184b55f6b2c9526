import { day, dayMs, iso } from './calendar.ts'
import type { Found } from './written-days.ts'

const quarter =
  /\b(?:q([1-4])|(first|second|third|fourth|1st|2nd|3rd|4th|last|this|next|previous) quarter)(?:\s+(?:of\s+)?((?:19|20)\d{2}))?\b/giu
const half = /\b(?:h([12])|(first|second) half)(?:\s+of)?\s+((?:19|20)\d{2})\b/giu
const relative =
  /\b(this|last|past|previous|next|current)\s+(?:(\d{1,3}|two|three|four|five|six|seven|ten|twelve)\s+)?(hour|day|week|month|quarter|year)s?\b(?!\s+ago)/giu
const period = /\b(month|quarter|year|week)[- ]to[- ]date\b|\b([mqy]td)\b/giu
const soFar =
  /\b(?:so far (?:in )?(?:this|the current) (week|month|quarter|year)|(?:this|the current) (week|month|quarter|year) (?:so far|(?:up to|until|till) (?:now|today))|(?:since|from) the (?:beginning|start) of (?:the|this) (week|month|quarter|year))\b/giu
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

/** "Q2", "last quarter", "the first half of 2025". */
export function quarters(text: string, today: Date): Found[] {
  const found: Found[] = []
  for (const match of text.matchAll(quarter)) {
    const [said, digit, word = '', yearText] = match
    const current = Math.floor(today.getUTCMonth() / 3)
    const shift = { last: -1, previous: -1, this: 0, next: 1 }[word.toLowerCase()]
    const index = shift === undefined ? Number(digit ?? ordinals[word.toLowerCase()]) - 1 : current + shift
    const isAhead = shift === undefined && index > current && !isComing(text, match.index)
    const year = yearText === undefined ? today.getUTCFullYear() - (isAhead ? 1 : 0) : Number(yearText)
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

/** "last month", "the last 3 weeks", "year to date", "so far this week". */
export function periods(text: string, today: Date): Found[] {
  const found: Found[] = []
  for (const match of text.matchAll(relative)) {
    const [said, which = '', countText, unit = ''] = match
    const count = countText === undefined ? null : (counts[countText.toLowerCase()] ?? Number(countText))
    if (unit.toLowerCase() === 'hour') continue
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
    const unit = (match[1] ?? match[2] ?? match[3] ?? 'year').toLowerCase()
    found.push({ start: match.index, end: match.index + match[0].length, first: startOf(today, unit), last: today })
  }
  return found
}

const hourMs = 3_600_000

/** "The last 24 hours" end now. */
export function countedHours(text: string, local: Date): Found[] {
  return Array.from(text.matchAll(relative)).flatMap((match): Found[] => {
    const [said, which = '', countText, unit] = match
    if (unit?.toLowerCase() !== 'hour') return []
    const count = countText === undefined ? 1 : (counts[countText.toLowerCase()] ?? Number(countText))
    const isBack = /^(?:last|past|previous)$/iu.test(which)
    const away = new Date(local.getTime() + (isBack ? -1 : 1) * count * hourMs)
    const [from, to] = isBack ? [away, local] : [local, away]
    const clock = (instant: Date): string => instant.toISOString().slice(11, 19)
    const dayOf = (instant: Date): Date => new Date(Date.parse(iso(instant)))
    const hours = { first: dayOf(from), last: dayOf(to), time: clock(from), endTime: clock(to) }
    return [{ start: match.index, end: match.index + said.length, ...hours, isCounted: true, range: true }]
  })
}

function startOf(today: Date, unit: string): Date {
  const [year, month] = [today.getUTCFullYear(), today.getUTCMonth()]
  if (unit === 'year') return day(year, 0, 1)
  if (unit === 'quarter') return day(year, Math.floor(month / 3) * 3, 1)
  if (unit === 'month') return day(year, month, 1)
  // Weeks begin on Monday.
  return unit === 'week' ? day(year, month, today.getUTCDate() - ((today.getUTCDay() + 6) % 7)) : today
}

/** "last month" is the calendar month before; "the last 7 days" are the seven that end today, "past month" too. */
function stretch(today: Date, which: string, count: number | null, unit: string): [Date, Date] {
  const back = which === 'last' || which === 'past' || which === 'previous'
  if (count !== null || which === 'past') {
    const steps = count ?? 1
    return back
      ? [new Date(move(today, unit, -steps).getTime() + dayMs), today]
      : [today, new Date(move(today, unit, steps).getTime() - dayMs)]
  }
  const from = move(startOf(today, unit), unit, back ? -1 : which === 'next' ? 1 : 0)
  return [from, new Date(move(from, unit, 1).getTime() - dayMs)]
}

function move(from: Date, unit: string, steps: number): Date {
  const [year, month, date] = [from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate()]
  if (unit === 'year') return day(year + steps, month, date)
  if (unit === 'quarter') return move(from, 'month', 3 * steps)
  if (unit === 'month') return day(year, month + steps, Math.min(date, day(year, month + steps + 1, 0).getUTCDate()))
  return day(year, month, date + steps * (unit === 'week' ? 7 : 1))
}

const comingBefore = /\b(?:next|coming|this|by|until|till|before|up to)\s+(?:the\s+)?$/iu
const coming = /\b(?:will|upcoming|due|planned|scheduled|forecast|expected|future)\b/iu

/** Whether a day without its year is ahead: data is mostly about what has been. */
export function isComing(text: string, start: number): boolean {
  return comingBefore.test(text.slice(0, start)) || coming.test(text)
}
