import { LRUCache } from 'lru-cache'
import type { Clock } from '../clock.ts'
import { Failure } from '../failure.ts'
import type { Observe } from '../observe.ts'
import type { ColumnRecord, Database } from '../store/index.ts'
import type { DatasourceDirectory } from './datasource-directory.ts'
import type { Catalog, Column } from './executor/protocol.ts'
import type { Files } from './files.ts'

/** The tables of a project as queries see them now, and how old their data is. */
export type ProjectCatalog = Catalog & {
  /** When the data of each table was fetched. */
  asOf: Map<string, Date>
}

/**
 * The catalog of each project in memory, so that a warm query asks the database nothing. A change to a project's data
 * is told to every process in the transaction that makes it, and the catalog is read anew at the next use.
 */
export type Catalogs = {
  get(projectId: string): Promise<ProjectCatalog>
  /** What is known already. */
  peek(projectId: string): ProjectCatalog | undefined
  /**
   * After a read that failed: the catalog without the files that turn out to be damaged, or undefined where none of them
   * is and the failure has another reason.
   */
  withoutDamaged(projectId: string, failed: ProjectCatalog, error: unknown): Promise<ProjectCatalog | undefined>
  /** For the process that made a change: it is in force here when the verb returns, not when the word comes round. */
  forget(projectId: string): void
  close(): void
}

/** Said within the transaction that changes a project's tables, with the project's id. */
export const dataChanged = 'data_changed'

/** What is not used for a while is read again rather than kept. */
const maxProjects = 5_000

/** Reading every file again takes a while, and a query that always fails must not ask for it every time. */
const doubtEveryMs = 10_000
/** What an engine says that cannot make sense of a file. */
const damageSigns = /^(IO|INTERNAL|FATAL|Serialization|Internal) Error|corrupt|checksum|zstd|parquet/i
/** How many versions back are looked at for one that is whole. */
const maxVersionsBack = 20

type Entry = { reading: Promise<ProjectCatalog>; catalog?: ProjectCatalog }

type Parts = { store: Database; files: Files; datasources: DatasourceDirectory; observe: Observe; now: Clock }

export async function openCatalogs(parts: Parts): Promise<Catalogs> {
  const { store } = parts
  const known = new LRUCache<string, Entry>({ max: maxProjects })
  const stop = await store.listen(
    dataChanged,
    (projectId) => void known.delete(projectId),
    // Whatever was said while nobody listened is lost: believe nothing.
    () => known.clear(),
  )
  const doubtedAtMs = new LRUCache<string, number>({ max: maxProjects })
  const get = (projectId: string): Promise<ProjectCatalog> => {
    const found = known.get(projectId)
    if (found !== undefined) return found.reading
    const entry: Entry = { reading: readCatalog(parts, projectId) }
    known.set(projectId, entry)
    entry.reading.then(
      (catalog) => (entry.catalog = catalog),
      () => known.delete(projectId),
    )
    return entry.reading
  }
  return {
    get,
    async withoutDamaged(projectId, failed, error) {
      if (!looksDamaged(error) || parts.now() - (doubtedAtMs.get(projectId) ?? 0) < doubtEveryMs) return undefined
      doubtedAtMs.set(projectId, parts.now())
      for (const { parquetPath, nativePath } of failed.tables) {
        for (const path of [parquetPath, nativePath ?? parquetPath]) parts.files.doubt(path)
      }
      known.delete(projectId)
      const read = await get(projectId)
      return read.version === failed.version ? undefined : read
    },
    peek: (projectId) => known.get(projectId)?.catalog,
    forget: (projectId) => void known.delete(projectId),
    close: stop,
  }
}

function looksDamaged(error: unknown): boolean {
  if (!(error instanceof Failure)) return false
  return error.code === 'internal_error' || damageSigns.test(error.cause instanceof Error ? error.cause.message : '')
}

type Served = { datasourceId: string; version: number; columns: ColumnRecord[] | null; createdAt: Date }
type Version = Served & { parquetHash: string; nativeHash: string | null }
type Whole = Served & { parquetPath: string; nativePath?: string }

async function readCatalog(parts: Parts, projectId: string): Promise<ProjectCatalog> {
  const newest = await readVersions(parts, { projectId })
  // Read after the objects, so that each has its datasource, unless that was deleted meanwhile.
  const sources = await parts.datasources.ofProject(projectId)
  const rows = []
  for (const version of newest) {
    const source = sources.get(version.datasourceId)
    if (source !== undefined) rows.push({ ...(await lastWhole(parts, version)), name: source.tableName })
  }
  const tables = rows.map(({ name, parquetPath, nativePath, columns }) => ({
    name,
    parquetPath,
    ...(nativePath !== undefined && { nativePath }),
    columns: (columns ?? []).map((column): Column => ({ name: column.name, type: column.type })),
  }))
  // Content-addressed names make the catalog its own version: the same files are the same catalog.
  const version = tables
    .map((table) => `${table.name}=${table.nativePath ?? table.parquetPath}`)
    .sort()
    .join('\n')
  return { version, tables, asOf: new Map(rows.map((row) => [row.name, row.createdAt])) }
}

/** The newest version of each table of a project, or the versions of one table before one, newest first. */
function readVersions(
  { store }: Parts,
  of: { projectId: string } | { datasourceId: string; before: number },
): Promise<Version[]> {
  const versions = store.db
    .selectFrom('data_objects as rows')
    .leftJoin('data_objects as native', (join) =>
      join
        .onRef('native.datasource_id', '=', 'rows.datasource_id')
        .onRef('native.version', '=', 'rows.version')
        .on('native.kind', '=', 'prepared'),
    )
    .select([
      'rows.datasource_id as datasourceId',
      'rows.version',
      'rows.file_hash as parquetHash',
      'native.file_hash as nativeHash',
      'rows.columns',
      'rows.created_at as createdAt',
    ])
    .where('rows.kind', '=', 'response_data')
    .orderBy('rows.datasource_id')
    .orderBy('rows.version', 'desc')
  if ('projectId' in of) {
    return versions.distinctOn('rows.datasource_id').where('rows.project_id', '=', of.projectId).execute()
  }
  return versions
    .where('rows.datasource_id', '=', of.datasourceId)
    .where('rows.version', '<', of.before)
    .limit(maxVersionsBack)
    .execute()
}

/** A version whose file is what it was when it was written; where none is, the newest, whose reads then fail. */
async function lastWhole(parts: Parts, newest: Version): Promise<Whole> {
  const found = await whole(parts, newest)
  if (found !== undefined) return found
  for (const version of await readVersions(parts, { datasourceId: newest.datasourceId, before: newest.version })) {
    const older = await whole(parts, version)
    if (older !== undefined) return older
  }
  return { ...newest, parquetPath: parts.files.pathOf(newest.parquetHash, 'parquet') }
}

/** The copy for speed where it is whole, else the record it was made from. */
async function whole({ files, observe }: Parts, version: Version): Promise<Whole | undefined> {
  const { parquetHash, nativeHash, ...served } = version
  const paths = { parquetPath: files.pathOf(parquetHash, 'parquet') }
  if (nativeHash !== null) {
    if (await files.isIntact(nativeHash, 'duckdb')) {
      return { ...served, ...paths, nativePath: files.pathOf(nativeHash, 'duckdb') }
    }
    observe({ kind: 'fault', where: 'data files', error: damaged(version, 'its copy for speed', nativeHash) })
  }
  if (await files.isIntact(parquetHash, 'parquet')) return { ...served, ...paths }
  observe({ kind: 'fault', where: 'data files', error: damaged(version, 'its rows', parquetHash) })
  return undefined
}

function damaged({ datasourceId, version }: Version, what: string, hash: string): Error {
  return new Error(
    `Version ${version} of ${datasourceId}: ${what} (${hash}) is damaged or gone. What is whole is served; a refresh brings a new version.`,
  )
}
