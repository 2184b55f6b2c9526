import type { SlotsSchema } from '../../../api/slots.ts'
import type { SlotValue, SlotType } from '../../data/index.ts'
import { closest, Failure, type FailureDetail } from '../../failure.ts'
import { slotTypeOf } from '../slot-types.ts'
import { readerOf, type SlotReader } from './slot-values.ts'

type CompiledSlot = { name: string; type: SlotType; required: boolean; fallback: unknown; read: SlotReader }

/** The slots of a version, ready to check calls. */
export type CompiledSlots = { list: CompiledSlot[]; names: Set<string> }

/** Slot values that passed: for the engine, for the answer, and as one key for what is the same call. */
export type BoundSlots = { slots: SlotValue[]; parameters: Record<string, unknown>; key: string }

/** What is wrong with a call, all of it. */
export type SlotProblems = { missing: string[]; unknown: string[]; details: FailureDetail[] }

export function compileSlots(schema: SlotsSchema): CompiledSlots {
  const required = new Set(schema.required)
  const list = Object.entries(schema.properties).map(([name, slot]): CompiledSlot => {
    const read = readerOf(slot)
    const given = slot.default ?? null
    const reading = given === null ? { value: null } : read(given)
    const fallback = 'value' in reading ? reading.value : null
    return { name, type: slotTypeOf(slot), required: required.has(name) && fallback === null, fallback, read }
  })
  return { list, names: new Set(list.map((slot) => slot.name)) }
}

/** Checks the values of a call. `null` is the same as left out; a default fills in; what is optional is NULL. */
export function checkSlots(
  { list, names }: CompiledSlots,
  given: Readonly<Record<string, unknown>>,
): BoundSlots | SlotProblems {
  if (list.length === 0 && isEmpty(given)) return { slots: [], parameters: {}, key: '[]' }
  const slots: SlotValue[] = []
  const parameters: Record<string, unknown> = {}
  const problems: SlotProblems = { missing: [], unknown: [], details: [] }
  for (const slot of list) {
    const { name, type } = slot
    const value = Object.hasOwn(given, name) ? given[name] : null
    if (value === undefined || value === null) {
      if (slot.required) {
        problems.missing.push(name)
        problems.details.push({ field: name, message: 'is required' })
      }
      parameters[name] = slot.fallback
      slots.push({ name, type, value: slot.fallback })
      continue
    }
    const reading = slot.read(value)
    if ('problem' in reading) {
      problems.details.push({ field: name, message: reading.problem })
      continue
    }
    parameters[name] = reading.value
    slots.push({ name, type, value: reading.value })
  }
  for (const name of Object.keys(given)) {
    if (names.has(name)) continue
    problems.unknown.push(name)
    problems.details.push({ field: name, message: `is not a slot of this query${perhaps(name, names)}` })
  }
  if (problems.details.length > 0) return problems
  return { slots, parameters, key: JSON.stringify(slots.map((slot) => slot.value)) }
}

function isEmpty(given: Readonly<Record<string, unknown>>): boolean {
  for (const _name in given) return false
  return true
}

/** The values of a call of a query endpoint, or the refusal that names every slot at fault at once. */
export function bindSlots(compiled: CompiledSlots, given: Readonly<Record<string, unknown>>): BoundSlots {
  const checked = checkSlots(compiled, given)
  if (!('details' in checked)) return checked
  const { missing, unknown, details } = checked
  throw new Failure('invalid_query', {
    reason: missing.length > 0 ? 'missing_slots' : unknown.length > 0 ? 'unknown_slots' : 'invalid_slots',
    message: `The slots are not as expected: ${sentence(details)}.`,
    details,
  })
}

export function sentence(details: FailureDetail[]): string {
  const shown = details.slice(0, 10).map(({ field, message }) => `${field.slice(0, 100)} ${message}`)
  return `${shown.join('; ')}${details.length > 10 ? `; and ${details.length - 10} more` : ''}`
}

function perhaps(name: string, known: Iterable<string>): string {
  const near = closest(name.slice(0, 100), known)
  return near === undefined ? '' : `; perhaps you meant ${near}`
}
