import { memo, useMemo, useState } from 'react'
import { Plot, Tip, Upright, type Frame } from './plot.tsx'
import { pieceAt, reachesOf, scaleOf, shareOf, type Reach, type Spread } from './scale.ts'
import { timeAxis } from './time-axis.ts'

/** `stack`: bars of the same one stand on one another, beside those of another. */
export type ChartLine = { name: string; label: string; color: string; dashed?: boolean; stack?: string }
export type ChartPoint = Record<string, number | string | null>

type Props = {
  kind: 'line' | 'bar' | 'area'
  points: ChartPoint[]
  lines: ChartLine[]
  sayValue: (value: number) => string
  height?: number
  /** The axis begins where the lines do, not at nothing: for lines that would lie flat far above it. */
  isClose?: boolean
  /** Values of one point stand on one another: parts of a whole. */
  stacked?: boolean
  /** Where `time` is a moment of even steps: how the reader says it. Otherwise it stands there as it is. */
  sayMoment?: (time: string) => string
  /** The place that is pointed at, where charts share it. */
  pointed?: Pointed
  /** Pieces of time at which something happened. */
  rules?: Array<{ piece: number; isBad: boolean }>
}
export type Pointed = [at: number | null, point: (at: number | null) => void]

/** So wide is the room of one mark of time, and of a letter of a name. */
const tickWidth = 76
const letterWidth = 7

export const spreadOf = (kind: Props['kind']): Spread => (kind === 'bar' ? 'bands' : 'ends')

/** Numbers over time or over names, as lines, bars or areas. */
export function Chart(props: Props) {
  const { kind, points, lines, sayValue, height = 220, sayMoment, rules = [] } = props
  const { isClose = false, stacked = false } = props
  const own = useState<number | null>(null)
  const [at, point] = props.pointed ?? own
  const layers = useMemo(
    () => layersOf({ kind, points, lines, stacked, isClose }),
    [kind, points, lines, stacked, isClose],
  )
  const count = points.length
  const share = (piece: number): number => shareOf(spreadOf(kind), piece, count)
  const times = points.map(({ time }) => String(time))
  const here = at === null ? [] : lines.map((line, of) => ({ ...line, value: layers.values[of]?.[at] ?? null }))
  const rows = here.flatMap(({ value, ...line }) => (value === null ? [] : [{ ...line, value: sayValue(value) }]))
  return (
    <Plot
      height={height}
      scale={layers.scale}
      sayY={sayValue}
      names={lines}
      marks={(room) => (sayMoment === undefined ? namesOf : timesOf)(times, room, share)}
      onShare={(to) => point(to === null ? null : pieceAt(spreadOf(kind), to, count))}
      renderTip={(frame) => {
        const time = times[at ?? -1]
        if (at === null || time === undefined || rows.length === 0) return null
        return <Tip title={sayMoment?.(time) ?? time} rows={rows} left={frame.x(share(at))} frame={frame} />
      }}
    >
      {(frame) => (
        <>
          <Shapes kind={kind} lines={lines} layers={layers} frame={frame} />
          {rules.map(({ piece, isBad }) => (
            <Upright key={piece} frame={frame} x={frame.x(share(piece))} look="rule" isBad={isBad} />
          ))}
          {at !== null && at < count && <Upright frame={frame} x={frame.x(share(at))} look="cursor" />}
        </>
      )}
    </Plot>
  )
}

type Layered = Pick<Props, 'kind' | 'points' | 'lines'> & { stacked: boolean; isClose: boolean }
type Layers = ReturnType<typeof layersOf>

/** Values of each line, the stack that it stands on, from where to where it reaches, and the axis for all of them. */
function layersOf({ kind, points, lines, stacked, isClose }: Layered) {
  const isOne = stacked && lines.every(({ stack }) => stack === undefined)
  const values = lines.map(({ name }) => points.map(({ [name]: value }) => (typeof value === 'number' ? value : null)))
  const stacks = lines.map(({ stack, name }) => stack ?? (isOne ? '' : name))
  const isPiled = kind !== 'line' && (isOne || kind === 'bar')
  const reaches = reachesOf(values.map((each, of) => ({ values: each, stack: isPiled ? (stacks[of] ?? null) : null })))
  const known = reaches.flat().filter((reach) => reach !== null)
  const isWhole = known.every(([from, to]) => Number.isInteger(to - from))
  const scale = scaleOf(isClose ? known.map(([, to]) => to) : known.flat(), { isClose, isWhole })
  return { values, stacks, reaches, scale }
}

type ShapesProps = Pick<Props, 'kind' | 'lines'> & { layers: Layers; frame: Frame }

/** Drawn once, whatever is pointed at. */
const Shapes = memo(function Shapes({ kind, lines, layers: { reaches, stacks }, frame }: ShapesProps) {
  if (kind === 'bar') return <Bars frame={frame} lines={lines} reaches={reaches} stacks={stacks} />
  return lines.map((line, of) => (
    <Line key={line.name} {...line} reaches={reaches[of] ?? []} frame={frame} isArea={kind === 'area'} />
  ))
})

type Marks = (
  times: string[],
  roomPx: number,
  share: (piece: number) => number,
) => Array<{ share: number; text: string }>

const timesOf: Marks = (times, roomPx, share) => {
  const axis = timeAxis(times, Math.max(2, Math.floor(roomPx / tickWidth)))
  return axis.ticks.map((tick) => ({ share: share(times.indexOf(tick)), text: axis.label(tick) }))
}

/** As many names as fit beside one another; a long one is cut. */
const namesOf: Marks = (names, roomPx, share) => {
  const most = Math.max(1, ...names.map(({ length }) => length))
  const every = Math.max(1, Math.ceil((names.length * Math.min(most + 1, 18) * letterWidth) / roomPx))
  const letters = Math.max(3, Math.floor(((roomPx / names.length) * every) / letterWidth) - 1)
  return names.flatMap((name, at) =>
    at % every === 0
      ? [{ share: share(at), text: name.length > letters ? `${name.slice(0, letters - 1)}…` : name }]
      : [],
  )
}

const maxBarPx = 28

type BarsProps = { frame: Frame; lines: ChartLine[]; reaches: Reach[][]; stacks: string[] }

function Bars({ frame, lines, reaches, stacks }: BarsProps) {
  const piles = [...new Set(stacks)]
  const count = reaches[0]?.length ?? 1
  const wide = Math.min(maxBarPx, (frame.width / count) * (0.8 / piles.length))
  return lines.map((line, of) => {
    const beside = piles.indexOf(stacks[of] ?? '') - piles.length / 2
    return reaches[of]?.map((reach, at) => {
      if (reach === null || reach[0] === reach[1]) return null
      const [top, bottom] = [Math.max(...reach), Math.min(...reach)].map(frame.y)
      return (
        <rect
          // oxlint-disable-next-line react/no-array-index-key -- a bar is its place
          key={`${line.name} ${at}`}
          data-shape="bar"
          fill={line.color}
          x={frame.x(shareOf('bands', at, count)) + beside * wide}
          width={Math.max(wide - (piles.length > 1 ? 1 : 0), 0.5)}
          y={top}
          height={Math.max(0, (bottom ?? 0) - (top ?? 0))}
        />
      )
    })
  })
}

type LineProps = ChartLine & { reaches: Reach[]; frame: Frame; isArea: boolean }

/** A line needs two points: one that stands alone is drawn as a dot, or it would not be seen. */
function Line({ name, color, dashed = false, reaches, frame: { x: across, y }, isArea }: LineProps) {
  const x = (at: number): number => across(shareOf('ends', at, reaches.length))
  const known = reaches.flatMap((reach, at) => (reach === null ? [] : [{ at, low: y(reach[0]), high: y(reach[1]) }]))
  const upper = known.map(({ at, high }) => `${x(at).toFixed(1)} ${high.toFixed(1)}`)
  const lower = known.toReversed().map(({ at, low }) => `${x(at).toFixed(1)} ${low.toFixed(1)}`)
  return (
    <>
      {isArea && known.length > 1 && (
        <path data-shape="area" d={`M ${[...upper, ...lower].join(' L ')} Z`} fill={color} fillOpacity={0.2} />
      )}
      {known.length > 1 && (
        <path
          data-shape="line"
          d={`M ${upper.join(' L ')}`}
          fill="none"
          stroke={color}
          strokeWidth={2}
          strokeLinejoin="round"
          strokeDasharray={dashed ? '5 4' : undefined}
        />
      )}
      {known
        .filter(({ at }) => (reaches[at - 1] ?? null) === null && (reaches[at + 1] ?? null) === null)
        .map(({ at, high }) => (
          <circle key={at} cx={x(at)} cy={high} r={4} fill={color} data-lone={name} />
        ))}
    </>
  )
}
