import { useElementSize } from '@mantine/hooks'
import { useMemo, type ReactNode } from 'react'
import classes from './plot.module.css'
import { shareIn, type Scale } from './scale.ts'

/** Room of the numbers, of the names below, and of half a name at the end, in pixels. */
export const edge = { left: 61, right: 20, top: 8, bottom: 35 }

/** Where things are drawn, in pixels. */
export type Frame = { width: number; bottom: number; x: (share: number) => number; y: (value: number) => number }
export type NamedColor = { label: string; color: string }

type Props = {
  height: number
  scale: Scale
  sayY: (value: number) => string
  names: NamedColor[]
  /** Names along the lower edge, by the room there is for them. */
  marks: (roomPx: number) => Array<{ share: number; text: string }>
  onShare?: (share: number | null) => void
  children: (frame: Frame) => ReactNode
  /** Beside the drawing, above it. */
  renderTip?: (frame: Frame) => ReactNode
}

/** Axes, what is drawn between them, and which colour is what. The table behind it says the same, so readers skip it. */
export function Plot({ height, scale, sayY, names, marks, onShare, children, renderTip }: Props) {
  const { ref, width: whole, height: tall } = useElementSize()
  const width = Math.max(1, whole - edge.left - edge.right)
  const bottom = tall - edge.bottom
  const frame = useMemo(
    (): Frame => ({
      width,
      bottom,
      x: (share) => edge.left + share * width,
      y: (value) => bottom - shareIn(scale, value) * (bottom - edge.top),
    }),
    [width, bottom, scale],
  )
  return (
    <div className={classes.plot} style={{ height }} aria-hidden>
      {names.length > 1 && (
        <ul className={classes.names}>
          {names.map(({ label, color }) => (
            <li key={label}>
              <span className={classes.dot} style={{ background: color }} />
              {label}
            </li>
          ))}
        </ul>
      )}
      <div
        ref={ref}
        className={classes.room}
        onPointerMove={({ clientX, currentTarget }) =>
          onShare?.((clientX - currentTarget.getBoundingClientRect().left - edge.left) / width)
        }
        onPointerLeave={() => onShare?.(null)}
      >
        {whole > 0 && (
          <svg width={whole} height={tall} data-chart focusable="false">
            {scale.ticks.map((tick) => (
              <g key={tick}>
                <line
                  className={classes.grid}
                  x1={edge.left}
                  x2={edge.left + width}
                  y1={frame.y(tick)}
                  y2={frame.y(tick)}
                />
                <text className={classes.mark} x={edge.left - 8} y={frame.y(tick) + 4} textAnchor="end">
                  {shorten(tick, sayY(tick))}
                </text>
              </g>
            ))}
            {marks(width).map(({ share, text }) => (
              <text
                key={share}
                className={classes.mark}
                x={Math.min(frame.x(share), whole - text.length * halfLetter)}
                y={bottom + 20}
                textAnchor="middle"
              >
                {text}
              </text>
            ))}
            {children(frame)}
          </svg>
        )}
        {whole > 0 && renderTip?.(frame)}
      </div>
    </div>
  )
}

const halfLetter = 3.5
const mostLetters = 8
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** A number that is too long for its room is said as 1.2M. */
function shorten(value: number, text: string): string {
  return text.length > mostLetters ? compact.format(value) : text
}

type TipProps = { title: string; rows: Array<NamedColor & { value: string }>; left: number; frame: Frame }

/** Values at the place that is pointed at. */
export function Tip({ title, rows, left, frame }: TipProps) {
  const isRight = left > edge.left + frame.width / 2
  return (
    <div
      className={classes.tip}
      style={isRight ? { right: frame.width + edge.left + edge.right - left + 12 } : { left: left + 12 }}
    >
      <strong>{title}</strong>
      {rows.map(({ label, color, value }) => (
        <div key={label}>
          <span className={classes.dot} style={{ background: color }} />
          <span className={classes.name}>{label}</span>
          <span className="numbers">{value}</span>
        </div>
      ))}
    </div>
  )
}

type UprightProps = { frame: Frame; x: number; look: 'cursor' | 'rule'; isBad?: boolean }

/** A line across, at one place. */
export function Upright({ frame, x, look, isBad = false }: UprightProps) {
  return <line className={classes[look]} data-bad={isBad || undefined} x1={x} x2={x} y1={edge.top} y2={frame.bottom} />
}
