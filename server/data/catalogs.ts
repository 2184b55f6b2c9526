import { LRUCache } from 'lru-cache'
import type { Clock } from '../clock.ts'
import { Failure } from '../failure.ts'
import type { Observe } from '../observe.ts'
import { upTo } from '../flow/up-to.ts'
import { isConnectionError, type ColumnRecord, type Database, type Dialect } from '../store/index.ts'
import type { DatasourceDirectory } from './datasource-directory.ts'
import { catalogVersion, filesOfTable, nameOfRows, type Catalog, type CatalogTable } from '../engine/catalog.ts'
import type { Column } from '../engine/executor/socket/protocol.ts'
import type { Files } from '../files/stored-files.ts'
import type { ProjectEngines } from './project-engines.ts'
import { lastWhole, liveVersions } from './whole-versions.ts'

/** The tables of a project as queries see them now, and how old their data is. */
export type ProjectCatalog = Catalog & {
  /** The project's: what SQL that is new is written for. */
  engine: Dialect
  /** Names the rows of each table: the same name is the same rows. */
  content: Map<string, string>
  /** When the data of each table was fetched. */
  asOf: Map<string, Date>
  /** Tables of which pages or rows were left out when they were fetched. */
  truncated: ReadonlySet<string>
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

type Entry = {
  reading: Promise<ProjectCatalog>
  catalog?: ProjectCatalog
  /** It has changed, or may have: it is read anew, and serves only while the database is away. */
  isDoubted: boolean
  /** What was read before this one: it serves where the database is away before the change could be read. */
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
      // Whoever dropped it meanwhile knows better.
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
    async withoutDamaged(projectId, failed, error) {
      if (!looksDamaged(error) || parts.now() - (doubtedAtMs.get(projectId) ?? 0) < doubtEveryMs) return undefined
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
    forget: (projectId) => doubt(known.get(projectId)),
    close: stop,
  }
}

function doubt(entry: Entry | undefined): void {
  if (entry !== undefined) entry.isDoubted = true
}

/** What was known before, where the database cannot be asked: queries are answered without it. */
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

function looksDamaged(error: unknown): boolean {
  if (!(error instanceof Failure)) return false
  return error.code === 'internal_error' || damageSigns.test(error.cause instanceof Error ? error.cause.message : '')
}

async function readCatalog(parts: Parts, projectId: string): Promise<ProjectCatalog> {
  const live = await liveVersions(parts, projectId)
  // Read after the objects, so that each has its datasource, unless that was deleted meanwhile.
  const sources = await parts.datasources.ofProject(projectId)
  const rows = []
  for (const version of live) {
    const source = sources.get(version.datasourceId)
    if (source === undefined) continue
    rows.push({ ...(await lastWhole(parts, version)), name: source.tableName, hidden: source.hiddenKeys })
  }
  const tables = rows.map(({ name, rows: record, copy, parted, columns, hidden }): CatalogTable => {
    const isHidden = (column: ColumnRecord) => hidden.includes(column.sourceKey ?? column.name)
    const [out, shown] = [columns?.filter(isHidden) ?? [], columns?.filter((column) => !isHidden(column)) ?? []]
    return {
      name,
      rows: record,
      ...(copy !== undefined && { copy }),
      ...(parted !== undefined && { parted }),
      columns: shown.map(({ name: column, type }): Column => ({ name: column, type })),
      // A table has at least one column.
      ...(out.length > 0 && shown.length > 0 && { hiddenColumns: out.map(({ name: column }) => column) }),
    }
  })
  return {
    projectId,
    engine: await parts.engines.engineOf(projectId),
    version: catalogVersion(tables),
    tables,
    content: new Map(tables.map((table) => [table.name, nameOfRows(table)])),
    asOf: new Map(rows.map((row) => [row.name, row.checkedAt ?? row.createdAt])),
    truncated: new Set(rows.filter((row) => row.truncated).map((row) => row.name)),
  }
}
