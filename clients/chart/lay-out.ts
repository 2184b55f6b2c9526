import type { Chart } from './choose.ts'
import { numberOf, textOf, timeOf } from './values.ts'

type Row = Record<string, unknown>

/** One line, one colour: a column, or one value of the column that makes series. */
export type LayoutLine = { name: string; values: Array<number | null> }

export type Layout = {
  /** What stands along the axis, once each, and where it is on it: a time, a number, or its place. */
  marks: Array<{ label: string; at: number; value: unknown }>
  axis: 'time' | 'number' | 'name'
  lines: LayoutLine[]
  /** Whether numbers of several rows are one point. */
  isSum: boolean
  /** Whether there was more than is drawn. */
  isCut: boolean
}

const mostMarks = 1_000
const mostSeries = 12
const rowsCounted = 'rows'

/** The points of a chart: values of one mark and one line are added up. */
export function layOut({ type, x, y, series }: Chart, rows: Row[]): Layout {
  const axis = axisOf(rows, x, type)
  const marks = new Map<string, { label: string; at: number; value: unknown }>()
  const lines = new Map<string, Map<string, number>>()
  let isCut = false
  let isSum = false
  for (const [place, row] of rows.entries()) {
    const label = textOf(row[x])
    // Points of a cloud are not added up.
    const key = type === 'scatter' ? String(place) : label
    if (!marks.has(key)) {
      if (marks.size === mostMarks) {
        isCut = true
        continue
      }
      marks.set(key, { label, at: placeOf(row[x], axis) ?? marks.size, value: row[x] })
    }
    for (const column of y.length === 0 ? [rowsCounted] : y) {
      const number = y.length === 0 ? 1 : numberOf(row[column])
      const name = series === null ? column : y.length > 1 ? `${textOf(row[series])}, ${column}` : textOf(row[series])
      const line = lines.get(name) ?? new Map<string, number>()
      if (!lines.has(name)) {
        if (lines.size === mostSeries) {
          isCut = true
          continue
        }
        lines.set(name, line)
      }
      if (number === null) continue
      isSum ||= line.has(key)
      line.set(key, (line.get(key) ?? 0) + number)
    }
  }
  const keys = [...marks.keys()]
  // Time and numbers go one way, however the rows are ordered; names stay as they came.
  if (axis !== 'name') keys.sort((one, other) => (marks.get(one)?.at ?? 0) - (marks.get(other)?.at ?? 0))
  return {
    axis,
    isSum,
    isCut,
    marks: keys.flatMap((key) => marks.get(key) ?? []),
    lines: [...lines].map(([name, line]) => ({ name, values: keys.map((key) => line.get(key) ?? null) })),
  }
}

function axisOf(rows: Row[], x: string, type: Chart['type']): Layout['axis'] {
  const values = rows.map((row) => row[x]).filter((value) => value !== null && value !== undefined)
  if (values.length > 0 && values.every((value) => timeOf(value) !== null)) return 'time'
  const isNumber = values.length > 0 && values.every((value) => numberOf(value) !== null)
  return isNumber && type !== 'bar' && type !== 'pie' ? 'number' : 'name'
}

function placeOf(value: unknown, axis: Layout['axis']): number | null {
  return axis === 'time' ? timeOf(value) : axis === 'number' ? numberOf(value) : null
}
