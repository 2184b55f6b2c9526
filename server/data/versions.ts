import { newId } from '../ids.ts'
import type { Transaction } from 'kysely'
import type {
  BuiltFrom,
  ColumnRecord,
  CursorValue,
  Database,
  Deletions,
  Drift,
  HeldBecause,
  LoadRule,
  LoadWarning,
  Tables,
  Validators,
} from '../store/index.ts'
import type { DatasourceDirectory } from './datasource-directory.ts'
import { fetchTimes } from './moments.ts'
import type { StoredCopy } from '../files/index.ts'
import { insertPart, readParts, setParts, type PartedVersion, type PartRecord } from './parts.ts'

/** Result of one fetch: the request as it was sent, without its secrets, and the rows of the answer. */
export type FetchedVersion = {
  request: StoredCopy
  rows: StoredCopy
  /** Rows of the version, which may be more than this load brought. */
  rowCount: number
  newRows: number
  columns: ColumnRecord[]
  truncated: boolean
  /** Why it must not serve; null where it may. */
  heldBecause: HeldBecause | null
  /** Why it cannot be shown to be whole. */
  warnings: LoadWarning[]
  /** Values that became null: where they are kept, and how many of which column. */
  rejected: { file: StoredCopy; counts: Record<string, number> } | null
  validators: Validators | null
  /** For an incremental table: the version it is built on, and the part that this load brings, if any. */
  parted: LoadedParts | null
  /** Versions that a model was built from. */
  builtFrom: BuiltFrom[] | null
}

export type LoadedParts = {
  load: LoadRule
  base: PartRecord[]
  /** The version that they join. */
  joins: Pick<LiveData, 'version' | 'joinedSince'> | null
  part: { rowCount: number; columns: ColumnRecord[] } | null
  deletions: Deletions | null
  lastValue: CursorValue | null
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
): Promise<{ dataObjectId: string; version: number; drift: Drift | null }> {
  const newest = await newestVersion(transaction, datasourceId)
  const live = await liveDataVersion({ db: transaction }, datasourceId)
  const { heldBecause, rejected } = fetched
  const shared = { projectId, datasourceId, version: (newest ?? 0) + 1 }
  const request = { id: newId('dataObject'), fileHash: fetched.request.hash, sizeBytes: fetched.request.sizeBytes }
  const { parted } = fetched
  const parts = await loadedParts(transaction, shared, fetched)
  // Its parts are counted where they are; its own is what says which of their rows are past.
  const sizeBytes = parted?.deletions?.sizeBytes ?? 0
  const rows = { id: newId('dataObject'), fileHash: fetched.rows.hash, sizeBytes }
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
        newRows: fetched.newRows,
        validators: jsonOrNull(fetched.validators),
        builtFrom: jsonOrNull(fetched.builtFrom),
        joinedSince: parted === null ? null : joinedSince(parted, { version: shared.version, newest }),
        load: jsonOrNull(parted?.load ?? null),
        lastValue: jsonOrNull(parted?.lastValue ?? null),
        deletions: jsonOrNull(parted?.deletions ?? null),
        isLive: heldBecause === null,
        activatedAt: heldBecause === null ? at : null,
        heldBecause: jsonOrNull(heldBecause),
        warnings: jsonOrNull(fetched.warnings.length === 0 ? null : fetched.warnings),
        rejected: rejected === null ? null : JSON.stringify(rejected.counts),
      },
    ])
    .execute()
  await setParts(transaction, rows.id, parts)
  const edges = [
    { projectId, fromId: datasourceId, toId: request.id },
    { projectId, fromId: request.id, toId: rows.id },
  ]
  if (rejected !== null) {
    const id = await insertRejected(transaction, shared, rejected)
    edges.push({ projectId, fromId: request.id, toId: id })
  }
  await transaction.insertInto('lineage').values(edges).execute()
  return { dataObjectId: rows.id, version: shared.version, drift }
}

/** One that joins another than the newest begins anew: what came in between is not in it. */
function joinedSince(
  { joins }: LoadedParts,
  { version, newest }: { version: number; newest: number | undefined },
): number {
  return joins === null || joins.version !== newest ? version : (joins.joinedSince ?? joins.version)
}

/** How the columns of a table differ from those of the version before. Null when they do not. */
export function driftBetween(before: ColumnRecord[], after: ColumnRecord[]): Drift | null {
  const old = new Map(before.map((column) => [column.name, column.type]))
  const now = new Map(after.map((column) => [column.name, column.type]))
  const drift: Drift = {
    added: after.filter(({ name }) => !old.has(name)).map(({ name }) => name),
    removed: before.filter(({ name }) => !now.has(name)).map(({ name }) => name),
    changed: after.flatMap(({ name, type }) => {
      const from = old.get(name)
      return from === undefined || from === type ? [] : [{ name, from, to: type }]
    }),
  }
  return drift.added.length + drift.removed.length + drift.changed.length === 0 ? null : drift
}

type Shared = { projectId: string; datasourceId: string; version: number }

async function loadedParts(
  transaction: Transaction<Tables>,
  shared: Shared,
  { parted, rows: file, rowCount, columns }: FetchedVersion,
): Promise<PartRecord[]> {
  const { base, part } = parted ?? { base: [], part: { rowCount, columns } }
  if (part === null) return base
  return [...base, await insertPart(transaction, shared, { ...part, file, loads: [shared.version] })]
}

function jsonOrNull(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}

async function insertRejected(
  transaction: Transaction<Tables>,
  shared: Shared,
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
  /** Hash of the request that brought it: the same hash is the same request. */
  requestHash: string | null
  truncated: boolean
  warnings: LoadWarning[]
  /** Rows that its own load brought. */
  newRows: number
  /** Null for one file that was loaded whole. */
  parted: PartedVersion | null
  lastValue: CursorValue | null
  validators: Validators | null
  builtFrom: BuiltFrom[] | null
  joinedSince: number | null
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
    .select(['rows.id', 'rows.version', 'rows.columns', 'rows.rowCount', 'rows.newRows', 'rows.truncated', 'rows.load'])
    .select([
      'rows.deletions',
      'rows.warnings',
      'rows.lastValue',
      'rows.validators',
      'rows.builtFrom',
      'rows.joinedSince',
    ])
    .select('request.fileHash as requestHash')
    .where('rows.datasourceId', '=', datasourceId)
    .where('rows.isLive', '=', true)
    .executeTakeFirst()
  if (row === undefined) return null
  const { id: dataObjectId, load, deletions, ...rest } = row
  const columns = row.columns ?? []
  const rowCount = row.rowCount ?? 0
  const warnings = row.warnings ?? []
  const parts = load === null ? [] : ((await readParts(db, [dataObjectId])).get(dataObjectId) ?? [])
  const parted = load === null ? null : { columns, parts, deletions, load }
  return { ...rest, dataObjectId, columns, rowCount, warnings, newRows: row.newRows ?? rowCount, parted }
}

async function newestVersion(db: Database['db'], datasourceId: string): Promise<number | undefined> {
  const { newest } = await db
    .selectFrom('dataObjects')
    .select((row) => row.fn.max<number | null>('version').as('newest'))
    .where('datasourceId', '=', datasourceId)
    .executeTakeFirstOrThrow()
  return newest ?? undefined
}

type Kept = { projectId?: string; datasourceId?: string; upToVersion?: number }

/** The size of what is kept: of everything, a project, or the versions of a datasource up to one. A part counts once. */
export async function storedBytes(db: Database['db'], of: Kept): Promise<number> {
  const { projectId, datasourceId, upToVersion } = of
  const { bytes } = await db
    .selectFrom('dataObjects')
    .select((row) => row.fn.sum<string | null>('sizeBytes').as('bytes'))
    .$if(projectId !== undefined, (query) => query.where('projectId', '=', projectId ?? ''))
    .$if(datasourceId !== undefined, (query) => query.where('datasourceId', '=', datasourceId ?? ''))
    .$if(upToVersion !== undefined, (query) => query.where('version', '<=', upToVersion ?? 0))
    // The live version stays, however old it is.
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
  return Number(bytes ?? 0) + (await storedParts(db, of))
}

/** Parts go with the last version that names them. */
async function storedParts(db: Database['db'], { projectId, datasourceId, upToVersion }: Kept): Promise<number> {
  const { rows, copies } = await db
    .selectFrom('dataParts')
    .select((part) => [
      part.fn.sum<string | null>('sizeBytes').as('rows'),
      part.fn.sum<string | null>('nativeBytes').as('copies'),
    ])
    .$if(projectId !== undefined, (query) => query.where('projectId', '=', projectId ?? ''))
    .$if(datasourceId !== undefined, (query) => query.where('datasourceId', '=', datasourceId ?? ''))
    .$if(upToVersion !== undefined, (query) =>
      query.where('dataParts.id', 'not in', (later) =>
        later
          .selectFrom('versionParts')
          .innerJoin('dataObjects', 'dataObjects.id', 'versionParts.dataObjectId')
          .select('versionParts.partId')
          .where('dataObjects.datasourceId', '=', datasourceId ?? '')
          .where((version) =>
            version.or([
              version('dataObjects.version', '>', upToVersion ?? 0),
              version('dataObjects.isLive', '=', true),
            ]),
          ),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(rows ?? 0) + Number(copies ?? 0)
}

/** The API says that nothing has changed: the version that serves is as fresh as this, and the next load goes on from here. */
export async function noteUnchanged(
  transaction: Transaction<Tables>,
  dataObjectId: string,
  { at, lastValue, builtFrom }: { at: Date; lastValue: CursorValue | null; builtFrom?: BuiltFrom[] | undefined },
): Promise<void> {
  await transaction
    .updateTable('dataObjects')
    .set({
      checkedAt: at,
      ...(lastValue !== null && { lastValue: JSON.stringify(lastValue) }),
      // The same rows follow from newer versions of its tables.
      ...(builtFrom !== undefined && { builtFrom: JSON.stringify(builtFrom) }),
    })
    .where('id', '=', dataObjectId)
    .execute()
}

/** How many rows serve, what they were built from, and when they were fetched or last found unchanged. */
type LiveTable = {
  version: number
  rows: number | null
  builtFrom: BuiltFrom[] | null
  fetchedAt: Date
  servesSince: Date
}

/** Live tables of a project by datasource. */
export async function liveTables({ db }: Store, projectId: string): Promise<Map<string, LiveTable>> {
  const rows = await db
    .selectFrom('dataObjects')
    .select(['datasourceId', 'version', 'rowCount', 'createdAt', 'checkedAt', 'activatedAt', 'builtFrom'])
    .where('projectId', '=', projectId)
    .where('kind', '=', 'response_data')
    .where('isLive', '=', true)
    .execute()
  const at = fetchTimes(rows)
  return new Map(
    rows.map((row) => {
      const { version, rowCount, builtFrom, activatedAt, createdAt } = row
      const servesSince = activatedAt ?? createdAt
      return [row.datasourceId, { version, rows: rowCount, builtFrom, fetchedAt: at(row), servesSince }]
    }),
  )
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
