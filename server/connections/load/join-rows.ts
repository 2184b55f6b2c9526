import {
  joinedColumns,
  partedTable,
  type CallLimits,
  type Converted,
  type Files,
  type LoadedParts,
  type Merged,
  type PartedTable,
  type TableBuilder,
} from '../../data/index.ts'
import { Failure } from '../../failure.ts'
import type { ColumnRecord, CursorValue, Deletions } from '../../store/index.ts'
import type { LoadPlan } from './plan-load.ts'

/** What a table becomes with the rows of a load. */
export type Joined = {
  rows: { hash: string; sizeBytes: number }
  rowCount: number
  newRows: number
  columns: ColumnRecord[]
  parted: LoadedParts | null
  /** The table with them, where it has more rows than came. */
  whole: PartedTable | null
}

type App = { files: Files; builder: TableBuilder }
type Load = {
  projectId: string
  plan: LoadPlan
  converted: Converted
  truncated: boolean
  paths: { parquet: string; part: string; past: string }
  limits: CallLimits
}

/** Columns have to be named one by one where rows are in several files, and thousands of names take the engine minutes. */
const maxColumns = 1_000

/** Brings rows into their table, by the table's own rule; where nothing changes, says only how far the cursor is. */
export async function joinRows(app: App, load: Load): Promise<Joined | { lastValue: CursorValue | null }> {
  const { plan, converted, paths } = load
  if (plan.load.mode === 'replace') {
    const { rowCount, columns } = converted
    const rows = await app.files.keep(paths.parquet, 'parquet')
    return { rows, rowCount, newRows: rowCount, columns, parted: null, whole: null }
  }
  const { base } = plan
  const columns = base === null ? converted.columns : joinedColumns(base.columns, converted.columns)
  if (columns.length > maxColumns) throw tooWide(columns.length)
  const parts = base?.parted.parts ?? []
  const before = { columns, parts, deletions: base?.parted.deletions ?? null, load: plan.load }
  const merged = await app.builder.mergeRows(
    load.projectId,
    mergeCall(load, columns, base === null ? null : partedTable(before)),
    load.limits,
  )
  const lastValue = nextValue(load, columns, merged)
  if (base !== null && merged.rowCount === 0 && merged.pastRows === 0) return { lastValue }
  const deletions: Deletions | null =
    merged.past === null ? before.deletions : { ...merged.past, ...(await app.files.keep(paths.past, 'parquet')) }
  const isRowless = merged.rowCount === 0 && base !== null
  const made = isRowless
    ? null
    : await app.files.keep(merged.sizeBytes === null ? paths.parquet : paths.part, 'parquet')
  const part = made === null ? null : { rowCount: merged.rowCount, columns: converted.columns }
  const rows = made ?? { hash: deletions?.hash ?? '', sizeBytes: deletions?.sizeBytes ?? 0 }
  const parted: LoadedParts = { load: plan.load, base: parts, part, deletions, lastValue }
  const rowCount = (base?.rowCount ?? 0) + merged.rowCount - merged.pastRows
  const all =
    made === null || part === null
      ? parts
      : [...parts, { id: '', loads: [], nativeHash: null, fileHash: made.hash, sizeBytes: made.sizeBytes, ...part }]
  const whole = partedTable({ columns, parts: all, deletions, load: plan.load })
  return { rows, rowCount, newRows: merged.rowCount, columns, parted, whole }
}

function mergeCall({ plan, converted, truncated, paths }: Load, columns: ColumnRecord[], table: PartedTable | null) {
  const { mode, primaryKey = [], cursor, deleteMarker } = plan.load
  const { rowCount } = converted
  const came = (field: string) => converted.columns.find(({ sourceKey }) => sourceKey === field)
  const required = (field: string, what: string) => {
    const column = came(field)
    if (column === undefined) throw withoutField(field, what, converted.columns)
    return { name: column.name, type: columns.find(({ name }) => name === column.name)?.type ?? column.type }
  }
  const by = cursor === undefined || rowCount === 0 ? undefined : required(cursor.field, 'load.cursor.field')
  const marker = deleteMarker === undefined ? undefined : came(deleteMarker.field)
  return {
    rowsPath: paths.parquet,
    columns: converted.columns.map(({ name, type }) => ({ name, type })),
    partPath: paths.part,
    pastPath: paths.past,
    table,
    key: rowCount === 0 ? [] : primaryKey.map((field) => required(field, 'load.primary_key')),
    marker:
      marker === undefined || deleteMarker === undefined
        ? null
        : { column: marker.name, value: String(deleteMarker.value) },
    cursor:
      by === undefined
        ? null
        : { column: by.name, type: by.type, before: plan.base?.lastValue?.value ?? null, checkOrder: truncated },
    keepsFirst: mode === 'append',
    numbered: mode === 'merge',
  }
}

/**
 * Where the next load goes on. Of a load that was cut short the largest value stands for all before it only where the
 * rows came in its order; else they are asked for again, which rows without a key do not bear.
 */
function nextValue({ plan, truncated }: Load, columns: ColumnRecord[], merged: Merged): CursorValue | null {
  const before = plan.base?.lastValue ?? null
  const { cursor, mode, primaryKey } = plan.load
  if (cursor === undefined || merged.lastValue === null || !plan.movesCursor) return before
  if (truncated && !merged.isOrdered) {
    if (mode === 'merge' || primaryKey !== undefined) return before
    throw new Failure('upstream_error', {
      reason: 'repeated_page',
      message: `The load was cut short, and its rows are not in the order of ${cursor.field}: going on would leave rows out or bring them twice. Ask the API for that order, raise pagination.max_pages, or give load.primary_key.`,
    })
  }
  const type = columns.find(({ name, sourceKey = name }) => sourceKey === cursor.field)?.type ?? 'VARCHAR'
  return { type, value: merged.lastValue }
}

function withoutField(field: string, what: string, columns: ColumnRecord[]): Failure {
  const there = columns.slice(0, 20).map(({ name, sourceKey = name }) => sourceKey)
  return new Failure('upstream_error', {
    reason: 'missing_field',
    message: `The rows have no ${field}, which ${what} names; they have ${there.join(', ')}. Nothing was stored.`,
  })
}

function tooWide(count: number): Failure {
  return new Failure('upstream_error', {
    reason: 'not_tabular',
    message: `A table of ${count} columns is loaded whole: append and merge are for ${maxColumns} at most. Set load.mode to replace.`,
  })
}
