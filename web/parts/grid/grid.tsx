/* oxlint-disable jsx-a11y/prefer-tag-over-role -- rows that stand where a transform puts them are none of a real table's */
import { useElementSize, useMergedRef } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useRef, type ClipboardEvent, type KeyboardEvent } from 'react'
import { sayCount } from '../../text/words.ts'
import { CellDrawer } from './cell-drawer.tsx'
import { copyText, rangeText, type CopyForm } from '../cells/copy-text.ts'
import { saveRows } from '../cells/download.ts'
import { GridRowView } from './grid-row.tsx'
import classes from './grid.module.css'
import { HeaderCell, resizeByKey } from './header-cell.tsx'
import type { Download, GridColumn, GridRow, GridSource, RowLook } from '../cells/model.ts'
import { Toolbar } from './toolbar.tsx'
import type { CellPosition } from './use-active-cell.ts'
import { headHeight, useGrid, type GridState } from './use-grid.ts'

type Props = {
  label: string
  columns: GridColumn[]
  source: GridSource
  /** Under which its columns stay as they were arranged: what they are of, in words of the address. */
  storageKey?: string | undefined
  download?: Download | undefined
  /** By the number of the row. */
  lookOf?: ((number: number) => RowLook | undefined) | undefined
}

/** Rows of any number, of which those in sight are drawn: to look through, to take apart and to take away. */
export function Grid({ label, columns, source, storageKey, download, lookOf }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const { ref: measured, width: room } = useElementSize()
  const scroller = useMergedRef(place, measured)
  const grid = useGrid({ given: columns, storageKey, source, place, room })
  const names = grid.columns.shown.map(({ name }) => name)
  const { expanded } = grid
  const row = expanded === null ? undefined : source.rowAt(expanded.row)
  const column = expanded === null ? undefined : grid.columns.shown[expanded.column]
  return (
    <div className={classes.frame}>
      <Toolbar
        label={label}
        source={source}
        columns={grid.columns}
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
        aria-colcount={names.length + 1}
        aria-multiselectable
        aria-busy={source.pending}
        aria-activedescendant={grid.active.at === null ? undefined : cellId(grid.id, grid.active.at)}
        tabIndex={0}
        onKeyDown={(event) => onKey(event, grid, source)}
        onCopy={(event) => onCopy(event, grid, source)}
        onFocus={(event) => {
          if (event.target !== event.currentTarget || grid.active.at !== null) return
          grid.active.goTo({ row: source.count === 0 ? -1 : 0, column: 0 })
        }}
      >
        <GridHead grid={grid} source={source} />
        <GridBody grid={grid} source={source} lookOf={lookOf} />
        {source.count === 0 && <p className={classes.nothing}>{source.pending ? 'Looking…' : 'No row fits.'}</p>}
      </div>
      {expanded !== null && row !== undefined && column !== undefined && (
        <CellDrawer
          column={column}
          columns={grid.columns.ordered}
          row={row}
          number={source.numberAt(expanded.row)}
          onClose={grid.close}
        />
      )}
    </div>
  )
}

type Parts = { grid: GridState; source: GridSource }

function GridHead({ grid, source }: Parts) {
  const { columns, active, menu, indexWidth, widths } = grid
  return (
    <div role="rowgroup" className={classes.head} style={{ width: grid.width }}>
      <div role="row" aria-rowindex={1} className={classes.headRow}>
        <div
          role="columnheader"
          aria-label="Row number"
          aria-colindex={1}
          className={classes.index}
          style={{ width: indexWidth }}
        >
          #
        </div>
        <div role="presentation" style={{ width: grid.before, flex: 'none' }} />
        {grid.cells.map((at) => {
          const column = columns.shown[at]
          return (
            column !== undefined && (
              <HeaderCell
                key={column.name}
                id={cellId(grid.id, { row: -1, column: at })}
                at={at}
                column={column}
                columns={columns}
                source={source}
                width={widths[at] ?? 0}
                isActive={active.at?.row === -1 && active.at.column === at}
                isOpen={menu === column.name}
                onOpen={(open) => (open ? grid.setMenu(column.name) : grid.close())}
                onSort={() => sortBy(column, source)}
              />
            )
          )
        })}
      </div>
    </div>
  )
}

function GridBody({ grid, source, lookOf }: Parts & Pick<Props, 'lookOf'>) {
  return (
    <div role="rowgroup" className={classes.body} style={{ height: grid.height, width: grid.width }}>
      {grid.items.map(({ index, start }) => {
        const number = source.numberAt(index)
        return (
          <GridRowView
            key={index}
            grid={grid}
            at={index}
            top={start - headHeight}
            number={number}
            row={source.rowAt(index)}
            look={lookOf?.(number)}
          />
        )
      })}
    </div>
  )
}

function cellId(id: string, { row, column }: CellPosition): string {
  return `${id}-${row}-${column}`
}

/** Upwards, downwards, and as they came. */
function sortBy({ name }: GridColumn, { view, onView }: GridSource): void {
  if (view.sort?.column !== name) onView({ ...view, sort: { column: name, descending: false } })
  else onView({ ...view, sort: view.sort.descending ? null : { column: name, descending: true } })
}

/** On a header the space bar sorts and Ctrl with an arrow makes it wider; the rest goes from cell to cell. */
function onKey(event: KeyboardEvent, { active, columns, widths }: GridState, source: GridSource): void {
  const header = active.at?.row === -1 ? columns.shown[active.at.column] : undefined
  if (header !== undefined && active.at !== null && event.target === event.currentTarget) {
    if (event.key === ' ') {
      event.preventDefault()
      sortBy(header, source)
    }
    resizeByKey(event, widths[active.at.column] ?? 0, (width) => columns.resize(header.name, width))
  }
  active.onKey(event)
}

function onCopy(event: ClipboardEvent, { active: { range }, columns }: GridState, source: GridSource): void {
  // Text marked with the mouse is copied as anywhere else.
  if (range === null || (getSelection()?.toString() ?? '') !== '' || event.target !== event.currentTarget) return
  event.preventDefault()
  const names = columns.shown.slice(range.left, range.right + 1).map(({ name }) => name)
  const picked = Array.from({ length: range.bottom - range.top + 1 }, (_, at) => source.rowAt(range.top + at))
  event.clipboardData.setData('text/plain', rangeText(names, picked))
}

/** More than this is no longer pasted anywhere; a file takes it all. */
const mostCopied = 100_000

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
