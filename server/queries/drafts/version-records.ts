import type { Selectable } from 'kysely'
import type { Database, QueryColumns, Tables } from '../../store/index.ts'
import { withContent, type QueryContent } from './content.ts'

/** A version as it was frozen. Nothing of it ever changes. */
export type Version = QueryContent &
  Omit<Selectable<Tables['queryVersions']>, keyof QueryColumns | 'version'> & { number: number }

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

export function versionOf({ version: number, ...row }: Selectable<Tables['queryVersions']>): Version {
  return { ...withContent(row), number }
}
