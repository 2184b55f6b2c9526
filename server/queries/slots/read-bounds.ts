import type { SlotsSchema } from '../../../api/slots.ts'
import type { Catalogs } from '../../data/index.ts'
import type { QueryEngine } from '../../engine/index.ts'
import { boundOf, isDated, withEdits, type SlotBound } from './bounds.ts'

export type BoundParts = { catalogs: Pick<Catalogs, 'get'>; engine: Pick<QueryEngine, 'comparisons'> }
type Bounding = { sql: string; slots: Pick<SlotsSchema, 'properties'> }

/** How the slots of each query bound its rows, by its SQL and the types that its tables have now. */
export async function readBounds(
  app: BoundParts,
  projectId: string,
  queries: readonly Bounding[],
): Promise<SlotBound[][]> {
  const dated = queries.filter(({ slots }) => Object.values(slots.properties).some(isDated))
  if (dated.length === 0) return queries.map(() => [])
  const { tables } = await app.catalogs.get(projectId)
  const read = await app.engine.comparisons(
    projectId,
    dated.map(({ sql }) => sql),
  )
  const comparisonsOf = new Map(dated.map((query, at) => [query, read[at] ?? null]))
  return queries.map((query) => {
    const comparisons = comparisonsOf.get(query) ?? null
    return Object.entries(query.slots.properties).flatMap(([slot, schema]) => {
      return boundOf(slot, schema, { comparisons, tables }) ?? []
    })
  })
}

/** Slots that may be left out by their schema, and without which the SQL of each query finds nothing. */
export async function readNeeded(
  { engine }: Pick<BoundParts, 'engine'>,
  projectId: string,
  queries: ReadonlyArray<{ sql: string; slots: Pick<SlotsSchema, 'properties'> & Partial<SlotsSchema> }>,
): Promise<string[][]> {
  const optional = queries.map(({ slots: { properties, required = [] } }) =>
    Object.entries(properties).flatMap(([name, schema]) =>
      required.includes(name) || (schema.default ?? null) !== null ? [] : [name],
    ),
  )
  const read = queries.filter((_, at) => (optional[at]?.length ?? 0) > 0)
  if (read.length === 0) return optional
  const statements = read.map(({ sql }) => sql)
  const comparisons = await engine.comparisons(projectId, statements)
  const neededBy = new Map(
    read.map((query, at) => [query, (comparisons[at] ?? []).flatMap(({ slot, isNeeded }) => (isNeeded ? [slot] : []))]),
  )
  return queries.map((query, at) => {
    const needed = new Set(neededBy.get(query))
    return (optional[at] ?? []).filter((name) => needed.has(name.toLowerCase()))
  })
}

/** The SQL with every lost end of a period mended; null where only its author can, and where nothing is lost. */
async function mendedSql(app: BoundParts, projectId: string, query: Bounding): Promise<string | null> {
  const [bounds = []] = await readBounds(app, projectId, [query])
  const lost = bounds.flatMap(({ problem }) => (problem?.reason === 'period_end' ? [problem.edits] : []))
  if (lost.length === 0 || lost.includes(null)) return null
  const sql = withEdits(
    query.sql,
    lost.flatMap((edits) => edits ?? []),
  )
  const [after = []] = await readBounds(app, projectId, [{ ...query, sql }])
  const isMended =
    after.length === bounds.length && after.every(({ problem, from }) => problem === null && from !== 'assumed')
  return isMended ? sql : null
}

/** How the slots of a query bound periods, and its SQL with what it loses of them mended. */
export type QueryBounds = { bounds: SlotBound[] | null; mendedSql: string | null }

/** Null where it cannot be read now: a query is shown all the same. */
export async function boundsOf(app: BoundParts, projectId: string, query: Bounding): Promise<QueryBounds> {
  const [only] = await boundsOfAll(app, projectId, [query])
  return only ?? unknown
}

const unknown: QueryBounds = { bounds: null, mendedSql: null }

export async function boundsOfAll(
  app: BoundParts,
  projectId: string,
  queries: readonly Bounding[],
): Promise<QueryBounds[]> {
  try {
    const read = await readBounds(app, projectId, queries)
    return await Promise.all(
      queries.map(async (query, at) => {
        const bounds = read[at] ?? []
        const isLossy = bounds.some(({ problem }) => problem?.reason === 'period_end')
        return { bounds, mendedSql: isLossy ? await mendedSql(app, projectId, query) : null }
      }),
    )
  } catch {
    return queries.map(() => unknown)
  }
}
