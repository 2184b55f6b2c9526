/* oxlint-disable jsx-a11y/prefer-tag-over-role -- rows that stand where a transform puts them are none of a real table's */
import { useElementSize, useMergedRef } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  useEffect,
  useEffectEvent,
  useId,
  useMemo,
  useRef,
  useState,
  type ClipboardEvent,
  type KeyboardEvent,
} from 'react'
import { sayCount, sayNumber } from '../../words.ts'
import { CellDrawer } from './cell-drawer.tsx'
import { formatOf } from './cell-text.ts'
import { copyText, rangeText, type CopyForm } from './copy-text.ts'
import { saveRows } from './download.ts'
import { GridRowView } from './grid-row.tsx'
import classes from './grid.module.css'
import { HeaderCell, resizeByKey } from './header-cell.tsx'
import type { Download, GridColumn, GridRow, GridSource, RowLook } from './model.ts'
import { Toolbar } from './toolbar.tsx'
import { useActiveCell, type Place } from './use-active-cell.ts'
import { fillWidths, useColumns } from './use-columns.ts'

type Props = {
  label: string
  columns: GridColumn[]
  source: GridSource
  download?: Download | undefined
  /** By the number of the row. */
  lookOf?: ((number: number) => RowLook | undefined) | undefined
}

export const rowHeight = 32
const headHeight = 64
/** More than this is no longer pasted anywhere; a file takes it all. */
const mostCopied = 100_000

/** Rows of any number, of which those in sight are drawn: to look through, to take apart and to take away. */
export function Grid({ label, columns: given, source, download, lookOf }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const { ref: measured, width: room } = useElementSize()
  const scroller = useMergedRef(place, measured)
  const id = useId()
  const columns = useColumns(given)
  const { shown } = columns
  // As wide as the number of the last row.
  const indexWidth = Math.max(48, sayNumber(source.total).length * 8 + 24)
  const widths = fillWidths(shown.map(columns.widthOf), room - indexWidth)
  // oxlint-disable-next-line react/incompatible-library -- nothing of it is handed on to what is memoised
  const rows = useVirtualizer({
    count: source.count,
    getScrollElement: () => place.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: headHeight,
    scrollPaddingStart: headHeight,
  })
  const across = useVirtualizer({
    horizontal: true,
    count: shown.length,
    getScrollElement: () => place.current,
    estimateSize: (at) => widths[at] ?? 0,
    overscan: 3,
    paddingStart: indexWidth,
    scrollPaddingStart: indexWidth,
  })
  const widthsText = widths.join(' ')
  const measureAgain = useEffectEvent(() => across.measure())
  useEffect(() => measureAgain(), [widthsText])
  const items = rows.getVirtualItems()
  const cells = across.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0
  const tell = useEffectEvent(() => source.onSight?.(first, last))
  useEffect(() => tell(), [first, last, source.count])

  const [menu, setMenu] = useState<string | null>(null)
  const [expanded, setExpanded] = useState<Place | null>(null)
  const active = useActiveCell({
    rows: source.count,
    columns: shown.length,
    pageRows: Math.max(1, items.length - 26),
    onMove: ({ row, column }) => {
      if (row >= 0) rows.scrollToIndex(row)
      across.scrollToIndex(column)
    },
    onEnter: (at) => (at.row === -1 ? setMenu(shown[at.column]?.name ?? null) : setExpanded(at)),
  })
  const sample = Array.from({ length: Math.min(source.count, 200) }, (_, at) => source.rowAt(at))
  const isThere = sample.some((row) => row !== undefined)
  const formats = useMemo(
    () => new Map(given.map((column) => [column.name, formatOf(column, sample)])),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- what the first rows say of a column holds for all of them
    [given, isThere],
  )
  const names = shown.map(({ name }) => name)
  const sortBy = ({ name }: GridColumn): void => {
    const { view, onView } = source
    const sort =
      view.sort?.column === name
        ? view.sort.descending
          ? null
          : { column: name, descending: true }
        : { column: name, descending: false }
    onView({ ...view, sort })
  }
  const onKey = (event: KeyboardEvent): void => {
    const header = active.at?.row === -1 ? shown[active.at.column] : undefined
    if (header !== undefined && event.key === ' ') {
      event.preventDefault()
      sortBy(header)
    }
    if (header !== undefined && active.at !== null) {
      resizeByKey(event, widths[active.at.column] ?? 0, (width) => columns.resize(header.name, width))
    }
    active.onKey(event)
  }
  const onCopy = (event: ClipboardEvent): void => {
    const { range } = active
    // What was marked with the mouse is copied as anywhere else.
    if (range === null || (getSelection()?.toString() ?? '') !== '' || event.target !== place.current) return
    event.preventDefault()
    const picked = Array.from({ length: range.bottom - range.top + 1 }, (_, at) => source.rowAt(range.top + at))
    event.clipboardData.setData('text/plain', rangeText(names.slice(range.left, range.right + 1), picked))
  }
  const opened = expanded === null ? undefined : { row: source.rowAt(expanded.row), column: shown[expanded.column] }
  const close = (): void => {
    setExpanded(null)
    setMenu(null)
    place.current?.focus({ preventScroll: true })
  }
  const total = across.getTotalSize()
  const before = cells[0]?.start ?? indexWidth
  return (
    <div className={classes.frame}>
      <Toolbar
        label={label}
        source={source}
        columns={columns}
        download={download}
        onCopy={(form) => void copyAll(form, names, source)}
        onDownload={(format) => download && void saveRows(download, format, { names, source })}
      />
      <div
        ref={scroller}
        className={classes.scroll}
        role="grid"
        aria-label={label}
        aria-rowcount={source.count + 1}
        aria-colcount={shown.length + 1}
        aria-multiselectable
        aria-busy={source.pending}
        aria-activedescendant={active.at === null ? undefined : cellId(id, active.at)}
        tabIndex={0}
        onKeyDown={onKey}
        onCopy={onCopy}
        onFocus={(event) => {
          if (event.target === event.currentTarget && active.at === null)
            active.goTo({ row: source.count === 0 ? -1 : 0, column: 0 })
        }}
      >
        <div role="rowgroup" className={classes.head} style={{ width: total }}>
          <div role="row" aria-rowindex={1} className={classes.headRow}>
            <div role="columnheader" aria-colindex={1} className={classes.index} style={{ width: indexWidth }}>
              #
            </div>
            <div role="presentation" style={{ width: before - indexWidth, flex: 'none' }} />
            {cells.map(({ index: at }) => {
              const column = shown[at]
              return (
                column !== undefined && (
                  <HeaderCell
                    key={column.name}
                    id={cellId(id, { row: -1, column: at })}
                    at={at}
                    column={column}
                    columns={columns}
                    source={source}
                    width={widths[at] ?? 0}
                    isActive={active.at?.row === -1 && active.at.column === at}
                    isOpen={menu === column.name}
                    onOpen={(open) => (open ? setMenu(column.name) : close())}
                    onSort={() => sortBy(column)}
                  />
                )
              )
            })}
          </div>
        </div>
        <div role="rowgroup" className={classes.body} style={{ height: rows.getTotalSize(), width: total }}>
          {items.map(({ index, start }) => {
            const number = source.numberAt(index)
            return (
              <GridRowView
                key={index}
                id={id}
                at={index}
                top={start - headHeight}
                number={number}
                row={source.rowAt(index)}
                look={lookOf?.(number)}
                shown={shown}
                formats={formats}
                cells={cells.map((cell) => cell.index)}
                widths={widths}
                indexWidth={indexWidth}
                before={before - indexWidth}
                active={active}
                onExpand={(column) => setExpanded({ row: index, column })}
              />
            )
          })}
        </div>
        {source.count === 0 && <p className={classes.nothing}>{source.pending ? 'Looking…' : 'No row fits.'}</p>}
      </div>
      {expanded !== null && opened?.row !== undefined && opened.column !== undefined && (
        <CellDrawer
          column={opened.column}
          columns={columns.ordered}
          row={opened.row}
          number={source.numberAt(expanded.row)}
          onClose={close}
        />
      )}
    </div>
  )
}

export function cellId(id: string, { row, column }: Place): string {
  return `${id}-${row}-${column}`
}

async function copyAll(form: CopyForm, names: string[], source: GridSource): Promise<void> {
  const say = (message: string): void => void notifications.show({ message })
  try {
    const rows: GridRow[] = await source.collect(mostCopied)
    await navigator.clipboard.writeText(copyText(form, names, rows))
    say(`${rows.length < source.count ? 'The first ' : ''}${sayCount(rows.length, 'row')} copied.`)
  } catch {
    say('The browser did not let the rows be copied. Download them instead.')
  }
}
