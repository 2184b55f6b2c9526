import type { Column, ColumnType } from '../../data/index.ts'
import { jsonEncoder } from './values.ts'

/** Rows as bytes, in the formats that are lines of text: as `Engine.stream` of DuckDB makes them. */
export type TextFormat = 'json' | 'ndjson' | 'csv'
export type RowEncoder = { start: Buffer | null; rows(rows: unknown[][]): Buffer }

type Shape = { columns: Column[]; types: ColumnType[] }

export function rowEncoder({ columns, types }: Shape, format: TextFormat): RowEncoder {
  const encoders = types.map(jsonEncoder)
  if (format === 'csv') {
    const isText = types.map((type) => type.kind === 'scalar' && type.name === 'VARCHAR')
    const line = (row: unknown[]): string =>
      row
        .map((value, index) => {
          if (value === null || value === undefined) return ''
          return csvCell(isText[index] === true ? (value as string) : unquoted(encoders[index]?.(value) ?? ''))
        })
        .join(',')
    return {
      start: Buffer.from(`${columns.map(({ name }) => csvCell(name) ?? '').join(',')}\r\n`),
      rows: (rows) => Buffer.from(rows.map((row) => `${line(row)}\r\n`).join('')),
    }
  }
  const labels = columns.map(({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  const object = (row: unknown[]): string =>
    `${row.map((value, index) => `${labels[index]}${encoders[index]?.(value) ?? 'null'}`).join('')}}`
  return format === 'ndjson'
    ? { start: null, rows: (rows) => Buffer.from(rows.map((row) => `${object(row)}\n`).join('')) }
    : { start: null, rows: (rows) => Buffer.from(rows.map(object).join(',')) }
}

/** A value as it stands in JSON, without the quotes of a plain string; null for what has no cell. */
function unquoted(json: string): string | null {
  if (json === 'null') return null
  return json.startsWith('"') ? String(JSON.parse(json)) : json
}

/** RFC 4180. NULL is an empty cell, an empty text is `""`. */
function csvCell(text: string | null): string {
  if (text === null) return ''
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** As DuckDB's are: a name that comes twice gets a number. */
export function namedOnce(names: string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    let unique = name
    for (let count = 1; taken.has(unique); count += 1) unique = `${name}_${count}`
    taken.add(unique)
    return unique
  })
}
