import { columnNameOf } from '../../../api/column-names.ts'
import type { SlotSchema, SlotsSchema } from '../../../api/slots.ts'
import type { CatalogTable, Inspection } from '../../engine/index.ts'
import type { FailureDetail } from '../../failure.ts'
import { isLess, readerOf, schemaOfType, type SlotReader } from './slot-values.ts'

type Places = { tables: CatalogTable[]; used: Set<string> }

/** Contradictions in a schema of slots: beyond its shape, which `api/slots.ts` has checked. */
export function mistakesOf(schema: SlotsSchema, { tables, used }: Places): FailureDetail[] {
  const declared = Object.keys(schema.properties)
  return [
    ...schema.required
      .filter((name) => !declared.includes(name))
      .map((name) => ({ field: 'slots.required', message: `names ${name}, which is not a slot` })),
    ...declared
      .filter((name) => !used.has(name))
      .map((name) => ({ field: `slots.properties.${name}`, message: `is not used: the SQL has no $${name}` })),
    ...[...used]
      .filter((name) => !declared.includes(name))
      .map((name) => ({ field: `slots.properties.${name}`, message: `is missing: the SQL uses $${name}` })),
    ...Object.entries(schema.properties).flatMap(([name, slot]) =>
      slotMistakes(slot, tables).map(({ field, message }) => ({ field: `slots.properties.${name}${field}`, message })),
    ),
  ]
}

function slotMistakes(slot: SlotSchema, tables: CatalogTable[]): FailureDetail[] {
  const scalar = slot.type === 'array' ? slot.items : slot
  const found: FailureDetail[] = []
  const source = slot['x-values-from'] ?? scalar['x-values-from']
  if (source !== undefined && !isColumn(source, tables)) {
    found.push({ field: '.x-values-from', message: `names no column of this project: ${source}` })
  }
  if (slot.type === 'string' && slot['x-bound'] !== undefined && !slot.format?.startsWith('date')) {
    found.push({ field: '.x-bound', message: 'is for dates and date-times only' })
  }
  let read: SlotReader
  try {
    read = readerOf(slot)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return [...found, { field: '.pattern', message: `is not a pattern that can be matched in linear time: ${why}` }]
  }
  if ((scalar.type === 'integer' || scalar.type === 'number') && areCrossed(scalar.minimum, scalar.maximum)) {
    found.push({ field: '.minimum', message: 'is above the maximum' })
  }
  const readItem = readerOf(scalar.type === 'boolean' ? scalar : { ...scalar, enum: undefined })
  for (const choice of 'enum' in scalar ? (scalar.enum ?? []) : []) {
    const reading = readItem(choice)
    if ('problem' in reading) found.push({ field: '.enum', message: `${String(choice)} ${reading.problem}` })
  }
  if (slot.default !== undefined && slot.default !== null) {
    const reading = read(slot.default)
    if ('problem' in reading) found.push({ field: '.default', message: reading.problem })
  }
  return found
}

function areCrossed(minimum: unknown, maximum: unknown): boolean {
  return minimum !== undefined && maximum !== undefined && isLess(maximum, minimum)
}

function isColumn(source: string, tables: CatalogTable[]): boolean {
  const dot = source.indexOf('.')
  const table = tables.find((each) => each.name === source.slice(0, dot))
  const wanted = source.slice(dot + 1)
  return table?.columns.some(({ name }) => name === wanted || name === columnNameOf(wanted)) ?? false
}

/** A schema to start from: a slot for each `$name`, optional where the SQL itself asks whether it is there. */
export function inferSlots(sql: string, slots: Inspection['slots']): SlotsSchema {
  const isOptional = (name: string): boolean =>
    new RegExp(String.raw`\$${name}(\s*::\s*\w+)?\s+is\s+(not\s+)?null|coalesce\s*\(\s*\$${name}\b`, 'i').test(sql)
  return {
    type: 'object',
    properties: Object.fromEntries(slots.map(({ name, suggestedType }) => [name, schemaOfType(suggestedType)])),
    required: slots.map(({ name }) => name).filter((name) => !isOptional(name)),
    additionalProperties: false,
  }
}
