import { columnNameOf } from '../../../api/column-names.ts'
import type { Contract, Reshape } from '../../engine/index.ts'
import { invalidField } from '../../failure.ts'
import { parsePath } from '../../rows/index.ts'
import type { LiveData } from '../../data/index.ts'
import type { ColumnRule, DataCheck, Database, LoadRule, SourceKind } from '../../store/index.ts'

/** Rules of the author of a datasource for its table. */
export type TableRules = {
  columns: ColumnRule[]
  onMismatch: Contract['onMismatch']
  onBreaking: 'hold' | 'serve'
  checks: DataCheck[]
}

export const noRules: TableRules = { columns: [], onMismatch: 'widen', onBreaking: 'hold', checks: [] }

/** Rules of a datasource that is there already; one that is made now has none. */
export async function readRules(
  db: Database['db'],
  datasourceId: string,
): Promise<{ tableName: string; rules: TableRules; load: LoadRule } | null> {
  const row = await db
    .selectFrom('datasources')
    .select(['tableName', 'columnRules', 'onMismatch', 'onBreaking', 'checks', 'load'])
    .where('id', '=', datasourceId)
    .executeTakeFirst()
  if (row === undefined) return null
  const { columnRules: columns, onMismatch, onBreaking, checks, load } = row
  return { tableName: row.tableName, load, rules: { columns, onMismatch, onBreaking, checks } }
}

/** The key that the rows of a table are loaded by, as its author wrote it. */
export async function readLoadKey(
  db: Database['db'],
  { projectId, table }: { projectId: string; table: string },
): Promise<string[] | undefined> {
  const row = await db
    .selectFrom('datasources')
    .select('load')
    .where('projectId', '=', projectId)
    .where('tableName', '=', table)
    .executeTakeFirst()
  return row?.load.primaryKey
}

/** Columns that new data must have: as the author says, and otherwise as they are now. */
export function tableContractOf(
  { rules, load }: { rules: TableRules; load: LoadRule },
  { live, joins, hashKey }: { live: LiveData | null; joins: boolean; hashKey: string },
): Contract | null {
  const known = new Map(
    (live?.columns ?? []).map(({ name, type, sourceKey = name, untyped }) => {
      return [sourceKey, { sourceKey, name, type: untyped === true ? null : type, declared: false }]
    }),
  )
  for (const sourceKey of liftedBy(rules, load)) {
    const name = columnNameOf(sourceKey)
    if (!known.has(sourceKey)) known.set(sourceKey, { sourceKey, name, type: null, declared: false })
  }
  for (const { sourceKey, name, type, onLoad } of rules.columns) {
    const now = known.get(sourceKey) ?? { sourceKey, name: sourceKey, type: null, declared: false }
    known.set(sourceKey, {
      ...now,
      ...(name !== undefined && { name }),
      ...(type !== undefined && { type, declared: true }),
      ...(onLoad === 'hash' && { type: 'VARCHAR' }),
    })
    if (onLoad === 'drop' || sourceKey.includes('*')) known.delete(sourceKey)
  }
  const reshape = reshapeOf(rules, load)
  if (known.size === 0 && reshape === null) return null
  const { onMismatch } = rules
  return {
    columns: [...known.values()],
    onMismatch,
    extends: joins,
    ...(reshape !== null && { reshape: { ...reshape, hashKey } }),
  }
}

/** Changes that a load makes to rows before anything of them is stored; null without any. */
export function reshapeOf(rules: TableRules, load: LoadRule): Omit<Reshape, 'hashKey'> | null {
  const having = (wanted: ColumnRule['onLoad']) =>
    rules.columns.flatMap(({ sourceKey, onLoad }) => (onLoad === wanted ? [sourceKey] : []))
  const reshape = { lifted: liftedBy(rules, load), dropped: having('drop'), hashed: having('hash') }
  return Object.values(reshape).every(({ length }) => length === 0) ? null : reshape
}

/** Paths to values inside objects that become columns of their own. */
function liftedBy({ columns }: TableRules, { cursor, primaryKey = [], deleteMarker }: LoadRule): string[] {
  const named = columns.flatMap(({ sourceKey, onLoad }) => (onLoad === 'drop' ? [] : [sourceKey]))
  const used = [cursor?.field, deleteMarker?.field, ...primaryKey].filter((each) => each !== undefined)
  return [...new Set([...named, ...used])].filter((key) => /[.[]/.test(key) && !key.includes('*') && isPath(key))
}

function isPath(text: string): boolean {
  try {
    return parsePath(text).steps.length > 1
  } catch {
    return false
  }
}

/** Rules that contradict each other, or that nothing could follow. */
export function refuseRules(columns: ColumnRule[], { kind, load }: { kind: SourceKind; load: LoadRule }): void {
  for (const { sourceKey, onLoad, type } of columns) {
    if (onLoad === undefined) continue
    const refuse = (message: string): never => {
      throw invalidField('columns', `${sourceKey} ${message}`, { message: `${sourceKey} ${message}.` })
    }
    if (kind === 'model') refuse('is a column of a model: change its SQL instead of on_load')
    if (sourceKey.includes('*')) parsePath(sourceKey, 'columns')
    if (onLoad === 'hash' && type !== undefined && type !== 'VARCHAR') refuse('is hashed, which makes it VARCHAR')
    if (load.cursor?.field === sourceKey) refuse('is the cursor, so it is loaded as it is')
    const isNeeded = load.primaryKey?.includes(sourceKey) === true || load.deleteMarker?.field === sourceKey
    if (isNeeded && onLoad === 'drop') refuse('tells a row, so it cannot be dropped')
    if (load.deleteMarker?.field === sourceKey) refuse('marks deleted rows, so it is loaded as it is')
  }
}
