import '@mantine/charts/styles.layer.css'
import { AreaChart, BarChart, LineChart } from '@mantine/charts'

export type ChartLine = { name: string; label: string; color: string; dashed?: boolean }
export type ChartPoint = Record<string, number | string | null>

type Props = {
  kind: 'area' | 'line' | 'bar'
  points: ChartPoint[]
  lines: ChartLine[]
  unit: string
}

/** Drawn by a library that is loaded only here. The table behind it says the same, so readers skip the drawing. */
export function Chart({ kind, points, lines, unit }: Props) {
  if (kind === 'bar') return <Bars points={points} lines={lines} unit={unit} />
  const Drawn = kind === 'area' ? AreaChart : LineChart
  return (
    <div aria-hidden>
      <Drawn
        h={220}
        data={points}
        dataKey="time"
        series={lines.map(({ name, label, color, dashed }) => ({
          name,
          label,
          color,
          ...(dashed === true && { strokeDasharray: '5 4' }),
        }))}
        withLegend={lines.length > 1}
        withDots={false}
        curveType="linear"
        strokeWidth={2}
        tickLine="none"
        gridAxis="x"
        valueFormatter={(value) => sayNumber(value, unit)}
        yAxisProps={{ allowDecimals: !areWhole(points, lines) }}
        {...(kind === 'area' && { fillOpacity: 0.15, withGradient: false })}
        areaChartProps={{ accessibilityLayer: false }}
        lineChartProps={{ accessibilityLayer: false }}
      />
    </div>
  )
}

function Bars({ points, lines, unit }: Omit<Props, 'kind'>) {
  return (
    <div aria-hidden>
      <BarChart
        h={220}
        data={points}
        dataKey="time"
        series={lines.map(({ name, label, color }) => ({ name, label, color }))}
        withLegend={lines.length > 1}
        tickLine="none"
        gridAxis="x"
        valueFormatter={(value) => sayNumber(value, unit)}
        yAxisProps={{ allowDecimals: !areWhole(points, lines) }}
        barChartProps={{ accessibilityLayer: false }}
      />
    </div>
  )
}

/** Half a call is no mark on an axis. */
function areWhole(points: ChartPoint[], lines: ChartLine[]): boolean {
  return points.every((point) => lines.every(({ name }) => Number.isInteger(Number(point[name] ?? 0))))
}

function sayNumber(value: number, unit: string): string {
  return `${value.toLocaleString('en', { maximumFractionDigits: 1 })}${unit}`
}
