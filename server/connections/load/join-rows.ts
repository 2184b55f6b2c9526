import { joinedColumns, partedTable, type LoadedParts, type PartFiles } from '../../data/index.ts'
import type { CallLimits, Converted, Merged, PartedTable, TableBuilder } from '../../engine/index.ts'
import type { Files, StoredCopy } from '../../files/index.ts'
import { Failure } from '../../failure.ts'
import type { ColumnRecord, CursorValue, Deletions } from '../../store/index.ts'
import type { LoadPlan } from './plan-load.ts'

/** A table with the rows of a load in it. */
export type Joined = {
  /** The file that the load brought: its rows, or where there are none the rows that it ended. */
  rows: StoredCopy
  rowCount: number
  newRows: number
  columns: ColumnRecord[]
  parted: LoadedParts | null
  /** The whole table, where it has more rows than the load brought. */
  whole: PartedTable | null
  /** The next load brings some of its rows again, and nothing tells them apart. */
  repeats: boolean
}

type App = { files: Files; builder: TableBuilder }
type Load = {
  projectId: string
  plan: LoadPlan
  converted: Converted
  truncated: boolean
  /** Rows are missing that nobody knows of. */
  isDoubtful: boolean
  /** They were made by a statement, of which none is newer than another. */
  isBuilt: boolean
  paths: { parquet: string; part: string; past: string }
  limits: CallLimits
}

/** Columns have to be named one by one where rows are in several files, and thousands of names take the engine minutes. */
const maxColumns = 1_000

/** Joins rows to their table by its load mode; where nothing changes, returns the cursor alone. */
export async function joinRows(app: App, load: Load): Promise<Joined | { lastValue: CursorValue | null }> {
  const { plan, converted, paths } = load
  if (plan.load.mode === 'replace') {
    const { rowCount, columns } = converted
    const rows = await app.files.keep(paths.parquet, 'parquet')
    return { rows, rowCount, newRows: rowCount, columns, parted: null, whole: null, repeats: false }
  }
  return mergeRows(app, load)
}

async function mergeRows(app: App, load: Load): Promise<Joined | { lastValue: CursorValue | null }> {
  const { plan, converted, paths } = load
  const { base } = plan
  const columns = base === null ? converted.columns : joinedColumns(base.columns, converted.columns)
  if (columns.length > maxColumns) throw tooWide(columns.length)
  const partsBefore = base?.parted.parts ?? []
  const deletionsBefore = base?.parted.deletions ?? null
  const tableOf = (parts: PartFiles[], deletions: Deletions | null): PartedTable =>
    partedTable({ columns, parts, deletions, load: plan.load })
  const tableBefore = base === null ? null : tableOf(partsBefore, deletionsBefore)
  const merged = await app.builder.mergeRows(load.projectId, mergeCall(load, columns, tableBefore), load.limits)
  const { lastValue, repeats } = nextValue(load, columns, merged)
  if (base !== null && merged.rowCount === 0 && merged.pastRows === 0) return { lastValue }

  const deletionsFile = merged.past === null ? null : await app.files.keep(paths.past, 'parquet')
  const deletions =
    merged.past === null || deletionsFile === null ? deletionsBefore : { ...merged.past, ...deletionsFile }
  const rowCount = (base?.rowCount ?? 0) + merged.rowCount - merged.pastRows
  const joined = { rowCount, newRows: merged.rowCount, columns, repeats }
  const partedBy = { load: plan.load, base: partsBefore, joins: base, deletions, lastValue }
  if (base !== null && merged.rowCount === 0 && deletionsFile !== null) {
    const whole = tableOf(partsBefore, deletions)
    return { ...joined, rows: deletionsFile, parted: { ...partedBy, part: null }, whole }
  }
  const rows = await app.files.keep(merged.sizeBytes === null ? paths.parquet : paths.part, 'parquet')
  const part = { rowCount: merged.rowCount, columns: converted.columns }
  const whole = tableOf([...partsBefore, { ...part, fileHash: rows.hash, nativeHash: null }], deletions)
  return { ...joined, rows, parted: { ...partedBy, part }, whole }
}

function mergeCall(
  { plan, converted, truncated, isDoubtful, isBuilt, paths }: Load,
  columns: ColumnRecord[],
  table: PartedTable | null,
) {
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
        : {
            column: by.name,
            type: by.type,
            before: plan.base?.lastValue?.value ?? null,
            checkOrder: truncated || isDoubtful,
          },
    keepsFirst: mode === 'append',
    refusesTwins: isBuilt,
    numbered: mode === 'merge',
  }
}

type NextValue = { lastValue: CursorValue | null; repeats: boolean }

/**
 * The cursor of the next load. After a load that is not whole, the largest value covers all rows before it only where
 * they came in its order; otherwise they are fetched again, which needs a key to avoid duplicates.
 */
function nextValue(load: Load, columns: ColumnRecord[], merged: Merged): NextValue {
  const { plan, converted, truncated, isDoubtful } = load
  const before = plan.base?.lastValue ?? null
  const { cursor, mode, primaryKey } = plan.load
  const stays = { lastValue: before, repeats: false }
  if (cursor === undefined || merged.lastValue === null || !plan.movesCursor) return stays
  if ((truncated || isDoubtful) && !merged.isOrdered) {
    if (mode === 'merge' || primaryKey !== undefined) return stays
    if (!truncated) return { ...stays, repeats: true }
    throw new Failure('upstream_error', {
      reason: 'repeated_page',
      message: `The load was cut short, and its rows are not in the order of ${cursor.field}: going on would leave rows out or bring them twice. Ask the API for that order, raise pagination.max_pages, or give load.primary_key.`,
    })
  }
  const type = columns.find(({ name, sourceKey = name }) => sourceKey === cursor.field)?.type ?? 'VARCHAR'
  const { lastValue: value } = merged
  const raw = value === before?.value ? (before.raw ?? null) : (converted.looked?.cursorText ?? null)
  return { lastValue: { type, value, ...(raw !== null && { raw }) }, repeats: false }
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
