import {
  BIGINT,
  BOOLEAN,
  DATE,
  DOUBLE,
  DuckDBDateValue,
  DuckDBTimeValue,
  DuckDBTimestampValue,
  HUGEINT,
  LIST,
  listValue,
  TIME,
  TIMESTAMP,
  VARCHAR,
  type DuckDBPreparedStatement,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api'
import type { ScalarSlotType } from '../../../../api/slots.ts'
import { Failure, type FailureDetail } from '../../../failure.ts'
import { parseDay, parseTime, parseTimestamp } from './dates.ts'
import type { SlotValue, SlotType } from '../socket/protocol.ts'

const int64 = 2n ** 63n
const int128 = 2n ** 127n

/** A slot ready to bind: the type its `$name` is cast to, and a value of exactly that type. */
export type BoundSlot = { name: string; cast: string; type: DuckDBType; value: DuckDBValue; isPattern: boolean }

type SlotTypeRow = {
  /** The type that its `$name` is cast to. */
  base: DuckDBType
  /** After "must be". */
  words: string
  /** Undefined where it is no such value. */
  parse: (value: unknown) => DuckDBValue | undefined
}

/** All that the engine knows of each type of slots. One that is missing does not compile. */
const slotTypes: Record<ScalarSlotType, SlotTypeRow> = {
  string: { base: VARCHAR, words: 'a string', parse: (value) => (typeof value === 'string' ? value : undefined) },
  integer: { base: BIGINT, words: 'an integer', parse: parseInteger },
  number: { base: DOUBLE, words: 'a number', parse: parseNumber },
  boolean: {
    base: BOOLEAN,
    words: 'true or false',
    parse: (value) => (typeof value === 'boolean' ? value : undefined),
  },
  date: {
    base: DATE,
    words: 'a date as YYYY-MM-DD',
    parse: (value) => {
      const days = typeof value === 'string' ? parseDay(value) : undefined
      return days === undefined ? undefined : new DuckDBDateValue(days)
    },
  },
  timestamp: {
    base: TIMESTAMP,
    words: 'a timestamp as YYYY-MM-DDTHH:MM:SSZ',
    parse: (value) => {
      const micros = typeof value === 'string' ? parseTimestamp(value) : undefined
      return micros === undefined ? undefined : new DuckDBTimestampValue(micros)
    },
  },
  time: {
    base: TIME,
    words: 'a time as HH:MM:SS',
    parse: (value) => {
      const micros = typeof value === 'string' ? parseTime(value) : undefined
      return micros === undefined ? undefined : new DuckDBTimeValue(micros)
    },
  },
}

/** Values from the socket are checked once more: a type may come from a newer version. */
function rowOf(type: string): SlotTypeRow | undefined {
  const name = type.replace('[]', '')
  return Object.hasOwn(slotTypes, name) ? slotTypes[name as ScalarSlotType] : undefined
}

/** The SQL type a slot is cast to when no value is at hand. */
export function castOf(type: SlotType): string {
  const scalar = rowOf(type)?.base ?? VARCHAR
  return type.endsWith('[]') ? `${scalar.toString()}[]` : scalar.toString()
}

/**
 * Turns wire values into DuckDB values, naming every bad one at once. The HTTP layer validates against the query's
 * schema first; this is the wall behind it.
 */
export function bindableSlots(slots: SlotValue[]): BoundSlot[] {
  const details: FailureDetail[] = []
  const bound = slots.map((slot): BoundSlot => {
    const result = bindable(slot)
    const isPattern = slot.isPattern === true
    if (typeof result !== 'string') return { ...result, isPattern }
    details.push({ field: slot.name, message: result })
    return { name: slot.name, cast: 'VARCHAR', type: VARCHAR, value: null, isPattern }
  })
  if (details.length > 0) throw new Failure('invalid_query', { reason: 'invalid_slots', details })
  return bound
}

function bindable({ name, type, value }: SlotValue): Omit<BoundSlot, 'isPattern'> | string {
  const row = rowOf(type)
  if (row === undefined) return `has the unknown type ${type}`
  const { parse, base, words } = row
  const isList = type.endsWith('[]')
  if (value === null || value === undefined) return { name, cast: castOf(type), type: base, value: null }
  if (!isList) {
    const parsed = parse(value)
    if (parsed === undefined) return `must be ${words}`
    const scalarType = wide([parsed], base)
    return { name, cast: scalarType.toString(), type: scalarType, value: parsed }
  }
  if (!Array.isArray(value)) return `must be a list, each ${words}`
  const items = value.map((item: unknown) => (item === null ? null : parse(item)))
  if (items.includes(undefined)) return `must be a list, each ${words}`
  const known = items.filter((item) => item !== undefined)
  const itemType = wide(known, base)
  return { name, cast: `${itemType.toString()}[]`, type: LIST(itemType), value: listValue(known) }
}

/** Integers are BIGINT, and HUGEINT where one does not fit. */
function wide(values: DuckDBValue[], base: DuckDBType): DuckDBType {
  const beyond = values.some((value) => typeof value === 'bigint' && (value >= int64 || value < -int64))
  return beyond ? HUGEINT : base
}

function parseNumber(value: unknown): DuckDBValue | undefined {
  const number = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

function parseInteger(value: unknown): DuckDBValue | undefined {
  const safe = typeof value === 'number' && Number.isSafeInteger(value)
  if (!safe && !(typeof value === 'string' && /^-?\d{1,39}$/.test(value))) return undefined
  const integer = BigInt(value)
  return integer < int128 && integer >= -int128 ? integer : undefined
}

/** Binds by name; a `$name` that no slot answers is NULL, a slot that the SQL does not mention is left out. */
export function bindStatement(statement: DuckDBPreparedStatement, slots: BoundSlot[]): void {
  for (let index = 1; index <= statement.parameterCount; index += 1) {
    const name = statement.parameterName(index).toLowerCase()
    const slot = slots.find((candidate) => candidate.name.toLowerCase() === name)
    if (slot === undefined || slot.value === null) statement.bindNull(index)
    else statement.bindValue(index, slot.value, slot.type)
  }
}
