import classes from './sparkline.module.css'

const width = 56
const height = 20

type Point = [x: number, y: number]

/** A line of a few centimetres beside its figure, which says the same in words. Gaps are left out. */
export function Sparkline({ values, bad = false }: { values: Array<number | null>; bad?: boolean }) {
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
      {stretchesOf(values).map((points) => {
        const line = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')
        const [from, to] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 0]
        return (
          <g key={from}>
            <polygon className={classes.area} points={`${from},${height} ${line} ${to},${height}`} />
            {/* A line that goes nowhere is drawn as a dot. */}
            <polyline
              className={classes.line}
              data-dot={points.length === 1 || undefined}
              points={points.length === 1 ? `${line} ${line}` : line}
            />
          </g>
        )
      })}
    </svg>
  )
}

/** What lies between the gaps. */
function stretchesOf(values: Array<number | null>): Point[][] {
  const most = Math.max(...values.map((value) => value ?? 0), 0)
  const stretches: Point[][] = []
  let before: number | null = null
  for (const [at, value] of values.entries()) {
    if (value !== null) {
      const x = values.length < 2 ? width : (at / (values.length - 1)) * width
      const point: Point = [x, height - 1 - (value / (most === 0 ? 1 : most)) * (height - 2)]
      if (before === null) stretches.push([point])
      else stretches.at(-1)?.push(point)
    }
    before = value
  }
  return stretches
}
