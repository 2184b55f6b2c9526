import type { Drift } from '../../../store/index.ts'

/** A port: data of the rooms beside this one that alerts measure. */
export type AlertSources = {
  /** The last refresh of each table of a project (null: none yet), its schedule, and since when a model is late. */
  freshness(projectId: string): Promise<
    Array<{
      tableName: string
      schedule: string | null
      timeZone: string
      freshAt: Date | null
      isModel: boolean
      lateSince: Date | null
    }>
  >
  /** Schema changes of the tables of a project in a span, its end included. */
  drifts(projectId: string, span: Span): Promise<Array<{ tableName: string; drift: Drift }>>
  /** The tables of a project whose newest data waits for its author. */
  heldTables(projectId: string): Promise<string[]>
  /** Deployed queries of a project, with the columns that they read of each table. */
  tablesRead(projectId: string): Promise<Array<{ name: string; environment: string; tables: Record<string, string[]> }>>
  /** The history of the tables that a project has now, as far as it is recorded. */
  tablesPast(projectId: string, span: Span): Promise<{ tables: PastTable[]; knownFrom: Date; columnsKnownFrom: Date }>
  /** Queries that were deployed during a span, with the columns that they read of each table. */
  readsPast(projectId: string, span: Span): Promise<PastRead[]>
  hasQuery(query: { projectId: string; name: string }): Promise<boolean>
}

type Span = { from: Date; to: Date }

/** Times are in order; `to` is null where it still is so. */
export type PastTable = {
  tableName: string
  schedule: string | null
  timeZone: string
  promisedAt: Date | null
  /** The age of the served data, and since when. */
  fresh: Array<{ since: Date; at: Date }>
  heldBetween: Array<{ from: Date; to: Date | null }>
  drifts: Array<{ at: Date; drift: Drift }>
}

export type PastRead = {
  name: string
  environment: string
  tables: Record<string, string[]>
  from: Date
  to: Date | null
}
