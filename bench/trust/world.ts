import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { slotsSchema, type SlotsSchema } from '../../api/slots.ts'
import type { RoutableProject } from '../../server/router/index.ts'
import { resolveDays } from './days.ts'

const parameters = z.record(z.string(), z.unknown())
const question = z.object({
  class: z.string(),
  question: z.string(),
  /** What must answer, and with which values; nothing: it must not be answered. */
  query: z.string().optional(),
  parameters: z.union([parameters, z.array(parameters)]).optional(),
  or_refuse: z.boolean().default(false),
  /** The query it is easily taken for, and the words that this query cannot express. */
  near: z.string().optional(),
  words: z.string().optional(),
  /** The query whose missing value a good service asks for. */
  asks_for: z.string().optional(),
  /** Twins that differ in a few words have one name. */
  pair: z.union([z.string(), z.number()]).optional(),
})
const file = z.object({
  tables: z.record(z.string(), z.record(z.string(), z.array(z.union([z.string(), z.number()])))),
  queries: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      slots: z.unknown(),
      examples: z.array(z.object({ question: z.string(), parameters })),
    }),
  ),
  questions: z.array(question),
})

export type WorldQuestion = z.output<typeof question>
export type World = {
  name: string
  project: RoutableProject
  slots: Map<string, SlotsSchema>
  questions: WorldQuestion[]
}

/** Every world of a folder, in the order of their names. */
export async function readWorlds(folder: string, now: Date): Promise<World[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()
  return Promise.all(files.map((name) => readWorld(join(folder, name), now)))
}

async function readWorld(path: string, now: Date): Promise<World> {
  const { tables, queries, questions } = file.parse(JSON.parse(await readFile(path, 'utf8')))
  const values = Object.fromEntries(
    Object.entries(tables).flatMap(([table, columns]) =>
      Object.entries(columns).map(([column, listed]) => [`${table}.${column}`, listed] as const),
    ),
  )
  const slots = new Map(queries.map(({ name, slots: schema }) => [name, slotsSchema.parse(resolveDays(schema, now))]))
  const routable = queries.map(({ name, description, examples }) => {
    const schema = slots.get(name)
    return {
      name,
      description,
      examples,
      slots: { properties: schema?.properties ?? {}, required: schema?.required ?? [] },
    }
  })
  // As the product orders them.
  routable.sort((a, b) => (a.name < b.name ? -1 : 1))
  return { name: basename(path, '.json'), project: { values, queries: routable }, slots, questions }
}

/**
 * A world as small projects of so many of its queries each. Each is asked its own questions, those that are easily taken
 * for one of its queries, and as many of the next one's, which it must refuse.
 */
export function drawn(world: World, size: number): World[] {
  const { queries, values } = world.project
  const parts = Array.from({ length: Math.floor(queries.length / size) }, (_, at) =>
    queries.slice(at * size, (at + 1) * size),
  )
  const questionsOf = (part: RoutableProject['queries']): WorldQuestion[] => {
    const names = new Set(part.map(({ name }) => name))
    return world.questions.filter(({ query, near }) => names.has(query ?? near ?? ''))
  }
  return parts.map((part, at) => {
    const others = questionsOf(parts[(at + 1) % parts.length] ?? [])
    const foreign = others.map((each) => ({ ...each, class: 'other-query', query: undefined, parameters: undefined }))
    return {
      ...world,
      name: `${world.name}-${at}`,
      project: { values, queries: part },
      questions: [...questionsOf(part), ...(parts.length > 1 ? foreign : [])],
    }
  })
}
