import { Text } from '@mantine/core'
import { sayCount, sayNumber } from '../../text/words.ts'
import classes from './column-figures.module.css'
import { kindOf } from '../cells/cell-text.ts'
import type { ColumnProfile } from '../cells/model.ts'

/** How a column is spread, its commonest values, its ends, and how much of it is missing. */
export function ColumnFigures({ column, rowCount }: { column: ColumnProfile; rowCount: number }) {
  return (
    <>
      <Spread column={column} rowCount={rowCount} />
      <Text size="xs" c="dimmed" className={classes.range ?? ''}>
        {column.distinct_is_exact ? '' : 'about '}
        {sayCount(column.distinct_count, 'different value')}
        {column.min !== null && column.max !== null && (column.histogram.length > 0 || isDay(column.type)) && (
          <>
            , {shorten(column.min)} to {shorten(column.max)}
          </>
        )}
      </Text>
      <Missing count={column.null_count} rowCount={rowCount} />
    </>
  )
}

function isDay(type: string): boolean {
  return /^(DATE|TIMESTAMP)/.test(type)
}

/** No values are listed: there are none, or they are of a kind that is not counted. */
function sayWhyNone({ type, distinct_count: different }: ColumnProfile): string {
  if (different === 0) return 'No values.'
  return kindOf(type) === 'object' ? 'Lists and objects are not counted.' : 'The values are too long to be listed.'
}

function Spread({ column, rowCount }: { column: ColumnProfile; rowCount: number }) {
  if (column.histogram.length > 1) return <Histogram column={column} />
  const most = column.top_values[0]?.count ?? 1
  const telling = column.top_values.slice(0, 5)
  if (telling.length === 0) {
    return <Text c="dimmed">{sayWhyNone(column)}</Text>
  }
  // Where every value is its own, bars say nothing.
  if (most === 1) {
    return (
      <Text className={classes.examples ?? ''}>
        For example {telling.map(({ value }) => shorten(value, 80)).join(', ')}
      </Text>
    )
  }
  return (
    <ul className={classes.values} aria-label={`Commonest values of ${column.name}`}>
      {telling.map(({ value, count }) => (
        <li
          key={value}
          className={classes.value}
          title={`${value}: ${sayCount(count, 'row')} of ${sayNumber(rowCount)}`}
        >
          <span className={classes.bar} style={{ width: `${(count / most) * 100}%` }} aria-hidden />
          <span className={classes.label}>{value === '' ? '(empty)' : value}</span>
          <span className={classes.number}>{sayNumber(count)}</span>
        </li>
      ))}
    </ul>
  )
}

const height = 56

function Histogram({ column: { name, type, histogram } }: { column: ColumnProfile }) {
  const say = (edge: number): string => (isDay(type) ? sayEdgeInTime(edge) : String(round(edge)))
  const most = Math.max(...histogram.map(({ count }) => count), 1)
  const width = 100 / histogram.length
  return (
    <svg
      className={classes.histogram}
      viewBox={`0 0 100 ${height}`}
      preserveAspectRatio="none"
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- it is drawn, not loaded
      role="img"
      aria-label={`How ${name} is spread: ${histogram.map(({ from, to, count }) => `${say(from)} to ${say(to)}: ${count}`).join('; ')}`}
    >
      {histogram.map(({ from, to, count }, index) => {
        const tall = count === 0 ? 0 : Math.max((count / most) * height, 1.5)
        return (
          <rect key={from} x={index * width + 0.4} width={width - 0.8} y={height - tall} height={tall}>
            <title>{`${say(from)} to ${say(to)}: ${sayCount(count, 'row')}`}</title>
          </rect>
        )
      })}
    </svg>
  )
}

/** The edges of a column of days or moments are seconds since 1970; as long as the column's ends are written. */
function sayEdgeInTime(seconds: number): string {
  const at = new Date(seconds * 1000)
  return Number.isNaN(at.getTime()) ? String(seconds) : at.toISOString().slice(0, 16).replace('T', ' ')
}

function Missing({ count, rowCount }: { count: number; rowCount: number }) {
  const share = rowCount === 0 ? 0 : count / rowCount
  return (
    <div className={classes.missing}>
      <span className={classes.track} aria-hidden>
        <span className={classes.filled} style={{ width: `${(1 - share) * 100}%` }} />
      </span>
      <Text size="xs" c="dimmed">
        {count === 0
          ? 'never missing'
          : `${(share * 100).toFixed(share < 0.01 ? 2 : 0)} % missing (${sayNumber(count)})`}
      </Text>
    </div>
  )
}

function shorten(text: string, most = 24): string {
  const plain = /^-?\d+\.\d{4,}$/.test(text) ? String(round(Number(text))) : text
  return plain.length > most ? `${plain.slice(0, most)}…` : plain
}

function round(number: number): number {
  return Math.round(number * 100) / 100
}
