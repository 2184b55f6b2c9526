import type { Transaction } from 'kysely'
import { newId } from '../ids.ts'
import type { ColumnRecord, Database, Drift, Tables } from '../store/index.ts'
import type { DatasourceDirectory } from './datasource-directory.ts'
import { driftBetween } from './drift.ts'
import type { KeptFile } from './files.ts'

/** What one fetch brought: the request as it was sent, without its secrets, and the rows of the answer. */
export type FetchedVersion = {
  request: KeptFile
  rows: KeptFile
  rowCount: number
  columns: ColumnRecord[]
  truncated: boolean
}

type Store = Pick<Database, 'db'>

/**
 * A new version of a datasource's table: both data objects and their lineage. The caller holds the datasource's row,
 * under which versions are counted.
 */
export async function insertVersion(
  transaction: Transaction<Tables>,
  { projectId, datasourceId }: { projectId: string; datasourceId: string },
  fetched: FetchedVersion,
): Promise<{ dataObjectId: string; version: number }> {
  const newest = await newestRows(transaction, datasourceId)
  const shared = { project_id: projectId, datasource_id: datasourceId, version: (newest?.version ?? 0) + 1 }
  const request = { id: newId('dataObject'), file_hash: fetched.request.hash, size_bytes: fetched.request.sizeBytes }
  const rows = { id: newId('dataObject'), file_hash: fetched.rows.hash, size_bytes: fetched.rows.sizeBytes }
  const drift = newest === undefined ? null : driftBetween(newest.columns ?? [], fetched.columns)
  await transaction
    .insertInto('data_objects')
    .values([
      { ...shared, ...request, kind: 'request_config', format: 'json' },
      {
        ...shared,
        ...rows,
        kind: 'response_data',
        format: 'parquet',
        row_count: fetched.rowCount,
        columns: JSON.stringify(fetched.columns),
        drift: drift === null ? null : JSON.stringify(drift),
        truncated: fetched.truncated,
      },
    ])
    .execute()
  await transaction
    .insertInto('lineage')
    .values([
      { project_id: projectId, from_id: datasourceId, to_id: request.id },
      { project_id: projectId, from_id: request.id, to_id: rows.id },
    ])
    .execute()
  return { dataObjectId: rows.id, version: shared.version }
}

/** The columns of the newest version; null where there is none. */
export async function newestColumns({ db }: Store, datasourceId: string): Promise<ColumnRecord[] | null> {
  return (await newestRows(db, datasourceId))?.columns ?? null
}

function newestRows(db: Database['db'], datasourceId: string) {
  return db
    .selectFrom('data_objects')
    .select(['version', 'columns'])
    .where('datasource_id', '=', datasourceId)
    .where('kind', '=', 'response_data')
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The size of what is kept: of everything, a project, or the versions of a datasource up to one. */
export async function storedBytes(
  db: Database['db'],
  of: { projectId?: string; datasourceId?: string; upToVersion?: number },
): Promise<number> {
  const { projectId, datasourceId, upToVersion } = of
  const { bytes } = await db
    .selectFrom('data_objects')
    .select((row) => row.fn.sum<string | null>('size_bytes').as('bytes'))
    .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId ?? ''))
    .$if(datasourceId !== undefined, (query) => query.where('datasource_id', '=', datasourceId ?? ''))
    .$if(upToVersion !== undefined, (query) => query.where('version', '<=', upToVersion ?? 0))
    .executeTakeFirstOrThrow()
  return Number(bytes ?? 0)
}

/** When each datasource of a project last brought rows. */
export async function fetchedAt({ db }: Store, projectId: string): Promise<Map<string, Date>> {
  const rows = await db
    .selectFrom('data_objects')
    .select((row) => ['datasource_id', row.fn.max('created_at').as('at')])
    .where('project_id', '=', projectId)
    .where('kind', '=', 'response_data')
    .groupBy('datasource_id')
    .execute()
  return new Map(rows.map((row) => [row.datasource_id, row.at]))
}

/** How the tables of a project changed in a span of time, its end included. */
export async function readDrifts(
  { store, datasources }: { store: Store; datasources: DatasourceDirectory },
  projectId: string,
  { from, to }: { from: Date; to: Date },
): Promise<Array<{ tableName: string; drift: Drift }>> {
  const rows = await store.db
    .selectFrom('data_objects')
    .select(['datasource_id', 'drift'])
    .where('project_id', '=', projectId)
    .where('kind', '=', 'response_data')
    .where('drift', 'is not', null)
    .where('created_at', '>', from)
    .where('created_at', '<=', to)
    .execute()
  if (rows.length === 0) return []
  const sources = await datasources.ofProject(projectId)
  return rows.flatMap(({ datasource_id: id, drift }) => {
    const source = sources.get(id)
    return source === undefined || drift === null ? [] : [{ tableName: source.tableName, drift }]
  })
}
