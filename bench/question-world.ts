/** An installation with one project of ten deployed queries and one of a thousand, which people wrote. */
import type { RoutableProject } from '../server/router/index.ts'
import { freePort } from './anchors/spawned.ts'
import { filled, openBenchApp } from './installation.ts'
import { manageAt, startServer, type RunningServer } from './serve.ts'
import { resolveDays } from './trust/days.ts'
import { mergeWorlds, questionsOf, readAllWorlds } from './trust/merged.ts'
import type { World } from './trust/world.ts'

/** `one` is a query beside those that are deployed, to release again and again. */
export type QueryPlace = { projectId: string; count: number; one: ReturnType<typeof definitionOf>; releasedMs: number }
export type QuestionWorld = {
  port: number
  secret: string
  server: RunningServer
  manage: ReturnType<typeof manageAt>
  few: QueryPlace
  many: QueryPlace
  questions: string[]
  close(): Promise<void>
}

const [fewQueries, manyQueries] = [10, 1_000]
const questionCount = 1_200
/** Of a column, as many as a list in a slot is written with. */
const maxValues = 100
const now = new Date('2026-11-16T12:00:00Z')

export async function openQuestionWorld(scale: number): Promise<QuestionWorld> {
  const { asked, others } = await readAllWorlds(now)
  const worlds = [...asked, ...others].map(named)
  const bench = await openBenchApp({ tables: [], queries: [] })
  const { few, many, secret } = await filled(bench, () => fill(bench, worlds, scale))
  const port = await freePort()
  const server = await startServer(bench.dataDir, port)
  return {
    port,
    secret,
    server,
    manage: manageAt(port),
    few,
    many,
    questions: questionsOf(asked, questionCount),
    async close() {
      await server.close()
      await bench.remove()
    },
  }
}

async function fill(bench: BenchApp, worlds: World[], scale: number) {
  const few = await openPlace(bench, mergeWorlds(worlds, fewQueries + 1))
  const many = await openPlace(bench, mergeWorlds(worlds, Math.max(fewQueries, Math.round(manyQueries * scale)) + 1))
  const permissions = [few, many].map(({ projectId }) => ({ project_id: projectId, environments: '*' }))
  const { secret } = await bench.manage('/v1/api-keys', { name: 'asks', plan: 'unlimited', permissions })
  return { few, many, secret }
}

/** Names of queries have no hyphens. */
function named(world: World): World {
  return { ...world, name: world.name.replaceAll('-', '_') }
}

type BenchApp = Awaited<ReturnType<typeof openBenchApp>>

async function openPlace({ manage, putTable }: BenchApp, { queries, values }: RoutableProject): Promise<QueryPlace> {
  const [one, ...deployed] = queries.toReversed().map((query) => definitionOf(query, values))
  if (one === undefined) throw new Error('there is no query to release')
  const { id: projectId } = await manage('/v1/projects', { name: `Of ${deployed.length}` })
  await putTable(projectId, { name: 'data', rows: Array.from({ length: 5 }, (_, id) => ({ id })) })
  const path = `/v1/projects/${projectId}`
  await manage(`${path}/definition`, { definition: 1, queries: deployed.toReversed() }, 'PUT')
  const startedMs = performance.now()
  await manage(`${path}/releases`, { environment: 'production', queries: 'all', force: true })
  const releasedMs = performance.now() - startedMs
  await manage(`${path}/queries`, one)
  return { projectId, count: deployed.length, one, releasedMs }
}

/** What is measured is how a question finds its query, so the query does little. */
function definitionOf({ name, description, examples, slots }: RoutableProject['queries'][number], values: Values) {
  const properties = Object.fromEntries(
    Object.entries(slots.properties).map(([slot, schema]) => [slot, listed(schema, values)] as const),
  )
  const columns = Object.keys(properties).map((slot) => `, $${slot}::VARCHAR AS "${slot}_given"`)
  return {
    name: name.slice(0, 63),
    description,
    sql: `SELECT id${columns.join('')} FROM data`,
    slots: { type: 'object', properties, required: slots.required },
    // Days that are told by today's, as `@month-1.start`.
    examples: examples.map((each) => ({ ...each, parameters: resolveDays(each.parameters, now) })),
  }
}

type Values = RoutableProject['values']
type Listing = { type?: unknown; 'x-values-from'?: string | undefined; items?: object }

/** A slot with the values themselves in place of the column that holds them; there is no such column here. */
function listed({ 'x-values-from': from, ...schema }: Listing, values: Values): object {
  if (schema.items !== undefined) return { ...schema, items: listed(schema.items, values) }
  const texts = [...new Set((from === undefined ? [] : (values[from] ?? [])).slice(0, maxValues).map(String))]
  return texts.length > 0 && schema.type === 'string' ? { ...schema, enum: texts } : schema
}
