import { isNumeric, sayValue } from '../../text/words.ts'
import type { GridColumn, GridRow } from './model.ts'

export type ColumnKind = 'number' | 'time' | 'date' | 'boolean' | 'object' | 'text'

export function kindOf(type: string): ColumnKind {
  const plain = type.toUpperCase()
  if (isNumeric(plain)) return 'number'
  if (plain.startsWith('TIMESTAMP')) return 'time'
  if (plain === 'DATE') return 'date'
  if (plain === 'BOOLEAN') return 'boolean'
  return plain === 'JSON' || plain.endsWith(']') || /^(STRUCT|MAP)/.test(plain) ? 'object' : 'text'
}

/** How the values of a column are written, so that they stand under one another. */
export type CellFormat = { kind: ColumnKind; say: (value: unknown) => string }

/** So many rows tell how many digits there are behind the point. */
const telling = 200
const mostDigits = 6

export function formatOf(column: GridColumn, some: Array<GridRow | undefined>): CellFormat {
  const kind = kindOf(column.type)
  if (kind === 'number') return { kind, say: numberFormat(column, some) }
  if (kind === 'time') return { kind, say: (value) => (typeof value === 'string' ? sayMoment(value) : sayValue(value)) }
  return { kind, say: sayValue }
}

function numberFormat({ name }: GridColumn, some: Array<GridRow | undefined>): (value: unknown) => string {
  const values = some.slice(0, telling).map((row) => row?.[name])
  const digits = Math.min(
    mostDigits,
    values.reduce<number>((most, value) => Math.max(most, digitsOf(value)), 0),
  )
  const format = new Intl.NumberFormat('en', {
    useGrouping: !namesThing(name),
    minimumFractionDigits: digits,
    maximumFractionDigits: mostDigits,
  })
  return (value) => {
    if (typeof value === 'number') return Number.isFinite(value) ? format.format(value) : String(value)
    // A number too large for JavaScript comes as text, and keeps every digit.
    return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)
      ? grouped(value, !namesThing(name))
      : sayValue(value)
  }
}

function digitsOf(value: unknown): number {
  if (typeof value !== 'number' || Number.isInteger(value)) return 0
  const text = String(value)
  return text.includes('e') ? mostDigits : text.length - text.indexOf('.') - 1
}

function grouped(text: string, isGrouped: boolean): string {
  return isGrouped
    ? text.replace(/^(-?)(\d+)/, (_, sign: string, whole: string) => sign + BigInt(whole).toLocaleString('en'))
    : text
}

/** A number that names a thing, or a year, is read as it is written. */
export function namesThing(name: string): boolean {
  return /(^|_)(id|no|nr|number|code|zip|year|phone|pin|sku)$/i.test(name) || /[a-z]I[dD]$/.test(name)
}

const inZone = new Intl.DateTimeFormat('en-CA', {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

/** By the clock of who reads it, in an order that sorts. */
export function sayMoment(iso: string): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return iso
  const parts = Object.fromEntries(inZone.formatToParts(date).map(({ type, value }) => [type, value]))
  const { year = '', month = '', day = '', hour = '', minute = '', second = '' } = parts
  return `${year}-${month}-${day} ${hour}:${minute}:${second}`
}

export function zoneName(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

export function isNothing(value: unknown): boolean {
  return value === null || value === undefined
}

const momentText = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/
const dayText = /^\d{4}-\d\d-\d\d$/

/** The columns of rows that came without their types: JSON says of a value whether it is a number, and no more. */
export function columnsOf(rows: GridRow[]): GridColumn[] {
  const some = rows.slice(0, telling)
  return Object.keys(rows[0] ?? {}).map((name) => {
    const values = some.map((row) => row[name]).filter((value) => !isNothing(value))
    const all = (test: (value: unknown) => boolean): boolean => values.length > 0 && values.every(test)
    const isText = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value)
    if (all((value) => typeof value === 'number')) {
      return { name, type: all((value) => Number.isInteger(value)) ? 'BIGINT' : 'DOUBLE' }
    }
    if (all((value) => typeof value === 'boolean')) return { name, type: 'BOOLEAN' }
    if (all(isText(momentText))) return { name, type: 'TIMESTAMP' }
    if (all(isText(dayText))) return { name, type: 'DATE' }
    return { name, type: values.length === 0 || all((value) => typeof value === 'string') ? 'VARCHAR' : 'JSON' }
  })
}
