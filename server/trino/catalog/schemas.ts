import { LRUCache } from 'lru-cache'
import { setTimeout as wait } from 'node:timers/promises'
import type { Catalog } from '../../engine/index.ts'
import { openGate, untilAborted } from '../../flow/index.ts'
import { faultOf } from '../client/failures.ts'
import { contentSchema, projectUser, schemaPrefix } from './names.ts'
import { catalogName, contentName, makeContentTable, type TableParts } from './tables.ts'
import { quoteIdentifier } from '../client/types.ts'

/** Known schemas are touched again after this, so that no sweep deletes one that is in use. */
const knownMs = 60 * 60 * 1000
const maxKnown = 5_000
/** Tables made at a time, by one process. */
const madeAtOnce = 4
/** How long Trino may take to learn of a new project, and how often it is asked. */
const readyMs = 20_000
const readyEveryMs = 250

export type TrinoSchemas = {
  /** The schema with the tables of a catalog as they are in it, made where it is not there. */
  of(catalog: Catalog, signal?: AbortSignal): Promise<string>
}

/** One schema for each set of tables that a project had, named by its content, so that it never changes. */
export function createTrinoSchemas(parts: TableParts): TrinoSchemas {
  const known = new LRUCache<string, Promise<string>>({ max: maxKnown, ttl: knownMs })
  const names = new WeakMap<Catalog, string>()
  const making = openGate({ room: madeAtOnce })
  /** Two catalogs that share a table make it once. */
  const beingMade = new Map<string, Promise<void>>()

  /** Projects whose user was seen to have access by Trino's rules. */
  const ready = new LRUCache<string, true>({ max: maxKnown })

  async function found(catalog: Catalog, schema: string): Promise<string> {
    if (!(await parts.iceberg.touch(schema))) await make(catalog, schema)
    if (!ready.has(catalog.projectId)) await untilReady(parts, catalog, schema)
    if (catalog.tables.length > 0) ready.set(catalog.projectId, true)
    return schema
  }

  async function make(catalog: Catalog, schema: string): Promise<void> {
    const { iceberg } = parts
    await iceberg.prepare(contentSchema)
    const contents = new Map(catalog.tables.map((table) => [contentName(table), table]))
    const there = await iceberg.known([...contents.keys()])
    const missing = [...contents].filter(([content]) => !there.has(content))
    await Promise.all(
      missing.map(([content, table]) => {
        const made = beingMade.get(content) ?? making.run([catalog.projectId], () => makeContentTable(parts, table))
        beingMade.set(content, made)
        return made.finally(() => beingMade.delete(content))
      }),
    )
    const tables = catalog.tables.map((table) => ({ name: table.name.toLowerCase(), content: contentName(table) }))
    await iceberg.bind(catalog.projectId, schema, tables)
  }

  return {
    of(catalog, signal) {
      let schema = names.get(catalog)
      if (schema === undefined) {
        schema = `${schemaPrefix(catalog.projectId)}${catalogName(catalog)}`
        names.set(catalog, schema)
      }
      let there = known.get(schema)
      if (there === undefined) {
        there = found(catalog, schema)
        known.set(schema, there)
        const name = schema
        there.catch(() => known.delete(name))
      }
      return untilAborted(there, signal)
    },
  }
}

/** Waits for Trino to reload its rules, each second: before, the user of a new project has no access. */
async function untilReady({ client }: TableParts, catalog: Catalog, schema: string): Promise<void> {
  const [table] = catalog.tables
  if (table === undefined) return
  const user = projectUser(catalog.projectId)
  const sql = `SELECT 1 FROM ${quoteIdentifier(table.name.toLowerCase())} LIMIT 0`
  for (const signal = AbortSignal.timeout(readyMs); ;) {
    try {
      await client.rows({ sql, user, schema, signal })
      return
    } catch (error) {
      if (faultOf(error)?.errorName !== 'PERMISSION_DENIED' || signal.aborted) throw error
      await wait(readyEveryMs)
    }
  }
}
