import {
  directionAt,
  directionsIn,
  isExcluded,
  isLeftOut,
  hasNegation,
  words,
  type Direction,
  type Linked,
} from '../../language/index.ts'
import { daysGap, twoStretches } from './day-gaps.ts'
import {
  contraryOf,
  daysAt,
  isFree,
  isJoined,
  usesOf,
  wordsAround,
  wordsAt,
  type Doubt,
  type FoundValues,
  type Gap,
  type TextPlace,
  type QueryReading,
  type SlotSource,
  type Use,
} from './gap.ts'
import { unreadDays } from './unread-days.ts'
import { ambiguousPart, numberGap, unknownValues } from './value-gaps.ts'
import type { IndexedQuery, ProjectIndex } from '../project/project-index.ts'
import { spoken, type Slot } from '../project/project.ts'
import type { RuleName } from '../project/rules.ts'
import type { Asked } from '../ranking/evidence.ts'

/**
 * Gaps between the question and the filled query: left out, reversed, one of several, out of bounds; certain or likely.
 */
export function findGaps(
  index: ProjectIndex,
  { linked, shape: { marks } }: Asked,
  query: IndexedQuery,
  found: FoundValues,
): { gaps: Gap[]; doubts: Doubt[] } {
  const { existing, mayBeTypo } = index.linker
  const texts = index.texts.slice(query.from, query.to)
  const isSaid = (stem: string): boolean => index.queries.some(({ said }) => said.has(stem))
  const reading = { linked, marks, query, found, existing, mayBeTypo, isSaid, texts }
  const stands = ({ rule }: Gap): boolean => !index.rulesOff.has(rule)
  const unknown = query.slots.map((slot) => ({ slot, doubts: unknownValues(reading, slot) }))
  const gaps = unknown.flatMap(({ slot, doubts }): Gap[] => {
    const source = found.sources[slot.name]
    if (slot.type.kind === 'boolean') return []
    // A value that is asked for anyway may be named here.
    const isWanted = slot.required && source === undefined
    const named = doubts.filter(({ isSure }) => isSure || isWanted).slice(0, 1)
    const rules =
      source === undefined
        ? [() => otherEnd(reading, slot), () => numberGap(reading, slot)]
        : [
            () => daysGap(reading, slot, source),
            () => ambiguousPart(reading, slot),
            () => opposed(reading, slot, source),
            () => oneOfSeveral(reading, slot, source),
          ]
    return firstOf([...rules, () => named], stands)
  })
  const beside = firstOf([() => excludedBeside(reading), () => unreadDays(reading)], stands)
  const others = [...beside, ...[...turnedRange(reading), ...twoStretches(reading)].filter(stands)]
  return { gaps: gaps.length > 0 ? gaps : others, doubts: unknown.flatMap(({ doubts }) => doubts) }
}

/** Result of the first rule that finds something. */
function firstOf(rules: Array<() => Gap | Gap[] | null>, stands: (gap: Gap) => boolean): Gap[] {
  for (const rule of rules) {
    const found = [rule() ?? []].flat().filter(stands)
    if (found.length > 0) return found
  }
  return []
}

/** "not from the north" of a query that never leaves a region out, "under 200" of one that looks above an amount. */
function opposed(reading: QueryReading, slot: Slot, source: SlotSource): Gap | null {
  const { linked, texts } = reading
  const uses = usesOf(texts, slot)
  const { from, to } = wordsAt(linked, source)
  const gap = (rule: RuleName, problem: string): Gap => {
    return { rule, slot: slot.name, message: `${problem}: “${wordsAround(linked, source)}”`, isOpposed: true }
  }
  // One day said once that serves both ends is a stretch, whichever way it was said.
  const isShared = Object.entries(reading.found.sources).some(
    ([name, other]) => name !== slot.name && other.start === source.start,
  )
  const way = isShared ? null : wayAt(linked, slot, source)
  if (way !== null) {
    const known = waysOf(reading, slot, uses)
    // A number that no text mentions tells nothing; a day is a day unless something says otherwise.
    const isKnown = known.size === 0 ? uses.length === 0 && slot.type.kind !== 'date' : known.has(way)
    return isKnown
      ? null
      : gap('direction of a bound', `cannot be ${way === 'up' ? 'the least' : 'the most'} that is wanted`)
  }
  const value = reading.found.parameters[slot.name]
  const isOut = isExcluded(linked, from, to, slot.type.kind === 'date' ? 0 : undefined)
  if (isOut && contraryOf(slot, value) === undefined) {
    return excludesValues(reading, slot, uses) ? null : gap('values left out', 'cannot be left out')
  }
  return null
}

/** "before March" of a query that only knows since when: nothing of it was bound, and the answer would not heed it. */
function otherEnd({ linked, marks, query, found }: QueryReading, slot: Slot): Gap[] | null {
  const { role, type } = slot
  const hasOther = query.slots.some((other) => other.type.kind === type.kind && other.role !== role)
  if (role === null || hasOther) return null
  const mark = marks.find(({ span, type: { key } }) => {
    const way = key === type.key && isFree(found, span) ? wayAt(linked, slot, span) : null
    return way !== null && way !== (role === 'start' ? 'up' : 'down')
  })
  if (mark === undefined) return null
  const end = role === 'start' ? 'the most' : 'the least'
  return [
    {
      rule: 'direction of a bound',
      slot: slot.name,
      message: `cannot be ${end} that is wanted: “${wordsAround(linked, mark.span)}”`,
      isOpposed: true,
    },
  ]
}

// A slot of such a name says how many rows are wanted.
const limitWord = /(?:^|_)(?:count|limit|top|rows?|number|n|size)(?:_|$)/u

/** Whether the query itself says that it leaves out what fills the slot. */
function excludesValues({ query: { query }, texts }: QueryReading, { name, type, rules }: Slot, uses: Use[]): boolean {
  if (uses.some(({ linked, span }) => isLeftOut(linked, span))) return true
  const label = new Set([...type.labelStems, ...words(spoken(name)).map(({ stem }) => stem)])
  const descriptions = texts.filter(({ kind }) => kind === 'description').map(({ linked }) => linked)
  const told = [spoken(query.name), spoken(name), rules.description].map(said)
  if (uses.length === 0 && [...told, ...descriptions].some(hasNegation)) return true
  return [...told, ...descriptions].some((each) =>
    each.words.some(({ stem }, at) => /^(?:exclu|omit|except)/.test(stem) || (label.has(stem) && isExcluded(each, at))),
  )
}

function said(text: string): Pick<Linked, 'text' | 'words'> {
  return { text, words: words(text) }
}

function wayAt(linked: Linked, { type: { kind } }: Slot, place: TextPlace): Direction | null {
  const { from, to } = wordsAt(linked, place)
  if (kind === 'number' || kind === 'time') return directionAt(linked, from, to)
  const open = daysAt(linked, place)?.open
  return open === 'after' ? 'up' : open === 'before' ? 'down' : null
}

/** The ways that the slot's name and description and the query's texts speak of. */
function waysOf({ texts }: QueryReading, slot: Slot, uses: Use[]): Set<Direction> {
  const role = slot.role
  const named: Direction[] = [
    ...(role === null ? [] : [role === 'start' ? ('up' as const) : ('down' as const)]),
    ...(limitWord.test(slot.name) ? ['down' as const] : []),
  ]
  const seen =
    slot.type.kind === 'date'
      ? texts.flatMap(({ linked }) => linked.spans.flatMap((span) => wayAt(linked, slot, span) ?? []))
      : uses.flatMap(({ linked, span }) => wayAt(linked, slot, span) ?? [])
  const descriptions = texts.filter(({ kind }) => kind === 'description').map(({ linked }) => linked)
  const told = [...descriptions, said(`${spoken(slot.name)} ${slot.rules.description}`)]
  return new Set([...named, ...seen, ...told.flatMap((each) => [...directionsIn(each)])])
}

/** "north and south" for a slot that takes one: half an answer would look like all of it. */
function oneOfSeveral(reading: QueryReading, slot: Slot, source: SlotSource): Gap | null {
  const { linked, marks, found } = reading
  if (slot.list) return null
  const others = marks.filter(
    ({ span }) =>
      span.readings.some(({ type }) => type.key === slot.type.key) &&
      isFree(found, span) &&
      isJoined(linked, source, span),
  )
  const named = [source, ...others.map(({ span }) => span)].sort((a, b) => a.start - b.start)
  const values = new Set(others.flatMap(({ span }) => span.readings.map(({ value }) => String(value))))
  values.delete(String(found.parameters[slot.name]))
  if (values.size === 0) return null
  const texts = named.map(({ start, end }) => linked.text.slice(start, end)).join(', ')
  return {
    rule: 'one of several',
    slot: slot.name,
    message: `takes one value, and the question names several: ${texts}`,
    isOpposed: false,
    surplus: others.length,
  }
}

/** A value that fills no slot and is left out, too: "in 2025 but not in June". What its own kind rules out anyway is no loss. */
function excludedBeside({ linked, marks, query, found }: QueryReading): Gap[] {
  const kinds = new Set(query.slots.filter(({ name }) => name in found.sources).map(({ type }) => type.key))
  const out = marks.find(
    ({ span, type }) =>
      isFree(found, span) &&
      !kinds.has(type.key) &&
      directionAt(linked, span.from, span.to) === null &&
      isLeftOut(linked, span),
  )
  if (out === undefined) return []
  const slot = query.slots.find(({ type }) => type.key === out.type.key)?.name ?? out.type.label
  return [
    {
      rule: 'value left out beside',
      slot,
      message: `cannot be left out: “${wordsAround(linked, out.span)}”`,
      isOpposed: true,
    },
  ]
}

/** "after 2026 and before 2025": nothing lies between. */
function turnedRange({ query: { slots }, found: { parameters } }: QueryReading): Gap[] {
  return (['date', 'number', 'time'] as const).flatMap((kind) => {
    const ends = slots.filter(({ type, list, name }) => type.kind === kind && !list && name in parameters)
    const [start, end] = (['start', 'end'] as const).map((role) => ends.filter((slot) => slot.role === role))
    const [first, last] = [start?.[0], end?.[0]]
    if (first === undefined || last === undefined || start?.length !== 1 || end?.length !== 1) return []
    const [low, high] = [parameters[first.name], parameters[last.name]]
    const isTurned =
      typeof low === 'number' && typeof high === 'number'
        ? low > high
        : typeof low === typeof high && String(low) > String(high)
    if (!isTurned) return []
    return [
      {
        rule: 'turned range',
        slot: last.name,
        message: `lies before ${first.name}: nothing is between them`,
        isOpposed: false,
      },
    ]
  })
}
