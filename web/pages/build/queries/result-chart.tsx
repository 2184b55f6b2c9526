import { Skeleton, Text } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { ChartLine, ChartPoint } from '../../../parts/chart.tsx'
import { isNumeric, sayValue } from '../../../words.ts'
import type { Preview } from '../wire.ts'

const Chart = lazy(async () => ({ default: (await import('../../../parts/chart.tsx')).Chart }))

/** More points than this are no longer told apart. */
const maxPoints = 500
const colors = ['var(--sluice-chart-strong)', 'orange.7', 'gray.6', 'var(--sluice-chart-soft)']

/** Whether there is a column to go along and one to draw. */
export function canChart({ columns, data }: Preview): boolean {
  return data.length > 1 && linesOf(columns).length > 0
}

/** The numbers of a result along its first other column. The rows beside it say the same. */
export function ResultChart({ answer: { columns, data } }: { answer: Preview }) {
  const lines = linesOf(columns)
  const along = columns.find(({ name }) => lines.every((line) => line.name !== name))
  const points = data.slice(0, maxPoints).map((row, index): ChartPoint & { time: string } => {
    const numbers = lines.map(({ name }) => [name, typeof row[name] === 'number' ? row[name] : null])
    return { ...Object.fromEntries(numbers), time: along === undefined ? String(index + 1) : sayValue(row[along.name]) }
  })
  // Time goes one way, however the rows are ordered; written as it is, it sorts as text.
  if (isTime(along?.type)) points.sort((one, other) => (one.time < other.time ? -1 : 1))
  return (
    <>
      <Suspense fallback={<Skeleton height={220} />}>
        <Chart kind={isTime(along?.type) ? 'line' : 'bar'} points={points} lines={lines} unit="" />
      </Suspense>
      <Text size="xs" c="dimmed" mt="xs">
        {lines.map(({ label }) => label).join(', ')}
        {along !== undefined && ` by ${along.name}`}
        {data.length > maxPoints && `, the first ${maxPoints} rows`}
      </Text>
    </>
  )
}

function linesOf(columns: Preview['columns']): ChartLine[] {
  const numbers = columns.filter(({ name, type }) => isNumeric(type) && !isIdentifier(name))
  // Where everything is a number, the first one is what the others go along.
  const drawn = numbers.length === columns.length ? numbers.slice(1) : numbers
  return drawn
    .slice(0, colors.length)
    .map(({ name }, at) => ({ name, label: name, color: colors[at] ?? 'gray.6', dashed: at % 2 === 1 }))
}

/** A number that names a thing measures nothing. */
function isIdentifier(name: string): boolean {
  return /(^|_)id$/i.test(name)
}

function isTime(type: string | undefined): boolean {
  return type !== undefined && /^(DATE|TIMESTAMP)/.test(type)
}
