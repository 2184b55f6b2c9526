import { Text } from '@mantine/core'
import { useMemo } from 'react'
import {
  chartFor,
  layOut,
  type Chart,
  type ChartColumn,
  type ChartKind,
  type Layout,
} from '../../../clients/chart/index.ts'
import { sayNumber } from '../../text/words.ts'
import { kindOf } from '../cells/cell-text.ts'
import type { GridColumn, GridRow } from '../cells/model.ts'
import { DrawnChart } from './drawn-chart.tsx'
import classes from './result-chart.module.css'

type Drawable = {
  /** As it was set; null: as the columns and rows suggest. */
  set: Chart | null
  columns: GridColumn[]
  rows: GridRow[]
  question: string | undefined
}

/** The chart of a result, and where its marks lie; null where the table says more. */
export function useChart({ set, columns, rows, question }: Drawable) {
  const known = useMemo(() => columns.map(chartColumn), [columns])
  const chart = useMemo(() => chartFor(set, known, rows, question), [set, known, rows, question])
  const layout = useMemo(() => (chart === null ? null : layOut(chart, rows)), [chart, rows])
  return { known, chart, layout }
}

/** A chart with the sentence that says what it shows. */
export function ChartFigure({ chart, layout }: { chart: Chart; layout: Layout }) {
  return (
    <figure className={classes.figure}>
      <DrawnChart chart={chart} layout={layout} />
      <figcaption>
        <Text size="xs" c="dimmed" component="span">
          {sayChart(chart, layout.isSum)}
          {layout.isCut && `, the first ${sayNumber(layout.marks.length)} of them`}
        </Text>
      </figcaption>
    </figure>
  )
}

const kinds: Partial<Record<ReturnType<typeof kindOf>, ChartKind>> = {
  number: 'number',
  time: 'time',
  date: 'time',
  text: 'text',
  boolean: 'text',
}

function chartColumn({ name, type }: GridColumn): ChartColumn {
  return { name, kind: kinds[kindOf(type)] ?? 'other' }
}

function sayChart({ type, x, y, series }: Chart, isSum: boolean): string {
  const what = y.length === 0 ? 'How many rows' : `${isSum ? 'Sum of ' : ''}${y.join(', ')}`
  return `${what} by ${x}${series === null || type === 'pie' ? '' : `, one for each ${series}`}`
}
