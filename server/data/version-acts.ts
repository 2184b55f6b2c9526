import type { Value } from '../../api/wire-codec.ts'
import type { dataVersion } from '../../api/data.ts'
import type { Transaction } from 'kysely'
import { recordAct, requireRole, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { pageAfter, type Database, type HeldBecause, type Page, type Tables } from '../store/index.ts'
import { dataChanged, type Catalogs } from './catalogs.ts'
import type { DatasourceDirectory } from './datasource-directory.ts'
import type { TableModels } from './readers.ts'
import { readParts, type PartRecord } from './parts.ts'
import { endLive } from './versions.ts'

/** One load of a table. `superseded`: it served once, or was passed over, and may serve again. */
export type DataVersion = Value<typeof dataVersion>

type Parts = { store: Database }
type OfDatasource = { projectId: string; datasourceId: string }

/** Newest first. */
export async function listDataVersions(
  app: Parts,
  caller: Caller,
  input: OfDatasource & { limit: number; cursor?: string | undefined },
): Promise<Page<DataVersion>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  return pageAfter(
    async (after, limit) => {
      const rows = await selectVersions(app.store.db, input)
        .$if(after !== undefined, (query) => query.where('version', '<', Number(after)))
        .orderBy('version', 'desc')
        .limit(limit)
        .execute()
      const parts = await readParts(
        app.store.db,
        rows.map(({ id }) => id),
      )
      return rows.map((row) => versionOf(row, parts.get(row.id)))
    },
    input,
    ({ version }) => String(version),
  )
}

/** Queues the work that a version needs before questions know its values. */
type Prepare = (
  transaction: Transaction<Tables>,
  version: { projectId: string; datasourceId: string; dataObjectId: string },
) => Promise<unknown>

/**
 * Makes any version serve, forward or back, whatever held it. `served` asks for one that served before: going back must
 * not let in what never did.
 */
export async function activateVersion(
  app: Parts & { catalogs: Catalogs; models: TableModels; now: () => number; prepare: Prepare },
  caller: Caller,
  input: OfDatasource & { version: number; served: boolean },
): Promise<DataVersion> {
  await requireRole(app, caller, input.projectId, 'editor')
  const { projectId, datasourceId, version } = input
  const activated = await app.store.db.transaction().execute(async (transaction) => {
    const row = await selectVersions(transaction, input).where('version', '=', version).forUpdate().executeTakeFirst()
    if (row === undefined) throw new Failure('not_found', { message: `There is no version ${version} of this data.` })
    if (input.served && row.activatedAt === null) throw neverServed(version)
    if (row.isLive) return row
    await endLive(transaction, datasourceId)
    const activatedAt = new Date(app.now())
    const serving = { isLive: true, activatedAt }
    await transaction.updateTable('dataObjects').set(serving).where('id', '=', row.id).execute()
    await app.prepare(transaction, { projectId, datasourceId, dataObjectId: row.id })
    await app.models.sourceChanged(transaction, { projectId, datasourceId })
    await recordAct(transaction, caller, {
      action: 'data_version.activated',
      target: datasourceId,
      projectId,
      details: { version },
    })
    await app.store.notify(transaction, dataChanged, projectId)
    return { ...row, ...serving }
  })
  app.catalogs.forget(projectId)
  return versionOf(activated, (await readParts(app.store.db, [activated.id])).get(activated.id))
}

function neverServed(version: number): Failure {
  return new Failure('conflict', {
    reason: 'never_served',
    message: `Version ${version} was held and never served, so there is nothing to go back to. Activate it instead.`,
  })
}

/** The datasources of a project whose newest data waits, with the version that does and why. */
export async function heldVersions(
  { db }: Pick<Database, 'db'>,
  projectId: string,
): Promise<Map<string, { version: number; heldBecause: HeldBecause; createdAt: Date }>> {
  const rows = await db
    .selectFrom('dataObjects')
    .distinctOn('datasourceId')
    .select(['datasourceId', 'version', 'heldBecause', 'isLive', 'createdAt'])
    .where('projectId', '=', projectId)
    .where('kind', '=', 'response_data')
    .orderBy('datasourceId')
    .orderBy('version', 'desc')
    .execute()
  return new Map(
    rows.flatMap((row) => {
      const { datasourceId: id, version, heldBecause, isLive, createdAt } = row
      return heldBecause === null || isLive ? [] : [[id, { version, heldBecause, createdAt }]]
    }),
  )
}

/** The tables of a project whose newest data waits for its author. */
export async function readHeldTables(
  { store, datasources }: { store: Pick<Database, 'db'>; datasources: DatasourceDirectory },
  projectId: string,
): Promise<string[]> {
  const held = await heldVersions(store, projectId)
  if (held.size === 0) return []
  const sources = await datasources.ofProject(projectId)
  return [...held.keys()].flatMap((id) => sources.get(id)?.tableName ?? [])
}

/** Versions that came in a span of time and were held back, the newest first, with their tables. */
export async function heldBetween(
  { store, datasources }: { store: Pick<Database, 'db'>; datasources: DatasourceDirectory },
  projectId: string,
  { from, to, limit }: { from: Date; to: Date; limit: number },
): Promise<Array<{ at: Date; datasourceId: string; tableName: string }>> {
  const rows = await store.db
    .selectFrom('dataObjects')
    .select(['createdAt', 'datasourceId'])
    .where('projectId', '=', projectId)
    .where('kind', '=', 'response_data')
    .where('heldBecause', 'is not', null)
    .where('createdAt', '>=', from)
    .where('createdAt', '<', to)
    .orderBy('createdAt', 'desc')
    .limit(limit)
    .execute()
  if (rows.length === 0) return []
  const sources = await datasources.ofProject(projectId)
  return rows.flatMap(({ createdAt: at, datasourceId }) => {
    const tableName = sources.get(datasourceId)?.tableName
    return tableName === undefined ? [] : [{ at, datasourceId, tableName }]
  })
}

function selectVersions(db: Database['db'], { projectId, datasourceId }: OfDatasource) {
  return db
    .selectFrom('dataObjects')
    .select(['id', 'version', 'isLive', 'activatedAt', 'heldBecause', 'rowCount', 'truncated', 'rejected', 'createdAt'])
    .select(['warnings', 'newRows', 'load', 'lastValue', 'checkedAt'])
    .where('projectId', '=', projectId)
    .where('datasourceId', '=', datasourceId)
    .where('kind', '=', 'response_data')
}

type Row = Awaited<ReturnType<ReturnType<typeof selectVersions>['executeTakeFirstOrThrow']>>

function versionOf(row: Row, parts: PartRecord[] = []): DataVersion {
  const isHeld = row.heldBecause !== null && row.activatedAt === null
  const rowCount = row.rowCount ?? 0
  return {
    version: row.version,
    status: row.isLive ? 'live' : isHeld ? 'held' : 'superseded',
    heldBecause: row.heldBecause,
    warnings: row.warnings ?? [],
    dataObjectId: row.id,
    rowCount,
    newRows: row.newRows ?? rowCount,
    mode: row.load?.mode ?? 'replace',
    loads: [...new Set(parts.flatMap((part) => part.loads))].toSorted((left, right) => left - right),
    parts: Math.max(1, parts.length),
    lastValue: row.lastValue?.value ?? null,
    checkedAt: row.checkedAt,
    truncated: row.truncated,
    rejected: row.rejected,
    activatedAt: row.activatedAt,
    createdAt: row.createdAt,
  }
}
