import {
  BIGINT,
  BOOLEAN,
  DATE,
  DOUBLE,
  DuckDBDateValue,
  DuckDBTimestampValue,
  HUGEINT,
  LIST,
  listValue,
  TIMESTAMP,
  VARCHAR,
  type DuckDBPreparedStatement,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api'
import { Failure, type FailureDetail } from '../../failure.ts'
import { parseDay, parseTimestamp } from './dates.ts'
import type { Slot, SlotType } from './protocol.ts'

const int64 = 2n ** 63n
const int128 = 2n ** 127n

/** A slot ready to bind: the type its `$name` is cast to, and a value of exactly that type. */
export type BoundSlot = { name: string; cast: string; type: DuckDBType; value: DuckDBValue }

const castOfType: Record<string, DuckDBType> = {
  string: VARCHAR,
  integer: BIGINT,
  number: DOUBLE,
  boolean: BOOLEAN,
  date: DATE,
  timestamp: TIMESTAMP,
}

/** The SQL type a slot is cast to when no value is at hand. */
export function castOf(type: SlotType): string {
  const scalar = castOfType[type.replace('[]', '')] ?? VARCHAR
  return type.endsWith('[]') ? `${scalar.toString()}[]` : scalar.toString()
}

/**
 * Turns wire values into DuckDB values, naming every bad one at once. The HTTP layer validates against the query's
 * schema first; this is the wall behind it.
 */
export function bindableSlots(slots: Slot[]): BoundSlot[] {
  const details: FailureDetail[] = []
  const bound = slots.map((slot): BoundSlot => {
    const result = bindable(slot)
    if (typeof result !== 'string') return result
    details.push({ field: slot.name, message: result })
    return { name: slot.name, cast: 'VARCHAR', type: VARCHAR, value: null }
  })
  if (details.length > 0) throw new Failure('invalid_query', { reason: 'invalid_slots', details })
  return bound
}

function bindable({ name, type, value }: Slot): BoundSlot | string {
  const scalar = type.replace('[]', '')
  const isList = type.endsWith('[]')
  const parse = parsers[scalar]
  const base = castOfType[scalar]
  if (parse === undefined || base === undefined) return `has the unknown type ${type}`
  if (value === null || value === undefined) return { name, cast: castOf(type), type: base, value: null }
  if (!isList) {
    const parsed = parse(value)
    if (parsed === undefined) return `must be ${article[scalar]}`
    const scalarType = wide([parsed], base)
    return { name, cast: scalarType.toString(), type: scalarType, value: parsed }
  }
  if (!Array.isArray(value)) return `must be a list, each ${article[scalar]}`
  const items = value.map((item: unknown) => (item === null ? null : parse(item)))
  if (items.includes(undefined)) return `must be a list, each ${article[scalar]}`
  const known = items.filter((item) => item !== undefined)
  const itemType = wide(known, base)
  return { name, cast: `${itemType.toString()}[]`, type: LIST(itemType), value: listValue(known) }
}

const article: Record<string, string> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  date: 'a date as YYYY-MM-DD',
  timestamp: 'a timestamp as YYYY-MM-DDTHH:MM:SSZ',
}

/** Integers are BIGINT, and HUGEINT where one does not fit. */
function wide(values: DuckDBValue[], base: DuckDBType): DuckDBType {
  const beyond = values.some((value) => typeof value === 'bigint' && (value >= int64 || value < -int64))
  return beyond ? HUGEINT : base
}

const parsers: Record<string, (value: unknown) => DuckDBValue | undefined> = {
  string: (value) => (typeof value === 'string' ? value : undefined),
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  number: (value) => {
    const number = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
    return typeof number === 'number' && Number.isFinite(number) ? number : undefined
  },
  integer: (value) => {
    const safe = typeof value === 'number' && Number.isSafeInteger(value)
    if (!safe && !(typeof value === 'string' && /^-?\d{1,39}$/.test(value))) return undefined
    const integer = BigInt(value)
    return integer < int128 && integer >= -int128 ? integer : undefined
  },
  date: (value) => {
    const days = typeof value === 'string' ? parseDay(value) : undefined
    return days === undefined ? undefined : new DuckDBDateValue(days)
  },
  timestamp: (value) => {
    const micros = typeof value === 'string' ? parseTimestamp(value) : undefined
    return micros === undefined ? undefined : new DuckDBTimestampValue(micros)
  },
}

/** Binds by name; a `$name` that no slot answers is NULL, a slot that the SQL does not mention is left out. */
export function bindSlots(statement: DuckDBPreparedStatement, slots: BoundSlot[]): void {
  for (let index = 1; index <= statement.parameterCount; index += 1) {
    const name = statement.parameterName(index).toLowerCase()
    const slot = slots.find((candidate) => candidate.name.toLowerCase() === name)
    if (slot === undefined || slot.value === null) statement.bindNull(index)
    else statement.bindValue(index, slot.value, slot.type)
  }
}
