import { valuesPerColumn } from './column-values.ts'
import { rm } from 'node:fs/promises'
import type { Transaction } from 'kysely'
import { Failure } from '../failure.ts'
import { lockProjectForQuota, type ColumnRecord, type Tables, type Database } from '../store/index.ts'
import { dataChanged, type Catalogs } from './catalogs.ts'
import type { DistinctValues, Profile, CallLimits, TableBuilder } from '../engine/index.ts'
import type { DatasourceDirectory } from './datasource-directory.ts'
import type { StoredCopy, Files, StoredFile } from '../files/index.ts'
import { dropUnusedParts, readParts, type PartRecord } from './parts.ts'

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

/** Bounds what one answer of the engine holds. */
const columnsAtOnce = 100
/** Longer ones are prose: nobody types them in a question. */
const maxValue = 200
/** A table with more columns or cells takes long to prepare, and lets smaller ones pass. */
const lightColumns = 500
const lightBytes = 67_108_864

/**
 * Makes fetched rows ready to serve: a profile of every column, a native copy that answers faster than Parquet, and
 * the values of text columns that questions are matched with. The first part of a version is prepared so, once. Later
 * parts are small and read as they are; their values join the known ones, and the profile stays that of the
 * last full look, until parts are compacted. May be run again after a crash at any point.
 */
export async function buildDataline(app: DatalineApp, { job, signal, progress }: Work): Promise<void> {
  const object = await findRows(app, String(job.input['data_object_id']))
  // Its version was deleted while the job waited.
  if (object === undefined) return
  const parts = (await readParts(app.store.db, [object.id])).get(object.id) ?? []
  const [first] = parts
  if (first === undefined) return
  const limits = { signal, isHeavy: isHeavy(object, first) }
  const isWhole = parts.length === 1 && object.deletions === null
  const firstRows: StoredFile = { hash: first.fileHash, format: 'parquet' }
  const profile = isWhole ? await app.builder.profile(firstRows, limits) : null
  progress(0.4)
  const brought = parts.find(({ loads }) => loads.length === 1 && loads[0] === object.version)
  const texts = profile === null ? textsOf(brought?.columns ?? []) : textColumns(profile)
  const rows: StoredFile = isWhole ? firstRows : { hash: (brought ?? first).fileHash, format: 'parquet' }
  const values = await collectValues(app, limits, { rows, texts })
  progress(0.6)
  const hasCopy = first.nativeHash !== null && (await app.files.isIntact({ hash: first.nativeHash, format: 'duckdb' }))
  const nativeFile = hasCopy ? null : await nativeCopy(app, firstRows, limits)
  progress(0.9)
  signal.throwIfAborted()
  await app.store.db.transaction().execute(async (transaction) => {
    await lockProjectForQuota(transaction, object.projectId)
    const shown = profile ?? (await profileBefore(transaction, object))
    await transaction
      .updateTable('dataObjects')
      .set({ profile: shown === null ? null : JSON.stringify(shown) })
      .where('id', '=', object.id)
      .execute()
    if (nativeFile !== null) {
      const copy = { nativeHash: nativeFile.hash, nativeBytes: nativeFile.sizeBytes }
      await transaction.updateTable('dataParts').set(copy).where('id', '=', first.id).execute()
    }
    // A job that is repeated finds its own profile, and counts no value of a part twice.
    if ((isWhole || object.profile === null) && (await bringsValues(transaction, object))) {
      await writeValues(transaction, object.datasourceId, { collected: values, replaces: isWhole })
    }
    const keepVersions = await app.datasources.keepVersions(transaction, object.datasourceId)
    await dropOldVersions(transaction, object, keepVersions ?? 1)
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
): Promise<StoredCopy | null> {
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
    .select(['id', 'projectId', 'datasourceId', 'version', 'columns', 'deletions', 'profile'])
    .where('id', '=', objectId)
    .where('kind', '=', 'response_data')
    .executeTakeFirst()
}

function isHeavy({ columns }: Rows, { sizeBytes }: PartRecord): boolean {
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

/** Values of the data that serves replace those before, or join them: the rarest beyond what a column may have go then. */
async function writeValues(
  transaction: Transaction<Tables>,
  datasourceId: string,
  { collected, replaces }: { collected: ColumnValues[]; replaces: boolean },
): Promise<void> {
  if (replaces) await transaction.deleteFrom('columnValues').where('datasourceId', '=', datasourceId).execute()
  const rows = collected.flatMap(({ column, values }) =>
    values.map(({ value, count }) => ({ datasourceId, columnName: column, value, occurrences: count })),
  )
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
  if (replaces) return
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

/** The versions of a datasource that models which serve were built from. A project that is locked builds no further. */
export async function modelsBuiltFrom(
  transaction: Transaction<Tables>,
  { projectId, datasourceId }: { projectId: string; datasourceId: string },
): Promise<Set<number>> {
  const models = await transaction
    .selectFrom('dataObjects')
    .select('builtFrom')
    .where('projectId', '=', projectId)
    .where('isLive', '=', true)
    .where('builtFrom', 'is not', null)
    .execute()
  const named = models.flatMap(({ builtFrom }) => builtFrom ?? [])
  return new Set(named.flatMap((each) => (each.datasourceId === datasourceId ? [each.version] : [])))
}

/**
 * Keeps as many versions as the datasource says, the one that serves and those that models were built from; the files go
 * with the next sweep.
 */
async function dropOldVersions(
  transaction: Transaction<Tables>,
  { projectId, datasourceId }: { projectId: string; datasourceId: string },
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
  const builtIn = await modelsBuiltFrom(transaction, { projectId, datasourceId })
  const gone = await transaction
    .deleteFrom('dataObjects')
    .where('datasourceId', '=', datasourceId)
    .where('version', '<', oldest)
    .where('version', 'not in', [live, ...builtIn])
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
