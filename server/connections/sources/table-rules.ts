import type { Contract } from '../../engine/index.ts'
import type { LiveData } from '../../data/index.ts'
import type { ColumnRule, DataCheck, Database, LoadRule } from '../../store/index.ts'

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

/** Columns that new data must have: as the author says, and otherwise as they are now. */
export function tableContractOf(rules: TableRules, live: LiveData | null, joins: boolean): Contract | null {
  const known = new Map(
    (live?.columns ?? []).map(({ name, type, sourceKey = name, untyped }) => {
      return [sourceKey, { sourceKey, name, type: untyped === true ? null : type, declared: false }]
    }),
  )
  for (const { sourceKey, name, type } of rules.columns) {
    const now = known.get(sourceKey) ?? { sourceKey, name: sourceKey, type: null, declared: false }
    known.set(sourceKey, {
      ...now,
      ...(name !== undefined && { name }),
      ...(type !== undefined && { type, declared: true }),
    })
  }
  return known.size === 0 ? null : { columns: [...known.values()], onMismatch: rules.onMismatch, extends: joins }
}
