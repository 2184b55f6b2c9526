import { fixedLimits } from '../../../api/limits.ts'
import type { SlotsSchema } from '../../../api/slots.ts'
import { readColumnValues, type DatasourceDirectory } from '../../data/index.ts'
import type { Deployments } from '../../queries/index.ts'
import type { Database, QueryExample } from '../../store/index.ts'
import { spoken, type CounterExample, type RoutableProject, type RoutableQuery } from '../../router/index.ts'

/** Where a question goes; `only` are the names that a key is limited to, null where it reaches every query. */
export type QuestionPlace = { projectId: string; environment: string; only: readonly string[] | null }

/** Told when a setting of a project's questions has changed. */
export const questionsChanged = 'questions_changed'

export type Parts = {
  store: Pick<Database, 'db'>
  datasources: DatasourceDirectory
  deployments: Pick<Deployments, 'list'>
}

/** What can be asked in a place now; with `changed` as it would be with that query deployed. */
export async function readProject(
  parts: Parts,
  { projectId, environment, only }: QuestionPlace,
  changed?: RoutableQuery,
): Promise<RoutableProject> {
  const live = parts.deployments
    .list(projectId, environment)
    .filter(({ name }) => (only === null || only.includes(name)) && name !== changed?.name)
    .map(({ name, version }) => routable({ name, ...version }))
  const queries = [...live, ...(changed === undefined ? [] : [changed])]
  // The same queries in the same order give the same scores, in every process.
  queries.sort((a, b) => (a.name < b.name ? -1 : 1))
  const settings = await parts.store.db
    .selectFrom('questionSettings')
    .select('minConfidence')
    .where('projectId', '=', projectId)
    .executeTakeFirst()
  const values = await readColumnValues(parts, projectId, valueColumns(queries))
  const counterExamples = await readCounterExamples(parts.store, projectId)
  return { queries, values, leastConfidence: settings?.minConfidence ?? 0, counterExamples }
}

/** What the router heeds: reports that were confirmed, oldest first. */
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

export function routable(query: {
  name: string
  description: string
  examples: QueryExample[]
  slots: SlotsSchema
}): RoutableQuery {
  const { name, description, examples, slots } = query
  return {
    name,
    description: description.trim() === '' ? spoken(name) : description,
    examples,
    slots: { properties: slots.properties, required: slots.required },
  }
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
