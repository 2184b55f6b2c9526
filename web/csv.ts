import { sayValue } from './text/words.ts'

/** A spreadsheet would run what begins like a formula; an apostrophe before it is shown by none. */
export function csvValue(value: unknown): string {
  const runs = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) && !/^-?\d+(\.\d+)?$/.test(value)
  const text = runs ? `'${value}` : sayValue(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
