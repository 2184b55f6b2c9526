import { useState } from 'react'
import { useSession } from '../../client/queries.ts'
import { isNumeric } from '../../text/words.ts'
import { keepArranged, keyOf, readArranged, untouched, type Arranged } from '../cells/stored-columns.ts'
import type { GridColumn } from '../cells/model.ts'

export type GridColumns = {
  /** Those that are shown, in the order that was chosen. */
  shown: GridColumn[]
  ordered: GridColumn[]
  hidden: Set<string>
  widthOf: (column: GridColumn) => number
  resize: (name: string, width: number) => void
  toggle: (name: string) => void
  /** Puts a column where another one is. */
  moveTo: (name: string, target: string) => void
  /** One to the left or to the right of those that are shown. */
  shift: (name: string, by: -1 | 1) => void
  reset: () => void
  isChanged: boolean
}

export const leastWidth = 56
const mostWidth = 1200

/**
 * Which columns are shown, in which order and how wide, as it was left under `storageKey` in this browser. Columns that come
 * later stand where they came.
 */
export function useColumns(columns: GridColumn[], storageKey: string | undefined): GridColumns {
  const [arranged, arrange] = useArranged(storageKey)
  const placeOf = ({ name }: GridColumn): number => {
    const at = arranged.order.indexOf(name)
    return at === -1 ? columns.findIndex((each) => each.name === name) : at
  }
  const ordered =
    arranged.order.length === 0 ? columns : columns.toSorted((one, other) => placeOf(one) - placeOf(other))
  // A column hidden for other rows must not leave nothing of these.
  const isAnyShown = columns.some(({ name }) => !arranged.hidden.includes(name))
  const hidden = new Set(isAnyShown ? arranged.hidden : [])
  const shown = ordered.filter(({ name }) => !hidden.has(name))
  const moveTo = (name: string, target: string): void => {
    const names = ordered.map((each) => each.name)
    const [from, to] = [names.indexOf(name), names.indexOf(target)]
    if (from === -1 || to === -1 || from === to) return
    names.splice(to, 0, ...names.splice(from, 1))
    arrange({ ...arranged, order: names })
  }
  return {
    shown,
    ordered,
    hidden,
    widthOf: (column) => arranged.widths[column.name] ?? usualWidth(column),
    resize: (name, width) =>
      arrange((before) => ({
        ...before,
        widths: { ...before.widths, [name]: Math.round(Math.min(mostWidth, Math.max(leastWidth, width))) },
      })),
    toggle: (name) =>
      arrange({
        ...arranged,
        hidden: hidden.has(name) ? arranged.hidden.filter((each) => each !== name) : [...arranged.hidden, name],
      }),
    moveTo,
    shift: (name, by) => {
      const target = shown[shown.findIndex((each) => each.name === name) + by]
      if (target !== undefined) moveTo(name, target.name)
    },
    reset: () => arrange(untouched),
    isChanged: arranged !== untouched,
  }
}

type Change = (change: Arranged | ((before: Arranged) => Arranged)) => void

function useArranged(storageKey: string | undefined): [Arranged, Change] {
  // A shared reference is read by those who are nobody here.
  const { data: user } = useSession()
  const key = storageKey === undefined ? null : keyOf(user?.id ?? 'guest', storageKey)
  const [state, setState] = useState(() => ({ key, arranged: readArranged(key) }))
  // The grid of an answer may show that of another query next.
  const current = state.key === key ? state : { key, arranged: readArranged(key) }
  if (current !== state) setState(current)
  return [
    current.arranged,
    (change) =>
      setState((before) => {
        const arranged = typeof change === 'function' ? change(before.arranged) : change
        if (key !== null) keepArranged(key, arranged)
        return { key, arranged }
      }),
  ]
}

/** Its name and usual values are read whole. */
function usualWidth({ name, type }: GridColumn): number {
  const least = Math.min(name.length * 8 + 52, 240)
  const usual =
    isNumeric(type) || type === 'BOOLEAN' || type === 'DATE' ? 136 : type.startsWith('TIMESTAMP') ? 172 : 168
  return Math.max(least, usual)
}

/** The remaining room goes to the columns in equal parts; a width that was set is not changed. */
export function fillWidths(widths: number[], room: number): number[] {
  const left = room - widths.reduce((sum, width) => sum + width, 0)
  if (left <= 0 || widths.length === 0) return widths
  const share = Math.floor(left / widths.length)
  return widths.map((width, at) => width + share + (at === widths.length - 1 ? left - share * widths.length : 0))
}
