import type { Transaction } from 'kysely'
import { recordAct, requireRole, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { pageAfter, type Database, type HeldBecause, type Page, type Tables } from '../store/index.ts'
import { dataChanged, type Catalogs } from './catalogs.ts'
import type { DatasourceDirectory } from './datasource-directory.ts'
import { endLive } from './versions.ts'

/** One load of a table. `superseded`: it served once, or was passed over, and may serve again. */
export type DataVersion = {
  version: number
  status: 'live' | 'held' | 'superseded'
  heldBecause: HeldBecause | null
  dataObjectId: string
  rowCount: number
  newRows: number
  truncated: boolean
  rejected: Record<string, number> | null
  activatedAt: Date | null
  createdAt: Date
}

type Parts = { store: Database }
type OfDatasource = { projectId: string; datasourceId: string }

/** Newest first. */
export async function listVersions(
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
      return rows.map(versionOf)
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
  app: Parts & { catalogs: Catalogs; now: () => number; prepare: Prepare },
  caller: Caller,
  input: OfDatasource & { version: number; served: boolean },
): Promise<DataVersion> {
  await requireRole(app, caller, input.projectId, 'editor')
  const { projectId, datasourceId, version } = input
  const activated = await app.store.db.transaction().execute(async (transaction) => {
    const row = await selectVersions(transaction, input).where('version', '=', version).forUpdate().executeTakeFirst()
    if (row === undefined) throw new Failure('not_found', { message: `There is no version ${version} of this data.` })
    if (input.served && row.activated_at === null) throw neverServed(version)
    if (row.is_live) return row
    await endLive(transaction, datasourceId)
    const activatedAt = new Date(app.now())
    const serving = { is_live: true, activated_at: activatedAt }
    await transaction.updateTable('data_objects').set(serving).where('id', '=', row.id).execute()
    await app.prepare(transaction, { projectId, datasourceId, dataObjectId: row.id })
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
  return versionOf(activated)
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
    .selectFrom('data_objects')
    .distinctOn('datasource_id')
    .select(['datasource_id', 'version', 'held_because', 'is_live', 'created_at'])
    .where('project_id', '=', projectId)
    .where('kind', '=', 'response_data')
    .orderBy('datasource_id')
    .orderBy('version', 'desc')
    .execute()
  return new Map(
    rows.flatMap((row) => {
      const { datasource_id: id, version, held_because: heldBecause, is_live: isLive, created_at: createdAt } = row
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

function selectVersions(db: Database['db'], { projectId, datasourceId }: OfDatasource) {
  return db
    .selectFrom('data_objects')
    .select([
      'id',
      'version',
      'is_live',
      'activated_at',
      'held_because',
      'row_count',
      'truncated',
      'rejected',
      'created_at',
    ])
    .where('project_id', '=', projectId)
    .where('datasource_id', '=', datasourceId)
    .where('kind', '=', 'response_data')
}

type Row = Awaited<ReturnType<ReturnType<typeof selectVersions>['executeTakeFirstOrThrow']>>

function versionOf(row: Row): DataVersion {
  const isHeld = row.held_because !== null && row.activated_at === null
  const rowCount = row.row_count ?? 0
  return {
    version: row.version,
    status: row.is_live ? 'live' : isHeld ? 'held' : 'superseded',
    heldBecause: row.held_because,
    dataObjectId: row.id,
    rowCount,
    newRows: rowCount,
    truncated: row.truncated,
    rejected: row.rejected,
    activatedAt: row.activated_at,
    createdAt: row.created_at,
  }
}
