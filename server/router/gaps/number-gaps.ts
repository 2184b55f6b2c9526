import { convertUnit, isSameQuantity, unitAt, type Linked, type Span, type Unit } from '../../language/index.ts'
import { isFree, usesOf, wordsAround, type Gap, type QueryReading } from './gap.ts'
import type { Slot, ValueRules } from '../project/project.ts'

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
