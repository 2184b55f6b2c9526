import { Grid } from './grid.tsx'
import { useHeldRows } from '../cells/held-rows.ts'
import type { Download, GridColumn, GridRow, RowLook, View } from '../cells/model.ts'

export type HeldGridProps = {
  label: string
  columns: GridColumn[]
  rows: Array<GridRow | undefined>
  keys?: GridRow[] | undefined
  shared?: { view: View; onView: (view: View) => void } | undefined
  storageKey?: string | undefined
  download?: Download | undefined
  lookOf?: ((number: number) => RowLook | undefined) | undefined
}

/** The grid of rows that are at hand. */
export function HeldGrid({ label, columns, rows, keys, shared, storageKey, download, lookOf }: HeldGridProps) {
  const source = useHeldRows({ columns, rows, keys, shared })
  return (
    <Grid label={label} columns={columns} source={source} storageKey={storageKey} download={download} lookOf={lookOf} />
  )
}
