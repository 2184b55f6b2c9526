import { afterAll, beforeAll, expect, test } from 'vitest'
import { readSets, toProject, type BenchProject } from '../../bench/routing/format.ts'
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
test.each([0, 1, 2, 3])(
  'small projects with %i examples a query answer paraphrases and refuse what is not theirs',
  { timeout: 60_000 },
  async (examples) => {
    const counts = { asked: 0, answered: 0, far: 0, farRefused: 0, near: 0, nearRefused: 0 }
    for (const project of projects) {
      const index = await indexOf(project, examples)
      for (const { text, expected_query: expected, expected_slots: slots, oos } of project.questions) {
        const routing = await route(index, text, clock)
        const isAnswer = routing.outcome === 'answer'
        if (expected !== null) {
          counts.asked += 1
          const right =
            isAnswer &&
            routing.query === expected &&
            Object.entries(slots).every(([slot, value]) => String(routing.parameters[slot]) === value)
          counts.answered += Number(right)
        } else {
          counts[oos === 'near' ? 'near' : 'far'] += 1
          counts[oos === 'near' ? 'nearRefused' : 'farRefused'] += Number(!isAnswer)
        }
      }
    }
    expect(counts.asked).toBeGreaterThan(60)
    expect(counts.answered / counts.asked, JSON.stringify(counts)).toBeGreaterThan(0.9)
    expect(counts.farRefused / counts.far, JSON.stringify(counts)).toBeGreaterThan(0.94)
    expect(counts.nearRefused / counts.near, JSON.stringify(counts)).toBeGreaterThan(0.75)
  },
)
