import { heldVersions, liveTables } from '../../data/index.ts'
import type { Database, SourceKind } from '../../store/index.ts'

/** How the last fetch of a source went, and what it left. */
export type SourceHealth = {
  id: string
  name: string
  kind: SourceKind
  table: string
  tags: string[]
  schedule: string | null
  timeZone: string
  nextRefreshAt: Date | null
  lastError: { code: string; message: string } | null
  /** Why its newest data waits, where it does. */
  held: string | null
  /** When it was last asked with success, whether or not anything was new. */
  freshAt: Date | null
  /** Rows of the data that serves; null where there is none. */
  rows: number | null
  asOf: Date | null
}

/** Every source of a project, by name. */
export async function readSourceHealth(store: Pick<Database, 'db'>, projectId: string): Promise<SourceHealth[]> {
  const sources = await store.db
    .selectFrom('datasources')
    .select(['id', 'name', 'kind', 'tableName', 'tags', 'schedule', 'scheduleTimeZone', 'nextRefreshAt', 'refreshedAt'])
    .select('lastError')
    .where('projectId', '=', projectId)
    .orderBy('tableName')
    .execute()
  const [live, held] = await Promise.all([liveTables(store, projectId), heldVersions(store, projectId)])
  return sources.map(({ tableName: table, scheduleTimeZone: timeZone, refreshedAt, ...source }) => {
    const data = live.get(source.id)
    const times = [refreshedAt, data?.fetchedAt ?? null].flatMap((at) => (at === null ? [] : [at.getTime()]))
    return {
      ...source,
      table,
      timeZone,
      held: held.get(source.id)?.heldBecause.message ?? null,
      freshAt: times.length === 0 ? null : new Date(Math.max(...times)),
      rows: data?.rows ?? null,
      asOf: data?.fetchedAt ?? null,
    }
  })
}
