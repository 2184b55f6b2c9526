import type { SlotsSchema } from '../../../api/slots.ts'
import type { SlotValue, SlotType } from '../../engine/index.ts'
import { Failure, listProblems, maxHints, maxProblems, perhaps, type FailureDetail } from '../../failure.ts'
import { readerOf, type SlotReader, slotTypeOf } from './slot-values.ts'

type CompiledSlot = {
  name: string
  type: SlotType
  /** In LIKE its `%` and `_` are wildcards. */
  isPattern: boolean
  required: boolean
  fallback: unknown
  read: SlotReader
}

/** The slots of a version, ready to check calls. */
export type CompiledSlots = { list: CompiledSlot[]; names: Set<string> }

/** Slot values that passed: for the engine, for the answer, and as one key for what is the same call. */
export type BoundSlots = { slots: SlotValue[]; parameters: Record<string, unknown>; key: string }

/** The problems of a call: each of its slots at fault, and the first unknown names; `more` counts the others. */
export type SlotProblems = { missing: string[]; unknown: number; details: FailureDetail[]; more: number }

export function compileSlots(schema: SlotsSchema): CompiledSlots {
  const required = new Set(schema.required)
  const list = Object.entries(schema.properties).map(([name, slot]): CompiledSlot => {
    const read = readerOf(slot)
    const given = slot.default ?? null
    const reading = given === null ? { value: null } : read(given)
    const fallback = 'value' in reading ? reading.value : null
    const scalar = slot.type === 'array' ? slot.items : slot
    const isPattern = scalar.type === 'string' && scalar['x-pattern'] === true
    const isRequired = required.has(name) && fallback === null
    return { name, type: slotTypeOf(slot), isPattern, required: isRequired, fallback, read }
  })
  return { list, names: new Set(list.map((slot) => slot.name)) }
}

/**
 * Checks the values of a call. `null` is the same as left out; a default fills in; what is optional is NULL. The first
 * `hints` names and values that there are not come with the nearest one that there is.
 */
export function checkSlots(
  { list, names }: CompiledSlots,
  given: Readonly<Record<string, unknown>>,
  hints = maxHints,
): BoundSlots | SlotProblems {
  if (list.length === 0 && isEmpty(given)) return { slots: [], parameters: {}, key: '[]' }
  const slots: SlotValue[] = []
  const parameters: Record<string, unknown> = {}
  const problems: SlotProblems = { missing: [], unknown: 0, details: [], more: 0 }
  let hinted = 0
  const hintOf = (find: (() => string) | undefined): string => {
    if (find === undefined || hinted >= hints) return ''
    hinted += 1
    return find()
  }
  for (const slot of list) {
    const { name, type, isPattern } = slot
    const engineSlot = isPattern ? { name, type, isPattern } : { name, type }
    const value = Object.hasOwn(given, name) ? given[name] : null
    if (value === undefined || value === null) {
      if (slot.required) {
        problems.missing.push(name)
        problems.details.push({ field: name, message: 'is required' })
      }
      parameters[name] = slot.fallback
      slots.push({ ...engineSlot, value: slot.fallback })
      continue
    }
    const reading = slot.read(value)
    if ('problem' in reading) {
      problems.details.push({ field: name, message: `${reading.problem}${hintOf(reading.hint)}` })
      continue
    }
    parameters[name] = reading.value
    slots.push({ ...engineSlot, value: reading.value })
  }
  for (const name of Object.keys(given)) {
    if (names.has(name)) continue
    problems.unknown += 1
    if (problems.unknown > maxProblems) problems.more += 1
    else {
      const hint = hintOf(() => perhaps(name, names))
      problems.details.push({ field: name, message: `is not a slot of this query${hint}` })
    }
  }
  if (problems.details.length > 0) return problems
  return { slots, parameters, key: JSON.stringify(slots.map((slot) => slot.value)) }
}

function isEmpty(given: Readonly<Record<string, unknown>>): boolean {
  for (const _name in given) return false
  return true
}

/** The values of a call of a query endpoint, or the refusal that names the slots at fault at once. */
export function bindSlots(compiled: CompiledSlots, given: Readonly<Record<string, unknown>>): BoundSlots {
  const checked = checkSlots(compiled, given)
  if (!('details' in checked)) return checked
  const { missing, unknown, details, more } = checked
  throw new Failure('invalid_query', {
    reason: missing.length > 0 ? 'missing_slots' : unknown > 0 ? 'unknown_slots' : 'invalid_slots',
    message: `The slots are not as expected: ${listProblems(details, more)}.`,
    details,
    more,
  })
}

/** The values of one call of a statement that is not deployed. */
export function bindCall(schema: SlotsSchema, parameters: Readonly<Record<string, unknown>>): SlotValue[] {
  return bindSlots(compileSlots(schema), parameters).slots
}
