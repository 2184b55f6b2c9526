import type { Chart } from '../../../clients/chart/index.ts'
import { formatOf, kindOf } from '../../parts/cells/cell-text.ts'
import type { GridColumn } from '../../parts/cells/model.ts'
import { sayCount } from '../../text/words.ts'

type Row = Record<string, unknown>
type Answer = { rows: Row[]; columns: GridColumn[]; isTruncated: boolean; chart: Chart | null }

/** Values of one row that fit into a sentence. */
export const mostNamed = 4

/**
 * The rows in one sentence: the values of a single one, else how many there are and the largest of what is drawn. Nothing
 * is added up: whether a sum of averages or shares means anything, rows do not say.
 */
export function answerSentence({ rows, columns, isTruncated, chart }: Answer): string {
  const [first] = rows
  if (first === undefined) return 'No row matches.'
  const say = (row: Row, name: string): string => {
    const column = columns.find((each) => each.name === name)
    return column === undefined ? '' : formatOf(column, rows).say(row[name])
  }
  if (rows.length === 1) {
    const named = columns.slice(0, mostNamed).map(({ name }) => `${titleOf(name)} ${say(first, name)}`)
    return `${sentenceCase(named.join(', '))}.`
  }
  const count = isTruncated ? `The first ${sayCount(rows.length, 'row')}` : sayCount(rows.length, 'row')
  const measure = chart?.y[0]
  const isPlain = chart !== null && chart.series === null && measure !== undefined
  // The largest of a part may not be the largest of all.
  if (!isPlain || isTruncated || new Set(rows.map((row) => row[chart.x])).size < rows.length) return `${count}.`
  const largest = largestOf(rows, measure)
  if (largest === null) return `${count}.`
  const at = columns.find(({ name }) => name === chart.x)
  const isTime = at !== undefined && (kindOf(at.type) === 'time' || kindOf(at.type) === 'date')
  const where = isTime ? `on ${say(largest, chart.x)}` : say(largest, chart.x)
  return `${count}. Highest ${titleOf(measure)}: ${where}, ${say(largest, measure)}.`
}

/** The one row with the largest number; null where several share it or it is no number. */
function largestOf(rows: Row[], name: string): Row | null {
  let [best, ties]: [Row | null, number] = [null, 0]
  for (const row of rows) {
    const [value, most] = [Number(row[name] ?? Number.NaN), Number(best?.[name] ?? Number.NaN)]
    if (Number.isNaN(value)) continue
    if (best === null || value > most) [best, ties] = [row, 1]
    else if (value === most) ties += 1
  }
  return ties === 1 ? best : null
}

function titleOf(name: string): string {
  return name.replaceAll('_', ' ')
}

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
