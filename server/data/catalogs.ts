import { LRUCache } from 'lru-cache'
import type { Clock } from '../clock.ts'
import { Failure } from '../failure.ts'
import type { Observe } from '../observe.ts'
import { upTo } from '../flow/index.ts'
import {
  type BuiltFrom,
  type ColumnRecord,
  type Database,
  type Deletions,
  type Dialect,
  isConnectionError,
  type LoadRule,
} from '../store/index.ts'
import { readColumnValues, valuesPerColumn } from './column-values.ts'
import type { DatasourceDirectory } from './datasource-directory.ts'
import { type CatalogTable, type Column, filesOfTable } from '../engine/index.ts'
import type { Files } from '../files/index.ts'
import { catalogOf, fetchTimes, type ProjectCatalog, type TableMoment } from './moments.ts'
import { readParts, rowsOfVersion, type PartRecord } from './parts.ts'

/** A port: which engine answers the queries of a project. `server/projects` fills it. */
type ProjectEngines = { engineOf(projectId: string): Promise<Dialect> }

/**
 * The catalog of each project in memory, so that a warm query asks the database nothing. A change to a project's data
 * is told to every process in the transaction that makes it, and the catalog is read anew at the next use.
 */
export type Catalogs = {
  get(projectId: string): Promise<ProjectCatalog>
  /** The cached catalog, if there is one. */
  peek(projectId: string): ProjectCatalog | undefined
  /**
   * After a read that failed: the catalog without the files that turn out to be damaged, or undefined where none of them
   * is and the failure has another reason. SQL that was proved against the catalog names what its tables have: where it
   * is told otherwise, names in a file have changed.
   */
  withoutDamaged(
    projectId: string,
    failed: ProjectCatalog,
    read: { error: unknown; isProved: boolean },
  ): Promise<ProjectCatalog | undefined>
  /**
   * Every distinct value of columns, named `table.column`, by column; read once for each state of the data. A column
   * of too many to know them all is not among them.
   */
  valuesOf(projectId: string, columns: ReadonlySet<string>): Promise<Record<string, string[]>>
  /** For the process that made a change: it is in force here when the verb returns, not when the word comes round. */
  forget(projectId: string): void
  close(): void
}

/** Said within the transaction that changes a project's tables, with the project's id. */
export const dataChanged = 'data_changed'

/** Beyond this many, the longest unused is dropped and read again. */
const maxProjects = 5_000

/** Reading every file again takes a while, and a query that always fails must not ask for it every time. */
const doubtEveryMs = 10_000
/** Messages of an engine that cannot make sense of a file. */
const damageSigns = /^(IO|INTERNAL|FATAL|Serialization|Internal) Error|corrupt|checksum|zstd|parquet/i

type Entry = {
  reading: Promise<ProjectCatalog>
  catalog?: ProjectCatalog
  /** It has changed, or may have: it is read anew, and serves only while the database is away. */
  isDoubted: boolean
  /** The entry before this one: it serves where the database is away before the change could be read. */
  before?: Entry | undefined
}

type Parts = {
  store: Database
  files: Files
  datasources: DatasourceDirectory
  engines: ProjectEngines
  observe: Observe
  now: Clock
}

export async function openCatalogs(parts: Parts): Promise<Catalogs> {
  const { store } = parts
  const known = new LRUCache<string, Entry>(upTo(maxProjects))
  const stop = await store.listen(
    dataChanged,
    (projectId) => doubt(known.get(projectId)),
    // Whatever was said while nobody listened is lost.
    () => known.forEach(doubt),
  )
  const doubtedAtMs = new LRUCache<string, number>(upTo(maxProjects))
  /** Keeps what was read; where it could not be, what was known before, to be read again at the next use. */
  const settle = async (projectId: string, entry: Entry, reading: Promise<ProjectCatalog>): Promise<void> => {
    try {
      entry.catalog = await reading
      delete entry.before
    } catch {
      // An entry that was dropped meanwhile stays dropped.
      if (known.get(projectId) !== entry) return
      if (entry.before === undefined) known.delete(projectId)
      else known.set(projectId, entry.before)
    }
  }
  const get = (projectId: string): Promise<ProjectCatalog> => {
    const found = known.get(projectId)
    if (found?.isDoubted === false) return found.reading
    const reading = readCatalog(parts, projectId)
    const entry: Entry = { reading: whileAway(reading, found), isDoubted: false, before: found }
    known.set(projectId, entry)
    void settle(projectId, entry, reading)
    return entry.reading
  }
  return {
    get,
    async withoutDamaged(projectId, failed, { error, isProved }) {
      if (!looksDamaged(error, isProved) || parts.now() - (doubtedAtMs.get(projectId) ?? 0) < doubtEveryMs)
        return undefined
      doubtedAtMs.set(projectId, parts.now())
      for (const file of failed.tables.flatMap(filesOfTable)) parts.files.doubt(file)
      known.delete(projectId)
      const read = await get(projectId)
      return read.version === failed.version ? undefined : read
    },
    peek: (projectId) => {
      const entry = known.get(projectId)
      return entry?.isDoubted === false ? entry.catalog : undefined
    },
    valuesOf: async (projectId, columns) => valuesIn(parts, projectId, { catalog: await get(projectId), columns }),
    forget: (projectId) => doubt(known.get(projectId)),
    close: stop,
  }
}

const listed = new WeakMap<ProjectCatalog, Map<string, Promise<Record<string, string[]>>>>()

function valuesIn(
  parts: Parts,
  projectId: string,
  { catalog, columns }: { catalog: ProjectCatalog; columns: ReadonlySet<string> },
): Promise<Record<string, string[]>> {
  const known = listed.get(catalog) ?? new Map<string, Promise<Record<string, string[]>>>()
  listed.set(catalog, known)
  const key = [...columns].sort().join('\n')
  const reading = known.get(key) ?? wholeColumns(parts, projectId, columns)
  known.set(key, reading)
  // A failed reading is tried again.
  reading.catch(() => known.delete(key))
  return reading
}

async function wholeColumns(
  parts: Parts,
  projectId: string,
  columns: ReadonlySet<string>,
): Promise<Record<string, string[]>> {
  const values = await readColumnValues(parts, projectId, columns)
  return Object.fromEntries(Object.entries(values).filter(([, each]) => each.length < valuesPerColumn))
}

function doubt(entry: Entry | undefined): void {
  if (entry !== undefined) entry.isDoubted = true
}

/** Serves the entry from before where the database cannot be asked: queries are answered without it. */
function whileAway(reading: Promise<ProjectCatalog>, before: Entry | undefined): Promise<ProjectCatalog> {
  if (before === undefined) return reading
  return reading.catch((error: unknown) => {
    const known = lastKnown(before)
    if (known === undefined || !isConnectionError(error)) throw error
    return known
  })
}

function lastKnown(entry: Entry | undefined): ProjectCatalog | undefined {
  return entry === undefined ? undefined : (entry.catalog ?? lastKnown(entry.before))
}

function looksDamaged(error: unknown, isProved: boolean): boolean {
  if (!(error instanceof Failure)) return false
  if (isProved && error.reason === 'invalid_sql') return true
  return error.code === 'internal_error' || damageSigns.test(error.cause instanceof Error ? error.cause.message : '')
}

async function readCatalog(parts: Parts, projectId: string): Promise<ProjectCatalog> {
  const live = await liveVersions(parts, projectId)
  const earlier = await builtFromVersions(parts, projectId, live)
  // Read after the objects, so that each has its datasource, unless that was deleted meanwhile.
  const sources = await parts.datasources.ofProject(projectId)
  const asOf = fetchTimes([...live, ...earlier])
  const moments = new Map<string, TableMoment[]>()
  for (const version of [...live, ...earlier]) {
    const source = sources.get(version.datasourceId)
    if (source === undefined) continue
    const served = version.isLive ? await lastWhole(parts, version) : await whole(parts, version)
    const known = moments.get(source.tableName) ?? []
    if (served === undefined || known.some((each) => each.version === served.version)) continue
    const { datasourceId, version: number, truncated, builtFrom, joinedSince } = served
    const rowCount = served.rowCount ?? 0
    const moment = { datasourceId, version: number, rowCount, truncated, builtFrom, joinedSince, asOf: asOf(served) }
    moments.set(source.tableName, [...known, { ...moment, table: tableOf(served, source) }])
  }
  return catalogOf({ projectId, engine: await parts.engines.engineOf(projectId) }, moments)
}

function tableOf(
  { rows, copy, parted, columns }: WholeVersion,
  { tableName: name, hiddenKeys }: { tableName: string; hiddenKeys: string[] },
): CatalogTable {
  const isHidden = (column: ColumnRecord) => hiddenKeys.includes(column.sourceKey ?? column.name)
  const [out, shown] = [columns?.filter(isHidden) ?? [], columns?.filter((column) => !isHidden(column)) ?? []]
  return {
    name,
    rows,
    ...(copy !== undefined && { copy }),
    ...(parted !== undefined && { parted }),
    columns: shown.map(({ name: column, type }): Column => ({ name: column, type })),
    // A table has at least one column.
    ...(out.length > 0 && shown.length > 0 && { hiddenColumns: out.map(({ name: column }) => column) }),
  }
}

type VersionParts = Pick<Parts, 'store' | 'files' | 'observe'>

type Served = {
  dataObjectId: string
  datasourceId: string
  version: number
  rowCount: number | null
  columns: ColumnRecord[] | null
  truncated: boolean
  createdAt: Date
  checkedAt: Date | null
  isLive: boolean
  builtFrom: BuiltFrom[] | null
  joinedSince: number | null
}
type Version = Served & {
  fileHash: string
  parts: PartRecord[]
  load: LoadRule | null
  deletions: Deletions | null
}
/** A version whose files are what they were when they were written. */
type WholeVersion = Served & Pick<CatalogTable, 'rows' | 'copy' | 'parted'>

/** How many versions back are looked at for one that is whole. */
const maxVersionsBack = 20

/** The version of each table of a project that SQL is to read. */
function liveVersions({ store }: VersionParts, projectId: string): Promise<Version[]> {
  return readVersions(store, (rows) => rows.where('projectId', '=', projectId).where('isLive', '=', true))
}

/** How many versions of a model before the one that serves may stand in for it. */
const maxModelsBack = 4

/** Versions that models which serve were built from, and earlier ones of models, the newest first; none without models. */
async function builtFromVersions({ store }: VersionParts, projectId: string, live: Version[]): Promise<Version[]> {
  const models = live.flatMap(({ datasourceId, builtFrom }) => (builtFrom === null ? [] : [datasourceId]))
  if (models.length === 0) return []
  const past = (rows: VersionRows) => rows.where('projectId', '=', projectId).where('isLive', '=', false)
  const before = await readVersions(store, (rows) =>
    past(rows)
      .where('datasourceId', 'in', models)
      .where('activatedAt', 'is not', null)
      .limit(maxModelsBack * models.length),
  )
  const named = [...live, ...before].flatMap(({ builtFrom }) => builtFrom ?? [])
  if (named.length === 0) return before
  const ids = [...new Set(named.map(({ datasourceId }) => datasourceId))]
  const keys = new Set(named.map(({ datasourceId, version }) => `${datasourceId} ${version}`))
  const numbers = [...new Set(named.map(({ version }) => version))]
  const sources = await readVersions(store, (rows) =>
    past(rows).where('datasourceId', 'in', ids).where('version', 'in', numbers),
  )
  const wanted = sources.filter(({ datasourceId, version }) => keys.has(`${datasourceId} ${version}`))
  return [...before, ...wanted].sort((left, right) => right.version - left.version)
}

/** The live version, or the last one before it that served and is whole; where none is, the live one, whose reads fail. */
async function lastWhole(parts: VersionParts, live: Version): Promise<WholeVersion> {
  const found = await whole(parts, live)
  if (found !== undefined) return found
  const before = await readVersions(parts.store, (rows) =>
    rows
      .where('datasourceId', '=', live.datasourceId)
      .where('version', '<', live.version)
      // One that was held was never fit to serve.
      .where('activatedAt', 'is not', null)
      .limit(maxVersionsBack),
  )
  for (const version of before) {
    const older = await whole(parts, version)
    if (older !== undefined) return older
  }
  return { ...live, ...rowsOfVersion(live) }
}

function versionRows({ db }: Database) {
  return db
    .selectFrom('dataObjects')
    .select(['id as dataObjectId', 'datasourceId', 'version', 'fileHash', 'rowCount', 'columns', 'truncated'])
    .select(['createdAt', 'checkedAt', 'load', 'deletions', 'isLive', 'builtFrom', 'joinedSince'])
    .where('kind', '=', 'response_data')
    .orderBy('datasourceId')
    .orderBy('version', 'desc')
}
type VersionRows = ReturnType<typeof versionRows>

/** Versions with their parts. */
async function readVersions(store: Database, wanted: (rows: VersionRows) => VersionRows): Promise<Version[]> {
  const rows = await wanted(versionRows(store)).execute()
  const ids = rows.map(({ dataObjectId }) => dataObjectId)
  const parts = await readParts(store.db, ids)
  return rows.map((row) => ({ ...row, parts: parts.get(row.dataObjectId) ?? [] }))
}

/** Every part as its copy or as itself, and what says which of their rows are past. */
async function whole({ files, observe }: VersionParts, version: Version): Promise<WholeVersion | undefined> {
  const fault = (what: string, hash: string) =>
    observe({ kind: 'fault', where: 'data files', error: damaged(version, what, hash) })
  const { deletions } = version
  if (deletions !== null && !(await files.isIntact({ hash: deletions.hash, format: 'parquet' }))) {
    fault('the list of its past rows', deletions.hash)
    return undefined
  }
  const parts: PartRecord[] = []
  for (const part of version.parts) {
    const hasNative = part.nativeHash !== null && (await files.isIntact({ hash: part.nativeHash, format: 'duckdb' }))
    if (part.nativeHash !== null && !hasNative) fault('its copy for speed', part.nativeHash)
    if (!hasNative && !(await files.isIntact({ hash: part.fileHash, format: 'parquet' }))) {
      fault('its rows', part.fileHash)
      return undefined
    }
    parts.push(hasNative ? part : { ...part, nativeHash: null })
  }
  return { ...version, ...rowsOfVersion({ ...version, parts }) }
}

function damaged({ datasourceId, version }: Version, what: string, hash: string): Error {
  return new Error(
    `Version ${version} of ${datasourceId}: ${what} (${hash}) is damaged or gone. What is whole is served; a refresh brings a new version.`,
  )
}
