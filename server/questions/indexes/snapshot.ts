import { defaultMinConfidence } from '../../../api/questions.ts'
import { fixedLimits } from '../../../api/limits.ts'
import type { SlotsSchema } from '../../../api/slots.ts'
import { readColumnValues, type Catalogs, type DatasourceDirectory } from '../../data/index.ts'
import type { QueryEngine } from '../../engine/index.ts'
import {
  readBounds,
  readNeeded,
  type Deployments,
  type LiveVersion,
  type ReleaseTrial,
  type SlotBound,
} from '../../queries/index.ts'
import { readFirmCases } from './evaluation-cases.ts'
import type { Database, QueryExample } from '../../store/index.ts'
import { spoken, type CounterExample, type RoutableProject, type RoutableQuery } from '../../router/index.ts'

/**
 * Where a question goes; `only` are the names that a key is limited to, null where it reaches every query. `release` is
 * the one whose versions answer the asker while it is tried out.
 */
export type QuestionPlace = {
  projectId: string
  environment: string
  only: readonly string[] | null
  release?: string | null
}

/** Told when a setting of a project's questions has changed. */
export const questionsChanged = 'questions_changed'

export type Parts = {
  store: Pick<Database, 'db'>
  datasources: DatasourceDirectory
  deployments: Pick<Deployments, 'list'>
  catalogs: Pick<Catalogs, 'get'>
  engine: Pick<QueryEngine, 'comparisons'>
}

/** A query with its SQL, which says how its slots bound periods. */
export type AskedQuery = RoutableQuery & { sql: string }

/** As a place would be with some queries deployed and others not. */
export type Supposed = { changed: AskedQuery[]; removed: string[] }

/** The queries that can be asked in a place now, or as it is supposed to be. */
export async function readProject(
  parts: Parts,
  { projectId, environment, only, release = null }: QuestionPlace,
  { changed, removed }: Supposed = { changed: [], removed: [] },
): Promise<RoutableProject> {
  const others = new Set([...removed, ...changed.map(({ name }) => name)])
  const live = parts.deployments
    .list(projectId, environment)
    .filter(({ name }) => (only === null || only.includes(name)) && !others.has(name))
    .map(({ name, version, trial }) => liveQuery({ name, version: triedVersion(trial, { name, release }) ?? version }))
  const queries = [...live, ...changed]
  // The same queries in the same order give the same scores, in every process.
  queries.sort((a, b) => (a.name < b.name ? -1 : 1))
  const settings = await parts.store.db
    .selectFrom('questionSettings')
    .select('minConfidence')
    .where('projectId', '=', projectId)
    .executeTakeFirst()
  const values = await readColumnValues(parts, projectId, valueColumns(queries))
  const counterExamples = await readCounterExamples(parts.store, projectId)
  const cases = await readFirmCases(parts.store, projectId)
  return {
    queries: await withBounds(parts, projectId, queries),
    values,
    leastConfidence: settings?.minConfidence ?? defaultMinConfidence,
    counterExamples,
    cases: cases.map(({ question, expectedQuery }) => ({ question, query: expectedQuery })),
  }
}

/** The version of a query that answers where a release is tried out; undefined where it is not, or no longer. */
function triedVersion(trial: ReleaseTrial | null, { name, release }: { name: string; release: string | null }) {
  return release !== null && trial?.releaseId === release ? trial.versions.get(name) : undefined
}

/** Counter-examples for the router: reports that were confirmed, oldest first. */
async function readCounterExamples({ db }: Parts['store'], projectId: string): Promise<CounterExample[]> {
  return db
    .selectFrom('counterExamples')
    .select(['question', 'notQuery', 'meantQuery'])
    .where('projectId', '=', projectId)
    .where('status', '=', 'confirmed')
    .orderBy('id')
    .limit(fixedLimits.counterExamples.value)
    .execute()
}

/** A version never changes: what is known of its texts is found again by the same object. */
const known = new WeakMap<LiveVersion, AskedQuery>()

function liveQuery({ name, version }: { name: string; version: LiveVersion }): AskedQuery {
  const query = known.get(version) ?? routable({ name, ...version })
  known.set(version, query)
  return query
}

export function routable(query: {
  name: string
  description: string
  sql: string
  examples: QueryExample[]
  slots: SlotsSchema
}): AskedQuery {
  const { name, description, sql, examples, slots } = query
  return {
    name,
    description: description.trim() === '' ? spoken(name) : description,
    sql,
    examples,
    slots: { properties: slots.properties, required: slots.required },
  }
}

/** The same bounds give the same object: an index keeps what it knows of it. */
const bounded = new WeakMap<AskedQuery, { print: string; query: RoutableQuery }>()

/**
 * Queries with how their slots bound periods, which changes with the types of the tables, too; and with the slots
 * required without which their SQL finds nothing, whatever the schema says.
 */
async function withBounds(parts: Parts, projectId: string, queries: AskedQuery[]): Promise<RoutableQuery[]> {
  const bounds = await readBounds(parts, projectId, queries)
  const needed = await readNeeded(parts, projectId, queries)
  return queries.map((query, at) => {
    const read = Object.fromEntries((bounds[at] ?? []).map(routableBound))
    const more = needed[at] ?? []
    const print = JSON.stringify([read, more])
    const before = bounded.get(query)
    if (before?.print === print) return before.query
    const { sql: _sql, ...rest } = query
    const { required = [], ...slots } = rest.slots
    const made = { ...rest, slots: { ...slots, required: [...required, ...more] }, bounds: read }
    bounded.set(query, { print, query: made })
    return made
  })
}

function routableBound(read: SlotBound): [string, NonNullable<RoutableQuery['bounds']>[string]] {
  const { slot, side, bound, shiftDays, isUtcDay, problem } = read
  const loses = problem?.reason === 'period_end' ? problem.message : null
  return [slot, { side, bound, shiftDays, isUtcDay, loses }]
}

/** The columns that slots take their values from. */
function valueColumns(queries: RoutableQuery[]): Set<string> {
  return new Set(
    queries.flatMap(({ slots }) =>
      Object.values(slots.properties).flatMap(
        (slot) => slot['x-values-from'] ?? (slot.type === 'array' ? slot.items['x-values-from'] : undefined) ?? [],
      ),
    ),
  )
}
