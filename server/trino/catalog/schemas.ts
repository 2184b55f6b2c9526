import { LRUCache } from 'lru-cache'
import { setTimeout as wait } from 'node:timers/promises'
import type { Catalog } from '../../data/index.ts'
import { untilAborted } from '../../flow/index.ts'
import { faultOf } from '../client/failures.ts'
import { projectUser, schemaPrefix } from './names.ts'
import { catalogName, contentName, makeContentTable, type TableParts } from './tables.ts'
import { quoteIdentifier } from '../client/types.ts'

/** Schemas that are known to be there are asked for again after this, so that no sweep takes one that is read in. */
const knownMs = 60 * 60 * 1000
const maxKnown = 5_000
/** Tables that one process makes at a time. */
const madeAtOnce = 4
/** How long Trino may take to hear of a project that it has not known, and how often it is asked. */
const heardMs = 20_000
const heardEveryMs = 250

export type TrinoSchemas = {
  /** The schema with the tables of a catalog as they are in it, made where it is not there. */
  of(catalog: Catalog, signal?: AbortSignal): Promise<string>
}

/** One schema for each set of tables that a project had. The name is made of what is in it, so that it never changes. */
export function createTrinoSchemas(parts: TableParts): TrinoSchemas {
  const known = new LRUCache<string, Promise<string>>({ max: maxKnown, ttl: knownMs })
  const names = new WeakMap<Catalog, string>()
  let making = 0
  const waiting: Array<() => void> = []

  /** Two catalogs that share a table make it once. */
  const beingMade = new Map<string, Promise<void>>()

  async function inTurn(work: () => Promise<void>): Promise<void> {
    if (making >= madeAtOnce) await new Promise<void>((resolve) => void waiting.push(resolve))
    making += 1
    try {
      await work()
    } finally {
      making -= 1
      waiting.shift()?.()
    }
  }

  /** Projects whose user may read by Trino's rules, as was seen from here. */
  const heard = new LRUCache<string, true>({ max: maxKnown })

  async function found(catalog: Catalog, schema: string): Promise<string> {
    if (!(await parts.iceberg.touch(schema))) await make(catalog, schema)
    if (!heard.has(catalog.projectId)) await untilHeard(parts, catalog, schema)
    if (catalog.tables.length > 0) heard.set(catalog.projectId, true)
    return schema
  }

  async function make(catalog: Catalog, schema: string): Promise<void> {
    const { iceberg } = parts
    await iceberg.prepare()
    const contents = new Map(catalog.tables.map((table) => [contentName(table), table]))
    const there = await iceberg.known([...contents.keys()])
    const missing = [...contents].filter(([content]) => !there.has(content))
    await Promise.all(
      missing.map(([content, table]) => {
        const made = beingMade.get(content) ?? inTurn(() => makeContentTable(parts, table))
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

/** Trino reads its rules anew every second: until then the user of a new project may see nothing. */
async function untilHeard({ client }: TableParts, catalog: Catalog, schema: string): Promise<void> {
  const [table] = catalog.tables
  if (table === undefined) return
  const user = projectUser(catalog.projectId)
  const sql = `SELECT 1 FROM ${quoteIdentifier(table.name.toLowerCase())} LIMIT 0`
  for (const signal = AbortSignal.timeout(heardMs); ;) {
    try {
      await client.rows({ sql, user, schema, signal })
      return
    } catch (error) {
      if (faultOf(error)?.errorName !== 'PERMISSION_DENIED' || signal.aborted) throw error
      await wait(heardEveryMs)
    }
  }
}
