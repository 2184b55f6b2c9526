import classes from './grid.module.css'
import type { ColumnProfile } from '../cells/model.ts'

const height = 14
const shownValues = 5

/** How a column is spread, at a glance: the words beside it and its menu say the same. */
export function MiniSpread({ profile, rowCount }: { profile: ColumnProfile | undefined; rowCount: number }) {
  if (profile === undefined) return <span className={classes.spread} aria-hidden />
  const { histogram, top_values: top } = profile
  if (histogram.length > 1) {
    const most = Math.max(1, ...histogram.map(({ count }) => count))
    const width = 100 / histogram.length
    return (
      <svg className={classes.spread} viewBox={`0 0 100 ${height}`} preserveAspectRatio="none" aria-hidden>
        {histogram.map(({ from, count }, at) => {
          const tall = count === 0 ? 0 : Math.max(1, (count / most) * height)
          return <rect key={from} x={at * width} width={width * 0.86} y={height - tall} height={tall} />
        })}
      </svg>
    )
  }
  // Where every value is its own there is nothing to see.
  const telling = (top[0]?.count ?? 0) > 1 ? top.slice(0, shownValues) : []
  const share = (count: number): number => (rowCount === 0 ? 0 : (count / rowCount) * 100)
  const ends = telling.map((_, at) => telling.slice(0, at + 1).reduce((sum, { count }) => sum + share(count), 0))
  const end = ends.at(-1) ?? 0
  return (
    <svg className={classes.spread} viewBox={`0 0 100 ${height}`} preserveAspectRatio="none" aria-hidden>
      {telling.map(({ value, count }, at) => (
        <rect key={value} x={ends[at - 1] ?? 0} width={share(count)} y={4} height={6} opacity={1 - at * 0.17} />
      ))}
      {end < 99.5 && <rect className={classes.rest} x={end} width={100 - end} y={4} height={6} />}
    </svg>
  )
}
