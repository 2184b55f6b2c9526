import { columnNameOf } from '../../api/column-names.ts'
import { newModel } from '../../api/models.ts'
import { fromWire } from '../../api/wire-codec.ts'
import { requireRole, type Caller } from '../access/index.ts'
import { readLoadKey } from '../connections/index.ts'
import { Failure, invalidField } from '../failure.ts'
import { createModel, type Model, type ModelApp } from './models.ts'
import { readModels } from './records.ts'
import { examineStatement } from './statement.ts'

type ListInput = {
  projectId: string
  table: string
  /** The list, or a path to it. */
  column: string
  key?: string[] | undefined
  name?: string | undefined
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/**
 * A table with a row for each member of the lists in a column, with the key of the row that holds it and its position
 * there. It is a model like any other, so that it follows its table.
 */
export async function createListModel(app: ModelApp, caller: Caller, input: ListInput): Promise<Model> {
  const { projectId, table, column } = input
  await requireRole(app, caller, projectId, 'editor')
  const { tables, engine } = await app.catalogs.get(projectId)
  if (engine !== 'duckdb') {
    const message = 'A list becomes a table where the engine is DuckDB. On Trino, write a model with CROSS JOIN UNNEST.'
    throw new Failure('invalid_request', { reason: 'invalid_field', message })
  }
  const parent = tables.find(({ name }) => name === table)
  if (parent === undefined) throw invalidField('table', `names ${table}, which has no data yet; fetch it first`)
  const columns = parent.columns.map(({ name }) => name)
  const keys = input.key ?? (await keyOf(app, projectId, { table, columns }))
  const unknown = keys.find((key) => !columns.includes(key))
  if (unknown !== undefined) throw invalidField('key', `names ${unknown}, which ${table} does not have`)
  if (keys.length === 0) throw invalidField('key', `is required: nothing says which column tells the rows of ${table}`)
  const list = `t.${(columns.includes(column) ? [column] : column.split('.')).map(quoted).join('.')}`
  const member = await memberOf(app, input, `SELECT ${list} AS list FROM ${quoted(table)} t`)
  const own = new Set(member.fields.map((name) => name.toLowerCase()))
  const free = (name: string): string => (own.has(name.toLowerCase()) ? free(`parent_${name}`) : name)
  const select = [
    ...keys.map((key) => `t.${quoted(key)} AS ${quoted(free(`${table}_${key}`))}`),
    `l.place AS ${quoted(free('position'))}`,
    member.isObject ? 'unnest(l.member)' : 'l.member AS "value"',
  ]
  const sql = `SELECT ${select.join(', ')}\nFROM ${quoted(table)} t, unnest(${list}) WITH ORDINALITY AS l(member, place)`
  const name = input.name ?? `${table}_${columnNameOf(column)}`.toLowerCase().slice(0, 60)
  const content = newModel.parse({ name, sql, description: `A row for each member of ${column} of ${table}` })
  return createModel(app, caller, { projectId, ...fromWire(newModel, content) })
}

type Member = { isObject: boolean; fields: string[] }

async function memberOf(app: ModelApp, { projectId, table, column }: ListInput, sql: string): Promise<Member> {
  const models = await readModels(app.store.db, projectId)
  const notThere = (cause: unknown): never => {
    throw invalidField('column', `names ${column}, which ${table} does not have`, { cause })
  }
  const { columns } = await examineStatement(app, models, { projectId, sql }).catch(notThere)
  const type = columns[0]?.type ?? ''
  if (!type.endsWith('[]')) throw invalidField('column', `names ${column}, which is no list but ${type}`)
  if (!type.startsWith('STRUCT(')) return { isObject: false, fields: ['value'] }
  const fields = await examineStatement(app, models, {
    projectId,
    sql: `SELECT unnest(list[1]) FROM (${sql})`,
  })
  return { isObject: true, fields: fields.columns.map(({ name }) => name) }
}

/** The key that the table is loaded by, or a column that is called like one. */
async function keyOf(
  { store }: ModelApp,
  projectId: string,
  { table, columns }: { table: string; columns: string[] },
): Promise<string[]> {
  const known = (await readLoadKey(store.db, { projectId, table }))?.map(columnNameOf)
  if (known !== undefined && known.every((key) => columns.includes(key))) return known
  return ['id', '_id', 'uuid'].filter((name) => columns.includes(name)).slice(0, 1)
}
