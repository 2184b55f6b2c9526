import type { PartedTable, Column } from '../engine/index.ts'
import type { StoredFile } from '../files/index.ts'

/** A deployed query that a change of a table would break, and how. */
export type BrokenQuery = { name: string; environments: string[]; message: string }

/** Data that is about to be served as a table. */
export type TableChange = {
  projectId: string
  tableName: string
  /** Null while only what SQL sees of the present data changes. */
  rows: StoredFile | null
  /** Where it is not the whole table, the table with it. */
  parted?: PartedTable | undefined
  columns: Column[]
  hiddenColumns: string[]
  signal?: AbortSignal | undefined
}

/** A port: the deployed queries that would fail, or answer with other kinds of values, if a table became so. */
export type QueryGate = { brokenBy(change: TableChange): Promise<BrokenQuery[]> }
