/** A text as a cell of CSV (RFC 4180). NULL is an empty cell, an empty text is `""`. */
export function csvCell(text: string | null | undefined): string {
  if (text === null || text === undefined) return ''
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A JSON value as a cell: a string without its quotes, everything else with the digits that it is written with. */
export function csvCellOfJson(json: string): string {
  if (json === 'null') return ''
  return csvCell(json.startsWith('"') ? String(JSON.parse(json)) : json)
}

/** A cell for spreadsheets, which would run a text that begins like a formula: they do not show an apostrophe before it. */
export function spreadsheetCell(text: string | null | undefined): string {
  return csvCell(text === null || text === undefined ? text : spreadsheetText(text))
}

/** The same for cells that are pasted. */
export function spreadsheetText(text: string): string {
  const isFormula = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(text)
  return isFormula ? `'${text}` : text
}

/** One line, with its end. */
export function csvRecord(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`
}
