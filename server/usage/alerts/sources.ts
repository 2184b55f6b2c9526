import type { Drift } from '../../store/index.ts'

/** A port: what alerts ask of the rooms beside this one. */
export type AlertSources = {
  /** When the data of each table of a project was fresh last (null: there is none yet) and is fetched again. */
  freshness(
    projectId: string,
  ): Promise<Array<{ tableName: string; schedule: string | null; timeZone: string; freshAt: Date | null }>>
  /** How the tables of a project changed in a span of time, its end included. */
  drifts(projectId: string, span: { from: Date; to: Date }): Promise<Array<{ tableName: string; drift: Drift }>>
  /** The tables of a project whose newest data waits for its author. */
  heldTables(projectId: string): Promise<string[]>
  /** What is deployed in a project, with the columns that it reads of each table. */
  tablesRead(projectId: string): Promise<Array<{ name: string; environment: string; tables: Record<string, string[]> }>>
  hasQuery(query: { projectId: string; name: string }): Promise<boolean>
}
