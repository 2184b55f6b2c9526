import { overlaps, type Linked, type Span } from '../../language/index.ts'
import type { Features } from '../learned/router-constants.ts'
import type { IndexedQuery } from '../project/project-index.ts'
import type { Slot } from '../project/project.ts'
import type { Asked } from './evidence.ts'

type SlotFit = Pick<Features, 'slotsMissing' | 'spansUnused' | 'exactSignature'>

// Part of a slot: an ordinary word that could be its value, or a text that only the fill can find.
const weakShare = 0.7
const openShare = 0.9

/** How a question's spans fit the slots of one query after the other, by type alone. */
export function slotFitter(
  { linked, shape: { marks } }: Pick<Asked, 'linked' | 'shape'>,
  labels: Set<string>,
): (query: IndexedQuery) => SlotFit {
  // Spans that stand come first: one inside another span is taken only when its query needs it.
  const standing = marks.map(({ span }) => span)
  const all = [...standing, ...linked.spans.filter((span) => !standing.includes(span))]
  const named = labelledNumbers(linked, labels)
  const read = readSpans([...all, ...linked.weak])
  const { canBe, hasValueOf } = read
  const hasOneDate = linked.spans.filter(({ readings }) => readings.some(({ days }) => days !== null)).length === 1
  return ({ slots, fixed, said }) => {
    if (slots.length === 0 && marks.length === 0) return { slotsMissing: 0, spansUnused: 0, exactSignature: 1 }
    const isOthers = (span: Span): boolean => {
      const label = named.get(span)
      return label !== undefined && !said.has(label)
    }
    const own = fixed.size === 0 ? [] : linked.spans.filter((span) => hasValueOf(span, fixed))
    const free = all.filter((span) => !isOthers(span) && !own.some((other) => overlaps(span, other)))
    const wanted = (hasOneDate ? withoutRangeEnds(slots) : slots).filter(({ required }) => required)
    const matched = match(wanted, free, canBe)
    const extra = match(
      slots.filter(({ required }) => !required),
      free.filter((span) => !matched.used.some((other) => overlaps(span, other))),
      canBe,
    )
    const unmet = wanted.filter((slot) => !matched.filled.has(slot))
    const weak = match(
      unmet,
      linked.weak.filter((span) => !isOthers(span)),
      canBe,
    )
    const open = unmet.filter(({ type }) => type.kind === 'text' || type.kind === 'boolean').length
    const missing = Math.max(0, unmet.length - weak.filled.size * weakShare - open * openShare)
    const filled = [...matched.filled, ...extra.filled]
    const listed = standing.filter((span) => filled.some((slot) => slot.list && canBe(span, slot)))
    const unused = countUnused(standing, [...own, ...matched.used, ...extra.used, ...listed], read)
    return {
      slotsMissing: missing,
      spansUnused: unused,
      exactSignature: missing < 1 - weakShare + 0.05 && unused === 0 ? 1 : 0,
    }
  }
}

/**
 * Possible readings of the spans of a question, looked up instead of scanned: a number is read as every number slot.
 */
type ReadSpans = {
  canBe: (span: Span, slot: Slot) => boolean
  valuesOf: (span: Span) => Set<string>
  hasValueOf: (span: Span, values: Set<string>) => boolean
}

function readSpans(spans: Span[]): ReadSpans {
  const types = new Map(spans.map((span) => [span, new Set(span.readings.map(({ type }) => type.key))]))
  const values = new Map(spans.map((span) => [span, new Set(span.readings.map(({ value }) => String(value)))]))
  const valuesOf = (span: Span): Set<string> => values.get(span) ?? new Set()
  return {
    canBe: (span, slot) => types.get(span)?.has(slot.type.key) === true,
    valuesOf,
    hasValueOf: (span, wanted) => {
      for (const value of valuesOf(span)) if (wanted.has(value)) return true
      return false
    },
  }
}

/** Spans that fill nothing and say nothing that another one says, which does. */
function countUnused(standing: Span[], used: Span[], { valuesOf, hasValueOf }: ReadSpans): number {
  const left = standing.filter((span) => !used.some((other) => overlaps(span, other)))
  if (left.length === 0) return 0
  return left.filter((span) => !used.some((other) => hasValueOf(span, valuesOf(other)))).length
}

/** "customer 12": the word before a number that names what it counts. To a query that does not know it the number means nothing. */
function labelledNumbers({ words, spans, weak }: Linked, labels: Set<string>): Map<Span, string> {
  const labelled = new Map<Span, string>()
  for (const span of [...spans, ...weak]) {
    const before = words[span.from - 1]?.stem
    if (before === undefined || !labels.has(before)) continue
    if (span.readings.every(({ type }) => type.kind === 'number')) labelled.set(span, before)
  }
  return labelled
}

/** One stretch of days fills both ends of a range: with a single date in the question only its start is wanted. */
function withoutRangeEnds(slots: Slot[]): Slot[] {
  const days = slots.filter(({ type }) => type.kind === 'date')
  if (days.length < 2 || !days.some((slot) => slot.role === 'start')) return slots
  return slots.filter((slot) => slot.type.kind !== 'date' || slot.role !== 'end')
}

type Matching = { filled: Set<Slot>; used: Span[] }

const nothingMatched: Matching = { filled: new Set(), used: [] }

/** A large pairing of slots with spans that can be read as their type, by augmenting paths; used spans never overlap. */
function match(slots: Slot[], spans: Span[], canBe: ReadSpans['canBe']): Matching {
  if (slots.length === 0 || spans.length === 0) return nothingMatched
  const owner = new Map<Span, Slot>()
  const tryFill = (slot: Slot, seen: Set<Span>): boolean => {
    for (const span of spans) {
      if (seen.has(span) || !canBe(span, slot)) continue
      seen.add(span)
      const holder = owner.get(span)
      const blocked = holder === undefined && [...owner.keys()].some((other) => overlaps(span, other))
      if (!blocked && (holder === undefined || tryFill(holder, seen))) {
        owner.set(span, slot)
        return true
      }
    }
    return false
  }
  const filled = new Set(slots.filter((slot) => tryFill(slot, new Set())))
  return { filled, used: [...owner.keys()] }
}
