import { makeSvg } from './dom.ts'
import type { Row } from './service.ts'
import { textOf, type Column } from './values.ts'

const maxBars = 30
const maxPoints = 1_000

/** What is drawn over what: a name or a day, and one number. */
export type Plan = { kind: 'bars' | 'line'; label: Column; value: Column }

/** How rows are drawn; null where a table says more. */
export function planChart(rows: Row[], columns: Column[]): Plan | null {
  const numbers = columns.filter(({ kind }) => kind === 'number')
  const labels = columns.filter(({ kind }) => kind !== 'number')
  const [label] = labels
  const value = numbers.at(-1)
  if (label === undefined || value === undefined || labels.length > 1 || rows.length < 2) return null
  if (numbers.length > 2 || new Set(rows.map((row) => row[label.name])).size < rows.length) return null
  if (label.kind === 'day') return rows.length <= maxPoints ? { kind: 'line', label, value } : null
  return rows.length <= maxBars ? { kind: 'bars', label, value } : null
}

/** For ears: what the picture shows, in a sentence. */
export function summaryOf(rows: Row[], { label, value }: Plan, language: string): string {
  const sorted = rows.toSorted((one, other) => Number(one[value.name]) - Number(other[value.name]))
  const told = (row: Row | undefined): string =>
    row === undefined ? '' : `${textOf(row[label.name], language)} ${textOf(row[value.name], language)}`
  return `${value.title} by ${label.title}: ${rows.length} values, lowest ${told(sorted[0])}, highest ${told(sorted.at(-1))}.`
}

type Look = { language: string; roomPx: number }

/** As wide as there is room, so that its words have the size of the others. */
export function drawChart(rows: Row[], plan: Plan, { language, roomPx }: Look): SVGElement {
  const look = { language, width: Math.min(maxWidth, Math.max(minWidth, roomPx)) }
  const picture = plan.kind === 'bars' ? drawBars(rows, plan, look) : drawLine(rows, plan, look)
  picture.setAttribute('role', 'img')
  picture.setAttribute('aria-label', summaryOf(rows, plan, language))
  return picture
}

const minWidth = 280
const maxWidth = 720
const barHeight = 28
const valueWidth = 90
/** About as wide as a letter is on average. */
const letterWidth = 8

type Drawn = { language: string; width: number }

/** Across, so that names have room. */
function drawBars(rows: Row[], { label, value }: Plan, { language, width }: Drawn): SVGElement {
  const labelWidth = Math.min(200, width * 0.35)
  const maxLabelChars = Math.floor((labelWidth - 10) / letterWidth)
  const numbers = rows.map((row) => Number(row[value.name] ?? 0))
  const [least, most] = [Math.min(0, ...numbers), Math.max(0, ...numbers)]
  const span = most - least || 1
  const room = width - labelWidth - valueWidth
  const at = (number: number): number => labelWidth + ((number - least) / span) * room
  const bars = rows.flatMap((row, index) => {
    const number = numbers[index] ?? 0
    const top = index * barHeight
    const [from, to] = [Math.min(at(0), at(number)), Math.max(at(0), at(number))]
    const name = textOf(row[label.name], language)
    const short = name.length > maxLabelChars ? `${name.slice(0, maxLabelChars - 1)}…` : name
    return [
      makeSvg('text', { class: 'label', x: labelWidth - 10, y: top + 18, 'text-anchor': 'end' }, short, title(name)),
      makeSvg('rect', { class: 'bar', x: from, y: top + 5, width: Math.max(1, to - from), height: 18, rx: 3 }),
      makeSvg('text', { class: 'value', x: to + 8, y: top + 18 }, textOf(row[value.name], language)),
    ]
  })
  return makeSvg('svg', { class: 'chart', viewBox: `0 0 ${width} ${rows.length * barHeight}` }, ...bars)
}

function title(text: string): SVGElement {
  return makeSvg('title', {}, text)
}

const lineHeight = 240
const edge = { left: 70, right: 20, top: 16, bottom: 34 }

function drawLine(rows: Row[], { label, value }: Plan, { language, width }: Drawn): SVGElement {
  const points = rows
    .map((row) => ({ time: Date.parse(String(row[label.name])), number: Number(row[value.name]), row }))
    .filter(({ time, number }) => Number.isFinite(time) && Number.isFinite(number))
    .sort((one, other) => one.time - other.time)
  const numbers = points.map(({ number }) => number)
  const [low, high] = [Math.min(0, ...numbers), Math.max(0, ...numbers)]
  const [first, last] = [points[0]?.time ?? 0, points.at(-1)?.time ?? 0]
  const [spanX, spanY] = [last - first || 1, high - low || 1]
  const x = (time: number): number => edge.left + ((time - first) / spanX) * (width - edge.left - edge.right)
  const y = (number: number): number =>
    lineHeight - edge.bottom - ((number - low) / spanY) * (lineHeight - edge.top - edge.bottom)
  const guides = [low, low + spanY / 2, high].flatMap((number) => [
    makeSvg('line', { class: 'guide', x1: edge.left, x2: width - edge.right, y1: y(number), y2: y(number) }),
    makeSvg(
      'text',
      { class: 'label', x: edge.left - 10, y: y(number) + 4, 'text-anchor': 'end' },
      textOf(number, language),
    ),
  ])
  const ends = [points[0], points.at(-1)].map((point, at) =>
    makeSvg(
      'text',
      {
        class: 'label',
        x: at === 0 ? edge.left : width - edge.right,
        y: lineHeight - 10,
        'text-anchor': at === 0 ? 'start' : 'end',
      },
      textOf(point?.row[label.name], language),
    ),
  )
  const path = points.map(({ time, number }) => `${x(time).toFixed(1)},${y(number).toFixed(1)}`).join(' ')
  const marks = points.map(({ time, number, row }) =>
    makeSvg(
      'circle',
      { class: 'point', cx: x(time), cy: y(number), r: points.length > 60 ? 1.5 : 3.5 },
      title(`${textOf(row[label.name], language)}: ${textOf(number, language)}`),
    ),
  )
  const line = makeSvg('polyline', { class: 'line', points: path })
  return makeSvg('svg', { class: 'chart', viewBox: `0 0 ${width} ${lineHeight}` }, ...guides, ...ends, line, ...marks)
}
