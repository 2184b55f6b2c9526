import type { Drift } from '../store/index.ts'

/** A port: the deployed queries of a project, by name, with the columns that each reads of which table. */
export type DeployedQueries = {
  tablesRead(
    projectId: string,
  ): Promise<Array<{ queryId: string; name: string; environment: string; tables: Record<string, string[]> }>>
}

/** A query that is deployed and reads a table, with the columns that it reads of it. */
export type TableReader = { queryId: string; name: string; environments: string[]; columns: string[] }

/** Who would notice if a table went away or changed. */
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
