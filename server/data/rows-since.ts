import type { CatalogTable, PartedTable } from '../engine/index.ts'
import type { TableMoment } from './moments.ts'

/** The rows of a table that came since an earlier version, by the parts of both. */
export type RowsSince = {
  /** Parts that the earlier version has not. */
  now: CatalogTable
  /** Parts that it had instead: other loads of the same rows, or the same put together. Null where it has none. */
  before: CatalogTable | null
  /** Columns that tell rows apart; null where rows may be alike. */
  key: string[] | null
}

/** Null where the later one did not come of the earlier by joining rows, or was written anew since: nobody can tell. */
export function rowsSince(before: TableMoment, now: TableMoment): RowsSince | null {
  const [old, fresh] = [before.table.parted, now.table.parted]
  if (old === undefined || fresh === undefined) return null
  if (now.joinedSince === null || before.version < now.joinedSince || before.version > now.version) return null
  if (JSON.stringify(shownColumns(before)) !== JSON.stringify(shownColumns(now))) return null
  const shared = sharedParts(old, fresh)
  if (shared === 0) return null
  return {
    now: fromPart(now.table, fresh, shared),
    before: shared === old.parts.length ? null : fromPart(before.table, old, shared),
    key: fresh.key ?? null,
  }
}

function shownColumns({ table }: TableMoment) {
  return [table.columns, table.hiddenColumns ?? []]
}

function sharedParts(before: PartedTable, now: PartedTable): number {
  const first = before.parts.findIndex((part, place) => part.rows.hash !== now.parts[place]?.rows.hash)
  return first === -1 ? before.parts.length : first
}

function fromPart(table: CatalogTable, parted: PartedTable, fromPlace: number): CatalogTable {
  return { ...table, parted: { ...parted, fromPlace } }
}
