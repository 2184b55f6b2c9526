import type { IndexedQuery } from '../indexing/index-project.ts'
import { overlaps, type Linked, type Span } from '../reading/link.ts'
import { roleOf, type Slot } from '../project.ts'
import type { Asked, Features } from './rank.ts'

type SlotFit = Pick<Features, 'slotsMissing' | 'spansUnused' | 'exactSignature'>

// Part of a slot: an ordinary word that could be its value, or a text that only the fill can find.
const weakShare = 0.7
const openShare = 0.9

/** How the question's spans and the query's slots fit together, by type alone. */
export function fitSlots(
  { linked, shape: { marks } }: Asked,
  { slots, fixed, said }: IndexedQuery,
  labels: Set<string>,
): SlotFit {
  if (slots.length === 0 && marks.length === 0) return { slotsMissing: 0, spansUnused: 0, exactSignature: 1 }
  const isOthers = (span: Span): boolean => belongsElsewhere(linked, span, said, labels)
  const isFixed = (span: Span): boolean => fixed.size > 0 && span.readings.some(({ value }) => fixed.has(String(value)))
  const named = linked.spans.filter(isFixed)
  // Spans that stand come first: one inside another span is taken only when its query needs it.
  const standing = marks.map(({ span }) => span)
  const all = [...standing, ...linked.spans.filter((span) => !standing.includes(span))]
  const free = all.filter((span) => !named.some((other) => overlaps(span, other)) && !isOthers(span))
  const wanted = withoutRangeEnds(slots, linked.spans).filter(({ required }) => required)
  const matched = match(wanted, free)
  const rest = free.filter((span) => !matched.used.some((other) => overlaps(span, other)))
  const extra = match(
    slots.filter(({ required }) => !required),
    rest,
  )
  const unmet = wanted.filter((slot) => !matched.filled.has(slot))
  const weak = match(
    unmet,
    linked.weak.filter((span) => !isOthers(span)),
  )
  const open = unmet.filter(({ type }) => type.kind === 'text' || type.kind === 'boolean').length
  const used = [...named, ...matched.used, ...extra.used]
  const values = new Set(used.flatMap(({ readings }) => readings.map(({ value }) => String(value))))
  const unused = marks.filter(
    ({ span }) =>
      !used.some((other) => overlaps(span, other)) && !span.readings.some(({ value }) => values.has(String(value))),
  )
  const missing = Math.max(0, unmet.length - weak.filled.size * weakShare - open * openShare)
  return {
    slotsMissing: missing,
    spansUnused: unused.length,
    exactSignature: missing < 1 - weakShare + 0.05 && unused.length === 0 ? 1 : 0,
  }
}

/** "customer 12": the word before a number names what it counts, and this query does not know that word. */
function belongsElsewhere({ words }: Linked, span: Span, said: Map<string, number>, labels: Set<string>): boolean {
  if (!span.readings.every(({ type }) => type.kind === 'number')) return false
  const before = words[span.from - 1]?.stem
  return before !== undefined && labels.has(before) && !said.has(before)
}

/** One stretch of days fills both ends of a range: with a single date in the question only its start is wanted. */
function withoutRangeEnds(slots: Slot[], spans: Span[]): Slot[] {
  const dated = spans.filter(({ readings }) => readings.some(({ days }) => days !== null))
  const days = slots.filter(({ type }) => type.kind === 'date')
  if (dated.length !== 1 || days.length < 2 || !days.some((slot) => roleOf(slot) === 'start')) return slots
  return slots.filter((slot) => slot.type.kind !== 'date' || roleOf(slot) !== 'end')
}

/** A large pairing of slots with spans that can be read as their type, by augmenting paths; used spans never overlap. */
function match(slots: Slot[], spans: Span[]): { filled: Set<Slot>; used: Span[] } {
  const owner = new Map<Span, Slot>()
  const tryFill = (slot: Slot, seen: Set<Span>): boolean => {
    for (const span of spans) {
      if (seen.has(span) || !span.readings.some(({ type }) => type.key === slot.type.key)) continue
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
