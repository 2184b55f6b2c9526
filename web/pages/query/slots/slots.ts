import type { SlotSchema, SlotsSchema } from '../../build/shared/wire.ts'
import { slotRow, slotTypeOf } from './slot-types.ts'

/** The form's value of a slot: text for most, a list of texts for lists. */
export type SlotValue = string | string[]
export type SlotValues = Record<string, SlotValue>

export const noSlots: SlotsSchema = { type: 'object', properties: {}, required: [], additionalProperties: false }

/** The slots that SQL names, as far as one can tell without reading it as SQL. */
export function slotNames(sql: string): string[] {
  const code = sql.replaceAll(/'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
  return [...new Set([...code.matchAll(/\$([a-z_]\w*)/gi)].map(([, name = '']) => name.toLowerCase()))]
}

export function keepOnly(slots: SlotsSchema, names: string[]): SlotsSchema {
  return {
    ...slots,
    properties: Object.fromEntries(Object.entries(slots.properties).filter(([name]) => names.includes(name))),
    required: slots.required.filter((name) => names.includes(name)),
  }
}

/** Those that are declared win over those that are suggested. */
export function merge(declared: SlotsSchema, suggested: SlotsSchema): SlotsSchema {
  const known = Object.keys(declared.properties)
  return {
    ...declared,
    properties: { ...suggested.properties, ...declared.properties },
    required: [...declared.required, ...suggested.required.filter((name) => !known.includes(name))],
  }
}

/** The values to send: slots that were left empty are not given. */
export function parametersOf(slots: SlotsSchema, values: SlotValues): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(slots.properties).flatMap(([name, slot]) => {
      const value = values[name]
      if (value === undefined || value === '' || value.length === 0) return []
      if (Array.isArray(value)) {
        const item = slot.type === 'array' ? slot.items : slot
        return [[name, value.map((each) => typed(item, each))]]
      }
      return [[name, typed(slot, value)]]
    }),
  )
}

function typed(slot: { type: string; format?: string | undefined }, text: string): unknown {
  return slotRow(slotTypeOf(slot)).read(text)
}

/** Parameters as they stand in the form. */
export function valuesOf(parameters: Record<string, unknown> | undefined): SlotValues {
  return Object.fromEntries(
    Object.entries(parameters ?? {}).flatMap(([name, value]) =>
      value === null || value === undefined
        ? []
        : [[name, Array.isArray(value) ? value.map(String) : String(value as string | number | boolean)]],
    ),
  )
}

/** The slots that every call needs and these parameters lack. */
export function missingIn({ required }: SlotsSchema, parameters: Record<string, unknown>): string[] {
  return required.filter((name) => parameters[name] === undefined || parameters[name] === null)
}

/** A body that shows how a call looks: of an example where there is one, else something for each slot it needs. */
export function exampleValues(
  { properties, required }: SlotsSchema,
  example: Record<string, unknown> | undefined,
): Record<string, unknown> {
  if (example !== undefined && Object.keys(example).length > 0) return example
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name))
      .map(([name, slot]) => [name, exampleOf(slot)]),
  )
}

const examples = { date: '2025-01-01', 'date-time': '2025-01-01T00:00:00Z', time: '08:30:00' }

function exampleOf(slot: SlotSchema): unknown {
  if (slot.type === 'array') return [exampleOf({ ...slot.items })]
  if (slot.type === 'boolean') return true
  if (slot.enum !== undefined) return slot.enum[0]
  if (slot.type !== 'string') return slot.minimum ?? 1
  return slot.format === undefined ? 'text' : examples[slot.format]
}
