import type { Selectable } from 'kysely'
import type { Column } from '../../data/index.ts'
import type { Database, Tables } from '../../store/index.ts'
import { contentOfRow, type QueryContent } from '../content.ts'

/** A version as it was frozen. Nothing of it ever changes. */
export type Version = QueryContent & {
  id: string
  queryId: string
  number: number
  columns: Column[]
  /** Table names, and per table the columns that are read. */
  tables: Record<string, string[]>
  contentHash: string
  createdAt: Date
  createdBy: string
}

/** Statements carry at most this many ids. */
const maxIds = 1_000

export async function readVersions(store: Pick<Database, 'db'>, ids: string[]): Promise<Version[]> {
  const versions: Version[] = []
  for (let from = 0; from < ids.length; from += maxIds) {
    const rows = await store.db
      .selectFrom('queryVersions')
      .selectAll()
      .where('id', 'in', ids.slice(from, from + maxIds))
      .execute()
    versions.push(...rows.map(versionOf))
  }
  return versions
}

export function versionOf(row: Selectable<Tables['queryVersions']>): Version {
  return {
    ...contentOfRow(row),
    id: row.id,
    queryId: row.queryId,
    number: row.version,
    columns: row.columns,
    tables: row.tables,
    contentHash: row.contentHash,
    createdAt: row.createdAt,
    createdBy: row.createdBy,
  }
}
