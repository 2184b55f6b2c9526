import type { Value } from '../../../api/wire-codec.ts'
import type { datasource } from '../../../api/datasources.ts'
import type { Transaction } from 'kysely'
import type { ForEach, HttpConfiguration } from '../../../api/connections.ts'
import { recordAct, requireRole, resealColumn, type Caller, type Vault } from '../../access/index.ts'
import {
  dataChanged,
  heldVersions,
  refuseInUse,
  type Catalogs,
  type DeployedQueries,
  type TableModels,
} from '../../data/index.ts'
import { newId } from '../../ids.ts'
import { nextRun } from '../../jobs/index.ts'
import {
  refuseTaken,
  pageOf,
  requireRoomInProject,
  type Database,
  type LoadRule,
  type Page,
  type SourceKind,
  type Tables,
} from '../../store/index.ts'
import { apiNamed, openRequest, restoredRequest, selectRequests } from '../apis/shared-apis.ts'
import { checkPagination } from '../request/pages.ts'
import { storeConfiguration, withinConnectionBytes } from '../apis/stored-configuration.ts'
import { maskConfiguration, restoreConfiguration } from '../secrets/mask.ts'
import { checkRequest, refuseRequest, type DatasourceChanges } from './check-request.ts'
import { noDatasource } from './refresh.ts'
import { refuseRules } from './table-rules.ts'
import { firstFree, refuseReserved, tableNameFor } from './table-name.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { recordSourceAct } from './source-acts.ts'

export type Datasource = Value<typeof datasource>

type NewDatasource = DatasourceChanges & {
  projectId: string
  name: string
  kind?: SourceKind | undefined
  tableName?: string | undefined
}

export type SourceApp = { store: Database; now: Clock; vault: Vault; config: Pick<Config, 'limits'> }

export async function createDatasource(app: SourceApp, caller: Caller, input: NewDatasource): Promise<Datasource> {
  await requireRole(app, caller, input.projectId, 'editor')
  if (input.kind !== undefined && input.kind !== 'http_api') refuseRequest(input, input.kind)
  // Three stars in a new one stand for nothing.
  const config = input.config === undefined ? undefined : restoreConfiguration(input.config, undefined)
  const id = newId('datasource')
  const api = config === undefined ? null : await apiNamed(app, input.projectId, config)
  await checkRequest(app, { ...input, config, api })
  await app.store.db
    .transaction()
    .execute((transaction) => insertDatasource(app, transaction, caller, { ...input, config, id }))
  return findDatasource(app, caller, { projectId: input.projectId, datasourceId: id })
}

/** Within the transaction of the act that brings it in. */
export async function insertDatasource(
  app: SourceApp,
  transaction: Transaction<Tables>,
  caller: Caller,
  input: NewDatasource & { id: string },
): Promise<void> {
  if (input.tableName !== undefined) refuseReserved(input.tableName)
  await requireRoomInProject(transaction, {
    projectId: input.projectId,
    table: 'datasources',
    most: app.config.limits.datasourcesPerProject,
    what: 'Datasources of a project are',
  })
  // Another act may delete it meanwhile.
  if (input.config !== undefined) await apiNamed({ ...app, store: { db: transaction } }, input.projectId, input.config)
  const tableName = input.tableName ?? (await freeTableName(transaction, input.projectId, input.name))
  const { id, projectId, name, kind = 'http_api' } = input
  await refuseTaken(
    withinConnectionBytes(transaction, { projectId, table: 'datasources', id }, () =>
      transaction
        .insertInto('datasources')
        .values({ id, projectId, name, kind, tableName, ...columnsOf(app, input) })
        .execute(),
    ),
    'datasources_project_id_table_name_key',
    `The project has a table ${tableName} already. Choose another table_name.`,
  )
  await recordAct(transaction, caller, {
    action: 'datasource.created',
    target: id,
    projectId,
    details: { name, table_name: tableName },
  })
}

export async function listDatasources(
  app: { store: Database },
  caller: Caller,
  input: { projectId: string; limit: number; cursor?: string | undefined },
): Promise<Page<Datasource>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const page = await pageOf(selectDatasources(app, input.projectId), input, 'id')
  const held = page.items.length === 0 ? new Map() : await heldVersions(app.store, input.projectId)
  return { ...page, items: page.items.map((row) => withStatus(row, held.get(row.id) ?? null)) }
}

export async function findDatasource(
  app: { store: Database },
  caller: Caller,
  input: { projectId: string; datasourceId: string },
): Promise<Datasource> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const row = await selectDatasources(app, input.projectId).where('id', '=', input.datasourceId).executeTakeFirst()
  if (row === undefined) throw noDatasource(input.datasourceId)
  return withStatus(row, (await heldVersions(app.store, input.projectId)).get(row.id) ?? null)
}

/** Several by their ids, for a room that knows who asks. */
export async function readDatasources(
  app: { store: Database },
  projectId: string,
  ids: string[],
): Promise<Map<string, Datasource>> {
  if (ids.length === 0) return new Map()
  const rows = await selectDatasources(app, projectId).where('id', 'in', ids).execute()
  const held = await heldVersions(app.store, projectId)
  return new Map(rows.map((row) => [row.id, withStatus(row, held.get(row.id) ?? null)]))
}

export async function updateDatasource(
  app: SourceApp,
  caller: Caller,
  input: DatasourceChanges & { projectId: string; datasourceId: string },
): Promise<Datasource> {
  await requireRole(app, caller, input.projectId, 'editor')
  await app.store.db.transaction().execute((transaction) => changeDatasource(app, transaction, caller, input))
  return findDatasource(app, caller, input)
}

/** Within the transaction of the act that changes it; returns how its data came before. */
export async function changeDatasource(
  app: SourceApp,
  transaction: Transaction<Tables>,
  caller: Caller,
  input: DatasourceChanges & { projectId: string; datasourceId: string },
): Promise<{ load: LoadRule }> {
  const before = await selectRequests(transaction)
    .select(['kind', 'forEach', 'schedule', 'scheduleTimeZone', 'load', 'columnRules'])
    .where('datasources.projectId', '=', input.projectId)
    .where('datasources.id', '=', input.datasourceId)
    .forUpdate('datasources')
    .executeTakeFirst()
  if (before === undefined) throw noDatasource(input.datasourceId)
  if (before.kind !== 'http_api') refuseRequest(input, before.kind)
  if (input.load !== undefined) refuseRules(before.columnRules, { kind: before.kind, load: input.load })
  const within = { ...app, store: { db: transaction } }
  const known = openRequest(app.vault, before)
  const stored = known.configuration
  const api = input.config === undefined ? known.api : await apiNamed(within, input.projectId, input.config)
  const config = input.config && restoredRequest({ configuration: input.config, api }, known)
  const forEach = input.forEach === undefined ? (before.forEach as ForEach | null) : input.forEach
  await checkRequest(within, { ...input, config: config ?? stored, api, forEach, load: input.load ?? before.load })
  const changes = {
    ...input,
    config,
    schedule: input.schedule === undefined ? before.schedule : input.schedule,
    scheduleTimeZone: input.scheduleTimeZone ?? before.scheduleTimeZone,
  }
  const { projectId, datasourceId, ...given } = input
  await withinConnectionBytes(transaction, { projectId, table: 'datasources', id: datasourceId }, () =>
    transaction
      .updateTable('datasources')
      .set({ ...(input.name !== undefined && { name: input.name }), ...columnsOf(app, changes) })
      .where('id', '=', datasourceId)
      .execute(),
  )
  const changed = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  const details = { changed }
  await recordSourceAct(transaction, caller, { action: 'datasource.updated', projectId, datasourceId, details })
  return before
}

/** With every version of its data. */
export async function deleteDatasource(
  app: { store: Database; catalogs: Catalogs; deployments: DeployedQueries; models: TableModels },
  caller: Caller,
  input: { projectId: string; datasourceId: string },
): Promise<void> {
  await requireRole(app, caller, input.projectId, 'editor')
  const { tableName } = await findDatasource(app, caller, input)
  await refuseInUse(app, input.projectId, tableName)
  await app.store.db.transaction().execute(async (transaction) => {
    const gone = await transaction
      .deleteFrom('datasources')
      .where('projectId', '=', input.projectId)
      .where('id', '=', input.datasourceId)
      .returning(['name', 'tableName'])
      .executeTakeFirst()
    if (gone === undefined) throw noDatasource(input.datasourceId)
    await recordAct(transaction, caller, {
      action: 'datasource.deleted',
      target: input.datasourceId,
      projectId: input.projectId,
      details: { name: gone.name, table_name: gone.tableName },
    })
    await app.store.notify(transaction, dataChanged, input.projectId)
  })
  app.catalogs.forget(input.projectId)
}

/** Seals every stored configuration anew, and answers how many there were. */
export const resealDatasources = resealColumn('datasources', 'sealedSecrets')

function columnsOf(app: { vault: Vault; now: Clock }, changes: DatasourceChanges) {
  const { config, pagination, forEach, load, schedule, scheduleTimeZone = 'UTC', keepVersions, tags } = changes
  if (pagination !== undefined && pagination !== null) checkPagination(pagination)
  return {
    ...(config !== undefined && storeConfiguration(app.vault, config)),
    ...(pagination !== undefined && { pagination: pagination === null ? null : JSON.stringify(pagination) }),
    ...(forEach !== undefined && { forEach: forEach === null ? null : JSON.stringify(forEach) }),
    ...(load !== undefined && { load: JSON.stringify(load) }),
    ...(keepVersions !== undefined && { keepVersions }),
    ...(tags !== undefined && { tags: [...new Set(tags)] }),
    ...(schedule !== undefined && {
      schedule,
      scheduleTimeZone,
      nextRefreshAt: schedule === null ? null : nextRun(schedule, scheduleTimeZone, new Date(app.now())),
    }),
  }
}

async function freeTableName(transaction: Transaction<Tables>, projectId: string, name: string): Promise<string> {
  const rows = await transaction
    .selectFrom('datasources')
    .select('tableName')
    .where('projectId', '=', projectId)
    .execute()
  return firstFree(tableNameFor(name), new Set(rows.map((row) => row.tableName)))
}

function selectDatasources(app: { store: Database }, projectId: string) {
  return app.store.db
    .selectFrom('datasources')
    .select([
      'id',
      'name',
      'kind',
      'tableName',
      'config',
      'pagination',
      'forEach',
      'load',
      'schedule',
      'scheduleTimeZone',
      'nextRefreshAt',
      'keepVersions',
      'tags',
      'refreshedAt',
      'lastError',
      'createdAt',
    ])
    .where('projectId', '=', projectId)
}

function withStatus(row: Omit<Datasource, 'status' | 'held'>, held: Datasource['held']): Datasource {
  const good = held !== null ? 'held' : row.refreshedAt !== null ? 'ready' : 'new'
  const status = row.lastError !== null ? 'failed' : good
  // A configuration of an earlier version is masked by today's rules, also before housekeeping has come to it.
  return {
    ...row,
    status,
    held,
    config: row.config === null ? null : maskConfiguration(row.config as HttpConfiguration),
  }
}
