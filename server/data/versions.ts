import type { Transaction } from 'kysely'
import { newId } from '../ids.ts'
import type { ColumnRecord, Database, Drift, HeldBecause, Tables } from '../store/index.ts'
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
  /** Why it must not serve; null where it may. */
  heldBecause: HeldBecause | null
  /** Values that became null: where they are kept, and how many of which column. */
  rejected: { file: KeptFile; counts: Record<string, number> } | null
}

type Store = Pick<Database, 'db'>

/**
 * A new version of a datasource's table: its data objects and their lineage. It serves from then on unless it is held.
 * The caller holds the datasource's row, under which versions are counted.
 */
export async function insertVersion(
  transaction: Transaction<Tables>,
  { projectId, datasourceId, at }: { projectId: string; datasourceId: string; at: Date },
  fetched: FetchedVersion,
): Promise<{ dataObjectId: string; version: number }> {
  const newest = await newestVersion(transaction, datasourceId)
  const live = await liveDataVersion({ db: transaction }, datasourceId)
  const { heldBecause, rejected } = fetched
  const shared = { projectId, datasourceId, version: (newest ?? 0) + 1 }
  const request = { id: newId('dataObject'), fileHash: fetched.request.hash, sizeBytes: fetched.request.sizeBytes }
  const rows = { id: newId('dataObject'), fileHash: fetched.rows.hash, sizeBytes: fetched.rows.sizeBytes }
  const drift = live === null ? null : driftBetween(live.columns, fetched.columns)
  if (heldBecause === null) await endLive(transaction, datasourceId)
  await transaction
    .insertInto('dataObjects')
    .values([
      { ...shared, ...request, kind: 'request_config', format: 'json' },
      {
        ...shared,
        ...rows,
        kind: 'response_data',
        format: 'parquet',
        rowCount: fetched.rowCount,
        columns: JSON.stringify(fetched.columns),
        drift: drift === null ? null : JSON.stringify(drift),
        truncated: fetched.truncated,
        isLive: heldBecause === null,
        activatedAt: heldBecause === null ? at : null,
        heldBecause: heldBecause === null ? null : JSON.stringify(heldBecause),
        rejected: rejected === null ? null : JSON.stringify(rejected.counts),
      },
    ])
    .execute()
  const edges = [
    { projectId, fromId: datasourceId, toId: request.id },
    { projectId, fromId: request.id, toId: rows.id },
  ]
  if (rejected !== null) {
    const id = await insertRejected(transaction, shared, rejected)
    edges.push({ projectId, fromId: request.id, toId: id })
  }
  await transaction.insertInto('lineage').values(edges).execute()
  return { dataObjectId: rows.id, version: shared.version }
}

async function insertRejected(
  transaction: Transaction<Tables>,
  shared: { projectId: string; datasourceId: string; version: number },
  { file, counts }: NonNullable<FetchedVersion['rejected']>,
): Promise<string> {
  const id = newId('dataObject')
  await transaction
    .insertInto('dataObjects')
    .values({
      ...shared,
      id,
      kind: 'rejected_values',
      format: 'parquet',
      fileHash: file.hash,
      sizeBytes: file.sizeBytes,
      rowCount: Object.values(counts).reduce((sum, count) => sum + count, 0),
      columns: JSON.stringify(rejectedColumns),
    })
    .execute()
  return id
}

const rejectedColumns: ColumnRecord[] = [
  { name: 'row', type: 'BIGINT' },
  { name: 'column', type: 'VARCHAR' },
  { name: 'value', type: 'VARCHAR' },
]

/** For whoever is about to make another version serve: at most one does. */
export async function endLive(transaction: Transaction<Tables>, datasourceId: string): Promise<void> {
  await transaction
    .updateTable('dataObjects')
    .set({ isLive: false })
    .where('datasourceId', '=', datasourceId)
    .where('isLive', '=', true)
    .execute()
}

export type LiveData = {
  dataObjectId: string
  version: number
  columns: ColumnRecord[]
  rowCount: number
  /** Of the request that brought it: the same hash is the same request. */
  requestHash: string | null
}

/** The version that SQL reads; null where there is none. */
export async function liveDataVersion({ db }: Store, datasourceId: string): Promise<LiveData | null> {
  const row = await db
    .selectFrom('dataObjects as rows')
    .leftJoin('dataObjects as request', (join) =>
      join
        .onRef('request.datasourceId', '=', 'rows.datasourceId')
        .onRef('request.version', '=', 'rows.version')
        .on('request.kind', '=', 'request_config'),
    )
    .select(['rows.id', 'rows.version', 'rows.columns', 'rows.rowCount', 'request.fileHash as requestHash'])
    .where('rows.datasourceId', '=', datasourceId)
    .where('rows.isLive', '=', true)
    .executeTakeFirst()
  if (row === undefined) return null
  const { id: dataObjectId, version, columns, rowCount, requestHash } = row
  return { dataObjectId, version, columns: columns ?? [], rowCount: rowCount ?? 0, requestHash }
}

async function newestVersion(db: Database['db'], datasourceId: string): Promise<number | undefined> {
  const { newest } = await db
    .selectFrom('dataObjects')
    .select((row) => row.fn.max<number | null>('version').as('newest'))
    .where('datasourceId', '=', datasourceId)
    .executeTakeFirstOrThrow()
  return newest ?? undefined
}

/** The size of what is kept: of everything, a project, or the versions of a datasource up to one. */
export async function storedBytes(
  db: Database['db'],
  of: { projectId?: string; datasourceId?: string; upToVersion?: number },
): Promise<number> {
  const { projectId, datasourceId, upToVersion } = of
  const { bytes } = await db
    .selectFrom('dataObjects')
    .select((row) => row.fn.sum<string | null>('sizeBytes').as('bytes'))
    .$if(projectId !== undefined, (query) => query.where('projectId', '=', projectId ?? ''))
    .$if(datasourceId !== undefined, (query) => query.where('datasourceId', '=', datasourceId ?? ''))
    .$if(upToVersion !== undefined, (query) => query.where('version', '<=', upToVersion ?? 0))
    // What serves stays, however old it is.
    .$if(upToVersion !== undefined, (query) =>
      query.where('version', 'not in', (live) =>
        live
          .selectFrom('dataObjects as live')
          .select('live.version')
          .where('live.datasourceId', '=', datasourceId ?? '')
          .where('live.isLive', '=', true),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(bytes ?? 0)
}

/** When the rows that serve were fetched, of each datasource of a project. */
export async function fetchedAt({ db }: Store, projectId: string): Promise<Map<string, Date>> {
  const rows = await db
    .selectFrom('dataObjects')
    .select(['datasourceId', 'createdAt as at'])
    .where('projectId', '=', projectId)
    .where('isLive', '=', true)
    .execute()
  return new Map(rows.map((row) => [row.datasourceId, row.at]))
}

/** How the tables of a project changed in a span of time, its end included. */
export async function readDrifts(
  { store, datasources }: { store: Store; datasources: DatasourceDirectory },
  projectId: string,
  { from, to }: { from: Date; to: Date },
): Promise<Array<{ tableName: string; drift: Drift }>> {
  const rows = await store.db
    .selectFrom('dataObjects')
    .select(['datasourceId', 'drift'])
    .where('projectId', '=', projectId)
    .where('kind', '=', 'response_data')
    .where('drift', 'is not', null)
    .where('createdAt', '>', from)
    .where('createdAt', '<=', to)
    .execute()
  if (rows.length === 0) return []
  const sources = await datasources.ofProject(projectId)
  return rows.flatMap(({ datasourceId: id, drift }) => {
    const source = sources.get(id)
    return source === undefined || drift === null ? [] : [{ tableName: source.tableName, drift }]
  })
}
