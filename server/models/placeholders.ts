import { newRowsMark, overAllRows } from '../../api/new-rows.ts'
import { catalogVersion, type Catalog, type CatalogTable } from '../engine/index.ts'
import { invalidField } from '../failure.ts'
import type { Dialect, LoadRule } from '../store/index.ts'
import { quotedName } from './read-rows.ts'

const tableOf = (name: string): string => `new rows of ${name}`

/** The tables of which a statement reads `{{new rows of …}}`. */
export function newRowTables(sql: string): string[] {
  return [...new Set(Array.from(sql.matchAll(newRowsMark), ([, name = '']) => name.toLowerCase()))]
}

export function refuseNewRows(sql: string, { mode }: Pick<LoadRule, 'mode'>): void {
  const other = /\{\{[^{}]*\}\}/.exec(sql.replaceAll(newRowsMark, ''))
  if (other !== null) throw invalidField('sql', `holds ${other[0]}: only {{new rows of TABLE}} is known in a model`)
  if (mode === 'merge' || newRowTables(sql).length === 0) return
  throw invalidField('load.mode', 'must be merge, with a primary_key, for SQL that reads {{new rows of …}}')
}

/** A statement as an engine reads it: what is new of a table is a table, which has all rows unless it is given. */
export function asTables<Over extends Catalog>(
  catalog: Over,
  { sql, dialect }: { sql: string; dialect: Dialect },
  given: ReadonlyMap<string, CatalogTable> = new Map(),
): { sql: string; catalog: Over } {
  const names = newRowTables(sql)
  if (names.length === 0) return { sql, catalog }
  // The cluster has no tables but those of the project: there, all rows are new.
  if (dialect === 'trino') return { sql: overAllRows(sql), catalog }
  // As long as what it stands for, so that places in errors stay what they are.
  const written = sql.replaceAll(newRowsMark, (found, name: string) => {
    return quotedName(tableOf(name.toLowerCase())).padEnd(found.length)
  })
  const more = names.flatMap((name): CatalogTable[] => {
    const table = given.get(name) ?? catalog.tables.find((each) => each.name === name)
    return table === undefined ? [] : [{ ...table, name: tableOf(name) }]
  })
  const version = `${catalog.version}\n${catalogVersion(more)}`
  return { sql: written, catalog: { ...catalog, version, tables: [...catalog.tables, ...more] } }
}

/** The tables that a statement reads: what is new of one is that one. */
export function ofTables(reads: Record<string, string[]>): Record<string, string[]> {
  const joined = new Map<string, Set<string>>()
  for (const [name, columns] of Object.entries(reads)) {
    const table = name.startsWith(tableOf('')) ? name.slice(tableOf('').length) : name
    joined.set(table, new Set([...(joined.get(table) ?? []), ...columns]))
  }
  return Object.fromEntries([...joined].map(([name, columns]) => [name, [...columns]]))
}
