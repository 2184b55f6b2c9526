import {
  convertUnit,
  isFunctionWord,
  isSameQuantity,
  type Linked,
  type Span,
  type Unit,
  unitAt,
  type Word,
} from '../../language/index.ts'
import { type Doubt, type Gap, isFree, type QueryReading, usesOf, wordsAround } from './gap.ts'
import type { Slot, ValueRules } from '../project/project.ts'

/** "Jobs of Anna", where two are called so: whom is for the caller to say. */
export function ambiguousPart({ linked, found }: QueryReading, slot: Slot): Gap | null {
  if (slot.type.kind !== 'values') return null
  const bound = new Set([found.parameters[slot.name]].flat().map(String))
  for (const span of [...linked.spans, ...linked.weak]) {
    const reading = span.readings.find(({ type }) => type.key === slot.type.key)
    if (reading?.among === undefined || !bound.has(String(reading.value)) || isFree(found, span)) continue
    const said = linked.text.slice(span.start, span.end)
    const message = `could be any of several: “${said}” is a part of ${reading.among.map(String).join(', ')}`
    return { rule: 'parts of names', slot: slot.name, message, isOpposed: false }
  }
  return null
}

/**
 * "Dangerous goods to France", where nobody knows France: without it the answer would be of all countries. A word where
 * the query's own texts have a value, or beside one that was read: "Bergen and Oslo". A name is surely meant as one; of
 * a word in small letters who reads the question whole says whether it is.
 */
export function unknownValues(reading: QueryReading, slot: Slot): Doubt[] {
  if (slot.type.kind !== 'values') return []
  const { linked, query, existing, isSaid, found } = reading
  const isBound = slot.name in found.sources
  const frame = framesOf(reading, slot)
  const labels = slot.type.labelStems
  return linked.words.flatMap((word, at): Doubt[] => {
    if (!isContent(word) || query.said.has(word.stem) || isRead(linked, at)) return []
    const isListed = followsValue(linked, slot, at) || precedesValue(linked, slot, at)
    const before = linked.words[at - 1]
    const isNamed = isName(linked, at)
    // Small letters behind a word that says something go on from it: "monthly outlay".
    const isFrame = before !== undefined && (isNamed || isFunctionWord(before.text) || labels.has(before.stem))
    const isFramed = (!isBound || (slot.list && isNamed)) && isFrame && frame.has(before.stem)
    if (!isListed && !isFramed) return []
    const isSure = isNamed || (isListed && !isSaid(word.stem) && endsPhrase(reading, at))
    // In small letters it is a value only where nothing goes on from it.
    if (!isSure && !endsPhrase(reading, at)) return []
    const unlisted = `has no such value: “${wordsAround(linked, word)}”`
    const message = `${unlisted}${whatThereIs(existing.get(slot.type.key))}`
    const { start, end } = word
    return [{ rule: 'unknown value', slot: slot.name, message, unlisted, isOpposed: false, isSure, start, end }]
  })
}

/** The words that stand before the slot's values in the query's own texts, and those that name it: "depot Oslo". */
function framesOf({ texts }: QueryReading, { type }: Slot): Set<string> {
  const named = texts.flatMap(({ linked: own, shape: { marks } }) =>
    marks.filter((mark) => mark.type.key === type.key).map(({ span }) => own.words[span.from - 1]?.stem ?? ''),
  )
  return new Set([...named, ...type.labelStems])
}

function isContent({ text }: Word): boolean {
  return !isFunctionWord(text) && !/^\d/.test(text)
}

const listing = /^\s*(?:&|\/|,?\s*\b(?:and|or|nor|plus)\b)\s*(?:the\s+)?$/iu
// Behind a comma anything may begin; a name goes on the list.
const enumerating = /^\s*,\s*$/u

/** Whether a word goes on a list that a value of the slot begins. */
function followsValue(linked: Linked, { type }: Slot, at: number): boolean {
  const { text, words, spans } = linked
  const word = words[at]
  const isNamed = isName(linked, at)
  return (
    word !== undefined &&
    spans.some(
      (span) =>
        span.to <= at &&
        span.readings.some((reading) => reading.type.key === type.key) &&
        (isNamed ? [listing, enumerating] : [listing]).some((join) => join.test(text.slice(span.end, word.start))),
    )
  )
}

/** "Spanish and Mandarin", of which only the second is known: what stands before a value in a list is meant as one. */
function precedesValue({ text, words, spans }: Linked, { type }: Slot, at: number): boolean {
  const word = words[at]
  return (
    word !== undefined &&
    spans.some(
      (span) =>
        span.from > at &&
        span.readings.some((reading) => reading.type.key === type.key) &&
        listing.test(text.slice(word.end, span.start)),
    )
  )
}

/** A value of two or three words at most, and behind it something that goes on otherwise. */
const maxUnknownWords = 3

function endsPhrase(reading: QueryReading, from: number): boolean {
  const { linked, query } = reading
  const { text, words, spans } = linked
  for (let at = from; at < from + maxUnknownWords; at += 1) {
    const [word, next] = [words[at], words[at + 1]]
    if (word === undefined || next === undefined) return true
    const isValue = spans.some((span) => span.from <= at + 1 && at + 1 < span.to)
    if (isValue || isFunctionWord(next.text) || query.said.has(next.stem)) return true
    if (!/^\s+$/.test(text.slice(word.end, next.start))) return true
  }
  return false
}

function whatThereIs(known: { values: string[]; count: number } | undefined): string {
  if (known === undefined || known.count === 0) return ''
  const more = known.count - known.values.length
  return `; there are ${known.values.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const capital = /\p{Lu}/u

/** Where every word begins with a capital letter none is a name for that. */
function isName({ text, words }: Linked, at: number): boolean {
  const [word, previous] = [words[at], words[at - 1]]
  if (word === undefined || previous === undefined || !capital.test(text.charAt(word.start))) return false
  return words.some((other) => isContent(other) && other !== word && !capital.test(text.charAt(other.start)))
}

function isRead({ spans, weak }: Linked, at: number): boolean {
  return [...spans, ...weak].some(({ from, to }) => from <= at && at < to)
}

/** A number that fills nothing and would be the slot's, were it not too large, too small or of something else. */
export function numberGap({ marks, linked, texts, found, query }: QueryReading, slot: Slot): Gap[] | null {
  if (slot.type.kind !== 'number') return null
  const around = new Set(usesOf(texts, slot).flatMap(({ linked: own, span }) => beside(own, span)))
  const free = marks.filter(
    ({ span }) => isFree(found, span) && span.readings.some(({ type }) => type.key === slot.type.key),
  )
  const mark = free.find(({ span, type }) => {
    if (slot.required && type.key === slot.type.key) return true
    return beside(linked, span).some((word) => around.has(word))
  })
  const bounds = mark === undefined ? null : outOfBounds(linked, mark.span, slot)
  if (bounds !== null) return bounds
  return free.map(({ span }) => otherUnit(linked, span, slot, query.slots)).find((gap) => gap !== null) ?? null
}

/** "top 0 products": the number stands where the slot's value stands, and the schema does not take it. */
function outOfBounds(linked: Linked, span: Span, slot: Slot): Gap[] | null {
  const value = span.readings.find(({ type }) => type.key === slot.type.key)?.value
  const unit = slot.unit === null ? null : unitAt(linked, span)
  const counted = unit === null || slot.unit === null ? Number(value) : convertUnit(Number(value), unit, slot.unit)
  const problem = counted === null ? null : boundProblem(slot.rules, counted)
  return problem === null ? null : [{ rule: 'out of bounds', slot: slot.name, message: problem, isOpposed: false }]
}

/** "900 kg" of a query about an amount of money, and "three months" of one that counts days. */
function otherUnit(linked: Linked, span: Span, slot: Slot, all: Slot[]): Gap[] | null {
  const unit = slot.unit === null ? null : unitAt(linked, span)
  if (unit === null || slot.unit === null || convertUnit(1, unit, slot.unit) !== null) return null
  const isOthers = all.some((other) => other !== slot && other.unit !== null && isOfKind(unit, other.unit))
  if (isOthers && !isOfKind(unit, slot.unit)) return null
  const end = Math.max(span.end, linked.words[span.to]?.end ?? 0)
  const message = `is in ${slot.unit.name}: “${wordsAround(linked, { start: span.start, end })}”`
  return [{ rule: 'other unit', slot: slot.name, message, isOpposed: !isSameQuantity(unit, slot.unit) }]
}

function isOfKind(left: Unit, right: Unit): boolean {
  return left.dimension === right.dimension || isSameQuantity(left, right)
}

/** The word before and the word after, told apart. */
function beside({ words: all }: Linked, { from, to }: Span): string[] {
  const [before, after] = [all[from - 1]?.stem, all[to]?.stem]
  return [...(before === undefined ? [] : [`- ${before}`]), ...(after === undefined ? [] : [`+ ${after}`])]
}

function boundProblem({ type, minimum, maximum }: ValueRules, value: number): string | null {
  if (minimum !== null && value < minimum) return `must be at least ${minimum}`
  if (maximum !== null && value > maximum) return `must be at most ${maximum}`
  if (!Number.isFinite(value)) return 'is too large'
  return type === 'integer' && !Number.isInteger(value) ? 'must be a whole number' : null
}
