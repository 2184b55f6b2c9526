/** `{{new rows of orders}}` in the SQL of a merged model: the rows that came since it was last built. */
export const newRowsMark = /\{\{\s*new rows of\s+([a-z_][a-z0-9_]*)\s*\}\}/gi

/** The statement over all rows, as long as it was: what it reads and gives, and where its mistakes are. */
export function overAllRows(sql: string): string {
  return sql.replaceAll(newRowsMark, (found, table: string) => table.toLowerCase().padEnd(found.length))
}
