import { Button, Checkbox, Group, MultiSelect, Select, Skeleton, Text } from '@mantine/core'
import { lazy, Suspense, useMemo } from 'react'
import { chartFor, layOut, type Chart, type ChartColumn, type ChartKind } from '../../../clients/chart/index.ts'
import { sayNumber } from '../../text/words.ts'
import { kindOf } from '../cells/cell-text.ts'
import type { GridColumn, GridRow } from '../cells/model.ts'
import classes from './result-chart.module.css'

const DrawnChart = lazy(async () => ({ default: (await import('./drawn-chart.tsx')).DrawnChart }))

type Props = {
  columns: GridColumn[]
  rows: GridRow[]
  /** As it was set; null: as the columns and rows suggest. */
  chart: Chart | null
  onChange: (chart: Chart | null) => void
  /** Says where the settings made here go. */
  kept: string
  /** The question that the result answers: its measure is drawn. */
  question?: string | undefined
}

const types: Array<{ value: Chart['type']; label: string }> = [
  { value: 'bar', label: 'Bars' },
  { value: 'line', label: 'Lines' },
  { value: 'area', label: 'Areas' },
  { value: 'scatter', label: 'Points' },
  { value: 'pie', label: 'Shares' },
]

/** A result as a chart: the one that fits, or the one that was set. The rows beside it say the same. */
export function ResultChart({ columns, rows, chart: set, onChange, kept, question }: Props) {
  const known = useMemo(() => columns.map(chartColumn), [columns])
  const shown = useMemo(() => chartFor(set, known, rows, question), [set, known, rows, question])
  const layout = useMemo(() => (shown === null ? null : layOut(shown, rows)), [shown, rows])
  const first = columns[0]?.name ?? ''
  const chart: Chart = shown ?? { type: 'bar', x: first, y: [], series: null, stacked: false }
  const names = columns.map(({ name }) => name)
  const numbers = known.filter(({ kind }) => kind === 'number').map(({ name }) => name)
  const isStackable = (chart.type === 'bar' || chart.type === 'area') && (chart.y.length > 1 || chart.series !== null)
  return (
    <div className={classes.parts}>
      <fieldset className={classes.choices} aria-label="Chart">
        <Select
          size="xs"
          label="Drawn as"
          data={types}
          value={chart.type}
          onChange={(type) => onChange({ ...chart, type: types.find(({ value }) => value === type)?.value ?? 'bar' })}
        />
        <Select
          size="xs"
          label="Along"
          data={names}
          value={chart.x}
          onChange={(x) => x !== null && onChange({ ...chart, x, series: chart.series === x ? null : chart.series })}
        />
        <MultiSelect
          size="xs"
          label="Numbers"
          placeholder={chart.y.length === 0 ? 'How many rows' : ''}
          data={numbers}
          value={chart.y}
          maxValues={8}
          onChange={(y) => onChange({ ...chart, y })}
        />
        {chart.type !== 'pie' && (
          <Select
            size="xs"
            label="One for each"
            placeholder="Nothing"
            clearable
            data={names.filter((name) => name !== chart.x && !chart.y.includes(name))}
            value={chart.series}
            onChange={(series) => onChange({ ...chart, series })}
          />
        )}
        {isStackable && (
          <Checkbox
            size="xs"
            label="On one another"
            checked={chart.stacked}
            onChange={(event) => onChange({ ...chart, stacked: event.currentTarget.checked })}
          />
        )}
        <Group gap="xs" className={classes.kept ?? ''}>
          <Text size="xs" c="dimmed">
            {set === null ? 'Chosen by what the rows are.' : kept}
          </Text>
          {set !== null && (
            <Button size="compact-xs" variant="subtle" color="gray" onClick={() => onChange(null)}>
              Choose for me
            </Button>
          )}
        </Group>
      </fieldset>
      <figure className={classes.figure}>
        {shown === null || layout === null ? (
          <Text c="dimmed">No chart says more of these rows than the table. Choose what to draw to see one.</Text>
        ) : (
          <>
            <Suspense fallback={<Skeleton height={280} />}>
              <DrawnChart chart={shown} layout={layout} />
            </Suspense>
            <figcaption>
              <Text size="xs" c="dimmed" component="span">
                {sayChart(shown, layout.isSum)}
                {layout.isCut && `, the first ${sayNumber(layout.marks.length)} of them`}
              </Text>
            </figcaption>
          </>
        )}
      </figure>
    </div>
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
