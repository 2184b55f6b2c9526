import { createHash } from 'node:crypto'
import type { ProjectCatalog } from '../../data/index.ts'
import type { IncompleteSource } from './answers.ts'
import type { LiveVersion } from '../deployed/deployment-index.ts'

/** Facts about the tables of a catalog for a version that reads them. */
export type DataFacts = {
  /** A version and the data it reads, in short. Of its tables only: another table's refresh leaves its answers good. */
  dataVersion: string
  /** When the oldest of the data that the version reads was fetched. */
  asOf: Date | null
  /** The tables whose pages or rows were left out when they were fetched; null where a result rests on whole loads. */
  source: IncompleteSource | null
}

/** Found once for a version over a catalog: every call asks. */
export function dataFacts(catalog: ProjectCatalog, version: LiveVersion): DataFacts {
  let known = factsOf.get(catalog)
  if (known === undefined) factsOf.set(catalog, (known = new WeakMap()))
  let found = known.get(version)
  if (found === undefined) {
    const tables = Object.keys(version.tables)
    found = {
      dataVersion: dataVersion(catalog, version, tables),
      asOf: oldest(tables.flatMap((table) => catalog.asOf.get(table) ?? [])),
      source: incompleteSource(catalog, tables),
    }
    known.set(version, found)
  }
  return found
}
const factsOf = new WeakMap<ProjectCatalog, WeakMap<LiveVersion, DataFacts>>()

function dataVersion({ content }: ProjectCatalog, { id }: LiveVersion, tables: string[]): string {
  const hash = createHash('sha256').update(id)
  for (const table of tables) hash.update('\n').update(content.get(table) ?? '')
  return hash.digest('base64url')
}

function oldest(times: Date[]): Date | null {
  return times.length === 0 ? null : new Date(Math.min(...times.map(Number)))
}

function incompleteSource({ truncated, asOf }: ProjectCatalog, tables: string[]): IncompleteSource | null {
  if (!tables.some((name) => truncated.has(name))) return null
  return { tables: tables.map((name) => ({ name, asOf: asOf.get(name) ?? null, truncated: truncated.has(name) })) }
}
