import type { BenchProject, BenchQuestion, BenchSet } from './format.ts'

/** A project as it looks in its first days: a few queries of a larger one, with few examples. */
export type Draw = { project: BenchProject; k: number; asked: BenchQuestion[] }

const drawsOfSet = 64
const queryCounts = [1, 1, 2, 2, 3, 4, 5, 8]
const maxExamples = 3
const askedInside = 12
const askedNear = 8
const askedFar = 14

/** The same draws every time. What the other sets ask is far away from this one. */
export function drawSmall(set: BenchSet, others: BenchSet[]): Draw[] {
  const random = numbers(set.name)
  const pick = <Item>(items: Item[], count: number): Item[] => {
    const left = [...items]
    return Array.from({ length: Math.min(count, left.length) }, () =>
      left.splice(Math.floor(random() * left.length), 1),
    ).flat()
  }
  const elsewhere = others.flatMap(({ projects }) => projects.map(({ questions }) => answered(questions)))
  return Array.from({ length: drawsOfSet }, (_, draw) => {
    const [whole] = pick(set.projects, 1)
    if (whole === undefined) throw new TypeError(`The set ${set.name} has no project.`)
    const chosen = new Set(pick(whole.queries, queryCounts[draw % queryCounts.length] ?? 1))
    const project = { ...whole, queries: whole.queries.filter((query) => chosen.has(query)) }
    const names = new Set(project.queries.map(({ name }) => name))
    const isInside = ({ expected_query: query }: BenchQuestion): boolean => query !== null && names.has(query)
    const refused = (question: BenchQuestion, oos: 'near' | 'far'): BenchQuestion => ({
      ...question,
      expected_query: null,
      oos,
    })
    const inside = pick(whole.questions.filter(isInside), askedInside)
    const near = pick(
      answered(whole.questions).filter((question) => !isInside(question)),
      askedNear,
    )
    const own = whole.questions.filter(({ oos }) => oos === 'far')
    const far = [
      ...pick(own, askedFar / 2),
      ...Array.from({ length: askedFar / 2 }, () => pick(pick(elsewhere, 1).flat(), 1)).flat(),
    ]
    return {
      project,
      k: Math.floor(draw / queryCounts.length) % (maxExamples + 1),
      asked: [
        ...inside,
        ...near.map((question) => refused(question, 'near')),
        ...far.map((question) => refused(question, 'far')),
      ],
    }
  })
}

function answered(questions: BenchQuestion[]): BenchQuestion[] {
  return questions.filter(({ expected_query: query }) => query !== null)
}

/** Numbers from zero to one that follow from a name (a linear congruence). */
function numbers(name: string): () => number {
  let state = Buffer.from(name).reduce((sum, byte) => (Math.imul(sum, 31) + byte) >>> 0, 7)
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
