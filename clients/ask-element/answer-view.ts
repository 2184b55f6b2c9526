import type { Chart } from '../chart/index.ts'
import { drawChart, planChart } from './chart.ts'
import { button, make } from './dom.ts'
import type { Row } from './service.ts'
import { say, type Texts } from './texts.ts'
import { columnsOf, textOf, type Column } from './values.ts'

export type View = 'auto' | 'table' | 'chart'
type Shown = {
  rows: Row[]
  truncated: boolean
  /** As the author of the query draws it. */
  set: Chart | null
  /** Whose measure is drawn. */
  question: string
  view: View
  texts: Texts
  language: string
  roomPx: number
}

/** Rows that are put on the page at once; more on demand. */
const pageRows = 100

/** The rows as one number, a chart or a table, whichever says most; a switch where there are two ways. */
export function showRows({ rows, truncated, set, question, view, texts, language, roomPx }: Shown): HTMLElement {
  const columns = columnsOf(rows)
  const [first] = rows
  if (first === undefined) return make('p', { class: 'empty' }, texts.noRows)
  const [only] = columns
  if (rows.length === 1 && columns.length === 1 && only !== undefined) return showFigure(first, only, language)
  const count = rows.length === 1 ? texts.row : say(texts.rows, { count: textOf(rows.length, language) })
  const note = make('p', { class: 'note' }, truncated ? say(texts.truncated, { count: rows.length }) : count)
  const plan = truncated ? null : planChart(rows, columns, { set, question })
  const table = showTable(rows, columns, { texts, language })
  if (plan === null) return make('div', { part: 'answer' }, table, note)
  const chart = make('div', { class: 'picture' }, drawChart(plan, { language, roomPx }))
  const named = { value: plan.value, label: plan.label.toLowerCase() }
  const heading = make('p', { class: 'chart-title' }, say(texts.chartOf, named))
  chart.prepend(heading)
  const shown = make('div', { part: 'answer' })
  const ways = { chart, table }
  const show = (way: keyof typeof ways): void => {
    for (const [name, each] of Object.entries(switches)) each.setAttribute('aria-pressed', String(name === way))
    shown.replaceChildren(group, ways[way], note)
  }
  const switches = { chart: button(texts.chart, () => show('chart')), table: button(texts.table, () => show('table')) }
  const group = make(
    'div',
    { class: 'switch', role: 'group', 'aria-label': texts.view },
    switches.chart,
    switches.table,
  )
  show(view === 'table' ? 'table' : 'chart')
  return shown
}

function showFigure(row: Row, { name, title }: Column, language: string): HTMLElement {
  const figure = make('p', { class: 'figure' }, textOf(row[name], language))
  return make('div', { part: 'answer', class: 'single' }, make('p', { class: 'figure-title' }, title), figure)
}

function showTable(
  rows: Row[],
  columns: Column[],
  { texts, language }: { texts: Texts; language: string },
): HTMLElement {
  const head = make('tr', {}, ...columns.map(({ title, kind }) => make('th', { scope: 'col', class: kind }, title)))
  const body = make('tbody')
  const table = make('table', {}, make('caption', { class: 'hidden' }, texts.answer), make('thead', {}, head), body)
  // Reached by keyboard: what is too wide is scrolled.
  const scrolled = make('div', { class: 'scrolled', tabindex: 0, role: 'region', 'aria-label': texts.answer }, table)
  const whole = make('div', {}, scrolled)
  const more = button('', () => add(), { class: 'quiet' })
  let shown = 0
  const add = (): void => {
    for (const row of rows.slice(shown, shown + pageRows)) {
      const cells = columns.map(({ name, kind }) => make('td', { class: kind }, textOf(row[name], language)))
      body.append(make('tr', {}, ...cells))
    }
    shown = Math.min(rows.length, shown + pageRows)
    if (shown === rows.length) more.remove()
    else {
      more.textContent = say(texts.more, { count: Math.min(pageRows, rows.length - shown) })
      whole.append(more)
    }
  }
  add()
  return whole
}
