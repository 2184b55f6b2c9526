import { anyMonth, isFunctionWord, nearestMonth, words } from '../../language/index.ts'
import type { Slot } from '../project/project.ts'
import { daysAt, isFree, wordsAt, type Gap, type QueryReading, type SlotSource, type TextPlace } from './gap.ts'

/**
 * Words of time that give no day: the answer would be of another period, or of all time. A query that says them itself
 * knows what they mean.
 */
export function unreadDays(reading: QueryReading): Gap[] {
  const { query, found, linked } = reading
  const dated = query.slots.filter(({ type }) => type.kind === 'date')
  if (dated.length === 0) return []
  const unread = [...besideDays(reading, dated), ...timesIn(linked.text).filter((place) => isUnread(reading, place))]
  const place = unread.find((each) => !isOwn(reading, each))
  if (place === undefined) return []
  const bound = dated.filter(({ name }) => name in found.sources)
  return (bound.length > 0 ? bound : dated).map((slot) => gapOf(slot, linked.text.slice(place.start, place.end)))
}

function gapOf(slot: Slot, said: string): Gap {
  const message = `names no period that is known: “${said.trim()}”`
  return { rule: 'unread days', slot: slot.name, message, isOpposed: false }
}

const unit = String.raw`(?:(?:business|working|calendar)\s+)?(?:days?|weeks?|wks?|weekends?|fortnights?|months?|mths?|mos?|quarters?|qtrs?|years?|yrs?|decades?|century|centuries|semesters?|terms?|seasons?|hours?|hrs?)`
const season = String.raw`(?:spring|summer|autumn|winter|christmas|xmas|easter|thanksgiving|ramadan|(?:black|good)\s+friday|(?:cyber|easter)\s+monday|(?:nine|eigh|seven|six)ties|holidays)`
const counted = String.raw`(?:few|couple(?:\s+of)?|several|\d[\d.,]*|(?:\w+\s+and\s+a\s+)?half|one|two|three|four|five|six|seven|eight|nine|ten|twelve)`
const times = new RegExp(
  [
    String.raw`\bfy\s?['\u2019]?\d{2,4}(?:[/-]\d{2,4})?\b`,
    String.raw`\b(?:fiscal|financial|academic|school|tax)\s+(?:years?|quarters?|months?)\b`,
    String.raw`(?<![\p{L}\p{N}.,/-])(?:19|20)\d{2}[/-]\d{2,4}(?![\p{L}\d/-])`,
    String.raw`\b(?:last|this|next|past|previous|prior|preceding|trailing|rolling|coming)\s+(?:${counted}[\s-]+(?:and\s+a\s+half\s+)?)?(?:${unit}|${season}|\d+\s?[dwmqyh])(?![\p{L}\p{N}])`,
    String.raw`\b(?:in|on|for|during|since|over|until|before|after|by)\s+(?:the\s+)?(?:late\s+|early\s+)?${season}\b`,
    String.raw`\b(?:since|within|in\s+the\s+space\s+of)\s+(?:the\s+)?${counted}\s+${unit}\b`,
    String.raw`\b(?:19|20)\d0s\b|(?<!\p{L})['\u2019]?\d0s\b`,
    String.raw`\b(?:calendar\s+)?weeks?\s\d{1,2}\b|\b[ck]w\s?\d{1,2}\b|\bl\d{1,3}[dwm]\b|\bt-\d{1,3}\b`,
    String.raw`\b(?:the\s+)?same\s+(?:day|week|weekend|month|quarter|year|period|time)\b`,
  ].join('|'),
  'giu',
)

function timesIn(text: string): TextPlace[] {
  return Array.from(text.matchAll(times), ({ index, 0: said }) => ({ start: index, end: index + said.length }))
}

/** Nothing reads the words as a day or a value, nor binds a part of them. */
function isUnread({ linked, found }: QueryReading, place: TextPlace): boolean {
  if (!isFree(found, place) || isSpelledOut(linked, place)) return false
  // The year of "fiscal year 2025" is not that of the calendar, whatever reads it.
  return !linked.spans.some(
    ({ start, end, readings }) =>
      start < place.end &&
      place.start < end &&
      readings.some(({ days, type }) => days !== null || type.kind === 'values' || type.kind === 'text'),
  )
}

const leading = /^(?:months?|season)?[\s,(:;-]*(?:i\.e\.,?|meaning)?$/iu

/** "The winter 1 December 2025 to 28 February 2026": the days behind it say which. */
function isSpelledOut({ text, spans }: QueryReading['linked'], { end }: TextPlace): boolean {
  return spans.some(
    ({ start, readings }) =>
      start >= end &&
      leading.test(text.slice(end, start).trim()) &&
      readings.some(({ days }) => days !== null && days.first !== days.last),
  )
}

const before = new RegExp(
  [
    String.raw`\b(?:early|earlier|mid|middle|late|later|fiscal|financial|every|each|rest\s+of|remainder\s+of|most\s+of)[\s-]+`,
    String.raw`\b(?:fiscal|financial|academic|school|tax)\s+year\s+(?:of\s+)?`,
    String.raw`(?<!\b(?:since|from)\s+(?:the\s+)?)\b(?:beginning|start)\s+of\s+`,
    String.raw`\b(?:first|second|third|fourth|1st|2nd|3rd|4th|last)\s+(?:half|third|quarter|day|days|week|weeks|weekend|(?:business|working)\s+day|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\s+(?:of|in)\s+`,
    String.raw`\b(?:same|that)\s+(?:day|week|weekend|month|quarter|period|time)\s+(?:of\s+|in\s+)?`,
    String.raw`\b(?:morning|afternoon|evening|night|${season}(?:\s+(?:eve|day|night))?)\s+(?:of\s+)?`,
    String.raw`\b(?:first|last)\s+(?:\w+\s+)?(?:months?|years?)\s+(?:of|in)\s+`,
    String.raw`\bweek(?:end)?\s+(?:of|starting|beginning|ending)\s+`,
    String.raw`\b\d+\s+${unit}\s+(?:before|after|from|up\s+to|until|to|since)\s+`,
    String.raw`(?<![\p{L}\p{N}])\d{1,2}\.?\s*(?:[-\u2013/&.,]|\b(?:to|bis|and|or|until)\b)\s*(?:\d{1,2}\.\s*)?`,
  ]
    .map((each) => `(?:${each})`)
    .join('|')
    .replace(/^(.*)$/u, '(?:$1)(?:the\\s+|of\\s+|in\\s+|the\\s+year\\s+)*$'),
  'iu',
)
const behind = new RegExp(
  String.raw`^(?:\s*[-\u2013/]\s*(?:\d|(?:${anyMonth}))|\s*(?:,|&|\bor\b|\band\b)\s*\d{1,2}(?:st|nd|rd|th)?\s*(?:[?.!]|$)|\s+(?:to|until|till)\s+date\b|\s+(?:19|20)\d{2}\b|\s+\d{2}\s*(?:[?.!]|$))`,
  'iu',
)

const lateness = /^(?:early|late)\b/iu
const longer = new RegExp(`\\b(?:(?:${anyMonth})[a-z]{0,6}|q[1-4]|h[12]|(?:19|20)\\d{2}|last\\s+year)\\b`, 'iu')

/** "late October", "1.-5. November": what stands beside a day makes less or more of it. */
function besideDays({ linked, found }: QueryReading, dated: Slot[]): TextPlace[] {
  const { text } = linked
  return dated.flatMap(({ name }): TextPlace[] => {
    const source = found.sources[name]
    if (source === undefined || daysAt(linked, source) === null) return []
    const isTaken = (place: TextPlace): boolean => !isFree(found, place)
    const ahead = before.exec(text.slice(0, source.start))
    // "Late this week" is said of what came late.
    const days = daysAt(linked, source)
    // "The week of 5 to 11 October" is no other than those days.
    const isSame = ahead !== null && /^week/iu.test(ahead[0]) && days?.first !== days?.last
    const isPart = ahead !== null && !isSame && (!lateness.test(ahead[0]) || longer.test(source.text))
    if (isPart && !isTaken({ start: ahead.index, end: source.start })) {
      return [{ start: ahead.index, end: source.end }]
    }
    const next = behind.exec(text.slice(source.end))
    const end = source.end + (next?.[0].length ?? 0)
    return next === null || isTaken({ start: source.end, end }) ? [] : [{ start: source.start, end }]
  })
}

/** Whether the query's own texts say the words. */
function isOwn({ linked, query: { said } }: QueryReading, { start, end }: TextPlace): boolean {
  const text = linked.text.slice(start, end)
  // A slot that is described as the beginning of a period says nothing of the beginning of a year.
  if (/^\s*(?:beginning|start)\s+of\b/iu.test(text)) return false
  const spoken = words(text).filter(({ text }) => !isFunctionWord(text) || text === 'each')
  const plain = spoken.filter(({ text }) => !/\d/.test(text))
  return plain.length > 0 && plain.every(({ stem }) => said.has(stem))
}

const fourDigits = /^(?:19|20)\d{2}$/
const datedBefore = /^(?:in|of|since|from|to|until|till|through|between|and|before|after|during)$/

/** "in Xyzember 2025": whatever stands before the year makes less of it, and the whole year is not what was asked. */
export function unreadMonth({ linked, query, mayBeTypo }: QueryReading, slot: Slot, source: SlotSource): Gap | null {
  if (!fourDigits.test(source.text) || (slot.type.kind !== 'date' && !slot.type.labelStems.has('year'))) return null
  const at = wordsAt(linked, source).from
  const [first, word, year] = [linked.words[at - 2], linked.words[at - 1], linked.words[at]]
  if (word === undefined || year === undefined || !/^\s+$/.test(linked.text.slice(word.end, year.start))) return null
  const isRead = [...linked.spans, ...linked.weak].some(({ from, to }) => from < at && at - 1 < to)
  if (isRead || query.said.has(word.stem) || isFunctionWord(word.text) || /\d/.test(word.text)) return null
  const isNear = nearestMonth(word.text) !== null
  const isDated = datedBefore.test(first?.text ?? '')
  if (isDated ? !isNear && !mayBeTypo(word.text) : !isNear || !mayBeTypo(word.text)) return null
  const said = linked.text.slice(word.start, year.end)
  return { rule: 'unread days', slot: slot.name, message: `names no month that is known: “${said}”`, isOpposed: false }
}
