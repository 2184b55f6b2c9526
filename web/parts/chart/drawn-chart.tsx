import '@mantine/charts/styles.layer.css'
import { AreaChart, PieChart, ScatterChart } from '@mantine/charts'
import { Text } from '@mantine/core'
import type { Chart as ChartSpec, Layout } from '../../../clients/chart/index.ts'
import { sayNumber } from '../../text/words.ts'
import { Chart, chartMargin, type ChartLine, type ChartPoint } from './chart.tsx'
import { sayMoment } from '../cells/cell-text.ts'
import classes from './result-chart.module.css'

/** Told apart without colour too: every second one is dashed, and what is pointed at says its name. */
const colors = [
  'var(--sluice-chart-strong)',
  'orange.7',
  'grape.6',
  'green.8',
  'gray.6',
  'red.7',
  'var(--sluice-chart-soft)',
  'indigo.5',
  'yellow.8',
  'pink.6',
  'lime.8',
  'violet.5',
]
const mostShares = 12
const height = 280

const colorAt = (at: number): string => colors[at % colors.length] ?? 'gray.6'

/** Drawn by a library that is loaded only here. The rows beside it say the same, so readers skip the drawing. */
export function DrawnChart({ chart, layout }: { chart: ChartSpec; layout: Layout }) {
  if (chart.type === 'pie') return <Shares layout={layout} />
  if (chart.type === 'scatter') return <Cloud chart={chart} layout={layout} />
  const lines = layout.lines.map(({ name }, at): ChartLine => ({
    name: `line${at}`,
    label: name,
    color: colorAt(at),
    dashed: at % 2 === 1,
  }))
  const points = layout.marks.map(({ label }, mark): ChartPoint & { time: string } => ({
    ...Object.fromEntries(layout.lines.map(({ values }, at) => [`line${at}`, values[mark] ?? null])),
    time: layout.axis === 'time' ? sayTime(label) : label,
  }))
  if (chart.type === 'area') {
    return (
      <div aria-hidden>
        <AreaChart
          h={height}
          data={points}
          dataKey="time"
          series={lines}
          type={chart.stacked ? 'stacked' : 'default'}
          withLegend={lines.length > 1}
          withDots={false}
          curveType="linear"
          tickLine="none"
          gridAxis="x"
          valueFormatter={sayNumber}
          areaChartProps={{ accessibilityLayer: false, margin: chartMargin }}
        />
      </div>
    )
  }
  return (
    <Chart
      kind={chart.type}
      points={points}
      lines={lines}
      unit=""
      stacked={chart.stacked}
      isClose={chart.type === 'line' && areFarUp(layout)}
    />
  )
}

/** Whether all that moves is a small part of how high it is. */
function areFarUp({ lines }: Layout): boolean {
  const numbers = lines.flatMap(({ values }) => values.filter((value) => value !== null))
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)]
  return least > 0 && most > least && most - least < most / 3
}

/** A day is the same everywhere; a moment is told by the clock of who reads it. */
function sayTime(text: string): string {
  return text.length > 10 ? sayMoment(text) : text
}

function Cloud({ chart: { x }, layout }: { chart: ChartSpec; layout: Layout }) {
  const data = layout.lines.map(({ name, values }, at) => ({
    name,
    color: colorAt(at),
    data: layout.marks.flatMap((mark, place) => {
      const value = values[place] ?? null
      return value === null ? [] : [{ x: mark.at, y: value }]
    }),
  }))
  const sayX = (value: number): string =>
    layout.axis === 'time' ? sayMoment(new Date(value).toISOString()).slice(0, 16) : sayNumber(value)
  return (
    <div aria-hidden>
      <ScatterChart
        h={height}
        data={data}
        dataKey={{ x: 'x', y: 'y' }}
        labels={{ x, y: layout.lines.length === 1 ? (layout.lines[0]?.name ?? 'y') : 'value' }}
        withLegend={data.length > 1}
        tickLine="none"
        valueFormatter={{ x: sayX, y: sayNumber }}
        scatterChartProps={{ accessibilityLayer: false, margin: chartMargin }}
      />
    </div>
  )
}

/** Parts of a whole, the largest first; what is small together. */
function Shares({ layout }: { layout: Layout }) {
  const parts = layout.marks
    .map(({ label }, at) => ({
      name: label,
      value: layout.lines.reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
    }))
    .filter(({ value }) => value > 0)
    .toSorted((one, other) => other.value - one.value)
  const large = parts.slice(0, mostShares - 1)
  const small = parts.slice(mostShares - 1)
  const [only] = small
  const rest = small.length === 1 && only !== undefined ? only : { name: 'others', value: sum(small) }
  const data = [...large, ...(small.length === 0 ? [] : [rest])].map((part, at) => ({ ...part, color: colorAt(at) }))
  const whole = sum(parts)
  return (
    <div className={classes.shares}>
      <div aria-hidden>
        <PieChart
          size={220}
          data={data}
          strokeWidth={1}
          withTooltip
          tooltipDataSource="segment"
          valueFormatter={sayNumber}
          pieChartProps={{ accessibilityLayer: false }}
          pieProps={{ rootTabIndex: -1 }}
        />
      </div>
      <ul className={classes.legend}>
        {data.map(({ name, value }, at) => (
          <li key={name}>
            <span className={classes.dot} style={{ background: cssColor(colorAt(at)) }} aria-hidden />
            <span className={classes.word}>{name}</span>
            <Text span size="xs" c="dimmed" className="numbers">
              {sayNumber(value)}, {Math.round((value / whole) * 100)} %
            </Text>
          </li>
        ))}
      </ul>
    </div>
  )
}

function sum(parts: Array<{ value: number }>): number {
  return parts.reduce((total, { value }) => total + value, 0)
}

function cssColor(color: string): string {
  return color.startsWith('var(') ? color : `var(--mantine-color-${color.replace('.', '-')})`
}
