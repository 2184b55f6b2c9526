import {
  convertUnit,
  directionAt,
  isLeftOut,
  isSameQuantity,
  overlaps,
  shape,
  unitAt,
  unitOf,
  type KnownReadings,
  type Reading,
  type TextShape,
  type Span,
  type Unit,
  type ValueType,
} from '../../language/index.ts'
import { contraryOf } from '../gaps/gap.ts'
import type { IndexedText } from '../project/index-text.ts'
import type { ProjectIndex } from '../project/project-index.ts'
import type { RuleName } from '../project/rules.ts'
import type { Slot } from '../project/project.ts'
import type { Asked } from '../ranking/evidence.ts'

/** A span that could fill a slot, and how well it would. */
export type Option = { span: Span; reading: Reading; score: number }
/** A text of the query, and how near the question is to it. */
export type Reference = { text: IndexedText; weight: number }

const unitWorth = 1
const penalties = { weak: -1.5, otherEnd: -2, leftOut: -3, ofDay: -4 }

type Like = { references: Reference[]; known: KnownReadings; units: Unit[]; hasDays: boolean }

/** Candidate values of a slot: by the words around it in the examples, by order, by the slot's own words, by unit. */
export function optionsFor(
  index: ProjectIndex,
  asked: Asked,
  slot: Slot,
  { references, known, units, hasDays }: Like,
): Option[] {
  const options: Option[] = []
  for (const span of [...asked.linked.spans, ...asked.linked.weak]) {
    const said = span.readings.find(({ type }) => type.key === slot.type.key)
    if (said === undefined) continue
    const isOff = (rule: RuleName): boolean => index.rulesOff.has(rule)
    const unit = slot.type.kind === 'number' && units.length > 0 ? unitAt(asked.linked, span) : null
    // "An hour and a half" is a number only to who counts time.
    if (span.unit !== undefined && slot.unit === null) continue
    const reading = inMetres(asked, span, slot, said) ?? inSlotUnit(said, slot, unit, units)
    if (reading === null || !allowed(slot, reading.value)) continue
    if (isYear(asked, span, slot) && !isOff('year is no number')) continue
    const isOut = isLeftOut(asked.linked, span)
    const contrary = isOut ? contraryOf(slot, reading.value) : undefined
    const own = asked.shape.marks.find((mark) => mark.span === span)
    const seen =
      own === undefined
        ? shape(asked.linked, index.contexts, new Map([[span, slot.type]]), known)
        : readAs(asked.shape, own, slot.type)
    const isName = span.isOnlyName === true
    const standing = own === undefined && !isName ? -1 : 0
    // "3 weeks" and "€10,000" say what they count: to a slot that counts the same they are hardly anything else.
    const isMeasured = unit !== null && slot.unit !== null
    const score =
      reading.quality +
      standing +
      (isMeasured ? unitWorth : span.weak && !isName ? penalties.weak : 0) +
      (isOut && contrary === undefined ? penalties.leftOut : 0) +
      (hasDays && isOfDay(asked, span, slot) && !isOff('number inside a day') ? penalties.ofDay : 0) +
      (isOtherWay(asked, span, slot) ? penalties.otherEnd : 0) +
      2 * likeness(seen, span, slot, references) +
      cues(seen, span, slot)
    options.push({ span, reading: contrary === undefined ? reading : { ...reading, value: contrary }, score })
  }
  return options
}

/** The 6 of "the last 6 months" is no number of rows where the query knows days; for one that counts months it is. */
function isOfDay({ linked }: Asked, span: Span, { type, unit }: Slot): boolean {
  const countsTime = unit?.dimension === 'time' || unit?.dimension === 'calendar'
  if (type.kind !== 'number' || countsTime || type.labelStems.has('year') || type.labelStems.has('month')) return false
  return linked.spans.some(
    (day) => day !== span && overlaps(day, span) && day.readings.some(({ days }) => days !== null),
  )
}

const yearNumber = /^(?:19|20)\d{2}$/
const yearBefore = /^(?:in|since|during|until|till|throughout|year|of|quarter|q[1-4])$/

/** The 2025 of "the lorry in 2025" is a year: no number of a lorry, and no count of anything. */
function isYear({ linked }: Asked, span: Span, { type }: Slot): boolean {
  if (type.kind !== 'number' || type.pattern !== null || type.labelStems.has('year')) return false
  if (!yearNumber.test(linked.text.slice(span.start, span.end)) || unitAt(linked, span) !== null) return false
  return yearBefore.test(linked.words[span.from - 1]?.text ?? '')
}

/** "lighter than 3" speaks for the upper bound, whatever stands right before the number. */
function isOtherWay({ linked }: Asked, { from, to }: Span, { role, type: { kind } }: Slot): boolean {
  if (role === null || (kind !== 'number' && kind !== 'time')) return false
  const way = directionAt(linked, from, to)
  return way !== null && way !== (role === 'start' ? 'up' : 'down')
}

const metres = /\d\s?m$/iu

/** The "m" of "1.25 m" is a metre to who counts lengths, and a million to everybody else. */
function inMetres({ linked }: Asked, { start, end }: Span, { unit }: Slot, reading: Reading): Reading | null {
  const metre = unit?.dimension === 'length' ? unitOf('metre') : null
  if (unit === null || metre === null || !metres.test(linked.text.slice(start, end))) return null
  const value = convertUnit(Number(reading.value) / 1e6, metre, unit)
  return value === null ? null : { ...reading, value }
}

const money = new Set(['euro', 'dollar', 'pound'])

/** "12 million" are 12 to who counts millions of euros. */
function inMillions(reading: Reading, unit: Unit | null): Reading | null {
  const value = Number(reading.value)
  if (unit === null || !money.has(unit.dimension) || unit.size === 1 || value < unit.size) return null
  return { ...reading, value: value / unit.size }
}

/** "Two weeks" are 14 to a slot that counts days; what it cannot count, or another slot counts, is nothing for it. */
function inSlotUnit(reading: Reading, { unit }: Slot, said: Unit | null, all: Unit[]): Reading | null {
  if (said === null) return inMillions(reading, unit) ?? reading
  if (unit === null)
    return all.some((each) => each.dimension === said.dimension || isSameQuantity(each, said)) ? null : reading
  const value = convertUnit(Number(reading.value), said, unit)
  if (value === null) return null
  return said.size === unit.size ? reading : { ...reading, value }
}

/** The same shape with one of its spans read as another type. */
function readAs(shaped: TextShape, mark: TextShape['marks'][number], type: ValueType): TextShape {
  if (mark.type.key === type.key) return shaped
  return {
    ...shaped,
    tokens: shaped.tokens.with(mark.token, `<${type.label}>`),
    marks: shaped.marks.map((each) => (each === mark ? { ...mark, type } : each)),
  }
}

function allowed({ rules, type }: Slot, value: unknown): boolean {
  if (type.pattern !== null && typeof value === 'string' && !type.pattern.test(value)) return false
  if (type.kind !== 'number') return true
  const size = Number(value)
  const whole = rules.type === 'integer' ? Number.isInteger(size) : Number.isFinite(size)
  return whole && size >= (rules.minimum ?? -Infinity) && size <= (rules.maximum ?? Infinity)
}

/** How much the span stands where the slot's value stands in the query's own texts, near ones counting most. */
function likeness(seen: TextShape, span: Span, slot: Slot, references: Reference[]): number {
  const place = seen.marks.find((mark) => mark.span === span)
  if (place === undefined) return 0
  const ordinal = ordinalOf(seen, place.token)
  let [sum, total] = [0, 0]
  for (const { text, weight } of references) {
    const role = text.roles.find((each) => each.slot === slot.name)
    const mark = role === undefined ? undefined : text.shape.marks[role.mark]
    if (mark === undefined) continue
    const there = ordinalOf(text.shape, mark.token)
    const order = (ordinal.at === there.at ? 0.6 : 0) + (ordinal.at - ordinal.of === there.at - there.of ? 0.4 : 0)
    sum += weight * (surroundings(seen.tokens, place.token, text.shape.tokens, mark.token) + order)
    total += weight
  }
  return total === 0 ? 0 : sum / total
}

function ordinalOf({ marks }: TextShape, token: number): { at: number; of: number } {
  const type = marks.find((mark) => mark.token === token)?.type.key
  const same = marks.filter((mark) => mark.type.key === type)
  return { at: same.findIndex((mark) => mark.token === token), of: same.length }
}

const window: [number, number][] = [
  [-1, 1],
  [-2, 0.5],
  [1, 0.8],
  [2, 0.3],
]

function surroundings(left: string[], at: number, right: string[], there: number): number {
  let score = 0
  for (const [offset, weight] of window)
    if ((left[at + offset] ?? '^') === (right[there + offset] ?? '^')) score += weight
  return score
}

/** "from Oslo" speaks for `from_city`: words of the slot's own name and role near the span. */
function cues({ tokens, marks }: TextShape, span: Span, slot: Slot): number {
  const at = marks.find((mark) => mark.span === span)?.token
  if (at === undefined) return 0
  const near: [number, number][] = [
    [-1, 0.6],
    [-2, 0.4],
    [-3, 0.2],
    [1, 0.3],
  ]
  const against = slot.otherEnd.has(tokens[at - 1] ?? '') ? penalties.otherEnd : 0
  return near.reduce(
    (sum, [offset, weight]) => (slot.cues.has(tokens[at + offset] ?? '') ? sum + weight : sum),
    against,
  )
}
