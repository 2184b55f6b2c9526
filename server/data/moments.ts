import type { BuiltFrom, Dialect } from '../store/index.ts'
import { catalogVersion, nameOfRows, type Catalog, type CatalogTable } from '../engine/index.ts'

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
  /** The version of each table that serves, and behind it those that models were built from. */
  moments: ReadonlyMap<string, readonly TableMoment[]>
  hasModels: boolean
  /** The tables as a statement that reads some of them sees them: those of models with what they were built from. */
  together(names: readonly string[]): ProjectCatalog
}

/** A version of a table that SQL may read. */
export type TableMoment = {
  datasourceId: string
  version: number
  rowCount: number
  table: CatalogTable
  /** The versions that it was built from, where it is one of a model. */
  builtFrom: BuiltFrom[] | null
  /** The version from which on each joined the one before it. */
  joinedSince: number | null
  /** When its data was fetched; of a model, the oldest that it was built from. */
  asOf: Date
  truncated: boolean
}

type Dated = { datasourceId: string; version: number; createdAt: Date; checkedAt: Date | null }

/** When the data of versions was fetched. What a model was built from may have been found unchanged since. */
export function fetchTimes(versions: Dated[]): (version: Dated & { builtFrom: BuiltFrom[] | null }) => Date {
  const keyOf = ({ datasourceId, version }: Pick<Dated, 'datasourceId' | 'version'>) => `${datasourceId} ${version}`
  const known = new Map(versions.map((each) => [keyOf(each), each.checkedAt ?? each.createdAt]))
  return ({ builtFrom, checkedAt, createdAt }) => {
    const sources = (builtFrom ?? []).filter(({ isModel }) => !isModel)
    if (sources.length === 0) return checkedAt ?? createdAt
    return new Date(Math.min(...sources.map((each) => Number(known.get(keyOf(each)) ?? new Date(each.asOf)))))
  }
}

type Moments = ReadonlyMap<string, readonly TableMoment[]>

/** A catalog of the first moment of each table. */
export function catalogOf(
  { projectId, engine }: Pick<ProjectCatalog, 'projectId' | 'engine'>,
  moments: Moments,
): ProjectCatalog {
  const served = [...moments.values()].flatMap(([first]) => (first === undefined ? [] : [first]))
  const tables = served.map(({ table }) => table)
  const catalog: ProjectCatalog = {
    projectId,
    engine,
    version: catalogVersion(tables),
    tables,
    content: new Map(tables.map((table) => [table.name, nameOfRows(table)])),
    asOf: new Map(served.map(({ table, asOf }) => [table.name, asOf])),
    truncated: new Set(served.flatMap(({ table, truncated }) => (truncated ? [table.name] : []))),
    moments,
    hasModels: served.some(({ builtFrom }) => builtFrom !== null),
    together: (names) => ofOneMoment(catalog, names),
  }
  return catalog
}

/**
 * The tables as a statement that reads some of them together may see them: each model with the versions that it was
 * built from, while those that came since are still being built in. The same catalog where nothing is behind.
 */
function ofOneMoment(catalog: ProjectCatalog, names: readonly string[]): ProjectCatalog {
  if (!catalog.hasModels || names.length < 2) return catalog
  let known = found.get(catalog)
  if (known === undefined) found.set(catalog, (known = new Map<string, ProjectCatalog>()))
  const key = names.join('\n')
  let together = known.get(key)
  if (together === undefined) known.set(key, (together = joined(catalog, names)))
  return together
}
const found = new WeakMap<ProjectCatalog, Map<string, ProjectCatalog>>()

function joined(catalog: ProjectCatalog, names: readonly string[]): ProjectCatalog {
  const chosen = agreeing(catalog.moments, names)
  if (chosen === null || names.every((name) => chosen.get(name) === catalog.moments.get(name)?.[0])) return catalog
  const moments = new Map(catalog.moments)
  for (const [name, moment] of chosen) moments.set(name, [moment])
  return catalogOf(catalog, moments)
}

/**
 * The newest versions that belong together: of two models that were built from different versions of a table, the one
 * that is ahead goes back to what it was. Null where no stored versions agree.
 */
function agreeing(moments: Moments, names: readonly string[]): Map<string, TableMoment> | null {
  const chosen = new Map<string, TableMoment>()
  for (const name of names) {
    const [first] = moments.get(name) ?? []
    if (first !== undefined) chosen.set(name, first)
  }
  for (;;) {
    const wanted = oldestWanted([...chosen.values()])
    const off = [...chosen].find(([, moment]) => !fits(moment, wanted))
    if (off === undefined) return chosen
    const [name, now] = off
    const own = wanted.get(now.datasourceId)
    const other = (moments.get(name) ?? []).find((moment) =>
      now.builtFrom === null ? moment.version === own : moment.version < now.version && fits(moment, wanted),
    )
    if (other === undefined) return null
    chosen.set(name, other)
  }
}

function oldestWanted(moments: TableMoment[]): Map<string, number> {
  const wanted = new Map<string, number>()
  for (const { datasourceId, version } of moments.flatMap(({ builtFrom }) => builtFrom ?? []))
    wanted.set(datasourceId, Math.min(version, wanted.get(datasourceId) ?? version))
  return wanted
}

function fits({ datasourceId, version, builtFrom }: TableMoment, wanted: ReadonlyMap<string, number>): boolean {
  const isWanted = (id: string, at: number): boolean => (wanted.get(id) ?? at) === at
  return isWanted(datasourceId, version) && (builtFrom ?? []).every((each) => isWanted(each.datasourceId, each.version))
}

/** The versions that a statement over some tables of a catalog is built from, those of their own sources included. */
export function builtFromOf(catalog: ProjectCatalog, names: readonly string[]): BuiltFrom[] {
  const all = names.flatMap((name): BuiltFrom[] => {
    const [moment] = catalog.moments.get(name) ?? []
    if (moment === undefined) return []
    const { datasourceId, version, asOf, builtFrom } = moment
    const own = { datasourceId, table: name, version, asOf: asOf.toISOString(), isModel: builtFrom !== null }
    return [own, ...(builtFrom ?? [])]
  })
  const once = new Map(all.map((each) => [each.datasourceId, each]))
  return [...once.values()].sort((left, right) => (left.table < right.table ? -1 : 1))
}

/** Whether the same versions were read, whenever they were looked at. */
export function isBuiltFromSame(before: BuiltFrom[] | null, now: BuiltFrom[]): boolean {
  const versions = (built: BuiltFrom[]) =>
    built
      .map((each) => `${each.datasourceId} ${each.version}`)
      .sort()
      .join('\n')
  return before !== null && versions(before) === versions(now)
}
