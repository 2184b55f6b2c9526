import { sayValue } from '../../text/words.ts'
import { isNothing, kindOf } from './cell-text.ts'
import type { Filter, GridColumn, GridRow, Sort, View } from './model.ts'

/** The numbers of the rows that a view shows, in its order; null for all of them as they came. */
export function orderRows(rows: GridRow[], columns: GridColumn[], { sort, filters, search }: View): Uint32Array | null {
  const wanted = search.trim().toLowerCase()
  if (sort === null && filters.length === 0 && wanted === '') return null
  const tests = filters.flatMap((filter) => {
    const column = columns.find(({ name }) => name === filter.column)
    return column === undefined ? [] : [testOf(column, filter)]
  })
  const texts = wanted === '' ? [] : searchTexts(rows, columns)
  const found = new Uint32Array(rows.length)
  let count = 0
  for (const [at, row] of rows.entries()) {
    if (wanted !== '' && texts[at]?.includes(wanted) !== true) continue
    if (!tests.every((test) => test(row))) continue
    found[count] = at
    count += 1
  }
  const matching = found.subarray(0, count)
  const along = columns.find(({ name }) => name === sort?.column)
  return sort === null || along === undefined ? matching : sorted(matching, rows, along, sort)
}

/** Each row as one text: made once for rows that are searched, however often. */
function searchTexts(rows: GridRow[], columns: GridColumn[]): string[] {
  const known = textsOf.get(rows)
  if (known !== undefined) return known
  const made = rows.map((row) =>
    columns
      .map(({ name }) => sayValue(row[name]))
      .join('\u0000')
      .toLowerCase(),
  )
  textsOf.set(rows, made)
  return made
}
const textsOf = new WeakMap<GridRow[], string[]>()

type Key = number | string | null

/** As the service sorts: numbers by size, texts by their letters as they are, what is missing last. */
function sorted(matching: Uint32Array, rows: GridRow[], column: GridColumn, { descending }: Sort): Uint32Array {
  const keys = rows.map((row) => keyOf(row[column.name], column))
  const turn = descending ? -1 : 1
  return matching.sort((one, other) => {
    const [first, second] = [keys[one] ?? null, keys[other] ?? null]
    if (first === null || second === null) return first === second ? one - other : first === null ? 1 : -1
    if (first === second) return one - other
    return first < second ? -turn : turn
  })
}

function keyOf(value: unknown, column: GridColumn): Key {
  if (isNothing(value)) return null
  const kind = kindOf(column.type)
  if (kind === 'number') {
    const number = Number(value)
    return Number.isNaN(number) ? null : number
  }
  if (kind === 'time') {
    const time = Date.parse(sayValue(value))
    return Number.isNaN(time) ? null : time
  }
  return sayValue(value)
}

function testOf(column: GridColumn, { test, value = '' }: Filter): (row: GridRow) => boolean {
  const of = (row: GridRow): unknown => row[column.name]
  const isEmpty = (row: GridRow): boolean => isNothing(of(row)) || of(row) === ''
  if (test === 'empty') return isEmpty
  if (test === 'present') return (row) => !isEmpty(row)
  if (test === 'contains') {
    const wanted = value.toLowerCase()
    return (row) => sayValue(of(row)).toLowerCase().includes(wanted)
  }
  const bound = keyOf(value, column)
  return (row) => {
    const key = keyOf(of(row), column)
    if (test === 'is_not') return key !== bound
    if (key === null || bound === null) return false
    if (test === 'is') return key === bound
    return test === 'at_least' ? key >= bound : key <= bound
  }
}
