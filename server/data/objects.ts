import { Readable } from 'node:stream'
import type { Selectable, Transaction } from 'kysely'
import { recordAct, requireRole, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { lockProjectForQuota, newestFirst, type Page, type Database, type Tables } from '../store/index.ts'
import { dataChanged, type Catalogs } from './catalogs.ts'
import {
  nameOfRows,
  type Catalog,
  type Column,
  type Profile,
  type ReadFormat,
  type SlotValue,
  type QueryEngine,
} from '../engine/index.ts'
import type { FilePart, Files } from '../files/index.ts'
import type { DatasourceDirectory } from './datasource-directory.ts'
import { deployedReaders, touchedBy, type DeployedQueries, type TableModels } from './readers.ts'
import { modelsBuiltFrom } from './dataline.ts'
import { dropUnusedParts, partBytes, readParts, rowsOfVersion } from './parts.ts'
import { liveDataVersion } from './versions.ts'
import { wishedRows, type RowsWish } from './wished-rows.ts'
import type { Config } from '../config.ts'

export type DataObject = Omit<
  Selectable<Tables['dataObjects']>,
  | 'projectId'
  | 'activatedAt'
  | 'warnings'
  | 'profile'
  | 'newRows'
  | 'lastValue'
  | 'validators'
  | 'checkedAt'
  | 'builtFrom'
  | 'joinedSince'
> & { datasourceName: string; tableName: string }

/** One object, with what only a closer look shows. */
export type DescribedObject = DataObject & {
  profile: Profile | null
  /** Deployed queries that read a column which this version lost or changed. */
  driftTouches: string[]
}

type DataApp = { store: Database; datasources: DatasourceDirectory; deployments: DeployedQueries }

/** Newest first; of one datasource where it is named. */
export async function listObjects(
  app: DataApp,
  caller: Caller,
  input: { projectId: string; datasourceId?: string | undefined; limit: number; cursor?: string | undefined },
): Promise<Page<DataObject>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const { datasourceId } = input
  const page = await newestFirst(
    selectObjects(app, input.projectId).$if(datasourceId !== undefined, (query) =>
      query.where('datasourceId', '=', datasourceId ?? ''),
    ),
    input,
  )
  return { ...page, items: await withSources(app, input.projectId, page.items) }
}

export async function findObject(
  app: DataApp,
  caller: Caller,
  input: { projectId: string; objectId: string },
): Promise<DescribedObject> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const rows = await selectObjects(app, input.projectId).select('profile').where('id', '=', input.objectId).execute()
  const [object] = await withSources(app, input.projectId, rows)
  if (object === undefined) throw noObject(input.objectId)
  const readers = object.drift === null ? [] : await deployedReaders(app.deployments, input.projectId, object.tableName)
  return {
    ...object,
    // Written by the dataline job alone, from the same type.
    profile: object.profile as Profile | null,
    driftTouches: object.drift === null ? [] : touchedBy(object.drift, readers),
  }
}

/** A page of its rows, as JSON bytes that came ready from the executor. */
export async function readObjectRows(
  app: DataApp & { files: Files; engine: QueryEngine; config: Config },
  caller: Caller,
  input: {
    projectId: string
    objectId: string
    limit: number
    offset: number
    wish: RowsWish
    signal?: AbortSignal
  },
): Promise<{ rows: Buffer; columns: Column[]; more: boolean; rowCount: number | null }> {
  const object = await findObject(app, caller, input)
  requireRows(object)
  const columns = (object.columns ?? []).map(({ name, type }) => ({ name, type }))
  const catalog = await catalogOf(app, input.projectId, { object, columns })
  const { where, order, slots } = wishedRows(columns, input.wish)
  const read = (sql: string, more: SlotValue[], maxRows: number) =>
    app.engine.read(`object ${object.id}`, catalog, {
      dialect: 'duckdb',
      sql,
      slots: [...slots, ...more],
      maxRows,
      maxBytes: app.config.limits.queryBytes,
      ...(input.signal !== undefined && { signal: input.signal }),
    })
  const answer = await read(
    `select * from rows_of_object${where}${order} offset $skipped`,
    [{ name: 'skipped', type: 'integer', value: input.offset }],
    input.limit,
  )
  const counted = where === '' ? null : await read(`select count(*) as rows from rows_of_object${where}`, [], 1)
  const rowCount = counted === null ? null : countIn(counted.bytes)
  return { rows: answer.bytes, columns: answer.columns, more: answer.truncated, rowCount }
}

function requireRows({ kind }: DataObject): void {
  if (kind === 'response_data' || kind === 'rejected_values') return
  throw new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `Only response_data and rejected_values have rows; this is ${kind}.`,
  })
}

function countIn(bytes: Buffer): number {
  const [row] = JSON.parse(bytes.toString()) as Array<{ rows: number }>
  return row?.rows ?? 0
}

type Opened = { object: DataObject } & (
  | { stored: { sizeBytes: number; hash: string; read: (part?: FilePart) => Promise<Readable> } }
  | { stored: null; stream: Readable }
)

/**
 * The file of an object, or its rows in another form. Rows that are in several parts are put into one for whoever asks;
 * how large it gets shows then.
 */
export async function openObject(
  app: DataApp & { files: Files; engine: QueryEngine; config: Config },
  caller: Caller,
  input: { projectId: string; objectId: string; format?: ReadFormat | undefined; signal?: AbortSignal },
): Promise<Opened> {
  const object = await findObject(app, caller, input)
  const { fileHash, format, sizeBytes, load } = object
  const asked = input.format ?? 'parquet'
  const isAsStored = input.format === undefined || asked === format
  if (load === null && isAsStored) {
    const read = (part?: FilePart): Promise<Readable> => app.files.read({ hash: fileHash, format }, part)
    return { object, stored: { sizeBytes, hash: fileHash, read } }
  }
  if (input.format !== undefined) requireRows(object)
  const columns = (object.columns ?? []).map(({ name, type }) => ({ name, type }))
  const { chunks } = await app.engine.stream(
    `object ${object.id}`,
    await catalogOf(app, input.projectId, { object, columns }),
    {
      dialect: 'duckdb',
      sql: 'select * from rows_of_object',
      slots: [],
      format: asked,
      maxRows: Number.MAX_SAFE_INTEGER - 1,
      maxBytes: app.config.limits.loadResponseBytes,
      timeoutMs: app.config.limits.executeTimeoutMs,
      ...(input.signal !== undefined && { signal: input.signal }),
    },
  )
  return { object, stored: null, stream: Readable.from(asked === 'json' ? listOf(chunks) : bytesOf(chunks)) }
}

/** Rows of JSON come a piece at a time, without what holds them together. */
async function* listOf(chunks: AsyncIterable<{ bytes: Buffer }>): AsyncGenerator<Buffer | string> {
  let before = '['
  for await (const { bytes } of chunks) {
    if (bytes.length === 0) continue
    yield before
    yield bytes
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

async function* bytesOf(chunks: AsyncIterable<{ bytes: Buffer }>): AsyncGenerator<Buffer> {
  for await (const { bytes } of chunks) yield bytes
}

/** The rows of one object as the table `rows_of_object`. */
async function catalogOf(
  app: { store: Database },
  projectId: string,
  { object, columns }: { object: DataObject; columns: Column[] },
): Promise<Catalog> {
  const { id } = object
  const parts = (await readParts(app.store.db, [id])).get(id) ?? []
  const table = { name: 'rows_of_object', columns, ...rowsOfVersion({ ...object, parts }) }
  return { projectId, version: `${id}\n${nameOfRows(table)}`, tables: [table] }
}

export type LineageNode = { id: string; kind: DataObject['kind'] | 'datasource' | 'load' | 'query'; label: string }
export type Lineage = { nodes: LineageNode[]; edges: Array<{ from: string; to: string }> }

/** From the datasource through the request and its loads to the rows and the queries that read them. */
export async function lineageOf(
  app: DataApp,
  caller: Caller,
  input: { projectId: string; objectId: string },
): Promise<Lineage> {
  const object = await findObject(app, caller, input)
  const kin = await selectObjects(app, input.projectId)
    .where('datasourceId', '=', object.datasourceId)
    .where('version', '=', object.version)
    .orderBy('id')
    .execute()
  const ids = kin.map((each) => each.id)
  const edges = await app.store.db
    .selectFrom('lineage')
    .select(['fromId as from', 'toId as to'])
    .where('projectId', '=', input.projectId)
    .where((where) => where.or([where('fromId', 'in', ids), where('toId', 'in', ids)]))
    .execute()
  // Queries read the version that serves, so another one leads to none.
  const rows = kin.find((each) => each.kind === 'response_data')
  const readers = rows?.isLive === true ? await deployedReaders(app.deployments, input.projectId, object.tableName) : []
  // The loads whose rows are in it, each from the same datasource.
  const parts = rows === undefined ? [] : ((await readParts(app.store.db, [rows.id])).get(rows.id) ?? [])
  return {
    nodes: [
      { id: object.datasourceId, kind: 'datasource', label: object.datasourceName },
      ...kin.map((each) => ({ id: each.id, kind: each.kind, label: `${object.tableName} ${each.version}` })),
      ...parts.map((part) => ({ id: part.id, kind: 'load' as const, label: loadLabel(part) })),
      ...readers.map((reader) => ({ id: reader.queryId, kind: 'query' as const, label: reader.name })),
    ],
    edges: [
      ...edges,
      ...parts.flatMap(({ id }) => [
        { from: object.datasourceId, to: id },
        { from: id, to: rows?.id ?? '' },
      ]),
      ...readers.map((reader) => ({ from: rows?.id ?? '', to: reader.queryId })),
    ],
  }
}

function loadLabel({ loads, rowCount }: { loads: number[]; rowCount: number }): string {
  const [first, last] = [loads[0] ?? 0, loads.at(-1) ?? 0]
  return `load ${first === last ? first : `${first} to ${last}`}: ${rowCount} rows`
}

/** The data of a table that a model or a deployed query reads stays. */
export async function refuseInUse(
  app: { store: Pick<Database, 'db'>; deployments: DeployedQueries; models: TableModels },
  projectId: string,
  tableName: string,
): Promise<void> {
  const models = await app.models.readersOf(app.store.db, { projectId, tableName })
  if (models.length > 0) {
    const names = models.map(({ name }) => name).join(', ')
    const message = `Models read the table ${tableName}: ${names}. Change or delete them first.`
    throw new Failure('conflict', { reason: 'in_use', message })
  }
  const readers = await deployedReaders(app.deployments, projectId, tableName)
  if (readers.length === 0) return
  const names = readers.map((reader) => `${reader.name} (${reader.environments.join(', ')})`).join(', ')
  throw new Failure('conflict', {
    reason: 'in_use',
    message: `Deployed queries read the table ${tableName}: ${names}. Undeploy them first.`,
  })
}

/**
 * Deletes one version of a table, with the request that belongs to it. The one that serves goes only when
 * nothing deployed reads the table; the newest that served before it then serves again.
 */
export async function deleteObject(
  app: DataApp & { catalogs: Catalogs; models: TableModels },
  caller: Caller,
  input: { projectId: string; objectId: string },
): Promise<void> {
  await requireRole(app, caller, input.projectId, 'editor')
  const object = await findObject(app, caller, input)
  const live = await liveDataVersion(app.store, object.datasourceId)
  const isLive = object.version === live?.version
  if (isLive) await refuseInUse(app, input.projectId, object.tableName)
  await app.store.db.transaction().execute(async (transaction) => {
    await lockProjectForQuota(transaction, input.projectId)
    const of = { projectId: input.projectId, datasourceId: object.datasourceId }
    const builtIn = await modelsBuiltFrom(transaction, of)
    if (builtIn.has(object.version)) throw builtInto(object)
    const kin = await transaction
      .deleteFrom('dataObjects')
      .where('datasourceId', '=', object.datasourceId)
      .where('version', '=', object.version)
      .returning('id')
      .execute()
    const ids = kin.map((each) => each.id)
    await transaction
      .deleteFrom('lineage')
      .where((where) => where.or([where('fromId', 'in', ids), where('toId', 'in', ids)]))
      .execute()
    await dropUnusedParts(transaction, object.datasourceId)
    if (isLive) await serveNewestServed(transaction, object.datasourceId)
    if (isLive) await app.models.sourceChanged(transaction, of)
    await recordAct(transaction, caller, {
      action: 'data_object.deleted',
      target: object.id,
      projectId: input.projectId,
      details: { table_name: object.tableName, version: object.version },
    })
    await app.store.notify(transaction, dataChanged, input.projectId)
  })
  app.catalogs.forget(input.projectId)
}

function builtInto({ tableName, version }: DataObject): Failure {
  return new Failure('conflict', {
    reason: 'in_use',
    message: `A model that serves was built from version ${version} of ${tableName}. Rebuild the model first.`,
  })
}

async function serveNewestServed(transaction: Transaction<Tables>, datasourceId: string): Promise<void> {
  const served = await transaction
    .selectFrom('dataObjects')
    .select('id')
    .where('datasourceId', '=', datasourceId)
    .where('kind', '=', 'response_data')
    .where('activatedAt', 'is not', null)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (served === undefined) return
  await transaction.updateTable('dataObjects').set({ isLive: true }).where('id', '=', served.id).execute()
}

function selectObjects(app: { store: Database }, projectId: string) {
  return app.store.db
    .selectFrom('dataObjects')
    .select([
      'id',
      'kind',
      'format',
      'datasourceId',
      'version',
      'rowCount',
      'fileHash',
      'sizeBytes',
      'columns',
      'drift',
      'truncated',
      'isLive',
      'heldBecause',
      'rejected',
      'load',
      'deletions',
      'createdAt',
    ])
    .where('projectId', '=', projectId)
}

/** With the names of their datasources; one whose datasource is deleted meanwhile is gone with it. */
async function withSources<Row extends Sized>(
  app: { store: Database; datasources: DatasourceDirectory },
  projectId: string,
  rows: Row[],
): Promise<Array<Row & { datasourceName: string; tableName: string }>> {
  if (rows.length === 0) return []
  const sources = await app.datasources.ofProject(projectId)
  const ids = rows.map(({ id }) => id)
  const parts = await readParts(app.store.db, ids)
  return rows.flatMap((row) => {
    const source = sources.get(row.datasourceId)
    const sizeBytes = partBytes(parts.get(row.id) ?? [], row.sizeBytes)
    return source === undefined ? [] : [{ ...row, sizeBytes, datasourceName: source.name, tableName: source.tableName }]
  })
}

type Sized = { id: string; datasourceId: string; sizeBytes: number }

function noObject(objectId: string): Failure {
  return new Failure('not_found', { message: `The project has no data object ${objectId}.` })
}
