import { Button, Checkbox, Group, MultiSelect, Select, Text } from '@mantine/core'
import type { Chart } from '../../../clients/chart/index.ts'
import type { GridColumn, GridRow } from '../cells/model.ts'
import { ChartFigure, useChart } from './chart-figure.tsx'
import classes from './result-chart.module.css'

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
  const { known, chart: shown, layout } = useChart({ set, columns, rows, question })
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
        <Kept set={set} kept={kept} onChange={onChange} />
      </fieldset>
      {shown === null || layout === null ? (
        <Text c="dimmed">No chart says more of these rows than the table. Choose what to draw to see one.</Text>
      ) : (
        <ChartFigure chart={shown} layout={layout} />
      )}
    </div>
  )
}

function Kept({ set, kept, onChange }: { set: Chart | null } & Pick<Props, 'kept' | 'onChange'>) {
  return (
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
  )
}
