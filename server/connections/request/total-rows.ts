import type { Position } from '../../rows/index.ts'

/** Headers in which an API names its total. */
const headerNames = ['x-total-count', 'x-total', 'x-wp-total', 'total-count']
const key =
  /^(@?odata\.count|total|count|total_?(count|results|items|rows|records|elements|hits)|num_?found|records_?total|filtered_table_rows_count)$/i

/** Objects that say something about a list, beside those that the list itself is in. */
const aboutLists = /^(_?meta|metadata|pages?|paging|pagination|page_?info|info|hits|total|summary|result_?info)$/i

type Page = {
  headers: Record<string, string>
  outline: Position[]
  rowCount: number
  /** Keys on the way to its rows. */
  rowsAt: Array<string | number>
}

/** The total that a page of an answer names, if it does and it is more than that page itself has. */
export function totalRows({ headers, outline, rowCount: pageRows, rowsAt }: Page): number | null {
  const ranged = /\/(\d{1,15})$/.exec(headers['content-range'] ?? '')?.[1]
  for (const text of [...headerNames.map((name) => headers[name]), ranged]) {
    const count = text === undefined ? Number.NaN : Number(text)
    if (Number.isSafeInteger(count) && count >= pageRows) return count
  }
  const total = outline.find(({ path, value }) => {
    const isBeside = path.slice(0, -1).every((step, index) => step === rowsAt[index] || aboutLists.test(step))
    const name = path.at(-1) ?? ''
    // As many as the page has may well be the number of rows of the page.
    const isOwn = value === pageRows && (name === 'count' || pageRows === 0)
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < pageRows || isOwn || !isBeside)
      return false
    return key.test(path.at(-1) ?? '') || (path.at(-1) === 'value' && key.test(path.at(-2) ?? ''))
  })
  return typeof total?.value === 'number' ? total.value : null
}
