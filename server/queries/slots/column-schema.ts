import type { ResultColumn } from '../../engine/index.ts'

/** A JSON Schema, as far as this service writes them. */
export type JsonSchema = { [keyword: string]: unknown }

const text = { type: ['string', 'null'] }
const wideInteger = {
  type: ['integer', 'string', 'null'],
  description: 'A number up to ±(2^53 − 1), a string of digits beyond.',
}

/**
 * Engine types by how their values are written in JSON (`server/engine/executor/instance/values.ts`). Every value may be null. What
 * is not named here is written as the engine's own text: TIME, INTERVAL, BIT and what a later version adds.
 */
const scalars: Record<string, JsonSchema> = {
  BOOLEAN: { type: ['boolean', 'null'] },
  TINYINT: { type: ['integer', 'null'] },
  SMALLINT: { type: ['integer', 'null'] },
  INTEGER: { type: ['integer', 'null'] },
  UTINYINT: { type: ['integer', 'null'] },
  USMALLINT: { type: ['integer', 'null'] },
  UINTEGER: { type: ['integer', 'null'] },
  BIGINT: wideInteger,
  UBIGINT: wideInteger,
  HUGEINT: wideInteger,
  UHUGEINT: wideInteger,
  BIGNUM: wideInteger,
  FLOAT: { type: ['number', 'null'] },
  DOUBLE: { type: ['number', 'null'] },
  UUID: { type: ['string', 'null'], format: 'uuid' },
  DATE: { type: ['string', 'null'], format: 'date' },
  TIMESTAMP: { type: ['string', 'null'], format: 'date-time' },
  TIMESTAMP_S: { type: ['string', 'null'], format: 'date-time' },
  TIMESTAMP_MS: { type: ['string', 'null'], format: 'date-time' },
  TIMESTAMP_NS: { type: ['string', 'null'], format: 'date-time' },
  'TIMESTAMP WITH TIME ZONE': { type: ['string', 'null'], format: 'date-time' },
  BLOB: { type: ['string', 'null'], contentEncoding: 'base64' },
  JSON: {},
  VARIANT: {},
  SQLNULL: { type: 'null' },
}

/** Decimals with more digits than this are sometimes written as text. */
const exactDigits = 15
/** A longer list of choices says no more than that it is text. */
const maxChoices = 200

/** The JSON Schema of a column's values in an answer. */
export function schemaOfColumn({ type, isCount }: Pick<ResultColumn, 'type' | 'isCount'>): JsonSchema {
  return isCount === true ? { type: 'integer', minimum: 0 } : schemaOfType(type)
}

function schemaOfType(type: string): JsonSchema {
  const list = /\[(\d*)\]$/.exec(type)
  if (list !== null) return { type: ['array', 'null'], items: schemaWithin(type.slice(0, list.index)) }
  const [, kind = type, inside = ''] = /^([A-Z]+)\((.*)\)$/s.exec(type) ?? []
  if (kind === 'DECIMAL') return decimalSchema(inside)
  if (kind === 'STRUCT') return structSchema(inside)
  if (kind === 'MAP') {
    const [, value = 'JSON'] = membersOf(inside)
    return { type: ['object', 'null'], additionalProperties: schemaWithin(value) }
  }
  if (kind === 'UNION') return { anyOf: namedMembers(inside).map((member) => schemaWithin(member.type)) }
  if (kind === 'ENUM') return enumSchema(inside)
  return scalars[type] ?? text
}

/** The name of a type inside another does not tell JSON from text. */
function schemaWithin(type: string): JsonSchema {
  return type === 'VARCHAR' ? {} : schemaOfType(type)
}

function decimalSchema(digits: string): JsonSchema {
  const [width = 0] = digits.split(',').map(Number)
  if (width <= exactDigits) return { type: ['number', 'null'], format: 'decimal' }
  return {
    type: ['number', 'string', 'null'],
    format: 'decimal',
    description: `A number with up to ${exactDigits} significant digits, a string of digits beyond.`,
  }
}

/** A struct without names is written as a list. */
function structSchema(inside: string): JsonSchema {
  const members = namedMembers(inside)
  if (members.every(({ name }) => name === '')) return { type: ['array', 'null'], items: {} }
  return {
    type: ['object', 'null'],
    properties: Object.fromEntries(members.map(({ name, type }) => [name, schemaWithin(type)])),
    required: members.map(({ name }) => name),
  }
}

function enumSchema(inside: string): JsonSchema {
  const choices = membersOf(inside).map((choice) => choice.slice(1, -1).replaceAll("''", "'"))
  return choices.length > maxChoices ? text : { ...text, enum: [...choices, null] }
}

function namedMembers(list: string): Array<{ name: string; type: string }> {
  return membersOf(list).map((member) => {
    const [, name = '', type = 'JSON'] = /^"((?:[^"]|"")*)" (.*)$/s.exec(member) ?? []
    return { name: name.replaceAll('""', '"'), type }
  })
}

/** Cuts a list of members at its commas, but not inside quotes or brackets. */
function membersOf(list: string): string[] {
  const members: string[] = []
  let depth = 0
  let quote = ''
  let from = 0
  for (let at = 0; at < list.length; at += 1) {
    const letter = list[at] ?? ''
    if (quote !== '') quote = letter === quote ? '' : quote
    else if (letter === '"' || letter === "'") quote = letter
    else if (letter === '(') depth += 1
    else if (letter === ')') depth -= 1
    else if (letter === ',' && depth === 0) {
      members.push(list.slice(from, at).trim())
      from = at + 1
    }
  }
  members.push(list.slice(from).trim())
  return members
}
