import { spreadsheetCell, spreadsheetText } from '../../../api/csv.ts'
import { sayValue } from '../../text/words.ts'
import type { GridRow } from './model.ts'

export const copyForms = ['csv', 'tsv', 'markdown', 'json'] as const
export type CopyForm = (typeof copyForms)[number]

/** Rows as text that other programs take. Values are exact: separators and zones are for reading. */
export function copyText(form: CopyForm, columns: string[], rows: Array<GridRow | undefined>): string {
  if (form === 'json') {
    const picked = rows.map((row) => Object.fromEntries(columns.map((name) => [name, row?.[name] ?? null])))
    return JSON.stringify(picked, null, 2)
  }
  const lines = rows.map((row) => columns.map((name) => row?.[name]))
  if (form === 'csv') return [columns, ...lines].map((cells) => cells.map(csvValue).join(',')).join('\r\n')
  if (form === 'tsv') return [columns, ...lines].map((cells) => cells.map(tsvValue).join('\t')).join('\n')
  const table = [columns, columns.map(() => '---'), ...lines]
  return table.map((cells) => `| ${cells.map(markdownValue).join(' | ')} |`).join('\n')
}

/** A part of the rows, as a spreadsheet takes it. */
export function rangeText(columns: string[], rows: Array<GridRow | undefined>): string {
  return rows.map((row) => columns.map((name) => tsvValue(row?.[name])).join('\t')).join('\n')
}

/** A value as a cell of CSV; null is an empty one. */
export function csvValue(value: unknown): string {
  return spreadsheetCell(value === null || value === undefined ? null : sayValue(value))
}

function tsvValue(value: unknown): string {
  return spreadsheetText(sayValue(value).replaceAll(/[\t\r\n]+/g, ' '))
}

function markdownValue(value: unknown): string {
  return sayValue(value)
    .replaceAll('|', '\\|')
    .replaceAll(/\s*\n\s*/g, ' ')
}
