import type { ColumnType } from '../../engine/index.ts'
import { utcOf } from './zones.ts'

/**
 * How a value of Trino's protocol becomes JSON: by the same rules as a value of DuckDB does
 * (`server/engine/executor/instance/values.ts`), so that callers cannot tell which engine answered.
 */
export type JsonEncoder = (value: unknown) => string

const decimalDigits = 15

export function jsonEncoder(type: ColumnType): JsonEncoder {
  const encode = encoderOf(type)
  return (value) => (value === null || value === undefined ? 'null' : encode(value))
}

function encoderOf(type: ColumnType): JsonEncoder {
  if (type.kind === 'decimal') return decimalJson
  if (type.kind === 'list') return listEncoder(type.item)
  if (type.kind === 'map') return mapEncoder(type.value)
  if (type.kind === 'struct') return structEncoder(type.fields)
  return scalars[type.name] ?? textJson
}

const textJson: JsonEncoder = (value) => JSON.stringify(String(value))
/** A number where it is exact, else a text of its digits. */
const integerJson: JsonEncoder = (value) => (typeof value === 'number' ? String(value) : `"${String(value)}"`)
/** Trino writes what is not finite as text. */
const doubleJson: JsonEncoder = (value) =>
  typeof value === 'number' && Number.isFinite(value) ? String(value) : 'null'

const scalars: Record<string, JsonEncoder> = {
  BOOLEAN: String,
  TINYINT: String,
  SMALLINT: String,
  INTEGER: String,
  BIGINT: integerJson,
  FLOAT: doubleJson,
  DOUBLE: doubleJson,
  // It is JSON already.
  JSON: String,
  TIME: (value) => `"${withoutZeros(String(value))}"`,
  TIMESTAMP: (value) => `"${withoutZeros(String(value).replace(' ', 'T'))}Z"`,
  'TIMESTAMP WITH TIME ZONE': (value) => `"${withoutZeros(utcOf(String(value)).replace(' ', 'T'))}Z"`,
}

function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

/** Beyond fifteen digits a reader's double would be another number. */
const decimalJson: JsonEncoder = (value) => {
  const text = String(value)
  const digits = (text.includes('.') ? text.replace(/0+$/, '') : text).replaceAll(/[-.]/g, '').replace(/^0+/, '')
  return digits.length <= decimalDigits ? text : `"${text}"`
}

function listEncoder(item: ColumnType): JsonEncoder {
  const encode = jsonEncoder(item)
  return (value) => `[${(value as unknown[]).map(encode).join(',')}]`
}

function mapEncoder(inner: ColumnType): JsonEncoder {
  const encode = jsonEncoder(inner)
  return (value) => {
    const entries = Object.entries(value as Record<string, unknown>)
    return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${encode(each)}`).join(',')}}`
  }
}

/** Fields come as a list. A row without names stays one: an object could hold only one entry of no name. */
function structEncoder(fields: Array<{ name: string; type: ColumnType }>): JsonEncoder {
  const encoders = fields.map(({ type }) => jsonEncoder(type))
  const isTuple = fields.every(({ name }) => name === '')
  const labels = fields.map(({ name }) => (isTuple ? '' : `${JSON.stringify(name)}:`))
  const [open, close] = isTuple ? ['[', ']'] : ['{', '}']
  return (value) => {
    const values = value as unknown[]
    return `${open}${encoders.map((encode, index) => `${labels[index] ?? ''}${encode(values[index])}`).join(',')}${close}`
  }
}
