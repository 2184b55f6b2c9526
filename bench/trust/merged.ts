import type { RoutableProject } from '../../server/router/index.ts'
import { readWorlds, type World } from './world.ts'

/** Worlds that are asked, and worlds that are only there. */
export async function readAllWorlds(now: Date): Promise<{ asked: World[]; others: World[] }> {
  const asked = await readWorlds('bench/trust/worlds', now)
  return { asked, others: await readWorlds('models/question-reader/training/worlds', now) }
}

/** One project of the first `most` queries of many worlds, which have queries of the same name. */
export function mergeWorlds(worlds: World[], most: number): RoutableProject {
  const values = Object.fromEntries(
    worlds.flatMap(({ name, project }) =>
      Object.entries(project.values).map(([column, listed]) => [`${name}_${column}`, listed] as const),
    ),
  )
  const queries = worlds.flatMap(({ name, project }) =>
    project.queries.map((query) => ({
      ...query,
      name: `${name}_${query.name}`,
      slots: {
        ...query.slots,
        properties: Object.fromEntries(
          Object.entries(query.slots.properties).map(([slot, schema]) => {
            const from = schema['x-values-from']
            return [slot, from === undefined ? schema : { ...schema, 'x-values-from': `${name}_${from}` }]
          }),
        ),
      },
    })),
  )
  return { values, queries: queries.slice(0, most) }
}

/** Half of them as people ask, half as authors wrote their examples. */
export function questionsOf(worlds: World[], count: number): string[] {
  const spread = (all: string[]): string[] => {
    const step = Math.max(1, all.length / (count / 2))
    return Array.from({ length: Math.min(all.length, count / 2) }, (_, at) => all[Math.floor(at * step)] ?? '')
  }
  const people = worlds.flatMap(({ questions }) => questions.map(({ question }) => question))
  const authors = worlds.flatMap(({ project }) =>
    project.queries.flatMap(({ examples }) => examples.map(({ question }) => question)),
  )
  return [...spread(people), ...spread(authors)]
}
