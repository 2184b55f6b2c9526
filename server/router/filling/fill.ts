import {
  isLeftOut,
  iso,
  localDay,
  overlaps,
  type CallerTime,
  type Period,
  type Reading,
  type Span,
} from '../../language/index.ts'
import { findGaps } from '../gaps/find-gaps.ts'
import type { Doubt, Gap, SlotSource } from '../gaps/gap.ts'
import { dayFor, periodIn, spreadRanges } from './periods.ts'
import { openText } from '../project/open-text.ts'
import { optionsFor, type Option, type Reference } from './options.ts'
import type { IndexedQuery, ProjectIndex } from '../project/project-index.ts'
import type { Slot } from '../project/project.ts'
import type { Asked } from '../ranking/evidence.ts'
import { dotRow } from '../vectors/vectors.ts'

export type Filled = {
  parameters: Record<string, unknown>
  sources: Record<string, SlotSource>
  /** Required slots for which the question holds nothing. */
  missing: string[]
  /** Words of the question that were read as values and found no slot. */
  unused: SlotSource[]
  /** Slots of which the question says something that must not be bound as it stands. */
  gaps: Gap[]
  /** Words that may be meant as values which a slot does not have. */
  doubts: Doubt[]
  /** The days that the values of its slots cover. */
  period: Period | null
}

type Assignment = Map<Slot, Option>

const missingPenalty = -6
const maxStates = 4_000

/** Gives each slot of the query the span that plays its role: by the words around it in the examples, by order, by type. */
export function fill(index: ProjectIndex, asked: Asked, query: IndexedQuery, clock: CallerTime): Filled {
  const references = referencesOf(index, asked, query)
  const units = query.slots.flatMap(({ unit }) => unit ?? [])
  const hasDays = query.slots.some(({ type }) => type.kind === 'date')
  const like = { references, known: new Map(), units, hasDays }
  const options = new Map(query.slots.map((slot) => [slot, optionsFor(index, asked, slot, like)]))
  const chosen = assign(query.slots, options)
  const filled: Filled = { parameters: {}, sources: {}, missing: [], unused: [], gaps: [], doubts: [], period: null }
  const give = (slot: Slot, value: unknown, { start, end }: { start: number; end: number }): void => {
    filled.parameters[slot.name] = value
    filled.sources[slot.name] = { start, end, text: asked.linked.text.slice(start, end) }
  }
  for (const [slot, { span, reading }] of chosen) {
    if (!slot.list) give(slot, boundValue(slot, reading, clock), span)
    else {
      const all = listValues(asked, options.get(slot) ?? [], othersThan(slot, chosen))
      const listed = slot.type.kind === 'number' ? oneRun(asked, all) : all
      const values = listed.map((each) => boundValue(slot, each.reading, clock))
      give(slot, [...new Set(values)], listed[0]?.span ?? span)
    }
  }
  spreadRanges(query.slots, chosen, { give, clock, done: filled })
  filled.period = periodIn(query.slots, chosen, filled)
  for (const slot of query.slots) {
    if (slot.name in filled.parameters || (slot.type.kind !== 'text' && slot.type.kind !== 'boolean')) continue
    const taken = Object.values(filled.sources)
    const found = openText(
      asked.linked,
      slot,
      references.map(({ text }) => text),
      taken,
    )
    if (found !== null) give(slot, found.value, found)
  }
  filled.missing = query.slots
    .filter(({ name, required }) => required && !(name in filled.parameters))
    .map(({ name }) => name)
  filled.unused = unusedWords(asked, query, filled)
  const today = (): string => iso(localDay(clock.now, clock.timeZone))
  return { ...filled, ...findGaps(index, asked, query, { ...filled, today }) }
}

function referencesOf(index: ProjectIndex, { masked }: Asked, { from, to }: IndexedQuery): Reference[] {
  const near = index.texts
    .slice(from, to)
    .map((text, at) => ({ text, cosine: dotRow(index.masked, from + at, masked) }))
  const best = Math.max(...near.map(({ cosine }) => cosine))
  return near.map(({ text, cosine }) => ({ text, weight: Math.exp(8 * (cosine - best)) }))
}

/** The best assignment of spans to slots. A span serves one slot: what is said once is not guessed twice. */
function assign(slots: Slot[], options: Map<Slot, Option[]>): Assignment {
  const order = [...slots].sort((a, b) => Number(b.required) - Number(a.required))
  let best: { score: number; chosen: Assignment } = { score: -Infinity, chosen: new Map() }
  let states = 0
  const visit = (at: number, score: number, chosen: Assignment): void => {
    states += 1
    const slot = order[at]
    if (slot === undefined) {
      if (score > best.score) best = { score, chosen: new Map(chosen) }
      return
    }
    if (states > maxStates) return
    for (const option of (options.get(slot) ?? []).toSorted((a, b) => b.score - a.score)) {
      if ([...chosen.values()].some((other) => overlaps(other.span, option.span))) continue
      chosen.set(slot, option)
      visit(at + 1, score + option.score, chosen)
      chosen.delete(slot)
    }
    visit(at + 1, score + (slot.required ? missingPenalty : 0), chosen)
  }
  visit(0, 0, new Map())
  return best.chosen
}

function othersThan(slot: Slot, chosen: Assignment): Span[] {
  return [...chosen].filter(([other]) => other !== slot).map(([, { span }]) => span)
}

const listing = /^\s*(?:[,&/+]\s*)?(?:\b(?:and|or|nor)\s+)?(?:the\s+)?$/iu

/**
 * Every value of a list once: of words inside each other the longer, and none that is left out ("booked but not lost")
 * beside others that are not.
 */
function listValues({ linked }: Asked, options: Option[], taken: Span[]): Option[] {
  const kept: Option[] = []
  const longestFirst = options.toSorted((a, b) => b.span.to - b.span.from - (a.span.to - a.span.from))
  for (const option of longestFirst) {
    const { span } = option
    if ((span.weak && span.isOnlyName !== true) || taken.some((other) => overlaps(other, span))) continue
    if (!kept.some((other) => overlaps(other.span, span))) kept.push(option)
  }
  const inOrder = kept.sort((a, b) => a.span.from - b.span.from)
  const out = new Set<Option>()
  for (const [at, option] of inOrder.entries()) {
    const before = inOrder[at - 1]
    const goesOn = before !== undefined && listing.test(linked.text.slice(before.span.end, option.span.start))
    if (isLeftOut(linked, option.span) || (goesOn && out.has(before))) out.add(option)
  }
  return out.size === inOrder.length ? inOrder : inOrder.filter((option) => !out.has(option))
}

/** The 1, 2 and 5 of "three calls for levels 1, 2 and 5": numbers that do not stand together count different things. */
function oneRun({ linked }: Asked, inOrder: Option[]): Option[] {
  const runs: Option[][] = []
  for (const option of inOrder) {
    const run = runs.at(-1)
    const before = run?.at(-1)
    const goesOn = before !== undefined && listing.test(linked.text.slice(before.span.end, option.span.start))
    if (run !== undefined && goesOn) run.push(option)
    else runs.push([option])
  }
  return runs.toSorted((a, b) => b.length - a.length)[0] ?? []
}

function boundValue(slot: Slot, { value, days }: Reading, clock: CallerTime): unknown {
  if (days !== null && slot.type.kind === 'date') return dayFor(slot, days, clock)
  const { type } = slot.rules
  if (typeof value === 'string' && type === 'number') return Number(value)
  return typeof value === 'number' && type === 'string' ? String(value) : value
}

function unusedWords(
  { linked, shape: { marks } }: Asked,
  query: IndexedQuery,
  { sources, parameters }: Filled,
): SlotSource[] {
  const values = new Set(Object.values(parameters).flat().map(String))
  const used = Object.values(sources)
  return marks
    .filter(
      (mark) =>
        !isOwnWord(linked, mark, query) &&
        !used.some(({ start, end }) => mark.span.start < end && start < mark.span.end),
    )
    .filter(
      ({ span }) => !span.readings.some(({ value }) => values.has(String(value)) || query.fixed.has(String(value))),
    )
    .map(({ span: { start, end } }) => ({ start, end, text: linked.text.slice(start, end) }))
}

/** A word of the query's own, though elsewhere a value: the "trucks" of "trucks due for service". */
function isOwnWord(
  { words }: Asked['linked'],
  { span, type }: Asked['shape']['marks'][number],
  { slots, said }: Pick<IndexedQuery, 'slots' | 'said'>,
): boolean {
  return (
    type.kind === 'values' &&
    !slots.some((slot) => slot.type.key === type.key) &&
    words.slice(span.from, span.to).every(({ stem }) => said.has(stem))
  )
}
