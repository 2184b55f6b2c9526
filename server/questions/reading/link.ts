import type { DateSpan } from './calendar.ts'
import { recogniseDates } from './dates.ts'
import type { SlotKind, SlotType } from '../project.ts'
import {
  recogniseIdentifiers,
  recogniseNumbers,
  recogniseQuoted,
  recogniseTimes,
  type Recognised,
} from './recognise.ts'
import { words, type Word } from './text.ts'
import { findValues, type ValueTrie } from './values.ts'

/** One way to read a span: the slot type it would fill and the value it would give. */
export type Reading = { type: SlotType; value: unknown; quality: number; days: DateSpan | null }

/** A stretch of a text that could fill a slot. Weak spans are ordinary words too: never masked, used only when needed. */
export type Span = { from: number; to: number; start: number; end: number; readings: Reading[]; weak: boolean }

/** `spans` may overlap: "colorado river" and "colorado". Which of them stand is decided by the words around them. */
export type Linked = { text: string; words: Word[]; spans: Span[]; weak: Span[] }

export type Clock = { now: Date; timeZone: string }

export type Linker = {
  trie: ValueTrie
  types: Map<string, SlotType>
  byKind: Map<SlotKind, SlotType[]>
  mayBeTypo: (word: string) => boolean
  /** Words that name what is no number: the 12 of "customer 12" is hardly an amount. */
  unnumbered: Set<string>
  /** A value of each list. */
  samples: string[]
}

// The encoder reads no further either; more words and spans would only cost time, quadratic in their number.
const mostWords = 64
const mostSpans = 24

/** Finds every span of the text that could fill some slot of the project. */
export function link(linker: Linker, text: string, clock: Clock): Linked {
  const found = words(text).slice(0, mostWords)
  const read = text.slice(0, (found.at(-1)?.end ?? 0) + 1)
  const spans = [...valueSpans(linker, read, found), ...recognisedSpans(linker, read, found, clock)]
  const strong = merge(spans.filter(({ weak }) => !weak)).slice(0, mostSpans)
  const weak = merge(spans.filter((span) => span.weak && !strong.some((other) => overlaps(span, other))))
  return { text, words: found, spans: strong, weak: weak.slice(0, mostSpans) }
}

function valueSpans(linker: Linker, text: string, found: Word[]): Span[] {
  return findValues(linker.trie, found, linker.mayBeTypo).flatMap(({ from, to, entry, quality }) => {
    const type = linker.types.get(entry.type)
    const [first, last] = [found[from], found[to - 1]]
    if (type === undefined || first === undefined || last === undefined) return []
    const value = String(entry.value)
    // Signs belong to a value that is written with them: "B+" is not "B".
    const literal = text.slice(first.start, first.start + value.length)
    const signed = /[^\p{L}\p{N}\s]$/u.test(value) && literal.toLowerCase() === value.toLowerCase()
    const end = signed ? first.start + value.length : last.end
    const said = text.slice(first.start, end)
    // A capital letter in the middle of a sentence tells the value "Other" from the word.
    const written = said === value && /\p{Lu}/u.test(said) && from > 0
    const exact = quality * (said === value ? 1.05 : 1) * (signed ? 1.1 : 1)
    const reading = { type, value: entry.value, quality: exact, days: null }
    return [{ from, to, start: first.start, end, readings: [reading], weak: entry.ordinary && !written && !signed }]
  })
}

// A day is said in words of its own: it stands before the numbers inside it.
const dateQuality = 1.5

function recognisedSpans(linker: Linker, text: string, found: Word[], clock: Clock): Span[] {
  const types = (kind: SlotKind): SlotType[] => linker.byKind.get(kind) ?? []
  const seen: Recognised[] = []
  if (types('number').length > 0) seen.push(...recogniseNumbers(text))
  if (types('time').length > 0) seen.push(...recogniseTimes(text))
  if (types('text').length > 0) seen.push(...recogniseQuoted(text), ...recogniseIdentifiers(text))
  const spans = seen.flatMap((each) => {
    const fitting = types(each.kind).filter(({ pattern }) => pattern === null || pattern.test(String(each.value)))
    const readings = fitting.map((type) => ({ type, value: each.value, quality: 1, days: null }))
    const [span] = place(found, each.start, each.end, readings)
    const before = found[(span?.from ?? 0) - 1]?.stem
    const isOthers = each.kind === 'number' && before !== undefined && linker.unnumbered.has(before)
    return span === undefined ? [] : [{ ...span, weak: isOthers }]
  })
  if (types('date').length === 0) return spans
  const yearly = types('number').filter(({ labelStems }) => labelStems.has('year'))
  const days = recogniseDates(text, clock).flatMap((each) => {
    const readings: Reading[] = types('date').map((type) => {
      return { type, value: each.first, quality: dateQuality, days: each }
    })
    // "last year" is also the number of a year, for a slot that holds one.
    const year = each.open === null ? yearOf(each) : null
    if (year !== null) readings.push(...yearly.map((type) => ({ type, value: year, quality: 1, days: null })))
    return place(found, each.start, each.end, readings)
  })
  return [...spans, ...days]
}

function yearOf({ first, last }: DateSpan): number | null {
  const year = first.slice(0, 4)
  return first === `${year}-01-01` && last === `${year}-12-31` ? Number(year) : null
}

function place(found: Word[], start: number, end: number, readings: Reading[]): Span[] {
  const from = found.findIndex((word) => word.end > start)
  const beyond = found.findIndex((word) => word.start >= end)
  const to = beyond < 0 ? found.length : beyond
  return readings.length === 0 || from < 0 || to <= from ? [] : [{ from, to, start, end, readings, weak: false }]
}

export function overlaps(left: Span, right: Span): boolean {
  return left.from < right.to && right.from < left.to
}

/** Spans over the same words become one span with several readings, the best value of each type kept. */
function merge(spans: Span[]): Span[] {
  const byPlace = new Map<string, Span>()
  for (const span of spans) {
    const place = `${span.from}:${span.to}`
    const known = byPlace.get(place)
    if (known === undefined) byPlace.set(place, { ...span, readings: [...span.readings] })
    else for (const reading of span.readings) addReading(known.readings, reading)
  }
  return [...byPlace.values()].sort((a, b) => a.from - b.from || b.to - a.to)
}

function addReading(readings: Reading[], reading: Reading): void {
  const at = readings.findIndex(({ type }) => type.key === reading.type.key)
  const known = readings[at]
  if (known === undefined) readings.push(reading)
  else if (reading.quality > known.quality) readings[at] = reading
}
