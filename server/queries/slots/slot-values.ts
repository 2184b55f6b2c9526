import { fixedLimits } from '../../../api/limits.ts'
import { RE2JS } from 're2js'
import {
  type ScalarSlotSchema,
  type ScalarSlotType,
  scalarSlotTypes,
  type SlotSchema,
  type SlotsSchema,
} from '../../../api/slots.ts'
import { perhaps, shortName } from '../../failure.ts'
import type { SlotType } from '../../engine/index.ts'

/** A slot's value in its one canonical form, or what is wrong with it. */
export type SlotReading = { value: unknown } | Problem
/** `hint` says which value was perhaps meant; it compares many, so only a few problems of a call ask for it. */
type Problem = { problem: string; hint?: () => string }
export type SlotReader = (value: unknown) => SlotReading

const maxItems = fixedLimits.slotItems.value
/** Patterns are matched in linear time; this bounds the line. */
const maxMatchedChars = fixedLimits.slotMatchedChars.value
const int128 = 2n ** 127n

/** Makes the reader of one slot: done once for each version, never for a call. Throws on a pattern that is none. */
export function readerOf(schema: SlotSchema): SlotReader {
  if (schema.type !== 'array') return scalarReader(schema)
  const readItem = scalarReader(schema.items)
  return (given) => {
    if (!Array.isArray(given)) return { problem: 'must be an array' }
    if (given.length > maxItems) return { problem: `must have at most ${maxItems} items` }
    const items: unknown[] = []
    for (const [index, item] of given.entries()) {
      const reading = readItem(item)
      if ('problem' in reading) return { ...reading, problem: `item ${index} ${reading.problem}` }
      items.push(reading.value)
    }
    return { value: items }
  }
}

function scalarReader(schema: ScalarSlotSchema): SlotReader {
  const read = readers[scalarTypeOf(schema)]
  const checks = [
    ...choiceCheck(schema, read),
    ...patternCheck(schema),
    ...wildcardCheck(schema),
    ...rangeChecks(schema),
  ]
  if (checks.length === 0) return read
  return (given) => {
    const reading = read(given)
    if ('problem' in reading) return reading
    for (const check of checks) {
      const problem = check(reading.value)
      if (problem !== undefined) return typeof problem === 'string' ? { problem } : problem
    }
    return reading
  }
}

type Check = (value: unknown) => string | Problem | undefined

const readers: Record<ScalarSlotType, SlotReader> = {
  string: readText,
  date: readDate,
  timestamp: readTimestamp,
  time: readTime,
  integer: readInteger,
  number: readNumber,
  boolean: readBoolean,
}

/** NUL ends a string in C, and half a surrogate pair has no UTF-8: both would reach the engine as something else. */
function readText(given: unknown): SlotReading {
  if (typeof given !== 'string') return { problem: 'must be a string' }
  if (given.includes('\0')) return { problem: 'must not contain a NUL character' }
  return given.isWellFormed() ? { value: given } : { problem: 'must be well-formed Unicode' }
}

function readBoolean(given: unknown): SlotReading {
  return typeof given === 'boolean' ? { value: given } : { problem: 'must be true or false' }
}

function readNumber(given: unknown): SlotReading {
  return typeof given === 'number' && Number.isFinite(given) ? { value: given } : { problem: 'must be a number' }
}

/** A number where it is exact. JSON numbers beyond ±(2^53 − 1) have lost digits already, so those come as text. */
function readInteger(given: unknown): SlotReading {
  if (typeof given === 'number') {
    if (Number.isSafeInteger(given)) return { value: given === 0 ? 0 : given }
    return { problem: Number.isInteger(given) ? 'must be sent as text beyond ±(2^53 − 1)' : 'must be an integer' }
  }
  if (typeof given !== 'string' || !/^-?\d{1,39}$/.test(given)) return { problem: 'must be an integer' }
  const integer = BigInt(given)
  if (Number.isSafeInteger(Number(integer))) return { problem: 'must be an integer, not text' }
  if (integer >= int128 || integer < -int128) return { problem: 'must have at most 127 bits' }
  return { value: integer.toString() }
}

function readDate(given: unknown): SlotReading {
  const isDay = typeof given === 'string' && /^\d{4}-\d\d-\d\d$/.test(given) && isRealDay(given)
  return isDay ? { value: given } : { problem: 'must be a date as YYYY-MM-DD' }
}

const timestamp =
  /^(\d{4}-\d\d-\d\d)(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?)?$/i

/** In UTC, to the microsecond. Without an offset it is UTC already. */
function readTimestamp(given: unknown): SlotReading {
  const problem = 'must be a timestamp as YYYY-MM-DDTHH:MM:SSZ'
  const parts = typeof given === 'string' ? timestamp.exec(given) : null
  if (parts === null) return { problem }
  const [, day = '', hours = '00', minutes = '00', seconds = '00', fraction = '', offset = 'Z'] = parts
  if (!isRealDay(day)) return { problem }
  const zone = /^z$/i.test(offset) ? 'Z' : `${offset.slice(0, 3)}:${offset.slice(-2)}`
  const time = Date.parse(`${day}T${hours}:${minutes}:${seconds}${zone}`)
  if (Number.isNaN(time)) return { problem }
  const micros = fraction.slice(0, 6).replace(/0+$/, '')
  return { value: `${new Date(time).toISOString().slice(0, 19)}${micros === '' ? '' : `.${micros}`}Z` }
}

const timeOfDay = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?$/

/** To the microsecond. An offset would need a day to mean something. */
function readTime(given: unknown): SlotReading {
  const parts = typeof given === 'string' ? timeOfDay.exec(given) : null
  if (parts === null) return { problem: 'must be a time of day as HH:MM or HH:MM:SS' }
  const [, hours = '', minutes = '', seconds = '00', fraction = ''] = parts
  const micros = fraction.slice(0, 6).replace(/0+$/, '')
  return { value: `${hours}:${minutes}:${seconds}${micros === '' ? '' : `.${micros}`}` }
}

function isRealDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

function choiceCheck(schema: ScalarSlotSchema, read: SlotReader): Check[] {
  if (!('enum' in schema) || schema.enum === undefined) return []
  const choices = new Set<unknown>()
  for (const choice of schema.enum) {
    const reading = read(choice)
    if ('value' in reading) choices.add(reading.value)
  }
  const names = schema.enum.map(String)
  const shown = names.slice(0, 12).map(shortName).join(', ')
  const problem = `must be one of ${shown}${names.length > 12 ? ` and ${names.length - 12} more` : ''}`
  return [(value) => (choices.has(value) ? undefined : { problem, hint: () => perhaps(String(value), names) })]
}

/** Patterns run in time linear to the value (RE2), so that no value can stall the process. */
function patternCheck(schema: ScalarSlotSchema): Check[] {
  if (schema.type !== 'string' || schema.pattern === undefined) return []
  const { pattern } = schema
  const compiled = RE2JS.compile(pattern)
  return [
    (value) => {
      const text = String(value)
      if (text.length > maxMatchedChars) return `must have at most ${maxMatchedChars} characters`
      return compiled.test(text) ? undefined : `must match ${pattern}`
    },
  ]
}

/** A pattern of a caller is matched in linear time; this bounds what is matched. */
function wildcardCheck(schema: ScalarSlotSchema): Check[] {
  if (schema.type !== 'string' || schema['x-pattern'] !== true) return []
  const { value: maxChars } = fixedLimits.slotWildcardChars
  const { value: most } = fixedLimits.slotWildcards
  return [
    (value) => {
      const text = String(value)
      if (text.length > maxChars) return `must have at most ${maxChars} characters`
      return (text.match(/[%_]/g)?.length ?? 0) > most ? `must have at most ${most} wildcards` : undefined
    },
  ]
}

function rangeChecks(schema: ScalarSlotSchema): Check[] {
  if (schema.type !== 'integer' && schema.type !== 'number') return []
  const { minimum, maximum } = schema
  const checks: Check[] = []
  if (minimum !== undefined) {
    checks.push((value) => (isLess(value, minimum) ? `must be at least ${minimum}` : undefined))
  }
  if (maximum !== undefined) {
    checks.push((value) => (isLess(maximum, value) ? `must be at most ${maximum}` : undefined))
  }
  return checks
}

/** Whether one canonical number is less than another; either may be an integer as text. */
export function isLess(left: unknown, right: unknown): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left < right
  return BigInt(left as number | string) < BigInt(right as number | string)
}

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

/** Values of slots as a URL carries them: texts, several of one name for a list. */
export type TextValues = ReadonlyMap<string, readonly string[]>

/** Parameters of an address beyond the slots: where it goes and how the answer looks. */
export const addressWords: ReadonlySet<string> = new Set(['project_id', 'environment', 'format'])
/** Before the name of a slot that is called like one of these. */
export const slotPrefix = 'slot.'

/** The name of a slot in an address. */
export function slotParameter(name: string): string {
  return addressWords.has(name) ? `${slotPrefix}${name}` : name
}

/**
 * The values that texts stand for, by the slots of the version that is called. What cannot be read stays the text it is,
 * so that the check of slots says what is wrong with it.
 */
export function valuesOfTexts({ properties }: SlotsSchema, texts: TextValues): Record<string, unknown> {
  return Object.fromEntries(
    [...texts].map(([name, given]): [string, unknown] => {
      const slot = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (slot?.type === 'array') return [name, given.map((text) => valueOf(slot.items, text))]
      const [first = '', ...others] = given
      if (others.length > 0) return [name, given]
      return [name, slot === undefined ? first : valueOf(slot, first)]
    }),
  )
}

function valueOf({ type }: ScalarSlotSchema, text: string): unknown {
  if (type === 'string') return text
  // A form sends what nobody filled in as nothing.
  if (text === '') return null
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (type === 'integer') return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text
  return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : text
}
