import type { Transaction } from 'kysely'
import type { Database, Drift, Tables } from '../store/index.ts'

/** A port: the deployed queries of a project, by name, with the columns that each reads of which table. */
export type DeployedQueries = {
  tablesRead(
    projectId: string,
  ): Promise<Array<{ queryId: string; name: string; environment: string; tables: Record<string, string[]> }>>
}

/** A port: the models of a project, which `server/models` knows. */
export type TableModels = {
  /** Models whose statement reads a table. */
  readersOf(db: Database['db'], of: { projectId: string; tableName: string }): Promise<Array<{ name: string }>>
  /** Another version of a table serves: what is built from it is built again. Commits with the change. */
  sourceChanged(transaction: Transaction<Tables>, source: { projectId: string; datasourceId: string }): Promise<void>
}

/** A query that is deployed and reads a table, with the columns that it reads of it. */
export type TableReader = { queryId: string; name: string; environments: string[]; columns: string[] }

/** Deployed queries that read a table: they would notice if it went away or changed. */
export async function deployedReaders(
  deployments: DeployedQueries,
  projectId: string,
  tableName: string,
): Promise<TableReader[]> {
  const readers = new Map<string, TableReader>()
  for (const { queryId, name, environment, tables } of await deployments.tablesRead(projectId)) {
    if (!Object.hasOwn(tables, tableName)) continue
    const reader = readers.get(queryId) ?? { queryId, name, environments: [], columns: [] }
    reader.environments.push(environment)
    reader.columns = [...new Set([...reader.columns, ...(tables[tableName] ?? [])])]
    readers.set(queryId, reader)
  }
  return [...readers.values()]
}

/** The deployed queries that a change of columns touches: those that read a removed or changed one. */
export function touchedBy(drift: Drift, readers: TableReader[]): string[] {
  const lost = new Set([...drift.removed, ...drift.changed.map(({ name }) => name)])
  return readers.filter((reader) => reader.columns.some((column) => lost.has(column))).map(({ name }) => name)
}
