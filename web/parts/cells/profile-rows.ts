import { sayValue } from '../../text/words.ts'
import { isNothing, kindOf } from './cell-text.ts'
import type { ColumnProfile, GridColumn, GridRow } from './model.ts'

const mostTopValues = 10
const mostBars = 20

/** So many rows are counted in a few milliseconds. */
const rowsAtOnce = 10_000

/**
 * The profile of a column of the rows at hand, in the words of the service's own profiles. It stops every few thousand
 * rows, for whoever has something else to do between them.
 */
export function* countColumn(rows: GridRow[], { name, type }: GridColumn): Generator<undefined, ColumnProfile> {
  const kind = kindOf(type)
  const counts = new Map<string, number>()
  const numbers: number[] = []
  let nulls = 0
  for (const [at, row] of rows.entries()) {
    if (at % rowsAtOnce === rowsAtOnce - 1) yield undefined
    const value = row[name]
    if (isNothing(value)) {
      nulls += 1
      continue
    }
    const text = sayValue(value)
    counts.set(text, (counts.get(text) ?? 0) + 1)
    if (kind === 'number') numbers.push(Number(value))
  }
  const [min, max] = kind === 'number' ? endsOf(numbers) : endsOf(counts.keys())
  return {
    name,
    type,
    null_count: nulls,
    distinct_count: counts.size,
    distinct_is_exact: true,
    min: kind === 'object' || min === undefined ? null : String(min),
    max: kind === 'object' || max === undefined ? null : String(max),
    top_values: kind === 'object' ? [] : topOf(counts),
    histogram: kind === 'number' ? barsOf(numbers, counts.size) : [],
    looks_like: null,
  }
}

function endsOf<Value extends number | string>(values: Iterable<Value>): [Value | undefined, Value | undefined] {
  let [least, most]: [Value | undefined, Value | undefined] = [undefined, undefined]
  for (const value of values) {
    if (least === undefined || value < least) least = value
    if (most === undefined || value > most) most = value
  }
  return [least, most]
}

function topOf(counts: Map<string, number>): ColumnProfile['top_values'] {
  const top: ColumnProfile['top_values'] = []
  for (const [value, count] of counts) {
    if (top.length === mostTopValues && count <= (top.at(-1)?.count ?? 0)) continue
    const at = top.findIndex((each) => each.count < count)
    top.splice(at === -1 ? top.length : at, 0, { value, count })
    top.length = Math.min(top.length, mostTopValues)
  }
  return top
}

function barsOf(numbers: number[], distinct: number): ColumnProfile['histogram'] {
  const known = numbers.filter((number) => Number.isFinite(number))
  const [least, most] = endsOf(known)
  if (least === undefined || most === undefined || least === most) return []
  const bars = Math.min(mostBars, distinct)
  const width = (most - least) / bars
  const counts = Array.from({ length: bars }, () => 0)
  for (const number of known) {
    const at = Math.min(bars - 1, Math.floor((number - least) / width))
    counts[at] = (counts[at] ?? 0) + 1
  }
  return counts.map((count, at) => ({ from: least + at * width, to: least + (at + 1) * width, count }))
}
