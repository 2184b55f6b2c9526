import { columnNameOf } from '../../api/column-names.ts'
import type { Database } from '../store/index.ts'
import type { DatasourceDirectory } from './datasource-directory.ts'

/** Rarer values than so many are not kept: a column of as many may have others. */
export const valuesPerColumn = 1_000

/**
 * The distinct values of columns as the last refresh of each table found them, the most frequent first. Columns are
 * named `table.column`, or by the path of what is inside an object; one that has no values is not in the answer.
 */
export async function readColumnValues(
  { store, datasources }: { store: Pick<Database, 'db'>; datasources: DatasourceDirectory },
  projectId: string,
  wanted: ReadonlySet<string>,
): Promise<Record<string, string[]>> {
  if (wanted.size === 0) return {}
  const places = [...wanted].map((place) => place.split(/\.(.*)/s))
  const tables = new Set(places.map(([table = '']) => table))
  const sources = await datasources.ofProject(projectId)
  const ids = [...sources].filter(([, { tableName }]) => tables.has(tableName)).map(([id]) => id)
  if (ids.length === 0) return {}
  const rows = await store.db
    .selectFrom('columnValues')
    .select(['datasourceId', 'columnName', 'value'])
    .where('datasourceId', 'in', ids)
    .where(
      'columnName',
      'in',
      places.flatMap(([, column = '']) => [column, columnNameOf(column)]),
    )
    .orderBy('occurrences', 'desc')
    .orderBy('value')
    .execute()
  const byColumn = Map.groupBy(
    rows,
    ({ datasourceId: id, columnName }) => `${sources.get(id)?.tableName}.${columnName}`,
  )
  const found = places.flatMap(([table = '', column = '']) => {
    const values = byColumn.get(`${table}.${column}`) ?? byColumn.get(`${table}.${columnNameOf(column)}`)
    return values === undefined ? [] : [[`${table}.${column}`, values.map(({ value }) => value)] as const]
  })
  return Object.fromEntries(found)
}
