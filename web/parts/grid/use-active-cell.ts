import { useState, type KeyboardEvent } from 'react'

/** A place in the grid; row -1 is the header. */
export type CellPosition = { row: number; column: number }

export type ActiveCell = {
  at: CellPosition | null
  /** From the cell where a selection began to the active one, both included. */
  range: { top: number; bottom: number; left: number; right: number } | null
  goTo: (place: CellPosition, extend?: boolean) => void
  onKey: (event: KeyboardEvent) => void
}

type Options = {
  rows: number
  columns: number
  /** How many rows a page is. */
  pageRows: number
  onMove: (place: CellPosition) => void
  /** Enter, on a cell or on the header. */
  onEnter: (place: CellPosition) => void
}

const headerRow = -1

/** Where the keyboard is. The focus stays with the grid, so that it survives rows that scroll out of sight. */
export function useActiveCell({ rows, columns, pageRows, onMove, onEnter }: Options): ActiveCell {
  const [at, setAt] = useState<CellPosition | null>(null)
  const [anchor, setAnchor] = useState<CellPosition | null>(null)
  const within = (place: CellPosition): CellPosition => ({
    row: Math.min(rows - 1, Math.max(headerRow, place.row)),
    column: Math.min(columns - 1, Math.max(0, place.column)),
  })
  const goTo = (place: CellPosition, extend = false): void => {
    const next = within(place)
    setAnchor(extend && at !== null && at.row !== headerRow && next.row !== headerRow ? (anchor ?? at) : null)
    setAt(next)
    onMove(next)
  }
  const onKey = (event: KeyboardEvent): void => {
    // Keys typed in a field within belong to the field.
    if (event.defaultPrevented || event.altKey || event.target !== event.currentTarget) return
    const from = at ?? { row: headerRow, column: 0 }
    if (event.key === 'Enter') {
      event.preventDefault()
      onEnter(from)
      return
    }
    const next = nextPlace(from, event, { rows, columns, pageRows })
    if (next === null) return
    event.preventDefault()
    goTo(next, event.shiftKey)
  }
  const current = at === null ? null : within(at)
  return { at: current, range: current === null ? null : rangeOf(current, anchor), goTo, onKey }
}

function nextPlace(
  { row, column }: CellPosition,
  { key, ctrlKey, metaKey }: KeyboardEvent,
  { rows, columns, pageRows }: Pick<Options, 'rows' | 'columns' | 'pageRows'>,
): CellPosition | null {
  const far = ctrlKey || metaKey
  if (key === 'ArrowDown') return { row: far ? rows - 1 : row + 1, column }
  if (key === 'ArrowUp') return { row: far ? 0 : row - 1, column }
  if (key === 'ArrowRight' && !(far && row === headerRow)) return { row, column: far ? columns - 1 : column + 1 }
  if (key === 'ArrowLeft' && !(far && row === headerRow)) return { row, column: far ? 0 : column - 1 }
  if (key === 'Home') return far ? { row: 0, column: 0 } : { row, column: 0 }
  if (key === 'End') return far ? { row: rows - 1, column: columns - 1 } : { row, column: columns - 1 }
  if (key === 'PageDown') return { row: row + pageRows, column }
  if (key === 'PageUp') return { row: Math.max(0, row - pageRows), column }
  return null
}

function rangeOf(at: CellPosition, anchor: CellPosition | null): ActiveCell['range'] {
  if (at.row === headerRow) return null
  const from = anchor ?? at
  return {
    top: Math.min(at.row, from.row),
    bottom: Math.max(at.row, from.row),
    left: Math.min(at.column, from.column),
    right: Math.max(at.column, from.column),
  }
}
