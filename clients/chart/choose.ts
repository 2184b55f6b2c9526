import { numberOf, timeOf } from './values.ts'

/** As `chart` of a query in the API. */
export type Chart = {
  type: 'bar' | 'line' | 'area' | 'scatter' | 'pie'
  x: string
  y: string[]
  series: string | null
  stacked: boolean
}

export type ChartKind = 'number' | 'time' | 'text' | 'other'
export type ChartColumn = { name: string; kind: ChartKind }
type Row = Record<string, unknown>

/** More bars than this are no longer told apart, more lines neither. */
const mostBars = 60
const mostSeries = 12
const mostLines = 4
/** Numbers are of one size as long as the largest of each differ by no more than this. */
const sameSize = 4
/** So many rows tell the shape of a result. */
const telling = 2_000

/**
 * What draws a result, by the kinds of its columns and the shape of its rows; null where nothing can be drawn well. Of
 * several numbers those that the question names are drawn.
 */
export function chooseChart(columns: ChartColumn[], rows: Row[], question = ''): Chart | null {
  if (rows.length < 2) return null
  const some = rows.slice(0, telling)
  const numbers = columns.filter(({ name, kind }) => kind === 'number' && !isIdentifier(name))
  const time = columns.find(({ name, kind }) => kind === 'time' || (kind === 'number' && isYear(name)))
  const values = measuresAsked(
    numbers.filter(({ name }) => name !== time?.name),
    question,
  )
  const names = columns.filter(({ kind }) => kind === 'text')
  if (time !== undefined && values.length > 0) return alongTime(time, { names, values, some })
  const [name] = names
  if (name !== undefined && values.length > 0) return byName(name, { names, values, some, count: rows.length })
  // Nothing but numbers: whether the second goes with the first.
  const [first, second] = values
  if (first !== undefined && second !== undefined) return plain('scatter', first.name, [second.name])
  return values.length > 0 ? null : ofCounts(columns, some)
}

/** The numbers that a question names, in its order; all where it names none. */
function measuresAsked(numbers: ChartColumn[], question: string): ChartColumn[] {
  const asked = wordsOf(question)
  const placed = numbers.flatMap((column) => {
    const places = wordsOf(column.name).map((word) => asked.indexOf(word))
    const found = places.filter((place) => place !== -1)
    return found.length === 0 ? [] : [{ column, share: found.length / places.length, at: Math.min(...found) }]
  })
  // "Average price" names the average price, and the price only in part.
  const best = Math.max(0, ...placed.map(({ share }) => share))
  const named = placed.filter(({ share }) => share === best).sort((a, b) => a.at - b.at)
  return named.length === 0 ? numbers : named.map(({ column }) => column)
}

/** Words of a question or of a column's name, in the singular. */
function wordsOf(text: string): string[] {
  const parted = text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return (parted.match(/\p{L}+/gu) ?? []).map((word) =>
    /[^s]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word,
  )
}

/** Nothing is measured: how often each value is there. */
function ofCounts(columns: ChartColumn[], some: Row[]): Chart | null {
  const repeats = ({ name }: ChartColumn): boolean => distinct(some, name) < some.length && distinct(some, name) > 1
  const time = columns.find((column) => column.kind === 'time' && repeats(column))
  if (time !== undefined) return plain('line', time.name, [])
  const name = columns.find(
    (column) => column.kind === 'text' && repeats(column) && distinct(some, column.name) <= mostBars,
  )
  return name === undefined ? null : plain('bar', name.name, [])
}

type Found = { names: ChartColumn[]; values: ChartColumn[]; some: Row[] }

function alongTime(time: ChartColumn, { names, values, some }: Found): Chart {
  const repeats = distinct(some, time.name) < some.length
  const series = names.find(({ name }) => distinct(some, name) > 1 && distinct(some, name) <= mostSeries)
  const [first] = values
  if (repeats && series !== undefined && first !== undefined) {
    return { ...plain('line', time.name, [first.name]), series: series.name }
  }
  return plain('line', time.name, alike(values, some))
}

function byName(name: ChartColumn, { names, values, some, count }: Found & { count: number }): Chart | null {
  const [first] = values
  if (first === undefined) return null
  const many = distinct(some, name.name)
  const other = names.find(
    (each) => each !== name && distinct(some, each.name) > 1 && distinct(some, each.name) <= mostSeries,
  )
  if (many < some.length && other !== undefined && many <= mostBars) {
    return { ...plain('bar', name.name, [first.name]), series: other.name }
  }
  return many <= mostBars && (many < some.length || count <= mostBars)
    ? plain('bar', name.name, alike(values, some))
    : null
}

/** Only what is of one size is drawn on one scale: revenue beside a number of orders would flatten the one. */
function alike(values: ChartColumn[], some: Row[]): string[] {
  const size = ({ name }: ChartColumn): number => Math.max(0, ...some.map((row) => Math.abs(numberOf(row[name]) ?? 0)))
  const [first, ...others] = values
  if (first === undefined) return []
  const own = size(first)
  const fitting = others.filter((each) => size(each) >= own / sameSize && size(each) <= own * sameSize)
  return [first, ...fitting].slice(0, mostLines).map(({ name }) => name)
}

function plain(type: Chart['type'], x: string, y: string[]): Chart {
  return { type, x, y, series: null, stacked: false }
}

function distinct(rows: Row[], name: string): number {
  return new Set(rows.map((row) => String(row[name]))).size
}

/** A number that names a thing measures nothing. */
function isIdentifier(name: string): boolean {
  return /(^|_)id$/i.test(name)
}

function isYear(name: string): boolean {
  return /(^|_)year$/i.test(name)
}

/** The kinds of columns that came without their types. */
export function kindsOf(names: string[], rows: Row[]): ChartColumn[] {
  const some = rows.slice(0, telling)
  return names.map((name) => {
    const values = some.map((row) => row[name]).filter((value) => value !== null && value !== undefined)
    const all = (test: (value: unknown) => boolean): boolean => values.length > 0 && values.every(test)
    if (all((value) => typeof value === 'number')) return { name, kind: 'number' }
    if (all((value) => timeOf(value) !== null)) return { name, kind: 'time' }
    return { name, kind: all((value) => typeof value === 'string') ? 'text' : 'other' }
  })
}

/** Whether a chart says what the rows say, so that it can stand for them: nothing left out, nothing added up. */
export function isTelling({ type, x, series }: Chart, columns: ChartColumn[], rows: Row[]): boolean {
  if (columns.some(({ name, kind }) => kind !== 'number' && name !== x && name !== series)) return false
  if (type === 'scatter') return true
  const places = new Set(rows.map((row) => JSON.stringify([row[x], series === null ? null : row[series]])))
  return places.size === rows.length
}

/**
 * The chart as it was set, as far as the result still has its columns; else the one that fits. A question that names
 * other numbers than the chart has them drawn instead.
 */
export function chartFor(set: Chart | null, columns: ChartColumn[], rows: Row[], question = ''): Chart | null {
  const has = (name: string): boolean => columns.some((column) => column.name === name)
  if (set === null || !has(set.x)) return chooseChart(columns, rows, question)
  const drawn = set.y.filter(has)
  if (drawn.length === 0 && set.y.length > 0) return chooseChart(columns, rows, question)
  const numbers = columns.filter(({ name, kind }) => kind === 'number' && name !== set.x && !isIdentifier(name))
  const asked = measuresAsked(numbers, question).map(({ name }) => name)
  const isNamed = asked.length < numbers.length && drawn.length > 0 && !drawn.some((name) => asked.includes(name))
  const y = isNamed ? asked : drawn
  return { ...set, y, series: set.series !== null && has(set.series) ? set.series : null }
}
