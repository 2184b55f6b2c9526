import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildIndex, route, type Encoder, type ProjectIndex } from '../../../server/router/index.ts'
import { openSharedEncoder } from '../../harness/shared-parts.ts'
import { garage } from './garage.ts'

const clock = { now: new Date('2026-03-09T10:00:00Z'), timeZone: 'UTC' }

let encoder: Encoder
let index: ProjectIndex
let work: string[] = []
beforeAll(async () => {
  encoder = await openSharedEncoder({
    modelDir: 'models/question-encoder',
    readerDir: 'models/question-reader',
    threads: 2,
  })
  index = counting(await buildIndex(encoder, garage))
})
afterAll(async () => {
  await encoder.close()
})

/** The index with an encoder and a reader that tell what they were given. */
function counting(built: ProjectIndex): ProjectIndex {
  const { reader } = encoder
  if (reader === null) throw new Error('The reader runs beside the encoder.')
  return {
    ...built,
    encoder: {
      ...encoder,
      encode: (texts) => (work.push(...texts), encoder.encode(texts)),
      reader: { ...reader, score: (input) => (work.push('read'), reader.score(input)) },
    },
  }
}

test.each([
  ['jobs of Tomas Ruiz', 'jobs_of_mechanic', { mechanic: 'Tomas Ruiz' }],
  ['Jobs of Wei Chen?', 'jobs_of_mechanic', { mechanic: 'Wei Chen' }],
  ['details of lorry 23', 'vehicle_details', { lorry_id: 23 }],
  ['fuel costs by month in 2024', 'fuel_costs_by_month', { year: 2024 }],
])(
  '%j is an example but for its values: answered without encoding or reading it',
  async (question, query, parameters) => {
    work = []
    const routing = await route(index, question, clock)
    expect(routing).toMatchObject({ outcome: 'answer', query, parameters })
    expect(work).toEqual([])
    const { confidence } = routing.explanation
    expect(confidence).toBeGreaterThan(0.9)
    // Who asks why hears the same answer, and of the queries beside it.
    const told = await route(index, question, { ...clock, explain: true })
    expect(told).toMatchObject({ outcome: 'answer', query, parameters, explanation: { confidence } })
    expect(told.explanation.candidates.length).toBeGreaterThan(1)
    expect(told.explanation.margin).toEqual(expect.any(Number))
  },
)

test('values side by side may be one in the example', async () => {
  const day = { type: 'string', format: 'date' } as const
  const months = ['January', 'February', 'March', 'April', 'May', 'June']
  const ofMonth = { month: { type: 'string', enum: months }, year: { type: 'integer', minimum: 2000 } } as const
  const bills = ['bills', 'reminders', 'refunds'].map((name) => ({
    name,
    description: `${name} written in a month of a year`,
    slots: { properties: ofMonth, required: ['month', 'year'] },
    examples: [{ question: `${name} written during March 2026`, parameters: { month: 'March', year: 2026 } }],
  }))
  const rents = {
    name: 'rents',
    description: 'Rent that came in between two days',
    slots: { properties: { from_day: day, to_day: day }, required: ['from_day', 'to_day'] },
    examples: [
      {
        question: 'rent that came in during March 2026',
        parameters: { from_day: '2026-03-01', to_day: '2026-03-31' },
      },
    ],
  }
  const periods = counting(await buildIndex(encoder, { values: {}, queries: [...bills, rents] }))
  work = []
  const routing = await route(periods, 'rent that came in during May 2025', clock)
  expect(routing).toMatchObject({ outcome: 'answer', parameters: { from_day: '2025-05-01', to_day: '2025-05-31' } })
  expect(work).toEqual([])
  // And word for word.
  expect(await route(periods, 'Rent that came in during March 2026', clock)).toMatchObject({
    outcome: 'answer',
    parameters: { from_day: '2026-03-01', to_day: '2026-03-31' },
  })
  expect(work).toEqual([])
})

test('an example word for word is its own, whatever another says but for its values, and whatever day it names', async () => {
  const day = { type: 'string', format: 'date' } as const
  const queries = [
    {
      name: 'calls_today',
      description: 'Calls that came in on the present day, by hour',
      slots: { properties: {} },
      examples: [{ question: 'calls today', parameters: {} }],
    },
    {
      name: 'calls_of_day',
      description: 'Calls of one day, one row a call',
      slots: { properties: { day }, required: ['day'] },
      examples: [
        { question: 'calls 3 March 2026', parameters: { day: '2026-03-03' } },
        { question: 'each call of 4 May 2026', parameters: { day: '2026-05-04' } },
        { question: 'list the calls of 9 May 2026', parameters: { day: '2026-05-09' } },
      ],
    },
  ]
  const calls = counting(await buildIndex(encoder, { values: {}, queries }))
  const routing = await route(calls, 'calls today', clock)
  expect(routing).toMatchObject({ outcome: 'answer', query: 'calls_today', explanation: { verdict: 'own_wording' } })
})

test.each(['jobs of Tomas Ruiz in Bergen', 'the jobs that Tomas Ruiz did'])(
  '%j is not, and is read',
  async (question) => {
    work = []
    await route(index, question, clock)
    expect(work).toContain('read')
  },
)

test('a wording that two queries have as an example is compared', async () => {
  const again = garage.queries
    .slice(0, 1)
    .map((query) => ({ ...query, name: 'jobs_again', description: 'Jobs of a mechanic, oldest first' }))
  const shared = counting(await buildIndex(encoder, { ...garage, queries: [...garage.queries, ...again] }))
  work = []
  const { explanation } = await route(shared, 'jobs of Tomas Ruiz', clock)
  expect(work).not.toEqual([])
  expect(explanation.candidates.length).toBeGreaterThan(1)
})

test('what was reported as wrong is not answered because an example says so', async () => {
  const counterExamples = [{ question: 'jobs of Anna Berg', notQuery: 'jobs_of_mechanic', meantQuery: null }]
  const reported = await buildIndex(encoder, { ...garage, counterExamples })
  const routing = await route(reported, 'jobs of Tomas Ruiz', clock)
  expect('query' in routing ? routing.query : null).not.toBe('jobs_of_mechanic')
})
