import { buildIndex, route, type Encoder, type Routing } from '../../server/router/index.ts'
import { benchClock } from './collect.ts'
import { toProject, type BenchProject, type BenchQuestion, type BenchSet } from './format.ts'

/** A question of a set as the router decided it. */
export type Outcome = {
  project: BenchProject
  question: BenchQuestion
  routing: Routing
  elapsedMs: number
}

/** Asks every question of a set, with so many examples a query. */
export async function outcomesOf(encoder: Encoder, set: BenchSet, k: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const project of set.projects) {
    const index = await buildIndex(encoder, toProject(project, k))
    for (const question of project.questions) {
      const begunMs = performance.now()
      const routing = await route(index, question.text, benchClock)
      outcomes.push({ project, question, routing, elapsedMs: performance.now() - begunMs })
    }
  }
  return outcomes
}
