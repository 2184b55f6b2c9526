import { LRUCache } from 'lru-cache'
import type { ColumnRecord, Database } from '../store/index.ts'
import type { DatasourceDirectory } from './datasource-directory.ts'
import type { Catalog, CatalogTable, Column } from './executor/protocol.ts'
import type { Files } from './files.ts'

/** The tables of a project as queries see them now, and how old their data is. */
export type ProjectCatalog = Catalog & {
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
  /** For the process that made a change: it is in force here when the verb returns, not when the word comes round. */
  forget(projectId: string): void
  close(): void
}

/** Said within the transaction that changes a project's tables, with the project's id. */
export const dataChanged = 'data_changed'

/** What is not used for a while is read again rather than kept. */
const maxProjects = 5_000

type Entry = { reading: Promise<ProjectCatalog>; catalog?: ProjectCatalog }

type Parts = { store: Database; files: Files; datasources: DatasourceDirectory }

export async function openCatalogs(parts: Parts): Promise<Catalogs> {
  const { store } = parts
  const known = new LRUCache<string, Entry>({ max: maxProjects })
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
      const entry: Entry = { reading: readCatalog(parts, projectId) }
      known.set(projectId, entry)
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

async function readCatalog({ store, files, datasources }: Parts, projectId: string): Promise<ProjectCatalog> {
  const objects = await store.db
    .selectFrom('data_objects as rows')
    .leftJoin('data_objects as native', (join) =>
      join
        .onRef('native.datasource_id', '=', 'rows.datasource_id')
        .onRef('native.version', '=', 'rows.version')
        .on('native.kind', '=', 'prepared'),
    )
    .select([
      'rows.datasource_id as datasourceId',
      'rows.file_hash as parquetHash',
      'native.file_hash as nativeHash',
      'rows.columns',
      'rows.truncated',
      'rows.created_at as createdAt',
    ])
    .where('rows.project_id', '=', projectId)
    .where('rows.is_live', '=', true)
    .orderBy('rows.datasource_id')
    .execute()
  // Read after the objects, so that each has its datasource, unless that was deleted meanwhile.
  const sources = await datasources.ofProject(projectId)
  const rows = objects.flatMap(({ datasourceId, ...object }) => {
    const source = sources.get(datasourceId)
    return source === undefined ? [] : [{ ...object, name: source.tableName, hidden: source.hiddenKeys }]
  })
  const tables = rows.map(({ name, parquetHash, nativeHash, columns, hidden }): CatalogTable => {
    const isHidden = (column: ColumnRecord) => hidden.includes(column.sourceKey ?? column.name)
    const [out, shown] = [columns?.filter(isHidden) ?? [], columns?.filter((column) => !isHidden(column)) ?? []]
    return {
      name,
      parquetPath: files.pathOf(parquetHash, 'parquet'),
      ...(nativeHash !== null && { nativePath: files.pathOf(nativeHash, 'duckdb') }),
      columns: shown.map(({ name: column, type }): Column => ({ name: column, type })),
      // A table has at least one column.
      ...(out.length > 0 && shown.length > 0 && { hiddenColumns: out.map(({ name: column }) => column) }),
    }
  })
  // Content-addressed names make the catalog its own version: the same files are the same catalog.
  const version = tables
    .map((table) => `${table.name}=${table.nativePath ?? table.parquetPath}${hiddenIn(table)}`)
    .sort()
    .join('\n')
  return {
    version,
    tables,
    asOf: new Map(rows.map((row) => [row.name, row.createdAt])),
    truncated: new Set(rows.filter((row) => row.truncated).map((row) => row.name)),
  }
}

function hiddenIn({ hiddenColumns = [] }: CatalogTable): string {
  return hiddenColumns.length === 0 ? '' : ` without ${JSON.stringify(hiddenColumns)}`
}
