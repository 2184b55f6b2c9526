import type { modelComparison } from '../../api/models.ts'
import type { Value } from '../../api/wire-codec.ts'
import type { DeployedQueries } from '../data/index.ts'
import type { Database } from '../store/index.ts'
import { above, below } from './graph.ts'
import { readModelGraph } from './records.ts'

type Moves = Value<typeof modelComparison>['moves']

/** Ports: what else depends on a query. The rooms above fill them. */
export type QueryDependents = {
  store: Database
  deployments: Pick<DeployedQueries, 'tablesRead'>
  queryCallers: {
    since(queryIds: string[], environment: string, from: Date): Promise<Map<string, Moves['callers']>>
  }
  /** Questions of the project that one of these queries must answer. */
  storedQuestions: (projectId: string, queries: string[]) => Promise<string[]>
  now: () => number
}

const callersDays = 30
const dayMs = 86_400_000

/** Readers of a model: models, the deployed queries that read it or them, and who depends on those. */
export async function movedWith(
  { store, deployments, queryCallers, storedQuestions, now }: QueryDependents,
  { projectId, name }: { projectId: string; name: string },
): Promise<Moves> {
  const models = above(await readModelGraph(store, projectId), name)
  const tables = [name, ...models]
  const readers = (await deployments.tablesRead(projectId)).filter((reader) =>
    tables.some((table) => Object.hasOwn(reader.tables, table)),
  )
  const queries = [...new Set(readers.map((reader) => reader.name))].sort()
  const from = new Date(now() - callersDays * dayMs)
  const callers = new Map<string, Moves['callers'][number]>()
  for (const [environment, some] of Map.groupBy(readers, (reader) => reader.environment)) {
    const ids = some.map(({ queryId }) => queryId)
    for (const key of [...(await queryCallers.since(ids, environment, from)).values()].flat()) {
      if ((callers.get(key.keyId)?.lastCalledAt ?? 0) < key.lastCalledAt) callers.set(key.keyId, key)
    }
  }
  const questions = queries.length === 0 ? [] : await storedQuestions(projectId, queries)
  return { models, queries, questions, callers: [...callers.values()] }
}

/** The tables of a project whose rows move with one: its models, by way of others, too. */
export async function tablesMovedBy(
  store: Pick<Database, 'db'>,
  projectId: string,
): Promise<(name: string) => string[]> {
  const graph = await readModelGraph(store, projectId)
  return (name) => [name, ...above(graph, name)]
}

/** The models that some tables are or are built from. */
export async function modelsUnder(
  store: Pick<Database, 'db'>,
  projectId: string,
  tables: string[],
): Promise<Set<string>> {
  const graph = await readModelGraph(store, projectId)
  return new Set(tables.flatMap((name) => (graph.has(name) ? [name, ...below(graph, name)] : [])))
}
