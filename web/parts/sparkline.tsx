import classes from './sparkline.module.css'

const width = 56
const height = 20

/** A line of a few centimetres beside its figure, which says the same in words. Gaps are drawn as nothing. */
export function Sparkline({ values, bad = false }: { values: Array<number | null>; bad?: boolean }) {
  const most = Math.max(...values.map((value) => value ?? 0), 0)
  const points = values.map((value, at): [number, number] => [
    values.length < 2 ? width : (at / (values.length - 1)) * width,
    height - 1 - ((value ?? 0) / (most === 0 ? 1 : most)) * (height - 2),
  ])
  const line = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')
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
      <polygon className={classes.area} points={`0,${height} ${line} ${width},${height}`} />
      <polyline className={classes.line} points={line} />
    </svg>
  )
}
