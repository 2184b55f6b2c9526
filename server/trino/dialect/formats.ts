import { csvCell, csvCellOfJson, csvRecord } from '../../../api/csv.ts'
import type { Column, ColumnType } from '../../engine/index.ts'
import { jsonEncoder } from './values.ts'

/** Rows as bytes, in the formats that are lines of text: as `Engine.stream` of DuckDB makes them. */
export type TextFormat = 'json' | 'ndjson' | 'csv'
export type RowEncoder = { start: Buffer | null; rows(rows: unknown[][]): Buffer }

type Shape = { columns: Column[]; types: ColumnType[] }

export function rowEncoder({ columns, types }: Shape, format: TextFormat): RowEncoder {
  const encoders = types.map(jsonEncoder)
  if (format === 'csv') {
    const isText = types.map((type) => type.kind === 'scalar' && type.name === 'VARCHAR')
    const cell = (value: unknown, index: number): string => {
      if (value === null || value === undefined) return ''
      return isText[index] === true ? csvCell(value as string) : csvCellOfJson(encoders[index]?.(value) ?? '')
    }
    return {
      start: Buffer.from(csvRecord(columns.map(({ name }) => csvCell(name)))),
      rows: (rows) => Buffer.from(rows.map((row) => csvRecord(row.map(cell))).join('')),
    }
  }
  const labels = columns.map(({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  const object = (row: unknown[]): string =>
    `${row.map((value, index) => `${labels[index]}${encoders[index]?.(value) ?? 'null'}`).join('')}}`
  return format === 'ndjson'
    ? { start: null, rows: (rows) => Buffer.from(rows.map((row) => `${object(row)}\n`).join('')) }
    : { start: null, rows: (rows) => Buffer.from(rows.map(object).join(',')) }
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
