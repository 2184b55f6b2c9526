import type { Database } from '../store/index.ts'
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
  /** For the process that made a change: it is in force here when the verb returns, not when the word comes round. */
  forget(projectId: string): void
  close(): void
}

/** Said within the transaction that changes a project's tables, with the project's id. */
export const dataChanged = 'data_changed'

/** What is not used for a while is read again rather than kept. */
const mostProjects = 5_000

type Entry = { reading: Promise<ProjectCatalog>; catalog?: ProjectCatalog }

export async function openCatalogs({ store, files }: { store: Database; files: Files }): Promise<Catalogs> {
  const known = new Map<string, Entry>()
  const stop = await store.listen(
    dataChanged,
    (projectId) => void known.delete(projectId),
    // Whatever was said while nobody listened is lost: believe nothing.
    () => known.clear(),
  )
  return {
    get(projectId) {
      const found = known.get(projectId)
      if (found !== undefined) return found.reading
      const entry: Entry = { reading: readCatalog(store, files, projectId) }
      known.set(projectId, entry)
      if (known.size > mostProjects) known.delete(known.keys().next().value ?? '')
      entry.reading.then(
        (catalog) => (entry.catalog = catalog),
        () => known.delete(projectId),
      )
      return entry.reading
    },
    peek: (projectId) => known.get(projectId)?.catalog,
    forget: (projectId) => void known.delete(projectId),
    close: stop,
  }
}

async function readCatalog(store: Database, files: Files, projectId: string): Promise<ProjectCatalog> {
  const rows = await store.db
    .selectFrom('data_objects as rows')
    .innerJoin('datasources', 'datasources.id', 'rows.datasource_id')
    .leftJoin('data_objects as native', (join) =>
      join
        .onRef('native.datasource_id', '=', 'rows.datasource_id')
        .onRef('native.version', '=', 'rows.version')
        .on('native.kind', '=', 'prepared'),
    )
    .distinctOn('rows.datasource_id')
    .select([
      'datasources.table_name as name',
      'rows.file_hash as parquetHash',
      'native.file_hash as nativeHash',
      'rows.columns',
      'rows.created_at as createdAt',
    ])
    .where('rows.project_id', '=', projectId)
    .where('rows.kind', '=', 'response_data')
    .orderBy('rows.datasource_id')
    .orderBy('rows.version', 'desc')
    .execute()
  const tables = rows.map((row) => ({
    name: row.name,
    parquetPath: files.pathOf(row.parquetHash, 'parquet'),
    ...(row.nativeHash !== null && { nativePath: files.pathOf(row.nativeHash, 'duckdb') }),
    columns: (row.columns ?? []).map(({ name, type }): Column => ({ name, type })),
  }))
  // Content-addressed names make the catalog its own version: the same files are the same catalog.
  const version = tables
    .map((table) => `${table.name}=${table.nativePath ?? table.parquetPath}`)
    .sort()
    .join('\n')
  return { version, tables, asOf: new Map(rows.map((row) => [row.name, row.createdAt])) }
}
