import { fetchedAt, type DatasourceDirectory } from '../data/index.ts'
import type { Database } from '../store/index.ts'

type Store = Pick<Database, 'db'>

/** For the room below, which keeps the data and must know what it is called. */
export function openDatasourceDirectory({ db }: Store): DatasourceDirectory {
  return {
    async ofProject(projectId) {
      const rows = await db
        .selectFrom('datasources')
        .select(['id', 'name', 'table_name as tableName', 'column_rules'])
        .where('project_id', '=', projectId)
        .execute()
      return new Map(
        rows.map(({ id, column_rules: rules, ...source }) => {
          const hiddenKeys = rules.flatMap(({ sourceKey, hidden }) => (hidden === true ? [sourceKey] : []))
          return [id, { ...source, hiddenKeys }]
        }),
      )
    },
    async keepVersions(transaction, datasourceId) {
      const row = await transaction
        .selectFrom('datasources')
        .select('keep_versions as keepVersions')
        .where('id', '=', datasourceId)
        .executeTakeFirst()
      return row?.keepVersions
    },
  }
}

/** How fresh the data of a table is, and when it is promised. */
export type Freshness = { tableName: string; schedule: string | null; timeZone: string; freshAt: Date | null }

/** Of every table of a project. Data that is promised and never came is as old as the promise. */
export async function readFreshness(store: Store, projectId: string): Promise<Freshness[]> {
  const rows = await store.db
    .selectFrom('datasources')
    .select(['id', 'table_name', 'schedule', 'schedule_time_zone', 'refreshed_at', 'created_at'])
    .where('project_id', '=', projectId)
    .execute()
  const fetched = await fetchedAt(store, projectId)
  return rows.map((row) => {
    const times = [row.refreshed_at, fetched.get(row.id) ?? null].flatMap((at) => (at === null ? [] : [at.getTime()]))
    const promisedAt = row.schedule === null ? null : row.created_at
    return {
      tableName: row.table_name,
      schedule: row.schedule,
      timeZone: row.schedule_time_zone,
      freshAt: times.length === 0 ? promisedAt : new Date(Math.max(...times)),
    }
  })
}
