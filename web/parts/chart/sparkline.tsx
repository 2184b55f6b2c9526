import classes from './sparkline.module.css'

const width = 56
const height = 20
/** The least height of a bar: a known zero is seen, too. */
const least = 1

/** A row of small bars beside its figure, which says the same in words. Where nothing is known no bar stands. */
export function Sparkline({ values, bad = false }: { values: Array<number | null>; bad?: boolean }) {
  const most = Math.max(...values.map((value) => value ?? 0), 0)
  const room = width / Math.max(values.length, 1)
  return (
    <svg
      className={classes.spark}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      data-bad={bad || undefined}
      aria-hidden
      focusable="false"
    >
      {/* The whole time, also where nothing happened in most of it. */}
      <line className={classes.base} x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} />
      {values.map((value, at) => {
        if (value === null) return null
        const tall = most === 0 ? 0 : (value / most) * (height - 1)
        return (
          <rect
            // oxlint-disable-next-line react/no-array-index-key -- a piece of time is its place
            key={at}
            className={classes.bar}
            x={(at * room).toFixed(1)}
            width={Math.max(room - 0.6, 1).toFixed(1)}
            y={(height - Math.max(tall, value === 0 ? 0 : least)).toFixed(1)}
            height={Math.max(tall, value === 0 ? 0 : least).toFixed(1)}
          />
        )
      })}
    </svg>
  )
}
