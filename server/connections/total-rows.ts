/** Where an API tells how many rows there are in all. */
const headerNames = ['x-total-count', 'x-total', 'x-wp-total', 'total-count']
const key =
  /^(total|count|total_?(count|results|items|rows|records|elements|hits)|num_?found|records_?total|filtered_table_rows_count)$/i
const maxDepth = 3
const maxKeys = 200

/** The total that the first page of an answer names, if it does and it is more than that page itself has. */
export function totalRows(headers: Record<string, string>, body: unknown, pageRows: number): number | null {
  const ranged = /\/(\d{1,15})$/.exec(headers['content-range'] ?? '')?.[1]
  for (const text of [...headerNames.map((name) => headers[name]), ranged]) {
    const count = text === undefined ? Number.NaN : Number(text)
    if (Number.isSafeInteger(count) && count >= pageRows) return count
  }
  return totalIn(body, pageRows, 0)
}

function totalIn(value: unknown, pageRows: number, depth: number): number | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth > maxDepth) return null
  const entries = Object.entries(value).slice(0, maxKeys)
  for (const [name, found] of entries) {
    const count = typeof found === 'object' && found !== null && 'value' in found ? found.value : found
    // As many as the page has may well be the number of rows of the page.
    if (key.test(name) && typeof count === 'number' && Number.isSafeInteger(count) && count > pageRows) return count
  }
  for (const [, found] of entries) {
    const count = totalIn(found, pageRows, depth + 1)
    if (count !== null) return count
  }
  return null
}
