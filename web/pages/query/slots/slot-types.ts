import type { scalarSlotTypes, ScalarSlotType } from '../../../../api/slots.ts'
import type { SlotSchema } from '../../build/shared/wire.ts'

type Row<Type extends ScalarSlotType> = {
  label: string
  schema: (typeof scalarSlotTypes)[Type]
  /** The input that the browser draws for it. */
  input: 'text' | 'decimal' | 'date' | 'time' | 'choice'
  /** Whether its values may be listed one by one. */
  hasChoices: boolean
  /** From what stands in the field to what is sent. */
  read: (text: string) => unknown
}

const asText = (text: string): string => text

/** All that the forms know of each type of slots. One that is missing does not compile. */
const rows: { [Type in ScalarSlotType]: Row<Type> } = {
  string: { label: 'Text', schema: { type: 'string' }, input: 'text', hasChoices: true, read: asText },
  date: { label: 'Day', schema: { type: 'string', format: 'date' }, input: 'date', hasChoices: false, read: asText },
  timestamp: {
    label: 'Moment',
    schema: { type: 'string', format: 'date-time' },
    input: 'text',
    hasChoices: false,
    read: asText,
  },
  time: {
    label: 'Time of day',
    schema: { type: 'string', format: 'time' },
    input: 'time',
    hasChoices: false,
    read: asText,
  },
  integer: {
    label: 'Whole number',
    schema: { type: 'integer' },
    input: 'decimal',
    hasChoices: true,
    // Numbers beyond what a script holds exactly stay text, as the API takes them.
    read: (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text),
  },
  number: {
    label: 'Number',
    schema: { type: 'number' },
    input: 'decimal',
    hasChoices: true,
    read: (text) => (text.trim() !== '' && !Number.isNaN(Number(text)) ? Number(text) : text),
  },
  boolean: {
    label: 'True or false',
    schema: { type: 'boolean' },
    input: 'choice',
    hasChoices: false,
    read: (text) => (text === 'true' ? true : text === 'false' ? false : text),
  },
}

export type SlotTypeName = ScalarSlotType | 'array'

const scalarNames = Object.keys(rows) as ScalarSlotType[]

export const slotTypeChoices: Array<{ value: SlotTypeName; label: string }> = [
  ...scalarNames.map((value) => ({ value, label: rows[value].label })),
  { value: 'array', label: 'List of texts' },
]

export function slotTypeOf(schema: { type: string; format?: string | undefined }): SlotTypeName {
  const isIt = (row: { type: string; format?: string }): boolean =>
    row.type === schema.type && row.format === schema.format
  return scalarNames.find((name) => isIt(rows[name].schema)) ?? 'array'
}

/** The row of a slot type; a list has that of its items where they are texts. */
export function slotRow(name: SlotTypeName): Omit<Row<ScalarSlotType>, 'schema'> {
  return name === 'array' ? { ...rows.string, hasChoices: false } : rows[name]
}

/** A slot of a type of which nothing more is said. */
export function freshSlot(name: SlotTypeName): SlotSchema {
  return name === 'array' ? { type: 'array', items: { type: 'string' } } : { ...rows[name].schema }
}
