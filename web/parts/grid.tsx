/* oxlint-disable jsx-a11y/prefer-tag-over-role -- rows that stand where a transform puts them are none of a real table's */
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useEffectEvent, useRef } from 'react'
import classes from './grid.module.css'
import { isNumeric, sayNumber, sayType, sayValue } from '../words.ts'

type Column = { name: string; type: string }
type Row = Record<string, unknown>

type Props = {
  label: string
  columns: Column[]
  count: number
  /** Undefined while it is on its way. */
  rowAt: (index: number) => Row | undefined
  /** Told which rows are in sight, for whoever fetches them. */
  onSight?: (first: number, last: number) => void
}

const rowHeight = 32

/** Rows of any number: only those in sight are drawn. */
export function Grid({ label, columns, count, rowAt, onSight }: Props) {
  const place = useRef<HTMLElement>(null)
  // oxlint-disable-next-line react/incompatible-library -- nothing of it is handed on to what is memoised
  const rows = useVirtualizer({
    count,
    getScrollElement: () => place.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  const items = rows.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0
  const tell = useEffectEvent(() => onSight?.(first, last))
  useEffect(() => tell(), [first, last])
  // As wide as the number of the last row.
  const indexWidth = Math.max(3.5, sayNumber(count).length * 0.55 + 1.5)
  const template = `${indexWidth}rem ${columns.map(({ name, type }) => widthOf(name, type)).join(' ')}`
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by the keyboard
    <section ref={place} className={classes.scroll} aria-label={label} tabIndex={0}>
      <div role="table" aria-label={label} aria-rowcount={count + 1} aria-colcount={columns.length + 1}>
        <div role="row" aria-rowindex={1} className={classes.head} style={{ gridTemplateColumns: template }}>
          <span role="columnheader" className={classes.index}>
            #
          </span>
          {columns.map(({ name, type }) => (
            <span role="columnheader" key={name} title={`${name}: ${type}`} data-end={isNumeric(type) || undefined}>
              <span className={classes.name}>{name}</span>
              <span className={classes.type}>{sayType(type)}</span>
            </span>
          ))}
        </div>
        <div role="rowgroup" className={classes.body} style={{ height: rows.getTotalSize() }}>
          {items.map(({ index, start }) => (
            <div
              role="row"
              key={index}
              aria-rowindex={index + 2}
              className={classes.row}
              style={{ gridTemplateColumns: template, transform: `translateY(${start}px)` }}
            >
              <span role="rowheader" className={classes.index}>
                {sayNumber(index + 1)}
              </span>
              <Cells columns={columns} row={rowAt(index)} />
            </div>
          ))}
        </div>
      </div>
    </section>
  )
}

function Cells({ columns, row }: { columns: Column[]; row: Row | undefined }) {
  return columns.map(({ name, type }) => {
    const value = row?.[name]
    const text = sayValue(value)
    return (
      <span role="cell" key={name} title={text} data-end={isNumeric(type) || undefined}>
        {row !== undefined && (value === null || value === undefined) ? <i className={classes.none}>null</i> : text}
      </span>
    )
  })
}

function widthOf(name: string, type: string): string {
  const least = Math.min(name.length * 0.6 + 2, 14)
  const short = isNumeric(type) || type === 'BOOLEAN' || type === 'DATE'
  // A date is one word of ten figures.
  const usual = type === 'DATE' ? 7 : short ? 5.5 : type.startsWith('TIMESTAMP') ? 12 : 11
  return `minmax(${Math.max(least, usual)}rem, ${short ? 1 : 2}fr)`
}
