import type { ParsedComponents, ParsedResult } from 'chrono-node'
import { iso, localTime, type DateSpan } from './days/calendar.ts'
import { firstDay, isCounted, isPeriod, lastDay, openingOf, unrealOf } from './days/components.ts'
import { parseDays } from './days/parse-days.ts'
import { squeeze } from './words/text.ts'

type Clock = { now: Date; timeZone: string; isStrange?: (word: string) => boolean }

/** Days named in a text. Calendar arithmetic is done in UTC on the caller's local date, so that no time zone moves it. */
export function recogniseDates(text: string, { now, timeZone, isStrange }: Clock): DateSpan[] {
  // Where several spaces stand between numbers of days, the parser tries every way to share them: for seconds.
  const { tight, place } = squeeze(text)
  return parseDays(tight, localTime(now, timeZone), isStrange).map((result) => {
    const unreal = unrealOf(result.tags())
    return {
      start: place(result.index),
      end: place(result.index + result.text.length - 1) + 1,
      first: unreal ?? iso(firstDay(result)),
      last: unreal ?? iso(lastDay(result)),
      ...openness(tight, result),
      isReal: unreal === null,
      ...hours(result),
      isCounted: isCounted(result.start),
    }
  })
}

const openBefore =
  /\b(since|(?:on or |not )?(?:after|before)|from|starting|beginning|until|till|prior to|up to(?: and including)?|by|(?<!\b(?:go|goes|going|gone|went|came|put|got)\s)(?:through|thru)|(?:no|not) later than)\s*(?:the\s+)?(?:(?<=\b(?:since|from|starting|before)\s+(?:the\s+)?)(?:start|beginning)\s+of\s+(?:the\s+)?)?$/iu
// "5 November or later"
const openBehind = /^\s*(?:(onwards?|(?:and|or) (?:later|after|onwards?))|(?:and|or) (?:earlier|before))\b/iu

// "more than 30 days ago"
const longerAgo =
  /\b(?:(?:more|longer|older|further)\s+than|(?<least>at\s+least)|(?<less>less\s+than|under|within))\s+$/iu

/** A word before a day opens it; a stretch with two ends is closed. */
function openness(text: string, { index, text: said, start, end }: ParsedResult): Pick<DateSpan, 'open' | 'isStrict'> {
  const ago = /\bago$/iu.test(said) ? longerAgo.exec(text.slice(0, index))?.groups : undefined
  if (ago !== undefined) {
    return { open: ago['less'] === undefined ? 'before' : 'after', isStrict: ago['least'] === undefined }
  }
  const opening = openingOf(start.tags())
  if (opening !== null) {
    const open = opening === 'since' || opening === 'after' ? 'after' : 'before'
    return { open, isStrict: opening === 'after' || opening === 'before' }
  }
  const isStretch = Boolean(end) && !isPeriod(start)
  if (isStretch) return { open: null, isStrict: false }
  const before = openBefore.exec(text.slice(0, index))?.[1]?.toLowerCase()
  const behind = before === undefined ? openBehind.exec(text.slice(index + said.length)) : null
  if (behind !== null) return { open: behind[1] === undefined ? 'before' : 'after', isStrict: false }
  if (before === undefined) return { open: null, isStrict: false }
  return {
    open: /^(?:since|(?:on or )?after|not before|from|starting|beginning)$/.test(before) ? 'after' : 'before',
    isStrict: /^(?:after|before|prior to)$/.test(before),
  }
}

/** "from 3 May 8 am to 5 May": the hour of the first day is not that of the last. */
function hours({ start, end }: ParsedResult): Pick<DateSpan, 'time' | 'endTime'> {
  const [time, endTime] = [clockOf(start), end ? clockOf(end) : null]
  return { time, endTime: endTime ?? (time !== null && end ? '23:59:59' : null) }
}

// "now" and "2 hours ago" are counted from a noon that nobody meant.
const fromNoon = ['result/relativeDateAndTime', 'casualReference/now']

function clockOf(parts: ParsedComponents): string | null {
  const tags = parts.tags()
  if (!parts.isCertain('hour') || fromNoon.some((tag) => tags.has(tag))) return null
  const two = (value: number | null): string => String(value ?? 0).padStart(2, '0')
  return `${two(parts.get('hour'))}:${two(parts.get('minute'))}:${two(parts.get('second'))}`
}
