import type { DatasourceDirectory } from '../../data/index.ts'
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
