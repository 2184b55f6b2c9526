import { rm } from 'node:fs/promises'
import type { Transaction } from 'kysely'
import { Failure } from '../failure.ts'
import { newId } from '../ids.ts'
import type { ColumnRecord, Tables, Database } from '../store/index.ts'
import { dataChanged, type Catalogs } from './catalogs.ts'
import type { DistinctValues, Profile } from '../engine/executor/socket/protocol.ts'
import type { DatasourceDirectory } from './datasource-directory.ts'
import type { KeptFile, Files, StoredFile } from '../files/stored-files.ts'
import type { CallLimits } from '../engine/executor-engine.ts'
import { dropUnusedParts, readParts } from './parts.ts'
import type { TableBuilder } from '../engine/table-builder.ts'

type DatalineApp = {
  store: Database
  files: Files
  builder: TableBuilder
  catalogs: Catalogs
  datasources: DatasourceDirectory
}

/** A job that works on one data object, as the jobs room hands it over. */
type Work = {
  job: { projectId: string; sourceId: string; input: Record<string, unknown> }
  signal: AbortSignal
  progress: (fraction: number) => void
}

/** Enough for a form to offer and a question to match; beyond it a column is text, not a choice. */
const valuesPerColumn = 1_000
/** Bounds what one answer of the engine holds. */
const columnsAtOnce = 100
/** Longer ones are prose: nobody types them in a question. */
const maxValue = 200
/** What has more of either takes long to prepare, and lets smaller tables pass. */
const lightColumns = 500
const lightBytes = 67_108_864

/**
 * Makes fetched rows ready to serve: a profile of every column, a native copy that answers faster than Parquet, and
 * the values of text columns that questions are matched with. May be run again after a crash at any point.
 */
export async function buildDataline(app: DatalineApp, work: Work): Promise<void> {
  const { job, signal, progress } = work
  const object = await findRows(app, String(job.input['data_object_id']))
  // Its version was deleted while the job waited.
  if (object === undefined) return
  if (object.load !== null) {
    await prepareParts(app, work, object)
    return
  }
  const rows: StoredFile = { hash: object.fileHash, format: 'parquet' }
  const limits = { signal, isHeavy: isHeavy(object) }
  const profile = await app.builder.profile(rows, limits)
  progress(0.4)
  const values = await collectValues(app, limits, { rows, texts: textColumns(profile) })
  progress(0.6)
  const kept = await nativeCopy(app, rows, limits)
  progress(0.9)
  signal.throwIfAborted()
  await app.store.db.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('dataObjects')
      .set({ profile: JSON.stringify(profile) })
      .where('id', '=', object.id)
      .execute()
    if (kept !== null) await recordPrepared(transaction, object, kept)
    if (await bringsValues(transaction, object)) await replaceValues(transaction, object.datasourceId, values)
    const keepVersions = await app.datasources.keepVersions(transaction, object.datasourceId)
    await dropOldVersions(transaction, object.datasourceId, keepVersions ?? 1)
    await app.store.notify(transaction, dataChanged, object.projectId)
  })
  app.catalogs.forget(object.projectId)
}

/**
 * Of a table that is loaded bit by bit: the same for its first part, once. What came since is small and read as it is;
 * its values join those that are known, and the profile stays that of the last time all of it was looked at, until
 * parts are put together.
 */
async function prepareParts(app: DatalineApp, { signal, progress }: Work, object: Rows): Promise<void> {
  const parts = (await readParts(app.store.db, [object.id])).get(object.id) ?? []
  const [first] = parts
  if (first === undefined) return
  const limits = { signal, isHeavy: isHeavy(object) }
  const firstRows: StoredFile = { hash: first.fileHash, format: 'parquet' }
  const isWhole = parts.length === 1 && object.deletions === null
  const profile = isWhole ? await app.builder.profile(firstRows, limits) : null
  progress(0.4)
  const brought = parts.find(({ loads }) => loads.length === 1 && loads[0] === object.version)
  const texts = profile === null ? textsOf(brought?.columns ?? []) : textColumns(profile)
  const rows: StoredFile = { hash: (isWhole ? first : (brought ?? first)).fileHash, format: 'parquet' }
  const values = texts.length === 0 ? [] : await collectValues(app, limits, { rows, texts })
  progress(0.6)
  const kept = first.nativeHash === null ? await nativeCopy(app, firstRows, limits) : null
  progress(0.9)
  signal.throwIfAborted()
  await app.store.db.transaction().execute(async (transaction) => {
    const shown = profile ?? (await profileBefore(transaction, object))
    // A job that is repeated finds its own, and counts no value twice.
    const isFirst = object.profile === null
    await transaction
      .updateTable('dataObjects')
      .set({ profile: shown === null ? null : JSON.stringify(shown) })
      .where('id', '=', object.id)
      .execute()
    if (kept !== null) {
      const copy = { nativeHash: kept.hash, nativeBytes: kept.sizeBytes }
      await transaction.updateTable('dataParts').set(copy).where('id', '=', first.id).execute()
    }
    if (await bringsValues(transaction, object)) {
      if (isWhole) await replaceValues(transaction, object.datasourceId, values)
      else if (isFirst) await addValues(transaction, object.datasourceId, values)
    }
    const keepVersions = await app.datasources.keepVersions(transaction, object.datasourceId)
    await dropOldVersions(transaction, object.datasourceId, keepVersions ?? 1)
    await app.store.notify(transaction, dataChanged, object.projectId)
  })
  app.catalogs.forget(object.projectId)
}

function textColumns({ columns }: Profile): string[] {
  return columns.filter((each) => each.type === 'VARCHAR' && each.distinctCount > 0).map(({ name }) => name)
}

function textsOf(columns: ColumnRecord[]): string[] {
  return columns.filter(({ type, untyped }) => type === 'VARCHAR' && untyped !== true).map(({ name }) => name)
}

async function profileBefore(
  transaction: Transaction<Tables>,
  { datasourceId, version }: Rows,
): Promise<object | null> {
  const row = await transaction
    .selectFrom('dataObjects')
    .select('profile')
    .where('datasourceId', '=', datasourceId)
    .where('version', '<=', version)
    .where('profile', 'is not', null)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.profile ?? null
}

/** Null where the memory does not reach for a copy, as with thousands of columns: the Parquet file serves. */
export async function nativeCopy(
  app: Pick<DatalineApp, 'files' | 'builder'>,
  rows: StoredFile,
  limits: CallLimits,
): Promise<KeptFile | null> {
  const nativePath = app.files.temporaryPath('duckdb')
  try {
    await app.builder.buildNative({ rows, nativePath }, limits)
    return await app.files.keep(nativePath, 'duckdb')
  } catch (error) {
    if (error instanceof Failure && error.reason === 'memory_limit') return null
    throw error
  } finally {
    await rm(nativePath, { force: true })
  }
}

async function findRows(app: DatalineApp, objectId: string) {
  return app.store.db
    .selectFrom('dataObjects')
    .select(['id', 'projectId', 'datasourceId', 'version', 'fileHash', 'rowCount', 'sizeBytes', 'columns'])
    .select(['load', 'deletions', 'profile'])
    .where('id', '=', objectId)
    .where('kind', '=', 'response_data')
    .executeTakeFirst()
}

function isHeavy({ columns, sizeBytes }: Rows): boolean {
  return (columns?.length ?? 0) > lightColumns || sizeBytes > lightBytes
}

type Rows = NonNullable<Awaited<ReturnType<typeof findRows>>>
type ColumnValues = { column: string; values: DistinctValues['values'] }

async function collectValues(
  app: DatalineApp,
  limits: CallLimits,
  { rows, texts }: { rows: StoredFile; texts: string[] },
): Promise<ColumnValues[]> {
  const collected: ColumnValues[] = []
  for (let at = 0; at < texts.length; at += columnsAtOnce) {
    const columns = texts.slice(at, at + columnsAtOnce)
    const found = await app.builder.distinctValues({ rows, columns, cap: valuesPerColumn }, limits)
    for (const [index, column] of columns.entries()) {
      const values = found[index]?.values ?? []
      const short = values.filter(({ value }) => value.length <= maxValue && !value.includes('\0'))
      collected.push({ column, values: short })
    }
  }
  return collected
}

async function recordPrepared(transaction: Transaction<Tables>, rows: Rows, kept: KeptFile): Promise<void> {
  const prepared = await transaction
    .insertInto('dataObjects')
    .values({
      id: newId('dataObject'),
      projectId: rows.projectId,
      datasourceId: rows.datasourceId,
      kind: 'prepared',
      format: 'duckdb',
      version: rows.version,
      fileHash: kept.hash,
      sizeBytes: kept.sizeBytes,
      rowCount: rows.rowCount,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['datasourceId', 'kind', 'version'])
        .doUpdateSet({ fileHash: kept.hash, sizeBytes: kept.sizeBytes }),
    )
    .returning('id')
    .executeTakeFirst()
  if (prepared === undefined) throw new Failure('internal_error')
  await transaction
    .insertInto('lineage')
    .values({ projectId: rows.projectId, fromId: rows.id, toId: prepared.id })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/**
 * A job that is repeated late, or prepares what is held, must not bring the values of what nobody reads. While the data
 * that serves is not prepared yet, those of the data before it are better than none.
 */
async function bringsValues(transaction: Transaction<Tables>, rows: Rows): Promise<boolean> {
  const { isLive, activatedAt } = await transaction
    .selectFrom('dataObjects')
    .select(['isLive', 'activatedAt'])
    .where('id', '=', rows.id)
    .executeTakeFirstOrThrow()
  if (isLive || activatedAt === null) return isLive
  const later = await transaction
    .selectFrom('dataObjects')
    .select('id')
    .where('datasourceId', '=', rows.datasourceId)
    .where('activatedAt', '>', activatedAt)
    .where('profile', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return later === undefined
}

/** The values of the data that serves replace those before, column by column and then whatever column is gone. */
async function replaceValues(
  transaction: Transaction<Tables>,
  datasourceId: string,
  collected: ColumnValues[],
): Promise<void> {
  await transaction.deleteFrom('columnValues').where('datasourceId', '=', datasourceId).execute()
  for (const { column, values } of collected) {
    if (values.length === 0) continue
    await transaction
      .insertInto('columnValues')
      .values(
        values.map(({ value, count }) => ({
          datasourceId,
          columnName: column,
          value,
          occurrences: count,
        })),
      )
      .execute()
  }
}

/** Values of rows that joined those that serve. The rarest beyond what a column may have go. */
async function addValues(
  transaction: Transaction<Tables>,
  datasourceId: string,
  collected: ColumnValues[],
): Promise<void> {
  const rows = collected.flatMap(({ column, values }) =>
    values.map(({ value, count }) => ({ datasourceId, columnName: column, value, occurrences: count })),
  )
  if (rows.length === 0) return
  for (let at = 0; at < rows.length; at += valuesPerColumn) {
    await transaction
      .insertInto('columnValues')
      .values(rows.slice(at, at + valuesPerColumn))
      .onConflict((conflict) =>
        conflict.columns(['datasourceId', 'columnName', 'value']).doUpdateSet((row) => ({
          occurrences: row('columnValues.occurrences', '+', row.ref('excluded.occurrences')),
        })),
      )
      .execute()
  }
  for (const { column } of collected) {
    const own = transaction
      .selectFrom('columnValues')
      .select('value')
      .where('datasourceId', '=', datasourceId)
      .where('columnName', '=', column)
    const rarest = own.orderBy('occurrences', 'desc').orderBy('value').offset(valuesPerColumn)
    await transaction
      .deleteFrom('columnValues')
      .where('datasourceId', '=', datasourceId)
      .where('columnName', '=', column)
      .where('value', 'in', rarest)
      .execute()
  }
}

/** Keeps as many versions as the datasource says, and the one that serves; the files go with the next sweep. */
async function dropOldVersions(
  transaction: Transaction<Tables>,
  datasourceId: string,
  keepVersions: number,
): Promise<void> {
  const versions = await transaction
    .selectFrom('dataObjects')
    .select(['version', 'isLive'])
    .where('datasourceId', '=', datasourceId)
    .where('kind', '=', 'response_data')
    .orderBy('version', 'desc')
    .execute()
  const oldest = versions[keepVersions - 1]?.version
  if (oldest === undefined) return
  const live = versions.find((each) => each.isLive)?.version ?? oldest
  const gone = await transaction
    .deleteFrom('dataObjects')
    .where('datasourceId', '=', datasourceId)
    .where('version', '<', oldest)
    .where('version', '<>', live)
    .returning('id')
    .execute()
  if (gone.length === 0) return
  const ids = gone.map((each) => each.id)
  await dropUnusedParts(transaction, datasourceId)
  await transaction
    .deleteFrom('lineage')
    .where((where) => where.or([where('fromId', 'in', ids), where('toId', 'in', ids)]))
    .execute()
}
