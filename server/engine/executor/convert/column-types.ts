import { doubleDigits, kinds, texts, type Shape } from '../../../rows/index.ts'
import { positionColumn, rowColumn } from '../instance/parted.ts'
import { quoteName } from '../instance/sql-text.ts'

/** A column or part of one: its SQL type, and what must be done to the text so that DuckDB reads it without loss. */
export type Typed = {
  type: string
  /** Numbers become texts first: DuckDB reads them through a double, which has not enough digits. */
  numbersAsText: boolean
  /** Keys under another name: empty ones, and ones that differ from another only in case. */
  renames: Map<string, string>
  fields: Map<string, Typed>
  items: Typed | null
}

/** Columns of ours beside those of an answer. */
const reservedNames = [positionColumn, rowColumn]
const maxNestedFields = 1_000
/** How far inside a column values have types of their own. The engine needs twice as long with each further list. */
const maxLists = 6
const maxLevels = 24
const int64 = 2n ** 63n
/** Parquet has no wider integer: HUGEINT would be written as a double. */
const wideInteger = 'DECIMAL(38,0)'
const decimalDigits = 38

const leaf = (type: string, numbersAsText = false): Typed => {
  return { type, numbersAsText, renames: new Map(), fields: new Map(), items: null }
}

type Around = { lists: number; levels: number }

/** The narrowest type that keeps every value seen as it was sent. */
export function typeOf(shape: Shape, { lists, levels }: Around = { lists: 0, levels: 0 }): Typed {
  const seen = shape.kinds & ~kinds.null
  if (seen === 0) return leaf('VARCHAR')
  if (seen === kinds.boolean) return leaf('BOOLEAN')
  if (seen === kinds.integer) return leaf(integerType(shape))
  if ((seen & ~(kinds.integer | kinds.fraction)) === 0) return fractionType(shape)
  if (seen === kinds.text) return leaf(textType(shape))
  if (seen === kinds.array && lists < maxLists && levels < maxLevels) {
    const items = shape.items === null ? leaf('VARCHAR') : typeOf(shape.items, { lists: lists + 1, levels: levels + 1 })
    return { ...leaf(`${items.type}[]`), items }
  }
  const isRecord = seen === kinds.object && shape.fields.size > 0 && shape.fields.size <= maxNestedFields
  if (isRecord && levels < maxLevels) return structType(shape, { lists, levels: levels + 1 })
  // Mixed, an empty object, an object used as a map, or too deep inside: kept as it is, with numbers of many digits as texts.
  return leaf('JSON', hasLongNumbers(shape))
}

function hasLongNumbers({ intDigits, scale, fields, others, items }: Shape): boolean {
  if (intDigits + scale > doubleDigits || (items !== null && hasLongNumbers(items))) return true
  return [...fields.values(), ...(others === null ? [] : [others])].some(hasLongNumbers)
}

function integerType(shape: Shape): string {
  if (shape.largest < int64) return 'BIGINT'
  return shape.intDigits <= decimalDigits ? wideInteger : 'VARCHAR'
}

function fractionType({ intDigits, scale, doubleExact }: Shape): Typed {
  const width = intDigits + scale
  if (width <= doubleDigits) return leaf(`DECIMAL(18,${scale})`)
  if (doubleExact) return leaf('DOUBLE')
  return width <= decimalDigits ? leaf(`DECIMAL(38,${scale})`, true) : leaf('VARCHAR', true)
}

function textType({ texts: possible }: Shape): string {
  if (possible === 0 || possible === texts.any) return 'VARCHAR'
  if ((possible & texts.day) !== 0) return 'DATE'
  return (possible & (texts.utc | texts.local)) !== 0 ? 'TIMESTAMP' : 'TIMESTAMPTZ'
}

function structType(shape: Shape, around: Around): Typed {
  const renames = namesOf([...shape.fields.keys()], new Map())
  const fields = new Map([...shape.fields].map(([key, field]) => [key, typeOf(field, around)]))
  const members = [...fields].map(([key, { type }]) => `${quoteName(renames.get(key) ?? key)} ${type}`)
  return { ...leaf(`STRUCT(${members.join(', ')})`), renames, fields }
}

/** A column name per key: itself, or with a number where it is empty or differs from another only in case. */
export function namesOf(keys: string[], given: Map<string, string>): Map<string, string> {
  const taken = new Set([...reservedNames, ...[...given.values()].map((name) => name.toLowerCase())])
  const names = new Map<string, string>()
  for (const key of keys) {
    const known = given.get(key)
    const named = key.replaceAll('\0', '')
    const base = named === '' ? 'column' : named
    let name = known ?? base
    if (known === undefined) for (let count = 1; taken.has(name.toLowerCase()); count += 1) name = `${base}_${count}`
    taken.add(name.toLowerCase())
    names.set(key, name)
  }
  return names
}

/**
 * The type of a column by its values: no wider than they need, however wide it was before. Where there is no value it stays
 * what it was. Numbers, days and texts that are joined by words of another kind become texts, not JSON.
 */
export function typeAfter(shape: Shape, before: string | null): Typed {
  const seen = shape.kinds & ~kinds.null
  if (seen === 0) return leaf(before ?? 'VARCHAR')
  // Lists without members say nothing about these.
  const isEmptyList = seen === kinds.array && (shape.items === null || isUnseen(shape.items))
  if (isEmptyList && before?.endsWith('[]') === true) return leaf(before)
  const found = typeOf(shape)
  const isScalar = (seen & (kinds.object | kinds.array)) === 0
  if (found.type !== 'JSON' || !isScalar || before === null || before === 'JSON') return found
  // A whole number reads as the text it was; a fraction would lose its last zeros.
  return leaf('VARCHAR', (seen & kinds.fraction) !== 0)
}

/** Whether no value was seen, so that nothing is known of the column but its name. */
export function isUnseen(shape: Shape): boolean {
  return (shape.kinds & ~kinds.null) === 0
}
