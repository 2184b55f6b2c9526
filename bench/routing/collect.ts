import { buildIndex, type Encoder } from '../../server/questions/index.ts'
import type { ProjectIndex } from '../../server/questions/index-project.ts'
import { compare, gather, type Candidate, type Evidence, type Without } from '../../server/questions/rank.ts'
import type { Calibration } from '../../server/questions/refuse.ts'
import { ask } from '../../server/questions/route.ts'
import { toProject, type BenchQuestion, type BenchSet } from './format.ts'

/** A question against a project, with what is needed to weigh it again and again. */
export type Sample = {
  set: string
  k: number
  /** `taken`: the query that would answer was taken away, which makes any in-scope question a near miss. */
  kind: 'in' | 'near' | 'far' | 'taken'
  candidates: Candidate[]
  /** Where the right query stands among the candidates; -1 when it is not there. */
  target: number
  evidence: Pick<Evidence, 'whiteMasked'>
  calibration: Calibration
}

export const benchClock = { now: new Date('2025-06-15T12:00:00Z'), timeZone: 'UTC' }
const mostQuestions = 700

export async function collect(encoder: Encoder, sets: BenchSet[]): Promise<Sample[]> {
  const samples: Sample[] = []
  for (const set of sets) {
    const ks = [...new Set([0, Math.min(3, set.examplesMost), set.examplesMost])]
    for (const k of ks) {
      for (const project of set.projects) {
        const index = await buildIndex(encoder, toProject(project, k))
        const step = Math.max(1, project.questions.length / mostQuestions)
        for (let at = 0; at < project.questions.length; at += step) {
          const question = project.questions[Math.floor(at)]
          if (question !== undefined) samples.push(...(await observe(index, question, { set: set.name, k })))
        }
      }
    }
  }
  return samples
}

async function observe(
  index: ProjectIndex,
  question: BenchQuestion,
  from: { set: string; k: number },
): Promise<Sample[]> {
  const evidence = gather(index, await ask(index, question.text, benchClock))
  const own = index.queries.findIndex(({ query }) => query.name === question.expected_query)
  const sample = (kind: Sample['kind'], without: Without): Sample => {
    const candidates = compare(index, evidence, without)
    const target = kind === 'in' ? candidates.findIndex(({ query }) => query === own) : -1
    return {
      ...from,
      kind,
      candidates,
      target,
      evidence: { whiteMasked: evidence.whiteMasked },
      calibration: index.calibration,
    }
  }
  if (question.expected_query === null) return [sample(question.oos ?? 'far', {})]
  return [sample('in', {}), ...(index.queries.length > 2 ? [sample('taken', { query: own })] : [])]
}
