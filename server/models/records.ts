import { overAllRows } from '../../api/new-rows.ts'
import type { ColumnRecord, Database, Dialect } from '../store/index.ts'

/** A model as it is stored; where its data comes from and goes is its datasource's. */
export type ModelRecord = {
  datasourceId: string
  projectId: string
  name: string
  description: string
  sql: string
  dialect: Dialect
  reads: Record<string, string[]>
  columns: Pick<ColumnRecord, 'name' | 'type'>[]
  updatedAt: Date
}

/** Every model of a project by name, in that order. */
export async function readModels(db: Database['db'], projectId: string): Promise<Map<string, ModelRecord>> {
  const rows = await db.selectFrom('models').selectAll().where('projectId', '=', projectId).orderBy('name').execute()
  return new Map(rows.map((row) => [row.name, row]))
}

/** The tables that each model of a project reads, by its name. */
export async function readModelGraph({ db }: Pick<Database, 'db'>, projectId: string): Promise<Map<string, string[]>> {
  const models = db.selectFrom('models').select(['name', 'reads']).where('projectId', '=', projectId)
  return new Map((await models.execute()).map(({ name, reads }) => [name, Object.keys(reads)]))
}

/** The models whose statement reads a table. */
export async function readersOf(
  db: Database['db'],
  { projectId, tableName }: { projectId: string; tableName: string },
): Promise<Array<{ datasourceId: string; name: string }>> {
  return db
    .selectFrom('models')
    .select(['datasourceId', 'name'])
    .where('projectId', '=', projectId)
    .where((is) => is.fn<boolean>('jsonb_exists', ['reads', is.val(tableName)]), '=', true)
    .orderBy('name')
    .execute()
}

/** The statements of a project's models over all rows: what they must go on giving when a table changes. */
export async function readModelStatements({ db }: Pick<Database, 'db'>, projectId: string) {
  const models = await readModels(db, projectId)
  return [...models.values()].map(({ name, sql: text, dialect, reads, columns }) => {
    return { name, sql: overAllRows(text), dialect, tables: reads, columns }
  })
}
