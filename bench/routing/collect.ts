import { buildIndex, type Encoder } from '../../server/router/index.ts'
import type { Calibration, ProjectIndex } from '../../server/router/project/project-index.ts'
import { compare, type Candidate, type Without } from '../../server/router/ranking/compare.ts'
import type { Evidence } from '../../server/router/ranking/evidence.ts'
import { read } from '../../server/router/route.ts'
import { drawSmall } from './draws.ts'
import { nameValues } from './named-questions.ts'
import { toProject, type BenchProject, type BenchQuestion, type BenchSet } from './format.ts'

/** A question against a project, with what is needed to weigh it again and again. */
export type Sample = {
  set: string
  k: number
  /** Which of the two confidences it teaches. */
  size: 'many' | 'few'
  /**
   * `taken`: the query that would answer was taken away, which makes any in-scope question a near miss. `named`: a value
   * of the project in a question that asks for something else.
   */
  kind: 'in' | 'near' | 'far' | 'taken' | 'named'
  candidates: Candidate[]
  /** Where the right query stands among the candidates; -1 when it is not there. */
  target: number
  evidence: Pick<Evidence, 'whiteMasked' | 'elsewhere'>
  calibration: Calibration
}

export const benchClock = { now: new Date('2025-06-15T12:00:00Z'), timeZone: 'UTC' }
const maxQuestions = 700
const namedOf = { many: 36, few: 9 }

/** Whole projects teach what holds among many queries, draws of a few and newcomers' projects what holds among few. */
export async function collect(encoder: Encoder, sets: BenchSet[], newcomers: BenchSet[]): Promise<Sample[]> {
  const samples: Sample[] = []
  const watch = async (project: BenchProject, from: From, asked: BenchQuestion[]): Promise<void> => {
    const index = await buildIndex(encoder, toProject(project, from.k))
    for (const question of asked) samples.push(...(await observe(index, question, from)))
    for (const text of nameValues(index.linker.samples, namedOf[from.size])) {
      const question = { text, expected_query: null, expected_slots: {} }
      samples.push(...(await observe(index, question, from, 'named')))
    }
  }
  for (const set of sets) {
    for (const k of new Set([0, Math.min(3, set.maxExamples), set.maxExamples])) {
      for (const project of set.projects) {
        const step = Math.max(1, project.questions.length / maxQuestions)
        const asked = project.questions.filter((_, at) => Math.floor(at / step) > Math.floor((at - 1) / step))
        await watch(project, { set: set.name, k, size: 'many' }, asked)
      }
    }
    const others = sets.filter((other) => other !== set)
    for (const { project, k, asked } of drawSmall(set, others)) {
      await watch(project, { set: set.name, k, size: 'few' }, asked)
    }
  }
  for (const { name, projects } of newcomers) {
    for (const project of projects) {
      for (const k of [0, 1, 2, 3]) await watch(project, { set: name, k, size: 'few' }, project.questions)
    }
  }
  return samples
}

type From = Pick<Sample, 'set' | 'k' | 'size'>

async function observe(
  index: ProjectIndex,
  question: BenchQuestion,
  from: From,
  unanswered: Sample['kind'] = question.oos ?? 'far',
): Promise<Sample[]> {
  const evidence = await read(index, question.text, benchClock)
  const own = index.queries.findIndex(({ query }) => query.name === question.expected_query)
  const sample = (kind: Sample['kind'], without: Without): Sample => {
    const candidates = compare(index, evidence, without)
    const target = kind === 'in' ? candidates.findIndex(({ query }) => query === own) : -1
    return {
      ...from,
      kind,
      candidates,
      target,
      evidence: { whiteMasked: evidence.whiteMasked, elsewhere: evidence.elsewhere },
      calibration: index.calibration,
    }
  }
  if (question.expected_query === null) return [sample(unanswered, {})]
  return [sample('in', {}), ...(from.size === 'many' ? [sample('taken', { query: own })] : [])]
}
