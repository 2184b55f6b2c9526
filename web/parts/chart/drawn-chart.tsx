import { Text } from '@mantine/core'
import { arcsOf, type Chart as ChartSpec, type Layout } from '../../../clients/chart/index.ts'
import { sayNumber } from '../../text/words.ts'
import { Chart, type ChartLine, type ChartPoint } from './chart.tsx'
import { Plot } from './plot.tsx'
import { scaleOf, shareIn } from './scale.ts'
import { sayMoment } from '../cells/cell-text.ts'
import classes from './result-chart.module.css'

/** Told apart without colour too: every second one is dashed, and what is pointed at says its name. */
const colors = [
  'var(--sluice-chart-strong)',
  'var(--mantine-color-orange-7)',
  'var(--mantine-color-grape-6)',
  'var(--mantine-color-green-8)',
  'var(--mantine-color-gray-6)',
  'var(--mantine-color-red-7)',
  'var(--sluice-chart-soft)',
  'var(--mantine-color-indigo-5)',
  'var(--mantine-color-yellow-8)',
  'var(--mantine-color-pink-6)',
  'var(--mantine-color-lime-8)',
  'var(--mantine-color-violet-5)',
]
const mostShares = 12
const height = 280
const pieSize = 220

const colorAt = (at: number): string => colors[at % colors.length] ?? ''

/** The rows beside it say the same, so readers skip the drawing. */
export function DrawnChart({ chart, layout }: { chart: ChartSpec; layout: Layout }) {
  if (chart.type === 'pie') return <Shares layout={layout} />
  if (chart.type === 'scatter') return <Cloud chart={chart} layout={layout} />
  const lines = layout.lines.map(({ name }, at): ChartLine => ({
    name: `line${at}`,
    label: name,
    color: colorAt(at),
    dashed: chart.type === 'line' && at % 2 === 1,
  }))
  const points = layout.marks.map(({ label }, mark): ChartPoint => ({
    ...Object.fromEntries(layout.lines.map(({ values }, at) => [`line${at}`, values[mark] ?? null])),
    time: layout.axis === 'time' ? sayTime(label) : label,
  }))
  return (
    <Chart
      kind={chart.type}
      points={points}
      lines={lines}
      sayValue={sayNumber}
      height={height}
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

function Cloud({ chart: { x: name }, layout: { axis, marks, lines } }: { chart: ChartSpec; layout: Layout }) {
  const across = scaleOf(
    marks.map(({ at }) => at),
    { isClose: true },
  )
  const sayX = (value: number): string =>
    axis === 'time' ? sayMoment(new Date(value).toISOString()).slice(0, 16) : sayNumber(value)
  const points = lines.flatMap(({ name: line, values }, of) =>
    marks.flatMap(({ at }, place) => {
      const value = values[place] ?? null
      return value === null ? [] : [{ key: `${of} ${place}`, line, color: colorAt(of), at, value }]
    }),
  )
  return (
    <Plot
      height={height}
      scale={scaleOf(points.map(({ value }) => value))}
      sayY={sayNumber}
      names={lines.map(({ name: label }, at) => ({ label, color: colorAt(at) }))}
      marks={() => [0, 0.5, 1].map((share) => ({ share, text: sayX(across.low + share * (across.high - across.low)) }))}
    >
      {({ x, y }) =>
        points.map(({ key, line, color, at, value }) => (
          <circle key={key} data-shape="point" cx={x(shareIn(across, at))} cy={y(value)} r={4} fill={color}>
            <title>{`${name} ${sayX(at)}, ${line} ${sayNumber(value)}`}</title>
          </circle>
        ))
      }
    </Plot>
  )
}

/** Parts of a whole, the largest first; what is small together. */
function Shares({ layout }: { layout: Layout }) {
  const parts = layout.marks
    .map(({ label }, at) => ({
      name: label,
      value: layout.lines.reduce((total, { values }) => total + (values[at] ?? 0), 0),
    }))
    .filter(({ value }) => value > 0)
    .toSorted((one, other) => other.value - one.value)
  const large = parts.slice(0, mostShares - 1)
  const small = parts.slice(mostShares - 1)
  const [only] = small
  const rest = small.length === 1 && only !== undefined ? only : { name: 'others', value: sum(small) }
  const shown = [...large, ...(small.length === 0 ? [] : [rest])]
  const whole = sum(parts)
  const arcs = arcsOf(
    shown.map(({ value }) => value),
    pieSize,
  )
  return (
    <div className={classes.shares}>
      <svg width={pieSize} height={pieSize} data-chart aria-hidden focusable="false">
        {shown.map(({ name, value }, at) => (
          <path key={name} data-shape="part" className={classes.part} d={arcs[at]} fill={colorAt(at)}>
            <title>{`${name} ${sayNumber(value)}`}</title>
          </path>
        ))}
      </svg>
      <ul className={classes.legend}>
        {shown.map(({ name, value }, at) => (
          <li key={name}>
            <span className={classes.dot} style={{ background: colorAt(at) }} aria-hidden />
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
