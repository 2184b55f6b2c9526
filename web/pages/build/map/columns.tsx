import { Button, Text, Title } from '@mantine/core'
import { useState } from 'react'
import type { Edge, Kind, MapNode } from './graph.ts'
import classes from './map.module.css'
import { kindWords, statusWords } from './words.ts'

type Column = { kind: Kind; nodes: MapNode[]; all: number }

type Props = {
  columns: Column[]
  edges: Edge[]
  /** The width of the place it is drawn in. */
  width: number
  /** Ids connected to the selection; null where nothing is selected. */
  connected: ReadonlySet<string> | null
  selected: string | null
  onSelect: (id: string) => void
}

/** As in the style sheet, which gives every entry this height. */
const rowHeight = 56
const headHeight = 36
/** Names need the room more than lines and icons do. */
const roomy = 1000
const gapFor = (width: number): number => (width < roomy ? 28 : 56)
/** Below it the columns stand under one another, and no lines are drawn. */
const narrow = 720
const step = 40

/** Five columns of buttons, with the lines between them behind. */
export function Columns({ columns, edges, width, connected, selected, onSelect }: Props) {
  const [most, setMost] = useState(step)
  const isWide = width >= narrow
  const shown = columns.map((column) => ({
    ...column,
    nodes: column.nodes.slice(0, most),
    left: column.nodes.length - most,
  }))
  return (
    <div
      className={classes.columns}
      data-wide={isWide || undefined}
      data-tight={width < roomy || undefined}
      style={isWide ? { columnGap: gapFor(width) } : undefined}
    >
      {isWide && <Lines columns={shown} edges={edges} width={width} connected={connected} />}
      {shown.map(({ kind, nodes, all, left }) => (
        <section key={kind} className={classes.column} aria-label={kindWords[kind].many}>
          <Title order={2} className={classes.head ?? ''}>
            {kindWords[kind].many}
            <Text component="span" size="xs" c="dimmed" fw={400}>
              {' '}
              {all.toLocaleString('en')}
            </Text>
          </Title>
          <ul className={classes.list}>
            {nodes.map((node) => (
              <Entry
                key={node.id}
                node={node}
                isSelected={node.id === selected}
                isFaint={connected !== null && !connected.has(node.id)}
                onSelect={onSelect}
              />
            ))}
          </ul>
          {nodes.length === 0 && (
            <Text size="xs" c="dimmed">
              {all === 0 ? noneWords[kind] : 'None of these.'}
            </Text>
          )}
          {left > 0 && (
            <Button size="xs" variant="default" onClick={() => setMost(most + step)}>
              {left.toLocaleString('en')} more {kindWords[kind].many.toLowerCase()}
            </Button>
          )}
        </section>
      ))}
    </div>
  )
}

const noneWords: Record<Kind, string> = {
  source: 'No connection yet.',
  table: 'No table yet.',
  query: 'No query yet.',
  environment: 'None.',
  caller: 'No key has called in 30 days.',
}

type EntryProps = { node: MapNode; isSelected: boolean; isFaint: boolean; onSelect: (id: string) => void }

function Entry({ node: { id, kind, name, status, about }, isSelected, isFaint, onSelect }: EntryProps) {
  const { icon: Icon } = kindWords[kind]
  const isWell = status === null || status === 'fresh'
  return (
    <li className={classes.entry}>
      <button
        type="button"
        className={classes.node}
        aria-pressed={isSelected}
        data-status={status ?? undefined}
        data-faint={isFaint || undefined}
        onClick={() => onSelect(id)}
      >
        <Icon size={15} aria-hidden />
        <span className={classes.words}>
          <span className={classes.name} title={name}>
            {name}
          </span>
          <span className={classes.about}>
            {!isWell && <span className={classes.status}>{statusWords[status]}</span>}
            {!isWell && about !== '' && ' · '}
            {about}
          </span>
        </span>
      </button>
    </li>
  )
}

type LinesProps = Pick<Props, 'edges' | 'width' | 'connected'> & { columns: Array<{ nodes: MapNode[] }> }

function Lines({ columns, edges, width, connected }: LinesProps) {
  const gap = gapFor(width)
  const columnWidth = (width - gap * (columns.length - 1)) / columns.length
  const placeOf = new Map(
    columns.flatMap(({ nodes }, column) =>
      nodes.map(({ id }, row) => [
        id,
        { left: column * (columnWidth + gap), y: headHeight + row * rowHeight + (rowHeight - 8) / 2 },
      ]),
    ),
  )
  const height = headHeight + Math.max(...columns.map(({ nodes }) => nodes.length)) * rowHeight
  const isOn = ({ from, to }: Edge): boolean => connected !== null && connected.has(from) && connected.has(to)
  // Connected nodes are drawn last, above the rest.
  const drawn = connected === null ? edges : edges.toSorted((one, other) => Number(isOn(one)) - Number(isOn(other)))
  return (
    <svg className={classes.lines} width={width} height={height} aria-hidden>
      {drawn.map(({ from, to, isBuilt }) => {
        const [begin, end] = [placeOf.get(from), placeOf.get(to)]
        if (begin === undefined || end === undefined) return null
        const x = begin.left + columnWidth
        const middle = (x + end.left) / 2
        return (
          <path
            key={`${from} ${to}`}
            d={`M${x},${begin.y} C${middle},${begin.y} ${middle},${end.y} ${end.left},${end.y}`}
            data-built={isBuilt}
            data-on={isOn({ from, to }) || undefined}
            data-faint={(connected !== null && !isOn({ from, to })) || undefined}
          />
        )
      })}
    </svg>
  )
}
