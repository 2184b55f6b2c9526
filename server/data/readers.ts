import type { Kysely } from 'kysely'
import type { Drift, Tables } from '../store/index.ts'

/** A query that is deployed and reads a table, with the columns that it reads of it. */
export type Reader = { queryId: string; name: string; environments: string[]; columns: string[] }

/** Who would notice if a table went away or changed. */
export async function deployedReaders(db: Kysely<Tables>, projectId: string, tableName: string): Promise<Reader[]> {
  const rows = await db
    .selectFrom('deployments')
    .innerJoin('query_versions', 'query_versions.id', 'deployments.version_id')
    .select(['deployments.query_id', 'deployments.name', 'deployments.environment', 'query_versions.tables'])
    .where('deployments.project_id', '=', projectId)
    .orderBy('deployments.name')
    .execute()
  const readers = new Map<string, Reader>()
  for (const row of rows) {
    if (!Object.hasOwn(row.tables, tableName)) continue
    const reader = readers.get(row.query_id) ?? { queryId: row.query_id, name: row.name, environments: [], columns: [] }
    reader.environments.push(row.environment)
    reader.columns = [...new Set([...reader.columns, ...(row.tables[tableName] ?? [])])]
    readers.set(row.query_id, reader)
  }
  return [...readers.values()]
}

/** The deployed queries that a change of columns touches: those that read a removed or changed one. */
export function touchedBy(drift: Drift, readers: Reader[]): string[] {
  const lost = new Set([...drift.removed, ...drift.changed.map(({ name }) => name)])
  return readers.filter((reader) => reader.columns.some((column) => lost.has(column))).map(({ name }) => name)
}
