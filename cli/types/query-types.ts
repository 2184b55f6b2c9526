import type { z } from 'zod'
import type { version } from '../../api/queries.ts'
import type { ScalarSlotSchema, SlotSchema } from '../../api/slots.ts'

/** What is deployed of a query: what it takes and what it gives. */
export type DeployedQuery = Pick<z.output<typeof version>, 'version' | 'description' | 'slots' | 'columns'> & {
  name: string
}

/** A type in no language yet. `wide` is a number that travels as text where JSON would lose digits of it. */
export type ValueType =
  | { kind: 'text' | 'integer' | 'number' | 'wide' | 'boolean' | 'any' }
  | { kind: 'choice'; values: Array<string | number> }
  | { kind: 'list'; of: ValueType }
  | { kind: 'record'; fields: Array<[name: string, type: ValueType]> }
  | { kind: 'map'; of: ValueType }

export function slotType(slot: SlotSchema | ScalarSlotSchema): ValueType {
  if (slot.type === 'array') return { kind: 'list', of: slotType(slot.items) }
  if (slot.type === 'boolean') return { kind: 'boolean' }
  if (slot.enum !== undefined) return { kind: 'choice', values: slot.enum }
  if (slot.type === 'string') return { kind: 'text' }
  return { kind: slot.type === 'integer' ? 'wide' : 'number' }
}

const plain: Record<string, ValueType['kind']> = {
  BOOLEAN: 'boolean',
  TINYINT: 'integer',
  SMALLINT: 'integer',
  INTEGER: 'integer',
  UTINYINT: 'integer',
  USMALLINT: 'integer',
  UINTEGER: 'integer',
  BIGINT: 'wide',
  UBIGINT: 'wide',
  HUGEINT: 'wide',
  UHUGEINT: 'wide',
  BIGNUM: 'wide',
  FLOAT: 'number',
  DOUBLE: 'number',
  JSON: 'any',
  VARIANT: 'any',
}

/** What a column's values are in JSON, from the engine's name of its type. */
export function columnType(name: string): ValueType {
  const text = name.trim()
  const list = /^(.*)\[\d*\]$/s.exec(text)
  if (list !== null) return { kind: 'list', of: columnType(list[1] ?? '') }
  const [, head = '', inside] = /^([A-Z_ ]+?)(?:\((.*)\))?$/s.exec(text) ?? []
  if (head === 'DECIMAL') return { kind: 'wide' }
  if (head === 'STRUCT' && inside !== undefined) return { kind: 'record', fields: partsOf(inside).map(fieldOf) }
  if (head === 'MAP' && inside !== undefined) return { kind: 'map', of: columnType(partsOf(inside)[1] ?? 'JSON') }
  const kind = plain[head]
  if (kind === 'any' || head === 'UNION' || head === 'NULL' || head === '"NULL"') return { kind: 'any' }
  return { kind: (kind ?? 'text') as 'text' }
}

/** `"a b" INTEGER` → its name and its type. */
function fieldOf(part: string): [string, ValueType] {
  const quoted = /^"((?:[^"]|"")*)"\s+(.*)$/s.exec(part)
  if (quoted !== null) return [(quoted[1] ?? '').replaceAll('""', '"'), columnType(quoted[2] ?? '')]
  const at = part.indexOf(' ')
  return [part.slice(0, at), columnType(part.slice(at + 1))]
}

/** Splits at the commas that are in no bracket and no name. */
function partsOf(text: string): string[] {
  const parts: string[] = []
  let [depth, isQuoted, start] = [0, false, 0]
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]
    if (letter === '"') isQuoted = !isQuoted
    if (isQuoted) continue
    if (letter === '(' || letter === '[') depth += 1
    if (letter === ')' || letter === ']') depth -= 1
    if (letter === ',' && depth === 0) {
      parts.push(text.slice(start, at).trim())
      start = at + 1
    }
  }
  return [...parts, text.slice(start).trim()]
}
