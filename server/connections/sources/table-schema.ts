import { columnNameOf } from '../../../api/column-names.ts'
import type { Value } from '../../../api/wire-codec.ts'
import type { tableSchema } from '../../../api/datasources.ts'
import { requireRole, type Caller } from '../../access/index.ts'
import { dataChanged, liveDataVersion, type Catalogs, type LiveData, type QueryGate } from '../../data/index.ts'
import { Failure } from '../../failure.ts'
import type { ColumnRule, Database } from '../../store/index.ts'
import { withinConnectionBytes } from '../apis/stored-configuration.ts'
import { readRules, refuseRules, type TableRules } from './table-rules.ts'
import { recordSourceAct } from './source-acts.ts'

/** A table as its author sees it: what its columns are, and what data must be to serve. */
export type TableSchema = Value<typeof tableSchema>

export type SchemaColumn = TableSchema['columns'][number]

export type SchemaChanges = {
  columns?: ColumnChange[] | undefined
  onMismatch?: TableRules['onMismatch'] | undefined
  onBreaking?: TableRules['onBreaking'] | undefined
  checks?: TableRules['checks'] | undefined
}

/** Null takes a decision back. */
export type ColumnChange = {
  sourceName: string
  name?: string | null | undefined
  type?: string | null | undefined
  hidden?: boolean | undefined
  onLoad?: 'drop' | 'hash' | null | undefined
  description?: string | null | undefined
}

type OfDatasource = { projectId: string; datasourceId: string }

export async function findSchema(app: { store: Database }, caller: Caller, input: OfDatasource): Promise<TableSchema> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const { rules } = await rulesOf(app, input)
  return schemaOf(rules, await liveDataVersion(app.store, input.datasourceId))
}

/** Names and types hold from the next load on; what is hidden or shown changes at once. */
export async function changeSchema(
  app: { store: Database; catalogs: Catalogs; queryGate: QueryGate },
  caller: Caller,
  input: OfDatasource & SchemaChanges,
): Promise<TableSchema> {
  await requireRole(app, caller, input.projectId, 'editor')
  const { projectId, datasourceId } = input
  const { rules, tableName, load, kind } = await rulesOf(app, input)
  const live = await liveDataVersion(app.store, datasourceId)
  const columns = merged(rules.columns, input.columns ?? [])
  const next: TableRules = {
    columns,
    onMismatch: input.onMismatch ?? rules.onMismatch,
    onBreaking: input.onBreaking ?? rules.onBreaking,
    checks: input.checks ?? rules.checks,
  }
  refuseRules(columns, { kind, load })
  const schema = schemaOf(next, live)
  refuseClashes(schema)
  if (next.onBreaking === 'hold') await refuseHiding(app, { projectId, tableName, live, columns })
  await app.store.db.transaction().execute(async (transaction) => {
    await withinConnectionBytes(transaction, { projectId, table: 'datasources', id: datasourceId }, () =>
      transaction
        .updateTable('datasources')
        .set({
          columnRules: JSON.stringify(next.columns),
          onMismatch: next.onMismatch,
          onBreaking: next.onBreaking,
          checks: JSON.stringify(next.checks),
        })
        .where('id', '=', datasourceId)
        .execute(),
    )
    await recordSourceAct(transaction, caller, {
      action: 'datasource.schema_changed',
      projectId,
      datasourceId,
      details: { changed: ['columns', 'onMismatch', 'onBreaking', 'checks'].filter((name) => name in input) },
    })
    await app.store.notify(transaction, dataChanged, projectId)
  })
  app.catalogs.forget(projectId)
  return schema
}

async function rulesOf(app: { store: Database }, { projectId, datasourceId }: OfDatasource) {
  const found = await app.store.db
    .selectFrom('datasources')
    .select('kind')
    .where('projectId', '=', projectId)
    .where('id', '=', datasourceId)
    .executeTakeFirst()
  const rules = found === undefined ? null : await readRules(app.store.db, datasourceId)
  if (found === undefined || rules === null)
    throw new Failure('not_found', { message: `The project has no datasource ${datasourceId}.` })
  return { ...rules, kind: found.kind }
}

function merged(rules: ColumnRule[], changes: ColumnChange[]): ColumnRule[] {
  const byKey = new Map(rules.map((rule) => [rule.sourceKey, rule]))
  for (const change of changes) {
    const { sourceName: sourceKey } = change
    const { name, type, description, hidden, onLoad } = byKey.get(sourceKey) ?? { sourceKey }
    const kept = {
      name: change.name === undefined ? name : (change.name ?? undefined),
      type: change.type === undefined ? type : (change.type ?? undefined),
      description: change.description === undefined ? description : (change.description ?? undefined),
      hidden: (change.hidden ?? hidden) === true ? (true as const) : undefined,
      onLoad: change.onLoad === undefined ? onLoad : (change.onLoad ?? undefined),
    }
    const rule = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
    if (Object.keys(rule).length === 0) byKey.delete(sourceKey)
    else byKey.set(sourceKey, { sourceKey, ...rule })
  }
  return [...byKey.values()]
}

function schemaOf(rules: TableRules, live: LiveData | null): TableSchema {
  const byKey = new Map(rules.columns.map((rule) => [rule.sourceKey, rule]))
  const there = (live?.columns ?? []).map(({ name, type, sourceKey = name, untyped }) => {
    return describe(sourceKey, byKey.get(sourceKey), { name, type: untyped === true ? null : type })
  })
  const known = new Set(there.map(({ sourceName }) => sourceName))
  const declared = rules.columns.filter(({ sourceKey }) => !known.has(sourceKey))
  const { onMismatch, onBreaking, checks } = rules
  const columns = [...there, ...declared.map((rule) => describe(rule.sourceKey, rule, null))]
  return { columns, onMismatch, onBreaking, checks }
}

function describe(
  sourceName: string,
  rule: ColumnRule | undefined,
  live: { name: string; type: string | null } | null,
): SchemaColumn {
  return {
    name: rule?.name ?? live?.name ?? columnNameOf(sourceName),
    sourceName,
    type: rule?.type ?? live?.type ?? null,
    declared: rule?.type !== undefined,
    hidden: rule?.hidden === true,
    onLoad: rule?.onLoad ?? null,
    description: rule?.description ?? null,
    liveName: live?.name ?? null,
    liveType: live?.type ?? null,
  }
}

/** SQL does not tell names apart by case. */
function refuseClashes({ columns }: TableSchema): void {
  const taken = new Map<string, string>()
  for (const { name, sourceName } of columns) {
    const other = taken.get(name.toLowerCase())
    if (other !== undefined) {
      throw new Failure('conflict', {
        reason: 'name_taken',
        message: `${sourceName} and ${other} cannot both be called ${name}. Choose another name.`,
      })
    }
    taken.set(name.toLowerCase(), sourceName)
  }
}

type Hiding = { projectId: string; tableName: string; live: LiveData | null; columns: ColumnRule[] }

async function refuseHiding(app: { queryGate: QueryGate }, { projectId, tableName, live, columns }: Hiding) {
  if (live === null) return
  const hiddenKeys = new Set(columns.flatMap(({ sourceKey, hidden }) => (hidden === true ? [sourceKey] : [])))
  const hiddenColumns = live.columns
    .filter(({ name, sourceKey = name }) => hiddenKeys.has(sourceKey))
    .map(({ name }) => name)
  if (hiddenColumns.length === live.columns.length) {
    throw new Failure('invalid_request', { reason: 'invalid_field', message: 'One column at least has to be shown.' })
  }
  const change = { projectId, tableName, rows: null, hiddenColumns, columns: live.columns }
  const broken = await app.queryGate.brokenBy(change)
  if (broken.length === 0) return
  const names = broken.map(({ name, environments }) => `${name} (${environments.join(', ')})`).join(', ')
  throw new Failure('conflict', {
    reason: 'breaking_change',
    message: `Deployed queries would break: ${names}. Change them first, or set on_breaking to serve.`,
  })
}
