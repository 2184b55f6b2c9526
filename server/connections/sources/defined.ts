import type { ForEach, HttpConfiguration, Pagination } from '../../../api/connections.ts'
import type { Vault } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import type { Catalogs } from '../../data/index.ts'
import type { TableBuilder } from '../../engine/index.ts'
import { mapInPieces } from '../../flow/index.ts'
import type { ColumnRule, DataCheck, Database, LoadRule, SourceKind } from '../../store/index.ts'
import { failedOnRows, type FailedCheck } from './judge-version.ts'
import { openConfiguration } from '../apis/stored-configuration.ts'
import type { ColumnChange } from './table-schema.ts'
import type { TableRules } from './table-rules.ts'

/** A datasource with all that its author decided. Its configuration is complete: it never leaves the server so. */
export type AuthoredSource = {
  id: string
  tableName: string
  name: string
  kind: SourceKind
  configuration: HttpConfiguration | null
  pagination: Pagination | null
  forEach: ForEach | null
  load: LoadRule
  schedule: string | null
  scheduleTimeZone: string
  keepVersions: number
  rules: TableRules
}

/** By table. */
export async function readAuthoredSources(
  app: { store: Pick<Database, 'db'>; vault: Vault },
  projectId: string,
): Promise<AuthoredSource[]> {
  const rows = await app.store.db
    .selectFrom('datasources')
    .selectAll()
    .where('projectId', '=', projectId)
    .orderBy('tableName')
    .execute()
  return mapInPieces(rows, (row) => ({
    id: row.id,
    tableName: row.tableName,
    name: row.name,
    kind: row.kind,
    configuration: row.sealedSecrets === null ? null : openConfiguration(app.vault, row.sealedSecrets),
    pagination: row.pagination as Pagination | null,
    forEach: row.forEach as ForEach | null,
    load: row.load,
    schedule: row.schedule,
    scheduleTimeZone: row.scheduleTimeZone,
    keepVersions: row.keepVersions,
    rules: {
      columns: row.columnRules,
      onMismatch: row.onMismatch,
      onBreaking: row.onBreaking,
      checks: row.checks,
    },
  }))
}

/** Changes that make the rules about columns others. */
export function ruleChanges(before: ColumnRule[], after: ColumnRule[]): ColumnChange[] {
  const named = new Set(after.map(({ sourceKey }) => sourceKey))
  const gone = before.filter(({ sourceKey }) => !named.has(sourceKey)).map(({ sourceKey }) => ({ sourceKey }))
  return [...gone, ...after].map((rule: ColumnRule) => ({
    sourceName: rule.sourceKey,
    name: rule.name ?? null,
    type: rule.type ?? null,
    description: rule.description ?? null,
    hidden: rule.hidden === true,
    onLoad: rule.onLoad ?? null,
  }))
}

/** Checks that the data that serves now does not pass; none where there is no data. */
export async function checkServedData(
  app: { builder: TableBuilder; catalogs: Catalogs; now: Clock },
  { projectId, tableName, checks }: { projectId: string; tableName: string; checks: DataCheck[] },
): Promise<FailedCheck[]> {
  const { tables } = await app.catalogs.get(projectId)
  const table = tables.find(({ name }) => name === tableName)
  if (table === undefined) return []
  const { rows, parted, columns } = table
  return failedOnRows(app, { projectId, rows, whole: parted ?? null, limits: {} }, { columns, checks })
}

/** A variable or secret with its value. Of a secret it never leaves the server. */
export type AuthoredVariable = {
  id: string
  name: string
  environment: string | null
  isSecret: boolean
  value: string
  origins: string[]
}

export async function readAuthoredVariables(
  app: { store: Pick<Database, 'db'>; vault: Vault },
  projectId: string,
): Promise<AuthoredVariable[]> {
  const rows = await app.store.db
    .selectFrom('variables')
    .selectAll()
    .where('projectId', '=', projectId)
    .orderBy('name')
    .orderBy('environment', (order) => order.asc().nullsFirst())
    .execute()
  return rows.map(({ id, name, environment, value, sealedValue, origins }) => ({
    id,
    name,
    environment,
    isSecret: sealedValue !== null,
    value: sealedValue === null ? (value ?? '') : (app.vault.open(sealedValue) as string),
    origins,
  }))
}
