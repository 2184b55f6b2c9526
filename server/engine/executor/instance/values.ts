import {
  DuckDBArrayType,
  DuckDBDateValue,
  DuckDBDecimalType,
  DuckDBDecimalValue,
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  DuckDBTimestampValue,
  DuckDBTypeId,
  DuckDBUnionType,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api'
import { formatDay, formatTimestamp } from './dates.ts'
import { quoteName, quoteText } from './sql-text.ts'

/**
 * How a value becomes JSON, said three times for speed and held together by a test, type by type:
 * `jsonText` is SQL that is right for every value; `candidateValue` is cheaper SQL that is right unless `doubt` is true
 * of a row; `directEncoder` is JavaScript for a few rows, where each SQL expression costs more than the row itself. All
 * three write the same bytes.
 */

const safe = 9_007_199_254_740_991n
const decimalDigits = 15

/** Types whose `to_json` is already right, also deep inside lists and structs. */
const plain = new Set<DuckDBTypeId>([
  DuckDBTypeId.BOOLEAN,
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
  DuckDBTypeId.VARCHAR,
  DuckDBTypeId.UUID,
  DuckDBTypeId.ENUM,
])

export function typeName(type: DuckDBType): string {
  return type.alias ?? type.toString()
}

/** SQL that turns the expression `x` of `type` into JSON text; `null` as text, never NULL. */
export function jsonText(type: DuckDBType, x: string, depth = 0): string {
  return `coalesce(${nullableText(type, x, depth)}, 'null')`
}

const quotedText = (x: string): string => `'"' || ${x}::VARCHAR || '"'`

function nullableText(type: DuckDBType, x: string, depth: number): string {
  if (isPlain(type)) return isScalarPlain(type) ? `${x}::VARCHAR` : `to_json(${x})::VARCHAR`
  if (type.typeId === DuckDBTypeId.VARCHAR) return `json(${x})::VARCHAR`
  if (type instanceof DuckDBDecimalType) return decimalText(type, x)
  if (type instanceof DuckDBStructType) return structText(type, x, depth)
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType) {
    return `'[' || ${joined(x, (item) => jsonText(type.valueType, item, depth + 1), depth)} || ']'`
  }
  if (type instanceof DuckDBMapType) {
    const entry = (item: string) =>
      `to_json(${item}.key::VARCHAR)::VARCHAR || ':' || ${jsonText(type.valueType, `${item}.value`, depth + 1)}`
    return `'{' || ${joined(`map_entries(${x})`, entry, depth)} || '}'`
  }
  if (type instanceof DuckDBUnionType) {
    const member = (tag: string, index: number) =>
      `WHEN ${quoteText(tag)} THEN ${jsonText(type.memberTypes[index] ?? type, `union_extract(${x}, ${quoteText(tag)})`, depth + 1)}`
    return `CASE union_tag(${x})::VARCHAR ${type.memberTags.map(member).join(' ')} END`
  }
  return (scalarTexts.get(type.typeId) ?? ownText)(x)
}

const isoText = (x: string): string =>
  `CASE WHEN isfinite(${x}) THEN concat(${x}::DATE::VARCHAR, 'T', ${x}::TIME::VARCHAR, 'Z') END`
const timestampOf = (x: string): string => `'"' || ${isoText(`${x}::TIMESTAMP`)} || '"'`
const numberOrText = (least: bigint) => (x: string) =>
  `CASE WHEN ${x} BETWEEN ${least} AND ${safe} THEN ${x}::VARCHAR ELSE ${quotedText(x)} END`
const finiteNumber = (x: string): string => `CASE WHEN isfinite(${x}) THEN ${x}::VARCHAR END`

const scalarTexts = new Map<DuckDBTypeId, (x: string) => string>([
  [DuckDBTypeId.BIGINT, numberOrText(-safe)],
  [DuckDBTypeId.HUGEINT, numberOrText(-safe)],
  [DuckDBTypeId.UBIGINT, numberOrText(0n)],
  [DuckDBTypeId.UHUGEINT, numberOrText(0n)],
  [
    DuckDBTypeId.BIGNUM,
    (x) =>
      `CASE WHEN length(ltrim(${x}::VARCHAR, '-')) <= ${decimalDigits} THEN ${x}::VARCHAR ELSE ${quotedText(x)} END`,
  ],
  [DuckDBTypeId.FLOAT, finiteNumber],
  [DuckDBTypeId.DOUBLE, (x) => `CASE WHEN isfinite(${x}) THEN to_json(${x})::VARCHAR END`],
  [DuckDBTypeId.DATE, (x) => `CASE WHEN isfinite(${x}) THEN ${quotedText(x)} END`],
  [DuckDBTypeId.TIMESTAMP, timestampOf],
  [DuckDBTypeId.TIMESTAMP_S, timestampOf],
  [DuckDBTypeId.TIMESTAMP_MS, timestampOf],
  [DuckDBTypeId.TIMESTAMP_NS, nanosText],
  [DuckDBTypeId.TIMESTAMP_TZ, (x) => timestampOf(`(${x} AT TIME ZONE 'UTC')`)],
  [DuckDBTypeId.BLOB, (x) => `'"' || base64(${x}) || '"'`],
  [DuckDBTypeId.SQLNULL, () => 'NULL'],
  [DuckDBTypeId.VARIANT, (x) => `(${x}::JSON)::VARCHAR`],
])

const ownDigits = (x: string): string => `${x}::VARCHAR`
const bareTexts = new Map<DuckDBTypeId, (x: string) => string>([
  [DuckDBTypeId.BOOLEAN, ownDigits],
  [DuckDBTypeId.TINYINT, ownDigits],
  [DuckDBTypeId.SMALLINT, ownDigits],
  [DuckDBTypeId.INTEGER, ownDigits],
  [DuckDBTypeId.BIGINT, ownDigits],
  [DuckDBTypeId.HUGEINT, ownDigits],
  [DuckDBTypeId.UTINYINT, ownDigits],
  [DuckDBTypeId.USMALLINT, ownDigits],
  [DuckDBTypeId.UINTEGER, ownDigits],
  [DuckDBTypeId.UBIGINT, ownDigits],
  [DuckDBTypeId.UHUGEINT, ownDigits],
  [DuckDBTypeId.DECIMAL, ownDigits],
  [DuckDBTypeId.UUID, ownDigits],
  [DuckDBTypeId.FLOAT, finiteNumber],
  [DuckDBTypeId.DOUBLE, (x) => `CASE WHEN isfinite(${x}) THEN to_json(${x})::VARCHAR END`],
  [DuckDBTypeId.DATE, finiteNumber],
  [DuckDBTypeId.TIMESTAMP, isoText],
])

/** SQL for the text of a value that holds no comma, quote or line break, whatever it is; absent for other types. */
export function bareText(type: DuckDBType, x: string): string | undefined {
  return type.alias === undefined ? bareTexts.get(type.typeId)?.(x) : undefined
}

/** TIME, INTERVAL, BIT and whatever a later version adds are DuckDB's own text. */
const ownText = (x: string): string => `to_json(${x}::VARCHAR)::VARCHAR`

/** A TIME would lose what is below a microsecond. */
function nanosText(x: string): string {
  return `CASE WHEN isfinite(${x}) THEN '"' || replace(${x}::VARCHAR, ' ', 'T') || 'Z"' END`
}

function isScalarPlain(type: DuckDBType): boolean {
  return plain.has(type.typeId) && ![DuckDBTypeId.VARCHAR, DuckDBTypeId.UUID, DuckDBTypeId.ENUM].includes(type.typeId)
}

function isPlain(type: DuckDBType): boolean {
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType) return isPlain(type.valueType)
  if (type instanceof DuckDBStructType) return !isTuple(type) && type.entryTypes.every(isPlain)
  return plain.has(type.typeId) && type.alias !== 'JSON'
}

function isTuple(type: DuckDBStructType): boolean {
  return type.entryNames.every((name) => name === '')
}

function joined(list: string, text: (item: string) => string, depth: number): string {
  return `array_to_string(list_transform(${list}, lambda e${depth}: ${text(`e${depth}`)}), ',')`
}

/** A struct without names (`row(1, 2)`) is a list: an object could hold only one entry of no name. */
function structText(type: DuckDBStructType, x: string, depth: number): string {
  const tuple = isTuple(type)
  const parts = type.entryTypes.map((entryType, index) => {
    const name = type.entryNames[index] ?? ''
    const value = tuple ? `struct_extract(${x}, ${index + 1})` : `${x}.${quoteName(name)}`
    const label = tuple ? '' : `${JSON.stringify(name)}:`
    return `${quoteText((index === 0 ? '' : ',') + label)}, ${jsonText(entryType, value, depth + 1)}`
  })
  const [open, close] = tuple ? ['[', ']'] : ['{', '}']
  return `CASE WHEN ${x} IS NOT NULL THEN concat('${open}', ${parts.join(', ')}, '${close}') END`
}

function decimalText(type: DuckDBDecimalType, x: string): string {
  if (type.width <= decimalDigits) return `${x}::VARCHAR`
  const digits = `ltrim(translate(${type.scale > 0 ? `rtrim(${x}::VARCHAR, '0')` : `${x}::VARCHAR`}, '-.', ''), '0')`
  return `CASE WHEN length(${digits}) <= ${decimalDigits} THEN ${x}::VARCHAR ELSE ${quotedText(x)} END`
}

const unsafe = (x: string): string => `${x} NOT BETWEEN ${-safe} AND ${safe}`
const infinite = (x: string): string => `NOT isfinite(${x})`

const doubts = new Map<DuckDBTypeId, (x: string) => string>([
  [DuckDBTypeId.BIGINT, unsafe],
  [DuckDBTypeId.HUGEINT, unsafe],
  [DuckDBTypeId.UBIGINT, (x) => `${x} > ${safe}`],
  [DuckDBTypeId.UHUGEINT, (x) => `${x} > ${safe}`],
  [DuckDBTypeId.DOUBLE, infinite],
  [DuckDBTypeId.DATE, infinite],
])

/** Types of which `candidateValue` writes other digits than the others do: `12.5` for `12.50`. */
export function isNeverCandidate(type: DuckDBType): boolean {
  if (type instanceof DuckDBDecimalType) return type.scale > 0
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType) return isNeverCandidate(type.valueType)
  if (type instanceof DuckDBMapType) return isNeverCandidate(type.keyType) || isNeverCandidate(type.valueType)
  if (type instanceof DuckDBStructType) return type.entryTypes.some(isNeverCandidate)
  return type instanceof DuckDBUnionType && type.memberTypes.some(isNeverCandidate)
}

/** SQL that is true of a value for which `candidateValue` is wrong; absent when it never is. */
export function doubt(type: DuckDBType, x: string): string | undefined {
  if (!(type instanceof DuckDBDecimalType)) return doubts.get(type.typeId)?.(x)
  if (type.width <= decimalDigits || !decimalFits(type)) return undefined
  // A text, not a number: beyond 18 digits a literal would be a double.
  return `abs(${x}) >= '1e${decimalDigits - type.scale}'::DECIMAL(${type.width},${type.scale})`
}

/** SQL for `x` as an argument of `json_object`. */
export function candidateValue(type: DuckDBType, x: string): string {
  if (isPlain(type) || doubts.has(type.typeId) || type.alias === 'JSON') return x
  if (type instanceof DuckDBDecimalType && decimalFits(type)) return x
  if (type.typeId === DuckDBTypeId.TIMESTAMP) return isoText(x)
  return `(${jsonText(type, x)})::JSON`
}

/** Can the bound of `doubt` be written in the type at all? */
function decimalFits({ width, scale }: DuckDBDecimalType): boolean {
  return width <= decimalDigits || (scale <= decimalDigits && width - scale > decimalDigits - scale)
}

type DirectEncoder = (value: DuckDBValue) => string

const integerJson: DirectEncoder = (value) =>
  typeof value === 'bigint' && value <= safe && value >= -safe ? value.toString() : `"${String(value)}"`

const directEncoders = new Map<DuckDBTypeId, DirectEncoder>([
  [DuckDBTypeId.BOOLEAN, String],
  [DuckDBTypeId.TINYINT, String],
  [DuckDBTypeId.SMALLINT, String],
  [DuckDBTypeId.INTEGER, String],
  [DuckDBTypeId.UTINYINT, String],
  [DuckDBTypeId.USMALLINT, String],
  [DuckDBTypeId.UINTEGER, String],
  [DuckDBTypeId.BIGINT, integerJson],
  [DuckDBTypeId.UBIGINT, integerJson],
  [DuckDBTypeId.HUGEINT, integerJson],
  [DuckDBTypeId.UHUGEINT, integerJson],
  [DuckDBTypeId.DOUBLE, (value) => (typeof value === 'number' ? doubleJson(value) : 'null')],
  [DuckDBTypeId.VARCHAR, (value) => textJson(String(value))],
  [DuckDBTypeId.DATE, (value) => (value instanceof DuckDBDateValue ? dateJson(value) : 'null')],
  [DuckDBTypeId.TIMESTAMP, (value) => (value instanceof DuckDBTimestampValue ? timestampJson(value) : 'null')],
  [DuckDBTypeId.DECIMAL, (value) => (value instanceof DuckDBDecimalValue ? decimalJson(value) : 'null')],
])

/** JSON of a value in JavaScript, for the types that need no SQL; absent for all others. */
export function directEncoder(type: DuckDBType): DirectEncoder | undefined {
  return type.alias === 'JSON' ? undefined : directEncoders.get(type.typeId)
}

/** As DuckDB writes it: a number that has no fraction shows that it could have one. */
function doubleJson(value: number): string {
  if (!Number.isFinite(value)) return 'null'
  const text = Object.is(value, -0) ? '-0' : String(value)
  if (text.includes('e')) return text.replace('e+', 'e')
  return text.includes('.') ? text : `${text}.0`
}

// oxlint-disable-next-line no-control-regex -- these are what is looked for
const escapedWithLetters = /[\x0b\x0e\x0f\x1a-\x1f]/

/** DuckDB escapes control characters in capital letters. A backslash is consumed with what it escapes. */
function textJson(text: string): string {
  const json = JSON.stringify(text)
  if (!escapedWithLetters.test(text)) return json
  return json.replaceAll(/\\(?:u00(..)|.)/g, (escape: string, code: string | undefined) =>
    code === undefined ? escape : `\\u00${code.toUpperCase()}`,
  )
}

function dateJson(value: DuckDBDateValue): string {
  return value.isFinite ? `"${dayText(value.days)}"` : 'null'
}

function timestampJson({ isFinite, micros }: DuckDBTimestampValue): string {
  if (!isFinite) return 'null'
  const usual = formatTimestamp(micros)
  if (usual !== undefined) return `"${usual}"`
  const ofDay = ((micros % dayMicros) + dayMicros) % dayMicros
  const time = formatTimestamp(ofDay)?.slice('1970-01-01'.length)
  return `"${dayText(Number((micros - ofDay) / dayMicros))}${time}"`
}

const dayMicros = 86_400_000_000n

/** As SQL writes it. The binding writes all days but those of one year in the same way: it calls 1 BC the year 0. */
function dayText(days: number): string {
  return formatDay(days) ?? new DuckDBDateValue(days).toString().replace(/^0000(.*)$/, '0001$1 (BC)')
}

function decimalJson(value: DuckDBDecimalValue): string {
  const text = value.toString()
  const digits = (value.scale > 0 ? text.replace(/0+$/, '') : text).replaceAll(/[-.]/g, '').replace(/^0+/, '')
  return digits.length <= decimalDigits ? text : `"${text}"`
}
