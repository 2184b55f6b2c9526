import '@mantine/charts/styles.layer.css'
import { BarChart, LineChart } from '@mantine/charts'
import { useElementSize } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { timeAxis } from './time-axis.ts'

/** `stack`: bars of the same one stand on one another, beside those of another. */
export type ChartLine = { name: string; label: string; color: string; dashed?: boolean; stack?: string }
export type ChartPoint = Record<string, number | string | null>

type Props = {
  kind: 'line' | 'bar'
  points: ChartPoint[]
  lines: ChartLine[]
  unit: string
  /** The axis begins where the lines do, not at nothing: for lines that would lie flat far above it. */
  isClose?: boolean
  /** Bars of one point stand on one another: parts of a whole. */
  stacked?: boolean
  /** Where `time` is a moment of even steps: how the reader says it. Otherwise it stands there as it is. */
  sayMoment?: (time: string) => string
  /** Charts of one name point at the same moment. */
  syncId?: string | undefined
}

/** The newest point and half of its label stand at the very edge. */
export const chartMargin = { top: 8, right: 20, bottom: 5, left: 5 }

/** So wide is the room of one mark of time. */
const tickWidth = 76

/** Drawn by a library that is loaded only here. The table behind it says the same, so readers skip the drawing. */
export function Chart({ kind, points, lines, unit, stacked = false, isClose = false, sayMoment, syncId }: Props) {
  const { ref, width } = useElementSize()
  const axis = sayMoment && timeAxis(points.map(timeOf), Math.max(2, Math.floor(width / tickWidth)))
  const common = {
    h: 220,
    data: points,
    dataKey: 'time',
    withLegend: lines.length > 1,
    tickLine: 'none' as const,
    gridAxis: 'x' as const,
    valueFormatter: (value: number) => sayNumber(value, unit),
    yAxisProps: { allowDecimals: !areWhole(points, lines), width: 56, ...(isClose && { domain: ['auto', 'auto'] }) },
    ...(axis !== undefined && {
      xAxisProps: { ticks: axis.ticks, interval: 0 as const, tickFormatter: axis.label },
      // Asked also where no point is pointed at.
      tooltipProps: { labelFormatter: (time: unknown) => (typeof time === 'string' ? sayMoment?.(time) : '') },
    }),
  }
  const drawing = { accessibilityLayer: false, margin: chartMargin, ...(syncId !== undefined && { syncId }) }
  return (
    <div aria-hidden ref={ref}>
      {kind === 'bar' ? (
        <BarChart
          {...common}
          series={lines.map(({ name, label, color, stack }) => ({
            name,
            label,
            color,
            ...(stack !== undefined && { stackId: stack }),
          }))}
          type={stacked && lines.every(({ stack }) => stack === undefined) ? 'stacked' : 'default'}
          maxBarWidth={28}
          barChartProps={drawing}
        />
      ) : (
        <LineChart
          {...common}
          series={lines.map(({ name, label, color, dashed }) => ({
            name,
            label,
            color,
            ...(dashed === true && { strokeDasharray: '5 4' }),
          }))}
          withDots={false}
          curveType="linear"
          strokeWidth={2}
          lineProps={({ name }) => ({ dot: lonePoint(points, name) })}
          lineChartProps={drawing}
        />
      )}
    </div>
  )
}

type Drawn = { cx?: number | undefined; cy?: number | undefined; index: number; stroke?: string | undefined }

/** A line needs two points: one that stands alone is drawn as a dot, or it would not be seen. */
function lonePoint(points: ChartPoint[], name: string): (drawn: Drawn) => ReactNode {
  const isKnown = (at: number): boolean => typeof points[at]?.[name] === 'number'
  return ({ cx, cy, index, stroke }) => {
    if (!isKnown(index) || isKnown(index - 1) || isKnown(index + 1) || cx === undefined || cy === undefined) return null
    return <circle key={index} cx={cx} cy={cy} r={4} fill={stroke} data-lone={name} />
  }
}

function timeOf({ time }: ChartPoint): string {
  return String(time)
}

/** Half a call is no mark on an axis. */
function areWhole(points: ChartPoint[], lines: ChartLine[]): boolean {
  return points.every((point) => lines.every(({ name }) => Number.isInteger(Number(point[name] ?? 0))))
}

function sayNumber(value: number, unit: string): string {
  return `${value.toLocaleString('en', { maximumFractionDigits: 1 })}${unit}`
}
