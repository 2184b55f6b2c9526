import { anyMonth, dayMs, isFunctionWord, words, type DateSpan } from '../../language/index.ts'
import { daysAt, isJoined, wordsAround, type Gap, type QueryReading, type SlotSource } from './gap.ts'
import { spoken, type Slot } from '../project/project.ts'
import { unreadMonth } from './unread-days.ts'

/** A day that the slot cannot take as it was said: one that does not exist, or more or less than the slot holds. */
export function daysGap(reading: QueryReading, slot: Slot, source: SlotSource): Gap | null {
  const month = unreadMonth(reading, slot, source)
  if (month !== null) return month
  if (slot.type.kind === 'number') return partOfYear(reading, slot, source)
  const days = slot.type.kind === 'date' ? daysAt(reading.linked, source) : null
  if (days === null) return null
  if (!days.isReal) {
    return {
      rule: 'day of the calendar',
      slot: slot.name,
      message: `is no day of the calendar: ${source.text}`,
      isOpposed: false,
    }
  }
  const hour = hourOfDay(reading, slot, { source, days })
  if (hour !== null) return hour
  if (slot.type.isMonth) return partOfMonth(slot, { source, days })
  return days.open === null
    ? (oneDay(reading, slot, { source, days }) ?? oneEnd(reading, slot, { source, days }))
    : null
}

type Said = { source: SlotSource; days: DateSpan }

const partOfDay =
  /\b(?:morning|afternoon|evening|at night|abend|nachmittag|soir|matin|sera|mattina|avond|noche|tarde|noite)\b/iu

/** "deliveries tomorrow after 3 pm" of a query that knows no hours; "yesterday evening" of one that does not say which. */
function hourOfDay({ query, linked }: QueryReading, slot: Slot, { source, days }: Said): Gap | null {
  const isHour = days.time !== null && !days.isCounted && !slot.type.isInstant
  const part = days.time === null ? partOfDay.exec(source.text)?.[0].toLowerCase() : undefined
  const isPart = part !== undefined && words(part).some(({ stem }) => !query.said.has(stem))
  if ((!isHour && !isPart) || query.slots.some(({ type }) => type.kind === 'time')) return null
  return {
    rule: 'hour of a day',
    slot: slot.name,
    message: isHour
      ? `cannot hold an hour: “${wordsAround(linked, source)}”`
      : `cannot hold a part of a day: “${source.text}”`,
    isOpposed: true,
  }
}

const periodWord = /\b(?:day|week|month|quarter|year|period)s?\b/u

/** "deliveries this week" of a query for one day: its Monday is not what was asked. */
function oneDay(reading: QueryReading, slot: Slot, { source, days }: Said): Gap | null {
  if (slot.role !== null || days.first === days.last || slot.list) return null
  const unit = periodWord.exec(`${spoken(slot.name)} ${slot.type.label}`)?.[0]
  if ((unit !== undefined && !unit.startsWith('day')) || speaksOfStretches(reading)) return null
  return {
    rule: 'stretch for one day',
    slot: slot.name,
    message: `takes one day, and the question names more: ${source.text}`,
    isOpposed: false,
  }
}

/** "income on 5 October" of a query for a month; the last day, at which a month is closed, stands for it. */
function partOfMonth(slot: Slot, { source, days }: Said): Gap | null {
  const isLast = new Date(Date.parse(days.last) + dayMs).getUTCDate() === 1
  if (isLast && (days.first === days.last || days.first.endsWith('-01'))) return null
  return {
    rule: 'part of a month',
    slot: slot.name,
    message: `takes a whole month, and the question names a part of one: ${source.text}`,
    isOpposed: true,
  }
}

/** "punctuality in 2024" of a query that only knows since when: what came after would be in the answer. */
function oneEnd(reading: QueryReading, slot: Slot, { source, days }: Said): Gap | null {
  const { query, found, linked } = reading
  const isAlone = query.slots.filter(({ type }) => type.kind === 'date').length === 1
  if (slot.role === null || !isAlone || speaksOfStretches(reading)) return null
  const isCut = slot.role === 'start' ? days.last < found.today() : days.first !== days.last
  if (!isCut) return null
  const lacking = slot.role === 'start' ? 'cannot have an end' : 'cannot have a beginning'
  return {
    rule: 'stretch for one end',
    slot: slot.name,
    message: `${lacking}: “${wordsAround(linked, source)}”`,
    isOpposed: true,
  }
}

/** Whether the query's own texts name several days where a slot takes one: then its author knows what it does with them. */
function speaksOfStretches({ texts }: QueryReading): boolean {
  return texts.some(({ linked }) =>
    linked.spans.some(({ readings }) =>
      readings.some(({ days }) => days !== null && days.open === null && days.first !== days.last),
    ),
  )
}

const partBefore = new RegExp(
  `(?:\\b(?:(?:${anyMonth})[a-z]{0,6}\\.?|q[1-4]|h[12]|quarter|half)|\\d/)[\\s,]*(?:of\\s+)?$`,
  'iu',
)
const partAfter = new RegExp(`^(?:[-/]\\d|\\s+(?:q[1-4]|h[12]|(?:${anyMonth})[a-z]{0,6})\\b)`, 'iu')
const fourDigits = /^(?:19|20)\d{2}$/

/** "March 2025" for a slot that holds a year: the whole year is not what was asked. */
function partOfYear(
  { linked: { text }, found, query: { said } }: QueryReading,
  slot: Slot,
  source: SlotSource,
): Gap | null {
  if (!slot.type.labelStems.has('year') || !fourDigits.test(source.text)) return null
  const before = partBefore.exec(text.slice(0, source.start))
  const after = partAfter.exec(text.slice(source.end))
  if (before === null && after === null) return null
  const start = before?.index ?? source.start
  const end = source.end + (after?.[0].length ?? 0)
  const isHeard = Object.values(found.sources).some(
    (other) => other.start !== source.start && other.start < end && start < other.end,
  )
  // A query whose texts say "March" themselves means it.
  const isSaid = words(text.slice(start, end)).every(({ stem }) => fourDigits.test(stem) || said.has(stem))
  if (isHeard || isSaid) return null
  return {
    rule: 'part of a year',
    slot: slot.name,
    message: `cannot hold all of “${text.slice(start, end)}”`,
    isOpposed: true,
  }
}

/**
 * "in March and June" is not all that lies between. Stretches that follow each other are one, and so are the two days of
 * "2 and 6 November" to a query of a period.
 */
export function twoStretches({ linked, query: { slots }, found: { sources } }: QueryReading): Gap[] {
  const dated = slots.filter(({ type, name }) => type.kind === 'date' && name in sources)
  const [start, end] = (['start', 'end'] as const).map((role) => dated.find((slot) => slot.role === role))
  const [first, last] = [sources[start?.name ?? ''], sources[end?.name ?? '']]
  if (end === undefined || first === undefined || last === undefined || first.start === last.start) return []
  const [one, other] = [daysAt(linked, first), daysAt(linked, last)]
  const isOpen = one?.open !== null || other?.open !== null
  if (isOpen) return []
  const [from, to] = [first, last].sort((a, b) => a.start - b.start)
  const join = linked.text.slice(from?.end, to?.start)
  // "This week last year" is neither.
  const isBare = words(join).every(({ text }) => isFunctionWord(text))
  if (!(isBare || isJoined(linked, first, last)) || isOneStretch(linked.text, [one, other], join)) return []
  const named = `${first.text}, ${last.text}`
  return [
    {
      rule: 'two stretches',
      slot: end.name,
      message: `takes one stretch of days, and the question names two: ${named}`,
      isOpposed: false,
    },
  ]
}

const dayBesideDay =
  /^(?:\d{1,2}(?:st|nd|rd|th)?\s*(?:[&/]|\band\b).*\d|.*\d\s*(?:[&/]|\band\b)\s*(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?)/iu

const alongside = /^\s*(?:,|&|\/|-|,?\s*\b(?:and|or|to|until|till|through)\b)\s*(?:\b(?:in|on|the)\b\s*)*$/iu

function isOneStretch(text: string, [first, last]: [DateSpan, DateSpan], join: string): boolean {
  const [from, to] = first.first <= last.first ? [first, last] : [last, first]
  if (!alongside.test(join)) return false
  if (new Date(Date.parse(from.last) + dayMs).toISOString().startsWith(to.first)) return true
  const isOneMonth = from.first === from.last && to.first === to.last && from.first.slice(0, 7) === to.first.slice(0, 7)
  return isOneMonth && dayBesideDay.test(text.slice(Math.min(first.start, last.start), Math.max(first.end, last.end)))
}
