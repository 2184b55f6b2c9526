import type { Drift } from '../../../store/index.ts'

/** A port: what alerts ask of the rooms beside this one. */
export type AlertSources = {
  /** When the data of each table of a project was fresh last (null: there is none yet) and is fetched again. */
  freshness(
    projectId: string,
  ): Promise<Array<{ tableName: string; schedule: string | null; timeZone: string; freshAt: Date | null }>>
  /** How the tables of a project changed in a span of time, its end included. */
  drifts(projectId: string, span: Span): Promise<Array<{ tableName: string; drift: Drift }>>
  /** The tables of a project whose newest data waits for its author. */
  heldTables(projectId: string): Promise<string[]>
  /** What is deployed in a project, with the columns that it reads of each table. */
  tablesRead(projectId: string): Promise<Array<{ name: string; environment: string; tables: Record<string, string[]> }>>
  /** What became of the tables that a project has now, as far as it is known. */
  tablesPast(projectId: string, span: Span): Promise<{ tables: PastTable[]; knownFrom: Date; columnsKnownFrom: Date }>
  /** What was deployed at some time of a span, with the columns that it read of each table. */
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
  /** How old the data was that served, and since when. */
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
