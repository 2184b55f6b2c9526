/** A line of RFC 4180. A spreadsheet would run what begins like a formula; an apostrophe before it is shown by none. */
export function csvRecord(values: ReadonlyArray<string | number | null>): string {
  return `${values.map(csvValue).join(',')}\r\n`
}

function csvValue(value: string | number | null): string {
  if (value === null) return ''
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
