import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  buildIndex,
  patchIndex,
  reaskExamples,
  route,
  type Encoder,
  type ProjectIndex,
  type RoutableProject,
} from '../../../server/router/index.ts'
import { bm25, comparePairs, numberTokens } from '../../../server/router/vectors/lexical.ts'
import { rowOf } from '../../../server/router/vectors/vectors.ts'
import { madeUpSubjects } from '../../harness/made-up-subjects.ts'
import { openSharedEncoder } from '../../harness/shared-parts.ts'

const clock = { now: new Date('2025-06-15T12:00:00Z'), timeZone: 'UTC' }

let encoder: Encoder
let built: ProjectIndex
beforeAll(async () => {
  encoder = await openSharedEncoder({ modelDir: 'models/question-encoder', threads: 2 })
  built = await buildIndex(encoder, { queries: sorted(queries()), values: {} })
}, 120_000)
afterAll(() => encoder.close())

type Query = RoutableProject['queries'][number]

function queries(): Query[] {
  return madeUpSubjects.map(({ noun, verb }) => queryOf(`${noun}_${verb}`, `${noun} that were ${verb}`))
}

function queryOf(name: string, subject: string): Query {
  return {
    name,
    description: `All ${subject} in a region`,
    examples: [
      { question: `Show the ${subject} in the north`, parameters: { region: 'north' } },
      { question: `How many ${subject} does the south have?`, parameters: { region: 'south' } },
    ],
    slots: {
      properties: { region: { type: 'string', enum: ['north', 'south', 'east'] } },
      required: ['region'],
    },
  }
}

const sorted = (all: Query[]): Query[] => all.toSorted((left, right) => (left.name < right.name ? -1 : 1))

test('a patched index answers as one that is built, for changed, new, removed and untouched queries', async () => {
  const after = {
    values: {},
    queries: sorted([
      ...queries().filter(({ name }) => !['orders_lost', 'visits_moved'].includes(name)),
      queryOf('orders_lost', 'penguins that waddled past'),
      queryOf('new_one', 'staff who played the trombone'),
    ]),
  }
  const patched = await patchIndex(encoder, after, built)
  const whole = await buildIndex(encoder, after, built.vectors)
  if (patched === null) throw new Error('it was not patched')
  expect(patched.queries.map(({ query }) => query.name)).toEqual(whole.queries.map(({ query }) => query.name))
  expect(patched.texts.map(({ text }) => text)).toEqual(whole.texts.map(({ text }) => text))
  expect(patched.raw.data).toEqual(whole.raw.data)
  expect(patched.masked.data).toEqual(whole.masked.data)
  // What is taken over from the old index is what would have been computed.
  expect(patched.maskedCentroids.data).toEqual(whole.maskedCentroids.data)
  expect(patched.lengths).toEqual(whole.lengths)
  for (const [text, { shape }] of whole.texts.entries()) {
    const [raw, masked] = [rowOf(whole.raw, text), rowOf(whole.masked, text)]
    expect(patched.roughCentroids(raw, masked)).toEqual(whole.roughCentroids(raw, masked))
    expect(patched.roughCentroids(raw, raw)).toEqual(whole.roughCentroids(raw, raw))
    const tokens = [...shape.tokens, 'waddled', 'moved', 'xylophone', 'zither']
    const [left, right] = [numberTokens(patched.lexical, tokens), numberTokens(whole.lexical, tokens)]
    expect(bm25(patched.lexical, left)).toEqual(bm25(whole.lexical, right))
    expect(comparePairs(patched.lexical, left)).toEqual(comparePairs(whole.lexical, right))
  }
  const questions = [
    'Show the penguins that waddled past in the north',
    'How many staff who played the trombone does the south have?',
    'Show the tickets that were rejected in the north',
    'Which invoices were paid in the south?',
    'Show the visits that were moved in the north',
    'what is the capital of mongolia',
  ]
  for (const question of questions) {
    const [left, right] = [await route(patched, question, clock), await route(whole, question, clock)]
    expect(left.outcome, question).toBe(right.outcome)
    if ('query' in left && 'query' in right) {
      expect(left.query, question).toBe(right.query)
      expect(left.parameters).toEqual(right.parameters)
    }
  }
  const asked = await route(patched, questions[0] ?? '', clock)
  expect('query' in asked && asked.query).toBe('orders_lost')
}, 120_000)

test('a patched index is judged as a built one is: the query that takes a question is found', async () => {
  const stolen = { question: 'Show the claims that were paid in the north', parameters: { region: 'north' } }
  const others = queries().filter(({ name }) => name !== 'orders_lost')
  const thief = { ...queryOf('orders_lost', 'orders that were lost'), examples: [stolen] }
  const patched = await patchIndex(encoder, { values: {}, queries: sorted([...others, thief]) }, built)
  if (patched === null) throw new Error('it was not patched')
  const { taken, checked } = await reaskExamples({
    before: built,
    after: patched,
    changed: new Set(['orders_lost']),
    maxShown: 10,
  })
  expect(checked).toBeLessThan(patched.texts.length)
  expect(taken).toContainEqual({ question: stolen.question, query: 'claims_paid', takenBy: 'orders_lost' })
}, 120_000)

test('only what comes near a changed query is looked at closely, and nothing is missed by that', async () => {
  // The same index, not told apart as the one that was patched: there every query is ranked for every question.
  const stranger = { ...built, whiteMasked: { ...built.whiteMasked, factor: [...built.whiteMasked.factor] } }
  const thefts = ['claims that were paid', 'parcels that were lost', 'tickets that were moved', 'visits of the north']
  for (const subject of thefts) {
    const others = queries().filter(({ name }) => name !== 'orders_lost')
    const project = { values: {}, queries: sorted([...others, queryOf('orders_lost', subject)]) }
    const patched = await patchIndex(encoder, project, built)
    if (patched === null) throw new Error('it was not patched')
    const ask = (before: ProjectIndex) =>
      reaskExamples({ before, after: patched, changed: new Set(['orders_lost']), maxShown: 500 })
    const found = await ask(built)
    expect(found, subject).toEqual(await ask(stranger))
    expect(found.taken.length > 0, subject).toBe(!subject.includes('of the north'))
  }
}, 120_000)

test('too much that changed, a kind of slot that nobody had, and few queries are built as a whole', async () => {
  const all = queries()
  const many = all.map((query, at) => (at < 20 ? { ...query, description: 'Something else' } : query))
  expect(await patchIndex(encoder, { queries: sorted(many), values: {} }, built)).toBeNull()
  const strange = {
    ...queryOf('strange', 'strange things'),
    slots: { properties: { height: { type: 'number' as const } } },
  }
  expect(await patchIndex(encoder, { queries: sorted([...all, strange]), values: {} }, built)).toBeNull()
  const few = await buildIndex(encoder, { queries: sorted(all.slice(0, 20)), values: {} }, built.vectors)
  expect(await patchIndex(encoder, { queries: sorted(all.slice(0, 21)), values: {} }, few)).toBeNull()
}, 120_000)
