import { scalarSlotTypes, type ScalarSlotSchema, type ScalarSlotType, type SlotSchema } from '../../api/slots.ts'
import type { SlotType } from '../data/index.ts'

const names = Object.keys(scalarSlotTypes) as ScalarSlotType[]

/** The type that a schema of a single value says. */
export function scalarTypeOf(schema: ScalarSlotSchema): ScalarSlotType {
  const format = schema.type === 'string' ? schema.format : undefined
  const found = names.find((name) => {
    const row: { type: string; format?: string } = scalarSlotTypes[name]
    return row.type === schema.type && row.format === format
  })
  if (found === undefined) throw new Error(`no type of slots is a ${schema.type} with the format ${format}`)
  return found
}

export function slotTypeOf(slot: SlotSchema): SlotType {
  return slot.type === 'array' ? `${scalarTypeOf(slot.items)}[]` : scalarTypeOf(slot)
}

/** The schema of a type and nothing more. */
export function schemaOfType(type: SlotType): SlotSchema {
  const scalar = scalarSlotTypes[type.replace('[]', '') as ScalarSlotType]
  return type.endsWith('[]') ? { type: 'array', items: { ...scalar } } : { ...scalar }
}
