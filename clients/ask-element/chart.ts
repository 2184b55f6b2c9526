import { arcsOf, chartFor, isTelling, layOut, type Chart, type ChartColumn, type Layout } from '../chart/index.ts'
import { makeSvg } from './dom.ts'
import type { Row } from './service.ts'
import { textOf, titleOf, type Column } from './values.ts'

/** More bars than this are no longer read beside an answer. */
const maxBars = 40

/** What is drawn over what, and its points. */
export type Plan = { chart: Chart; layout: Layout; value: string; label: string }

const kinds: Record<Column['kind'], ChartColumn['kind']> = { number: 'number', day: 'time', text: 'text' }

/** How rows are drawn: as the author of the query set it, else as fits; null where a table says more. */
export function planChart(
  rows: Row[],
  columns: Column[],
  { set, question }: { set: Chart | null; question: string },
): Plan | null {
  const known = columns.map(({ name, kind }) => ({ name, kind: kinds[kind] }))
  const chart = chartFor(set, known, rows, question)
  if (chart === null || (set === null && !isTelling(chart, known, rows))) return null
  const layout = layOut(chart, rows)
  if (layout.isCut || (chart.type === 'bar' && layout.marks.length * layout.lines.length > maxBars)) return null
  const value = chart.y.length === 0 ? 'Rows' : chart.y.map(titleOf).join(', ')
  return { chart, layout, value, label: titleOf(chart.x) }
}

/** For ears: what the picture shows, in a sentence. */
export function summaryOf({ layout, value, label }: Plan, language: string): string {
  const points = layout.lines.flatMap(({ name, values }) =>
    values.flatMap((number, at) => (number === null ? [] : [{ number, name, mark: layout.marks[at] }])),
  )
  const sorted = points.toSorted((one, other) => one.number - other.number)
  const described = (point: (typeof points)[number] | undefined): string => {
    if (point === undefined) return ''
    const series = layout.lines.length === 1 ? '' : ` ${titleOf(point.name)}`
    return `${textOf(point.mark?.value, language)}${series} ${textOf(point.number, language)}`
  }
  return `${value} by ${label}: ${points.length} values, lowest ${described(sorted[0])}, highest ${described(sorted.at(-1))}.`
}

type Look = { language: string; roomPx: number }

/** As wide as there is room, so that its words have the size of the others. */
export function drawChart(plan: Plan, { language, roomPx }: Look): SVGElement {
  const look = { language, width: Math.min(maxWidth, Math.max(minWidth, roomPx)) }
  const { type } = plan.chart
  const draw = type === 'bar' ? drawBars : type === 'pie' ? drawShares : drawLines
  const picture = draw(plan, look)
  picture.setAttribute('role', 'img')
  picture.setAttribute('aria-label', summaryOf(plan, language))
  return picture
}

const minWidth = 280
const maxWidth = 720
/** About as wide as a letter is on average. */
const letterWidth = 8
const legendHeight = 24

type Drawn = { language: string; width: number }

/** The colour of a line: those after the sixth begin anew. */
const colour = (at: number): string => `s${at % 6}`

function title(text: string): SVGElement {
  return makeSvg('title', {}, text)
}

function word(attributes: Record<string, string | number>, text: string): SVGElement {
  return makeSvg('text', attributes, text)
}

/** Which colour is which, where there are several. */
function legend({ lines }: Layout, top: number): SVGElement[] {
  if (lines.length < 2) return []
  let left = 0
  return lines.flatMap(({ name }, at) => {
    const from = left
    const text = titleOf(name)
    left += 26 + text.length * letterWidth
    return [
      makeSvg('rect', { class: `bar ${colour(at)}`, x: from, y: top + 4, width: 12, height: 12, rx: 3 }),
      word({ class: 'label', x: from + 18, y: top + 15 }, text),
    ]
  })
}

const barHeight = 18
const valueWidth = 90

/** Across, so that names have room. */
function drawBars({ chart, layout }: Plan, { language, width }: Drawn): SVGElement {
  const labelWidth = Math.min(200, width * 0.35)
  const maxLabelChars = Math.floor((labelWidth - 10) / letterWidth)
  const { lines, marks } = layout
  const numberOf = (line: number, mark: number): number => lines[line]?.values[mark] ?? 0
  const whole = (mark: number): number => lines.reduce((sum, _, line) => sum + numberOf(line, mark), 0)
  const ends = marks.flatMap((_, mark) =>
    chart.stacked ? [whole(mark)] : lines.map((_line, at) => numberOf(at, mark)),
  )
  const [least, most] = [Math.min(0, ...ends), Math.max(0, ...ends)]
  const at = (number: number): number =>
    labelWidth + ((number - least) / (most - least || 1)) * (width - labelWidth - valueWidth)
  const rows = chart.stacked ? 1 : lines.length
  const tall = rows * barHeight + 10
  const drawn = marks.flatMap((mark, place) => {
    const top = place * tall
    const name = textOf(mark.value, language)
    const short = name.length > maxLabelChars ? `${name.slice(0, maxLabelChars - 1)}…` : name
    let from = 0
    const bars = lines.flatMap((line, row) => {
      const number = numberOf(row, place)
      const [start, end] = chart.stacked ? [from, from + number] : [0, number]
      from = end
      const [left, right] = [Math.min(at(start), at(end)), Math.max(at(start), at(end))]
      const y = top + 5 + (chart.stacked ? 0 : row * barHeight)
      const shape = { x: left, y, width: Math.max(1, right - left), height: barHeight - (rows > 1 ? 2 : 0), rx: 3 }
      const caption = `${name}, ${titleOf(line.name)}: ${textOf(number, language)}`
      const bar = makeSvg('rect', { class: `bar ${colour(row)}`, ...shape }, title(caption))
      return chart.stacked ? [bar] : [bar, word({ class: 'value', x: right + 8, y: y + 13 }, textOf(number, language))]
    })
    const middle = top + tall / 2 + 5
    const label = { class: 'label', x: labelWidth - 10, y: middle, 'text-anchor': 'end' }
    return [makeSvg('text', label, short, title(name)), ...bars]
  })
  const height = marks.length * tall
  const names = legend(layout, height)
  return makeSvg(
    'svg',
    { class: 'chart', viewBox: `0 0 ${width} ${height + (names.length > 0 ? legendHeight : 0)}` },
    ...drawn,
    ...names,
  )
}

const lineHeight = 240
const edge = { left: 70, right: 20, top: 16, bottom: 34 }

/** Lines, what is below them, or points alone. */
function drawLines({ chart, layout }: Plan, { language, width }: Drawn): SVGElement {
  const { marks, lines, axis } = layout
  const places = marks.map((mark, at) => (axis === 'name' ? at : mark.at))
  const numbers = lines.flatMap(({ values }) => values.filter((value) => value !== null))
  const [low, high] = [Math.min(0, ...numbers), Math.max(0, ...numbers)]
  const [first, last] = [Math.min(...places), Math.max(...places)]
  const x = (at: number): number =>
    edge.left + (((places[at] ?? 0) - first) / (last - first || 1)) * (width - edge.left - edge.right)
  const y = (number: number): number =>
    lineHeight - edge.bottom - ((number - low) / (high - low || 1)) * (lineHeight - edge.top - edge.bottom)
  const guides = [low, low + (high - low) / 2, high].flatMap((number) => [
    makeSvg('line', { class: 'guide', x1: edge.left, x2: width - edge.right, y1: y(number), y2: y(number) }),
    word({ class: 'label', x: edge.left - 10, y: y(number) + 4, 'text-anchor': 'end' }, textOf(number, language)),
  ])
  const ends = [0, marks.length - 1].map((at, isLast) => {
    const anchor = isLast === 0 ? 'start' : 'end'
    const label = { class: 'label', x: isLast === 0 ? edge.left : width - edge.right, y: lineHeight - 10 }
    return word({ ...label, 'text-anchor': anchor }, textOf(marks[at]?.value, language))
  })
  const drawn = lines.flatMap(({ name, values }, line) => {
    const known = values.flatMap((value, at) => (value === null ? [] : [{ value, at }]))
    const path = known.map(({ value, at }) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
    const base = `${x(known.at(-1)?.at ?? 0).toFixed(1)},${y(0).toFixed(1)} ${x(known[0]?.at ?? 0).toFixed(1)},${y(0).toFixed(1)}`
    const points = known.map(({ value, at }) => {
      const caption = `${textOf(marks[at]?.value, language)}${lines.length === 1 ? '' : `, ${titleOf(name)}`}: ${textOf(value, language)}`
      const shape = { cx: x(at), cy: y(value), r: marks.length > 60 ? 1.5 : 3.5 }
      return makeSvg('circle', { class: `point ${colour(line)}`, ...shape }, title(caption))
    })
    if (chart.type === 'scatter') return points
    const below =
      chart.type === 'area' ? [makeSvg('polygon', { class: `area ${colour(line)}`, points: `${path} ${base}` })] : []
    return [...below, makeSvg('polyline', { class: `line ${colour(line)}`, points: path }), ...points]
  })
  const names = legend(layout, lineHeight)
  const height = lineHeight + (names.length > 0 ? legendHeight : 0)
  return makeSvg('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}` }, ...guides, ...ends, ...drawn, ...names)
}

const pieSize = 200

/** Parts of a whole, the largest first, with their names beside them. */
function drawShares({ layout }: Plan, { language, width }: Drawn): SVGElement {
  const parts = layout.marks
    .map(({ value }, at) => ({ value, number: layout.lines.reduce((sum, { values }) => sum + (values[at] ?? 0), 0) }))
    .filter(({ number }) => number > 0)
    .toSorted((one, other) => other.number - one.number)
  const whole = parts.reduce((sum, { number }) => sum + number, 0) || 1
  const arcs = arcsOf(
    parts.map(({ number }) => number),
    pieSize,
  )
  const drawn = parts.flatMap(({ value, number }, at) => {
    const caption = `${textOf(value, language)}: ${textOf(number, language)}, ${Math.round((number / whole) * 100)} %`
    const top = at * 22 + 8
    return [
      makeSvg('path', { class: `part ${colour(at)}`, d: arcs[at] }, title(caption)),
      makeSvg('rect', { class: `bar ${colour(at)}`, x: pieSize + 16, y: top, width: 12, height: 12, rx: 3 }),
      word({ class: 'label', x: pieSize + 36, y: top + 11 }, caption),
    ]
  })
  const height = Math.max(pieSize, parts.length * 22 + 8)
  return makeSvg('svg', { class: 'chart', viewBox: `0 0 ${Math.max(width, 420)} ${height}` }, ...drawn)
}
