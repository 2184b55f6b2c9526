import type { SlotType, SlotValue } from '../../engine/index.ts'
import { Failure } from '../../failure.ts'

/** Slots as Trino's types and literals. The values were checked against the query's schema before. */

const names: Record<string, string> = {
  string: 'varchar',
  integer: 'bigint',
  number: 'double',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'timestamp(6)',
  time: 'time(6)',
}

const int64 = 2n ** 63n
const maxDecimal = 10n ** 38n

/** Type that a slot is cast to. Integers are `bigint`, and `decimal(38,0)` where one does not fit. */
export function slotTypeName({ type, value }: { type: SlotType; value: unknown }): string {
  const scalar = type.replace('[]', '')
  const isWide = scalar === 'integer' && [value].flat().some(isBeyond)
  const name = isWide ? 'decimal(38,0)' : (names[scalar] ?? 'varchar')
  return type.endsWith('[]') ? `array(${name})` : name
}

function isBeyond(value: unknown): boolean {
  if (typeof value !== 'string' || !/^-?\d{1,39}$/.test(value)) return false
  const integer = BigInt(value)
  return integer >= int64 || integer < -int64
}

/** A typed literal. `isCount`: behind LIMIT and the like, where none means all. */
export function literalOf(slot: SlotValue | undefined, isCount: boolean): string {
  const value = slot?.value ?? null
  if (isCount) return value === null ? String(int64 - 1n) : countOf(slot, value)
  if (slot === undefined || value === null) return 'NULL'
  const scalar = slot.type.replace('[]', '')
  if (!slot.type.endsWith('[]')) return scalarLiteral(slot.name, scalar, value)
  const items = Array.isArray(value) ? value : []
  return `ARRAY[${items.map((item) => (item === null ? 'NULL' : scalarLiteral(slot.name, scalar, item))).join(', ')}]`
}

function countOf(slot: SlotValue | undefined, value: unknown): string {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  if (!/^\d{1,18}$/.test(text)) throw invalidSlot(slot?.name ?? '', 'must be a whole number from 0 on')
  return text
}

/** Shape of each literal: a value of another shape would be read as something else, so each is checked once more. */
const shapes: Record<string, { pattern: RegExp; literal: (text: string) => string; words: string }> = {
  number: {
    pattern: /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i,
    literal: (text) => `DOUBLE '${text}'`,
    words: 'must be a number',
  },
  date: {
    pattern: /^\d{4}-\d\d-\d\d$/,
    literal: (text) => `DATE '${text}'`,
    words: 'must be a date as YYYY-MM-DD',
  },
  timestamp: {
    pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/,
    literal: (text) => `TIMESTAMP '${text.replace('T', ' ').replace('Z', '')}'`,
    words: 'must be a timestamp as YYYY-MM-DDTHH:MM:SSZ',
  },
  time: {
    pattern: /^\d\d:\d\d:\d\d(\.\d{1,6})?$/,
    literal: (text) => `TIME '${text}'`,
    words: 'must be a time as HH:MM:SS',
  },
  boolean: {
    pattern: /^(true|false)$/,
    literal: (text) => text,
    words: 'must be true or false',
  },
}

function scalarLiteral(name: string, type: string, value: unknown): string {
  const text = String(value)
  if (type === 'integer') return integerLiteral(name, text)
  const shape = shapes[type]
  if (shape === undefined) return `'${text.replaceAll("'", "''")}'`
  if (!shape.pattern.test(text)) throw invalidSlot(name, shape.words)
  return shape.literal(text)
}

function integerLiteral(name: string, text: string): string {
  if (!/^-?\d{1,39}$/.test(text)) throw invalidSlot(name, 'must be an integer')
  if (!isBeyond(text)) return `BIGINT '${text}'`
  const integer = BigInt(text)
  if (integer >= maxDecimal || integer <= -maxDecimal) throw invalidSlot(name, 'must have at most 38 digits on Trino')
  return `DECIMAL '${text}'`
}

function invalidSlot(field: string, message: string): Failure {
  return new Failure('invalid_query', { reason: 'invalid_slots', details: [{ field, message }] })
}
