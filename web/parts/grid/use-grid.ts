import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useEffectEvent, useId, useMemo, useState, type RefObject } from 'react'
import { sayNumber } from '../../text/words.ts'
import { formatOf } from '../cells/cell-text.ts'
import type { GridColumn, GridSource } from '../cells/model.ts'
import { useActiveCell, type CellPosition } from './use-active-cell.ts'
import { fillWidths, useColumns } from './use-columns.ts'

export const rowHeight = 32
export const headHeight = 64
/** Drawn before and after what is in sight. */
const spareRows = 12
const spareColumns = 3

export type GridState = ReturnType<typeof useGrid>

type Seen = {
  given: GridColumn[]
  storageKey: string | undefined
  source: GridSource
  /** The element that scrolls, and how wide it is. */
  place: RefObject<HTMLDivElement | null>
  room: number
}

/** The visible part of a grid, where the keyboard is, and what is open. */
export function useGrid({ given, storageKey, source, place, room }: Seen) {
  const columns = useColumns(given, storageKey)
  const { shown } = columns
  // As wide as the number of the last row.
  const indexWidth = Math.max(48, sayNumber(source.total).length * 8 + 24)
  const widths = fillWidths(shown.map(columns.widthOf), room - indexWidth)
  const { rows, across } = useSight({ place, source, widths, indexWidth })
  const [menu, setMenu] = useState<string | null>(null)
  const [expanded, setExpanded] = useState<CellPosition | null>(null)
  const items = rows.getVirtualItems()
  const active = useActiveCell({
    rows: source.count,
    columns: shown.length,
    pageRows: Math.max(1, items.length - 2 * spareRows - 2),
    onMove: ({ row, column }) => {
      if (row >= 0) rows.scrollToIndex(row)
      across.scrollToIndex(column)
    },
    onEnter: (at) => (at.row === -1 ? setMenu(shown[at.column]?.name ?? null) : setExpanded(at)),
  })
  const cells = across.getVirtualItems()
  return {
    id: useId(),
    columns,
    widths,
    indexWidth,
    items,
    height: rows.getTotalSize(),
    /** Which columns are drawn, and the room of those out of sight to their left. */
    cells: cells.map(({ index }) => index),
    before: (cells[0]?.start ?? indexWidth) - indexWidth,
    width: across.getTotalSize(),
    formats: useFormats(given, source),
    active,
    menu,
    setMenu,
    expanded,
    setExpanded,
    /** Nothing is open any more, and the keyboard is where it was. */
    close: () => {
      setMenu(null)
      setExpanded(null)
      place.current?.focus({ preventScroll: true })
    },
  }
}

type Sight = {
  place: RefObject<HTMLDivElement | null>
  source: GridSource
  widths: number[]
  indexWidth: number
}

/** The rows and columns that are drawn, and word of them to whoever fetches rows. */
function useSight({ place, source, widths, indexWidth }: Sight) {
  // oxlint-disable-next-line react/incompatible-library -- nothing of it is handed on to what is memoised
  const rows = useVirtualizer({
    count: source.count,
    getScrollElement: () => place.current,
    estimateSize: () => rowHeight,
    overscan: spareRows,
    scrollMargin: headHeight,
    scrollPaddingStart: headHeight,
  })
  const across = useVirtualizer({
    horizontal: true,
    count: widths.length,
    getScrollElement: () => place.current,
    estimateSize: (at) => widths[at] ?? 0,
    overscan: spareColumns,
    paddingStart: indexWidth,
    scrollPaddingStart: indexWidth,
  })
  const widthsText = widths.join(' ')
  const measureAgain = useEffectEvent(() => across.measure())
  useEffect(() => measureAgain(), [widthsText])
  const items = rows.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0
  const report = useEffectEvent(() => source.onSight?.(first, last))
  useEffect(() => report(), [first, last, source.count])
  return { rows, across }
}

/** So many rows tell how the values of a column are written. */
const telling = 200

function useFormats(columns: GridColumn[], source: GridSource) {
  const sample = Array.from({ length: Math.min(source.count, telling) }, (_, at) => source.rowAt(at))
  const isThere = sample.some((row) => row !== undefined)
  return useMemo(
    () => new Map(columns.map((column) => [column.name, formatOf(column, sample)])),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- what the first rows say of a column holds for all of them
    [columns, isThere],
  )
}
