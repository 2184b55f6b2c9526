import { Anchor, Popover, Tooltip, UnstyledButton } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { BellRing, CircleCheck, DatabaseZap, Rocket } from 'lucide-react'
import { useState, type PointerEvent } from 'react'
import { Link } from 'wouter'
import { Chart, spreadOf, type ChartLine, type ChartPoint, type Pointed } from '../../parts/chart/chart.tsx'
import { edge } from '../../parts/chart/plot.tsx'
import { pieceAt, shareOf } from '../../parts/chart/scale.ts'
import { paths } from '../../browser/paths.ts'
import type { Place } from '../deploy/shared/place.ts'
import classes from './time-chart.module.css'
import type { Timeline } from '../deploy/shared/usage-wire.ts'

export type Mark = Timeline['data'][number]

type Props = {
  place: Place
  kind: 'bar' | 'line'
  points: ChartPoint[]
  lines: ChartLine[]
  sayValue: (value: number) => string
  sayMoment: (time: string) => string
  pointed: Pointed
  marks: Mark[]
  /** Where the last piece of time ends. */
  end: string
  onZoom: (from: string, to: string) => void
}

/** A chart over time: what happened stands above it and leads there, and a part of it that is dragged over is zoomed. */
export function TimeChart({ place, marks, end, onZoom, ...drawn }: Props) {
  const { kind, points } = drawn
  const times = points.map(({ time }) => String(time))
  const { ref, width: whole } = useElementSize()
  const width = Math.max(1, whole - edge.left - edge.right)
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null)
  const shareAt = (event: PointerEvent<HTMLDivElement>): number => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - edge.left
    return Math.min(1, Math.max(0, x / width))
  }
  const finish = (): void => {
    if (drag === null) return
    setDrag(null)
    const [low, high] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)]
    if ((high - low) * width < leastDragPx) return
    const first = pieceAt(spreadOf(kind), low, times.length)
    const last = pieceAt(spreadOf(kind), high, times.length)
    onZoom(times[first] ?? end, times[last + 1] ?? end)
  }
  const groups = groupsOf(marks, times)
  const leftOf = (piece: number): number => edge.left + shareOf(spreadOf(kind), piece, times.length) * width
  return (
    <>
      {groups.length > 0 && (
        <ul className={classes.lane} aria-label="What happened">
          {apart(groups, leftOf).map(({ piece, marks: those }) => (
            <li key={piece}>
              <MarkSign place={place} marks={those} left={leftOf(piece)} side={sideOf(piece / times.length)} />
            </li>
          ))}
        </ul>
      )}
      <div
        ref={ref}
        className={classes.place}
        data-zooms
        onPointerDown={(event) => {
          if (event.pointerType !== 'mouse' || event.button !== 0) return
          const share = shareAt(event)
          setDrag({ from: share, to: share })
        }}
        onPointerMove={(event) => {
          if (drag !== null) setDrag({ ...drag, to: shareAt(event) })
        }}
        onPointerUp={finish}
        onPointerLeave={finish}
      >
        <Chart {...drawn} rules={groups.map(({ piece, marks: those }) => ({ piece, isBad: those.some(isBad) }))} />
        {drag !== null && (
          <div
            className={classes.zoom}
            style={{
              left: edge.left + Math.min(drag.from, drag.to) * width,
              width: Math.abs(drag.to - drag.from) * width,
            }}
          />
        )}
      </div>
    </>
  )
}

/** A click is no drag. */
const leastDragPx = 8

/** As wide as a sign with its number. */
const signPx = 36

/** Signs that would lie over one another are one, where the first of them stands. */
function apart(groups: MarkGroup[], leftOf: (piece: number) => number): MarkGroup[] {
  const signs: MarkGroup[] = []
  for (const group of groups.toSorted((one, other) => one.piece - other.piece)) {
    const last = signs.at(-1)
    if (last === undefined || leftOf(group.piece) - leftOf(last.piece) >= signPx) signs.push({ ...group })
    else last.marks = [...last.marks, ...group.marks]
  }
  return signs
}

type MarkGroup = { piece: number; marks: Mark[] }

/** Events in the same piece of time share one sign. */
function groupsOf(marks: Mark[], times: string[]): MarkGroup[] {
  const starts = times.map((time) => Date.parse(time))
  const groups = new Map<number, Mark[]>()
  for (const mark of marks) {
    const piece = starts.findLastIndex((start) => start <= Date.parse(mark.at))
    if (piece === -1) continue
    groups.set(piece, [...(groups.get(piece) ?? []), mark])
  }
  return [...groups].map(([piece, those]) => ({ piece, marks: those }))
}

function isBad({ kind }: Mark): boolean {
  return kind === 'alert_firing' || kind === 'data_held'
}

const icons = { release: Rocket, alert_firing: BellRing, alert_resolved: CircleCheck, data_held: DatabaseZap }
const words: Record<Mark['kind'], string> = {
  release: 'Release',
  alert_firing: 'Alert fired',
  alert_resolved: 'Alert resolved',
  data_held: 'New data held back',
}

const moment = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })

function sayMark({ kind, title, at }: Mark): string {
  return `${words[kind]}: ${title}, ${moment.format(new Date(at))}`
}

function wayTo({ project, to }: Place, { kind, id, title }: Mark): string {
  if (kind === 'release') return to(`releases/${id}`)
  if (kind === 'data_held') return paths.table(project.id, title, 'versions')
  const page = to('alerts')
  return `${page}${page.includes('?') ? '&' : '?'}alert=${id}`
}

/** The list that opens at a sign stays within the chart, on a phone too. */
function sideOf(share: number): Side {
  return share < 1 / 3 ? 'bottom-start' : share > 2 / 3 ? 'bottom-end' : 'bottom'
}
type Side = 'bottom-start' | 'bottom' | 'bottom-end'

function MarkSign({ place, marks, left, side }: { place: Place; marks: Mark[]; left: number; side: Side }) {
  const [first] = marks
  if (first === undefined) return null
  const bad = marks.some(isBad) || undefined
  const Icon = icons[(marks.find(isBad) ?? first).kind]
  if (marks.length === 1) {
    return (
      <Tooltip label={sayMark(first)}>
        <Link
          href={wayTo(place, first)}
          className={classes.mark ?? ''}
          style={{ left }}
          data-bad={bad}
          aria-label={sayMark(first)}
        >
          <Icon size={13} aria-hidden />
        </Link>
      </Tooltip>
    )
  }
  return (
    <Popover position={side} withinPortal={false} width={250}>
      <Popover.Target>
        <UnstyledButton
          className={classes.mark ?? ''}
          style={{ left }}
          data-bad={bad}
          aria-label={`${marks.length} things happened until ${moment.format(new Date(first.at))}`}
        >
          <Icon size={13} aria-hidden />
          {marks.length}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <ul className={classes.those}>
          {marks.map((mark) => (
            <li key={`${mark.kind} ${mark.id} ${mark.at}`}>
              <Anchor component={Link} href={wayTo(place, mark)} size="sm">
                {sayMark(mark)}
              </Anchor>
            </li>
          ))}
        </ul>
      </Popover.Dropdown>
    </Popover>
  )
}
