import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSets, toProject, type BenchProject } from '../../bench/routing/format.ts'
import { compareGolden, openLine, readGolden } from '../../bench/routing/golden-file.ts'
import { outcomesOf, type Outcome } from '../../bench/routing/outcomes.ts'
import { buildIndex, route, type Encoder, type ProjectIndex } from '../../server/router/index.ts'
import { openSharedEncoder } from '../harness/shared-parts.ts'

const clock = { now: new Date('2025-06-15T12:00:00Z'), timeZone: 'UTC' }

let encoder: Encoder
let projects: BenchProject[]
beforeAll(async () => {
  encoder = await openSharedEncoder({ modelDir: 'models/question-encoder', threads: 2 })
  const sets = await readSets('bench/routing/newcomers')
  projects = sets.find(({ name }) => name === 'held_out')?.projects ?? []
})
afterAll(() => encoder.close())

/** Built once: several tests ask the same project with as many examples. */
const indexes = new Map<string, Promise<ProjectIndex>>()

function indexOf(project: BenchProject, examples: number): Promise<ProjectIndex> {
  const key = `${projects.indexOf(project)} with ${examples}`
  const index = indexes.get(key) ?? buildIndex(encoder, toProject(project, examples))
  indexes.set(key, index)
  return index
}

/** In none of these words does the router learn, or compare a question with what lies far away. */
const askedOfValues = [
  'which way is {}',
  'go {}',
  'i like {}',
  'why is {} so popular',
  '{} for beginners',
  'how do i draw {}',
  'when was {} born',
  'is {} dangerous',
  '{} lyrics',
  'what colour is {}',
  'say hello to {}',
  'i want to visit {} one day',
  'my brother loves {}',
  'is {} better than sleep',
  'what is the opposite of {}',
  'has {} ever won a prize',
]

test.each([0, 2])(
  'with %i examples a query, who names a value and asks for something else is seldom answered',
  { timeout: 60_000 },
  async (examples) => {
    const wrong: string[] = []
    let asked = 0
    for (const project of projects) {
      const index = await indexOf(project, examples)
      const values = Object.values(project.value_lists).map(([first = '']) => first)
      for (const question of values.flatMap((value) => askedOfValues.map((each) => each.replace('{}', value)))) {
        asked += 1
        if ((await route(index, question, clock)).outcome === 'answer') wrong.push(question)
      }
    }
    expect(asked).toBeGreaterThan(100)
    expect(wrong.length / asked, wrong.join(', ')).toBeLessThan(0.12)
  },
)

/** One to four queries, and nothing learned from these: what somebody finds in the first days. */
describe('every question of newcomers', () => {
  const counts = [0, 1, 2, 3]
  const outcomes: Array<Outcome & { set: string; k: number }> = []
  beforeAll(async () => {
    const reader = await openSharedEncoder({
      modelDir: 'models/question-encoder',
      readerDir: 'models/question-reader',
      threads: 2,
    })
    try {
      for (const set of await readSets('bench/routing/newcomers')) {
        for (let k = 0; k <= set.maxExamples; k += 1) {
          outcomes.push(...(await outcomesOf(reader, set, k)).map((each) => ({ ...each, set: set.name, k })))
        }
      }
    } finally {
      await reader.close()
    }
  }, 900_000)

  test('has the outcome of the golden file; npm run bench -- golden says more, and --write takes new ones', async () => {
    const moved = compareGolden(await readGolden('bench/routing/golden/newcomers.tsv'), outcomes.map(openLine))
    expect(moved).toEqual([])
  })

  test.each(counts)('is answered, or refused where it is not theirs, with %i examples a query', (k) => {
    const asked = outcomes.filter((each) => each.set === 'held_out' && each.k === k)
    const own = asked.filter(({ question }) => question.expected_query !== null)
    const isRight = ({ question, routing }: Outcome): boolean =>
      routing.outcome === 'answer' &&
      routing.query === question.expected_query &&
      Object.entries(question.expected_slots).every(([slot, value]) => String(routing.parameters[slot]) === value)
    const shareRefused = (oos: 'near' | 'far'): number => {
      const strange = asked.filter(
        ({ question }) => question.expected_query === null && (question.oos === 'near') === (oos === 'near'),
      )
      return strange.filter(({ routing }) => routing.outcome !== 'answer').length / strange.length
    }
    expect(own.length).toBeGreaterThan(60)
    expect(own.filter(isRight).length / own.length).toBeGreaterThan(0.88)
    expect(shareRefused('far')).toBeGreaterThan(0.94)
    expect(shareRefused('near')).toBeGreaterThan(0.75)
  })
})
