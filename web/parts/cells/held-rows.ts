import { useDeferredValue, useEffect, useMemo, useState } from 'react'
import { wholeView, type ColumnProfile, type GridColumn, type GridRow, type GridSource, type View } from './model.ts'
import { orderRows } from './order-rows.ts'
import { countColumn } from './profile-rows.ts'

type Held = {
  columns: GridColumn[]
  rows: Array<GridRow | undefined>
  /** The values to sort and filter by, where they are not the shown ones. */
  keys?: GridRow[] | undefined
  /** Where another grid is sorted and filtered with this one. */
  shared?: { view: View; onView: (view: View) => void } | undefined
}

const nothing: GridRow = {}

/** Rows that are at hand, all of them. */
export function useHeldRows({ columns, rows, keys: given, shared }: Held): GridSource {
  const [own, setOwn] = useState(wholeView)
  const { view, onView } = shared ?? { view: own, onView: setOwn }
  // A long list is sorted and searched when there is time, and typing goes on meanwhile.
  const drawn = useDeferredValue(view)
  const keys = useMemo(() => given ?? rows.map((row) => row ?? nothing), [given, rows])
  const order = useMemo(() => orderRows(keys, columns, drawn), [keys, columns, drawn])
  const profiles = useProfiles(keys, columns)
  const numberAt = (place: number): number => order?.[place] ?? place
  const count = order === null ? rows.length : order.length
  return {
    total: rows.length,
    count,
    rowAt: (place) => rows[numberAt(place)],
    numberAt,
    view,
    onView,
    profileOf: (name) => profiles.get(name),
    profiledRows: rows.length,
    collect: (most) =>
      Promise.resolve(Array.from({ length: Math.min(count, most) }, (_, place) => rows[numberAt(place)] ?? nothing)),
    pending: drawn !== view,
  }
}

const none = new Map<string, ColumnProfile>()

/** Counted a column and a few thousand rows at a time, so that the page never stands still for it. */
function useProfiles(rows: GridRow[], columns: GridColumn[]): Map<string, ColumnProfile> {
  const [known, setKnown] = useState({ rows, profiles: none })
  useEffect(() => {
    const profiles = new Map<string, ColumnProfile>()
    let timer: ReturnType<typeof setTimeout>
    const countOn = (at: number, begun?: ReturnType<typeof countColumn>): void => {
      const column = columns[at]
      if (column === undefined) return
      const counting = begun ?? countColumn(rows, column)
      const { done, value } = counting.next()
      if (done === true) {
        profiles.set(column.name, value)
        setKnown({ rows, profiles: new Map(profiles) })
      }
      timer = setTimeout(() => (done === true ? countOn(at + 1) : countOn(at, counting)), 0)
    }
    timer = setTimeout(() => countOn(0), 0)
    return () => clearTimeout(timer)
  }, [rows, columns])
  return known.rows === rows ? known.profiles : none
}
