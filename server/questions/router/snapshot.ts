import type { SlotSchema, SlotsSchema } from '../../../api/slots.ts'
import type { Deployments } from '../../queries/index.ts'
import type { Database, QueryExample } from '../../store/index.ts'
import { spoken, type ListedValue, type RoutableProject, type RoutableQuery, type SlotProperty } from '../project.ts'

/** Where a question goes; `only` are the names that a key is limited to, null where it reaches every query. */
export type Place = { projectId: string; environment: string; only: readonly string[] | null }

export type Parts = { store: Pick<Database, 'db'>; deployments: Pick<Deployments, 'list'> }

/** What can be asked in a place now; with `changed` as it would be with that query deployed. */
export async function readProject(
  parts: Parts,
  { projectId, environment, only }: Place,
  changed?: RoutableQuery,
): Promise<RoutableProject> {
  const live = parts.deployments
    .list(projectId, environment)
    .filter(({ name }) => (only === null || only.includes(name)) && name !== changed?.name)
    .map(({ name, version }) => routable({ name, ...version }))
  const queries = [...live, ...(changed === undefined ? [] : [changed])]
  // The same queries in the same order give the same scores, in every process.
  queries.sort((a, b) => (a.name < b.name ? -1 : 1))
  return { queries, values: await readValues(parts, projectId, queries) }
}

export function routable(query: {
  name: string
  description: string
  examples: QueryExample[]
  slots: SlotsSchema
}): RoutableQuery {
  const { name, description, examples, slots } = query
  const properties = Object.fromEntries(Object.entries(slots.properties).map(([slot, schema]) => [slot, plain(schema)]))
  return {
    name,
    description: description.trim() === '' ? spoken(name) : description,
    examples,
    slots: { properties, required: slots.required },
  }
}

/** A default of null is none, and integers beyond 2^53 are near enough as numbers to read a question. */
function plain(schema: SlotSchema | Extract<SlotSchema, { type: 'array' }>['items']): SlotProperty {
  const entries = Object.entries(schema).flatMap(([key, value]): Array<[string, unknown]> => {
    if (value === null || value === undefined) return []
    if (key === 'items') return [[key, plain(value as Parameters<typeof plain>[0])]]
    return key === 'minimum' || key === 'maximum' ? [[key, Number(value)]] : [[key, value]]
  })
  return Object.fromEntries(entries)
}

/** The distinct values of the columns that slots name, as the last refresh of each table found them. */
async function readValues(
  { store }: Parts,
  projectId: string,
  queries: RoutableQuery[],
): Promise<Record<string, ListedValue[]>> {
  const wanted = new Set(
    queries.flatMap(({ slots }) =>
      Object.values(slots.properties ?? {}).flatMap(
        (slot) => slot['x-values-from'] ?? slot.items?.['x-values-from'] ?? [],
      ),
    ),
  )
  if (wanted.size === 0) return {}
  const places = [...wanted].map((place) => place.split(/\.(.*)/s))
  const rows = await store.db
    .selectFrom('column_values')
    .innerJoin('datasources', 'datasources.id', 'column_values.datasource_id')
    .select(['datasources.table_name as table', 'column_values.column_name as column', 'column_values.value'])
    .where('datasources.project_id', '=', projectId)
    .where(
      'datasources.table_name',
      'in',
      places.map(([table = '']) => table),
    )
    .where(
      'column_values.column_name',
      'in',
      places.map(([, column = '']) => column),
    )
    .orderBy('column_values.occurrences', 'desc')
    .orderBy('column_values.value')
    .execute()
  const values: Record<string, ListedValue[]> = {}
  for (const { table, column, value } of rows) {
    const place = `${table}.${column}`
    if (wanted.has(place)) (values[place] ??= []).push(value)
  }
  return values
}
