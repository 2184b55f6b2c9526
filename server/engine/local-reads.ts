import { LRUCache } from 'lru-cache'
import { catalogVersion, filesOfTable, localTable, type Catalog, type CatalogTable } from './catalog.ts'
import type { LocalCatalog } from './executor/socket/protocol.ts'
import type { Files, StoredFile } from '../files/index.ts'

/** The needs of an executor for a statement: the tables, and the files that must be here meanwhile. */
type LocalRead = { catalog: LocalCatalog; files: StoredFile[] }

/** Statements of one catalog of which it is known what they need. */
const maxStatements = 2_000

/**
 * The tables of a catalog as files on this machine. Where every file lies here that is all of them, in one instance. Else
 * only those that a statement can read are brought: the ones whose names stand in its text.
 */
export function createLocalReads(files: Files) {
  const known = new WeakMap<Catalog, (sql: string) => LocalRead>()

  function readsOf(catalog: Catalog): (sql: string) => LocalRead {
    if (files.holdsAll) {
      const all = { ...local(catalog.tables), version: catalog.version }
      const read = { catalog: all, files: [] }
      return () => read
    }
    const bySql = new LRUCache<string, LocalRead>({ max: maxStatements })
    return (sql) => {
      const found = bySql.get(sql)
      if (found !== undefined) return found
      const tables = tablesNamed(catalog.tables, sql)
      const others = catalog.tables.filter((table) => !tables.includes(table)).map(({ name }) => name)
      const read = { catalog: { ...local(tables), others }, files: tables.flatMap(filesOfTable) }
      bySql.set(sql, read)
      return read
    }
  }

  function local(tables: CatalogTable[]): LocalCatalog {
    return { version: catalogVersion(tables), tables: tables.map((table) => localTable(table, files.pathOf)) }
  }

  return (catalog: Catalog, sql: string): LocalRead => {
    let reads = known.get(catalog)
    if (reads === undefined) known.set(catalog, (reads = readsOf(catalog)))
    return reads(sql)
  }
}

/** More than it reads, at times, and never less: a table cannot be read without its name, which quotes may only double. */
function tablesNamed(tables: CatalogTable[], sql: string): CatalogTable[] {
  // A name can be spelled by the numbers of its letters.
  if (/u&"/i.test(sql)) return tables
  const text = sql.toLowerCase()
  return tables.filter(({ name }) => name.includes('"') || text.includes(name.toLowerCase()))
}
