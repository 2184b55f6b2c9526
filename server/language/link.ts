import { anyMonth, isWithinMonth, monthNames, type DateSpan } from './days/calendar.ts'
import { recogniseDates } from './dates.ts'
import {
  recogniseFigures,
  recogniseIdentifiers,
  recogniseNumbers,
  recogniseQuoted,
  recogniseTimes,
  type Recognised,
} from './recognise.ts'
import { overlaps, type CallerTime, type Linked, type Reading, type Span } from './span.ts'
import { fold, isFunctionWord, words, type Word } from './words/text.ts'
import { findValues, type Hit, type ValueTrie } from './value-trie.ts'
import type { ValueKind, ValueType } from './value-type.ts'

/** Possible meanings of the words in a project's questions. */
export type Linker = {
  trie: ValueTrie
  types: Map<string, ValueType>
  byKind: Map<ValueKind, ValueType[]>
  mayBeTypo: (word: string) => boolean
  /** Whether words are read as parts of values, too. */
  readsParts: boolean
  /** Words that name what is no number: the 12 of "customer 12" is hardly an amount. */
  unnumbered: Set<string>
  /** Words with digits that descriptions use, as "CO2": no numbers of anything. */
  described: Set<string>
  /** A value of each list. */
  samples: string[]
  /** Values of each list by the key of its type, to say what there is where a question names something else. */
  existing: Map<string, { values: string[]; count: number }>
}

// The encoder reads no further either; more words and spans would only cost time, quadratic in their number.
const maxWords = 64
const maxSpans = 24

/** Finds every span of the text that could fill some slot of the project. */
export function link(linker: Linker, text: string, clock: CallerTime): Linked {
  const found = words(text).slice(0, maxWords)
  const read = text.slice(0, (found.at(-1)?.end ?? 0) + 1)
  const spans = [...valueSpans(linker, read, found), ...recognisedSpans(linker, read, found, clock)]
  const strong = merge(spans.filter(({ weak }) => !weak))
    .filter((span, _, all) => !isInName(span, all))
    .slice(0, maxSpans)
  const weak = merge(spans.filter((span) => span.weak && !strong.some((other) => overlaps(span, other))))
  return { text, words: found, spans: strong, weak: weak.slice(0, maxSpans) }
}

/** The 2026 of "Cup Final 2026": a day or a number that stands inside a name is the name's. */
function isInName({ from, to, readings }: Span, all: Span[]): boolean {
  return (
    readings.every(({ type }) => type.kind !== 'values') &&
    all.some(
      (other) =>
        other.from <= from &&
        to <= other.to &&
        other.to - other.from > to - from &&
        other.readings.some(({ type, quality }) => type.kind === 'values' && quality >= 1),
    )
  )
}

function valueSpans(linker: Linker, text: string, found: Word[]): Span[] {
  const hits = findValues(linker.trie, found, linker.mayBeTypo)
  return hits.flatMap((hit) => {
    const { from, to, entry, quality } = hit
    const type = linker.types.get(entry.type)
    const [first, last] = [found[from], found[to - 1]]
    if (type === undefined || first === undefined || last === undefined) return []
    if (entry.among !== null) {
      // "Westerns" are no part of "Western Europe", and a word that was misspelled is none either.
      const said = found.slice(from, to).map((word) => word.text)
      const isSaid =
        said.join(' ') === entry.folded || said.every((word) => word.length >= minMisspelled && linker.mayBeTypo(word))
      if (!isSaid || !linker.readsParts) return []
      const isWhole = hits.some((other) => isMoreThan(other, hit))
      return isWhole ? [] : partSpan(linker, { text, found, hit, type, among: entry.among })
    }
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

/** A whole value over the words of a part, or a longer part of the same kind; or the value itself, said elsewhere. */
function isMoreThan(other: Hit, { from, to, entry }: Hit): boolean {
  const isSame = other.entry.type === entry.type && entry.among?.includes(other.entry.value) === true
  if (other.entry.among === null && isSame) return true
  const isOver = other.from <= from && to <= other.to
  if (other.entry.among === null) return isOver
  return isOver && other.to - other.from > to - from && other.entry.type === entry.type
}

const minUncapped = 4
const article = /^(?:the|an?|this|that|any|some|no|our|my|your)$/
// A shorter part of a name that is misspelled may be any other.
const minMisspelled = 6
// Less than a value that is said in full.
const partQuality = 0.85

type Part = { text: string; found: Word[]; hit: Hit; type: ValueType; among: unknown[] }

/** "Anna", where one or more are called so. In small letters it may be any word, and is used only where one is wanted. */
function partSpan(linker: Linker, { text, found, hit, type, among }: Part): Span[] {
  const { from, to, entry, quality } = hit
  const [first, last] = [found[from], found[to - 1]]
  if (first === undefined || last === undefined || isPartOfName(linker, { text, found, from, to, among })) return []
  const isStrange = found.slice(from, to).some((word) => linker.mayBeTypo(word.text))
  const isOwner = /^['’]s\b/u.test(text.slice(last.end))
  const isName = (capital.test(text.charAt(first.start)) && (from > 0 || isOwner)) || isStrange
  // In small letters what only one name has is it as well, unless it stands as a noun does: "off the road".
  const isShort = last.end - first.start < minUncapped
  const isCommon = isShort || (to - from === 1 && article.test(found[from - 1]?.text ?? ''))
  const reading = { type, value: entry.value, quality: quality * partQuality, days: null }
  const readings = [among.length > 1 ? { ...reading, among } : reading]
  return [
    {
      from,
      to,
      start: first.start,
      end: last.end,
      readings,
      weak: !isName,
      isOnlyName: among.length === 1 && !isCommon,
    },
  ]
}

const capital = /\p{Lu}/u

/** The "Anna" of "Anna Smith", whom nobody knows: with a name beside it, it is not another Anna. */
function isPartOfName(
  linker: Linker,
  { text, found, from, to, among }: Omit<Part, 'hit' | 'type'> & TokenRange,
): boolean {
  // "Dr Marsh" of Dr. Helen Marsh
  const own = new Set(among.length === 1 ? words(String(among[0])).map((word) => word.text) : [])
  const isName = (at: number): boolean => {
    const word = found[at]
    if (word === undefined || isFunctionWord(word.text) || linker.described.has(word.text)) return false
    if (own.has(word.text)) return false
    const isCapital = capital.test(text.charAt(word.start)) && (at > 0 || linker.mayBeTypo(word.text))
    return isCapital && !monthWord.test(word.text) && !/\d/.test(word.text)
  }
  const joins = (left: Word | undefined, right: Word | undefined): boolean =>
    left !== undefined && right !== undefined && /^\s+$/.test(text.slice(left.end, right.start))
  return (joins(found[to - 1], found[to]) && isName(to)) || (joins(found[from - 1], found[from]) && isName(from - 1))
}

type TokenRange = { from: number; to: number }

const fourDigits = /^(?:19|20)\d{2}$/
// A number that a pattern was written for is hardly an amount.
const patternQuality = 1.5

function recognisedSpans(linker: Linker, text: string, found: Word[], clock: CallerTime): Span[] {
  const types = (kind: ValueKind): ValueType[] => linker.byKind.get(kind) ?? []
  const times = types('time').length > 0 ? recogniseTimes(text) : []
  const seen: Recognised[] = [...times]
  if (types('number').length > 0) seen.push(...recogniseNumbers(text))
  if (types('text').length > 0) {
    const isNamed = ({ value }: Recognised): boolean => linker.described.has(fold(String(value)))
    seen.push(...recogniseQuoted(text), ...recogniseIdentifiers(text).filter((each) => !isNamed(each)))
  }
  const spans = seen.flatMap((each) => {
    const readings = types(each.kind).flatMap((type) => {
      const value = fitting(type, each.value)
      return value === undefined ? [] : [{ type, value, quality: 1, days: null }]
    })
    const [span] = place(found, each.start, each.end, readings)
    const before = found[(span?.from ?? 0) - 1]
    // The 60 of "clients, 60 days" is not the number of a client.
    const isBeside = before !== undefined && !/[,;:]/.test(text.slice(before.end, each.start))
    const isYear = fourDigits.test(String(each.value)) && readings.some(({ type }) => type.labelStems.has('year'))
    const isOthers = each.kind === 'number' && isBeside && linker.unnumbered.has(before.stem) && !isYear
    return span === undefined
      ? []
      : [{ ...span, weak: isOthers, ...(each.counts === undefined ? {} : { unit: each.counts }) }]
  })
  const patterned = types('text').filter(({ pattern }) => pattern !== null)
  const figures = patterned.length === 0 ? [] : recogniseFigures(text)
  const written = patterned.filter(({ pattern }) => !anything.some((each) => pattern?.test(each) === true))
  if (written.length > 0) spans.push(...writtenSpans(text, found, written))
  for (const { start, end, value } of figures) {
    const fits = patterned.filter(({ pattern }) => pattern?.test(String(value)) === true)
    spans.push(
      ...place(
        found,
        start,
        end,
        fits.map((type) => ({ type, value, quality: patternQuality, days: null })),
      ),
    )
  }
  return [...spans, ...daySpans(linker, { text, found, times }, clock)]
}

/** A pattern that takes these says nothing of how its values look. */
const anything = ['orders', 'Orders', 'of', 'a', '2026', '12']

/** "NovaFox#4821", "nv 88": words as no other are written, or two that are one, as the pattern of a slot takes them. */
function writtenSpans(text: string, found: Word[], types: ValueType[]): Span[] {
  const pieces = Array.from(text.matchAll(/\S+/gu), ({ 0: said, index }) => {
    const bare = said.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
    return { bare, start: index + said.indexOf(bare), end: index + said.indexOf(bare) + bare.length }
  }).filter(({ bare }) => bare !== '')
  return pieces.flatMap(({ bare, start, end }, at) => {
    const next = pieces[at + 1]
    const own = readingsOf(types, bare)
    if (own.length > 0 || next === undefined) return place(found, start, end, own)
    return readingsOf(types, next.bare).length > 0
      ? []
      : place(found, start, next.end, readingsOf(types, bare + next.bare))
  })
}

function readingsOf(types: ValueType[], said: string): Reading[] {
  return types.flatMap((type) => {
    const value = fitting(type, said)
    return value === undefined ? [] : [{ type, value, quality: patternQuality, days: null }]
  })
}

/** The value as a pattern takes it: who types a number of letters and digits seldom types its capitals. */
export function fitting({ pattern }: ValueType, value: unknown): unknown {
  if (pattern === null) return value
  const said = String(value)
  if (pattern.test(said)) return value
  return [said.toUpperCase(), said.toLowerCase()].find((form) => pattern.test(form))
}

// A day is said in words of its own: it stands before the numbers inside it.
const dateQuality = 1.5
// "'24" is a year before it is a number.
const yearQuality = 1.05
const monthWord = new RegExp(String.raw`(?<!\p{L})(${anyMonth})[a-z]{0,6}\.?(?!\p{L})`, 'iu')

type Read = { text: string; found: Word[]; times: Recognised[] }

function daySpans(linker: Linker, { text, found, times }: Read, clock: CallerTime): Span[] {
  const dated = linker.byKind.get('date') ?? []
  const numbers = linker.byKind.get('number') ?? []
  const yearly = numbers.filter(({ labelStems }) => labelStems.has('year'))
  const monthly = numbers.filter(({ label }) => /\bmonth\b/.test(label))
  const quarterly = numbers.filter(({ label }) => /\bquarter\b/.test(label))
  if (dated.length + monthly.length + quarterly.length + yearly.length === 0) return []
  return recogniseDates(text, { ...clock, isStrange: linker.mayBeTypo }).flatMap((each) => {
    const asDays = (type: ValueType, days: DateSpan): Reading => {
      return { type, value: type.isMonth ? days.first.slice(0, 7) : days.first, quality: dateQuality, days }
    }
    const day = times.length === 0 ? each : withoutTimes(text, each, times)
    const takers = dated.filter(({ isMonth }) => !isMonth || isWithinMonth(each))
    const whole = takers.filter(({ isInstant }) => isInstant || day === each).map((type) => asDays(type, each))
    const cut = takers.filter(({ isInstant }) => !isInstant && day !== each).map((type) => asDays(type, day))
    // "last year" is also the number of a year, for a slot that holds one.
    const year = each.open === null ? yearOf(each) : null
    if (year !== null) whole.push(...yearly.map((type) => ({ type, value: year, quality: yearQuality, days: null })))
    return [
      ...place(found, each.start, each.end, whole),
      ...place(found, day.start, day.end, cut),
      ...monthSpans(text, { found, days: each, monthly }),
      ...quarterSpans(text, { found, days: each, quarterly }),
    ]
  })
}

/** "March 2025" for slots that hold a month and a year. */
function monthSpans(
  text: string,
  { found, days, monthly }: { found: Word[]; days: DateSpan; monthly: ValueType[] },
): Span[] {
  const isMonth =
    days.first.endsWith('-01') && days.first.slice(0, 7) === days.last.slice(0, 7) && days.first !== days.last
  const named = monthly.length === 0 || !isMonth ? null : monthWord.exec(text.slice(days.start, days.end))
  if (named === null) return []
  const value = monthNames.indexOf((named[1] ?? '').toLowerCase()) + 1
  const start = days.start + named.index
  return place(
    found,
    start,
    start + named[0].length,
    monthly.map((type) => ({ type, value, quality: 1, days: null })),
  )
}

const quarterWord =
  /\bq[1-4]|\b[1-4]q\b|\b(?:first|second|third|fourth|last|1st|2nd|3rd|4th|this|previous)\s+quarter|\bquarter\s+[1-4]\b/iu

/** "Q2 2026" for slots that hold a quarter and a year. */
function quarterSpans(
  text: string,
  { found, days, quarterly }: { found: Word[]; days: DateSpan; quarterly: ValueType[] },
): Span[] {
  const named = quarterly.length === 0 ? null : quarterWord.exec(text.slice(days.start, days.end))
  if (named === null) return []
  const start = days.start + named.index
  const value = Math.ceil(Number(days.first.slice(5, 7)) / 3)
  return place(
    found,
    start,
    start + named[0].length,
    quarterly.map((type) => ({ type, value, quality: yearQuality, days: null })),
  )
}

const dangling =
  /^(?:[\s,-]|\b(?:on|at|of)\b)+|(?:[\s,–-]|\b(?:from|after|before|at|until|till|between|by|since|and|to|around)\b)+$/giu

/** The day of "yesterday from 8 pm to 11 pm", where the hours are values of their own. */
function withoutTimes(text: string, days: DateSpan, times: Recognised[]): DateSpan {
  const inside = times.filter(({ start, end }) => start < days.end && days.start < end)
  if (inside.length === 0) return days
  const first = Math.min(...inside.map(({ start }) => start))
  const last = Math.max(...inside.map(({ end }) => end))
  const pieces = [
    [days.start, Math.max(days.start, first)],
    [Math.min(days.end, last), days.end],
  ].map(([from = 0, to = 0]) => {
    const said = text.slice(from, to)
    const kept = said.replaceAll(dangling, '')
    const start = from + (kept === '' ? 0 : said.indexOf(kept))
    return { start, end: start + kept.length }
  })
  const [piece] = pieces.sort((a, b) => b.end - b.start - (a.end - a.start))
  if (piece === undefined || piece.end === piece.start) return days
  // A word that opens the whole ("after 3 pm on Friday") refers to the hour.
  const open =
    piece.start - days.start < 4 ? { open: days.open, isStrict: days.isStrict } : { open: null, isStrict: false }
  return { ...days, ...piece, ...open }
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
