import type { SlotSchema, SlotsSchema } from './wire.ts'

/** The form's values, by slot. Empty means: not sent. */
export type Typed = Record<string, string | string[]>

/** Values as typed, as the API takes them. What is no number stays as it is: the server says what is wrong with it. */
export function readValues({ properties }: SlotsSchema, typed: Typed): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, slot]) => {
      const text = typed[name]
      if (text === undefined || text.length === 0) return []
      return [
        [
          name,
          slot.type === 'array'
            ? [text].flat().map((each) => readOne(slot.items.type, each))
            : readOne(slot.type, String(text)),
        ],
      ]
    }),
  )
}

function readOne(type: SlotSchema['type'], text: string): unknown {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (type !== 'integer' && type !== 'number') return text
  const value = Number(text)
  // Whole numbers beyond 2^53 travel as text, or digits would be lost.
  return text.trim() === '' || Number.isNaN(value) || (type === 'integer' && !Number.isSafeInteger(value))
    ? text
    : value
}

/** Values as they stand in the form. */
export function showValues(values: Record<string, unknown> | undefined): Typed {
  return Object.fromEntries(
    Object.entries(values ?? {}).flatMap(([name, value]) =>
      value === null || value === undefined
        ? []
        : [[name, Array.isArray(value) ? value.map(String) : String(value as string | number | boolean)]],
    ),
  )
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
