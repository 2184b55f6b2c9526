import { fetchedAt, type DatasourceDirectory } from '../../data/index.ts'
import type { Transaction } from 'kysely'
import type { Database, Tables } from '../../store/index.ts'

type Store = Pick<Database, 'db'>

/** For the room below, which keeps the data and must know what it is called. */
export function openDatasourceDirectory({ db }: Store): DatasourceDirectory {
  return {
    async ofProject(projectId) {
      const rows = await db
        .selectFrom('datasources')
        .select(['id', 'name', 'tableName', 'columnRules'])
        .where('projectId', '=', projectId)
        .execute()
      return new Map(
        rows.map(({ id, columnRules: rules, ...source }) => {
          const hiddenKeys = rules.flatMap(({ sourceKey, hidden }) => (hidden === true ? [sourceKey] : []))
          return [id, { ...source, hiddenKeys }]
        }),
      )
    },
    keepVersions: async (transaction, id) => (await one(transaction, id))?.keepVersions,
    tableName: async (transaction, id) => (await one(transaction, id))?.tableName,
  }
}

function one(transaction: Transaction<Tables>, id: string) {
  const row = transaction.selectFrom('datasources').select(['keepVersions', 'tableName']).where('id', '=', id)
  return row.executeTakeFirst()
}

/** How fresh the data of a table is, and when it is promised. */
export type Freshness = { tableName: string; schedule: string | null; timeZone: string; freshAt: Date | null }

/** Every table of a project. Data that is promised and never came is as old as the promise. */
export async function readFreshness(store: Store, projectId: string): Promise<Freshness[]> {
  const rows = await store.db
    .selectFrom('datasources')
    .select(['id', 'kind', 'tableName', 'schedule', 'scheduleTimeZone', 'refreshedAt', 'createdAt'])
    .where('projectId', '=', projectId)
    .execute()
  const fetched = await fetchedAt(store, projectId)
  return rows.map((row) => {
    // A model is as old as what it was built from, however often it is built.
    const refreshedAt = row.kind === 'model' ? null : row.refreshedAt
    const times = [refreshedAt, fetched.get(row.id) ?? null].flatMap((at) => (at === null ? [] : [at.getTime()]))
    const promisedAt = row.schedule === null ? null : row.createdAt
    return {
      tableName: row.tableName,
      schedule: row.schedule,
      timeZone: row.scheduleTimeZone,
      freshAt: times.length === 0 ? promisedAt : new Date(Math.max(...times)),
    }
  })
}
