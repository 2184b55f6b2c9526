import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  buildIndex,
  route,
  type Encoder,
  type ProjectIndex,
  type RoutableProject,
} from '../../../server/router/index.ts'
import { openSharedEncoder } from '../../harness/shared-parts.ts'

const clock = { now: new Date('2026-03-09T10:00:00Z'), timeZone: 'UTC' }
const none = { properties: {} }
const desk: RoutableProject = {
  values: {},
  queries: [
    { name: 'open_tickets', description: 'Tickets that are still open, newest first', slots: none, examples: [] },
    { name: 'unpaid_bills', description: 'Every bill that is unpaid, with its due day', slots: none, examples: [] },
    { name: 'revenue_per_day', description: 'Revenue per day', slots: none, examples: [] },
    { name: 'mean_wait', description: 'Average waiting time of callers', slots: none, examples: [] },
    {
      name: 'deliveries',
      description: 'Deliveries that arrived late',
      slots: { properties: { state: { type: 'string', enum: ['late', 'on time'] } } },
      examples: [],
    },
  ],
}

let encoder: Encoder
let index: ProjectIndex
beforeAll(async () => {
  encoder = await openSharedEncoder({
    modelDir: 'models/question-encoder',
    readerDir: 'models/question-reader',
    threads: 2,
  })
  index = await buildIndex(encoder, { ...desk, leastConfidence: 0 })
})
afterAll(() => encoder.close())

describe('a question for the contrary of a query is refused with its words', () => {
  test.each([
    ['closed tickets', 'closed'],
    ['tickets that were resolved', 'resolved'],
    ['which bills are paid', 'paid'],
    ['profit per day', 'profit'],
    ['revenue per hour', 'per hour'],
    ['median waiting time of callers', 'median'],
    ['how many tickets are open', 'does not count'],
  ])('%j', async (question, words) => {
    const routing = await route(index, question, clock)
    expect(routing.outcome).toBe('no_match')
    expect('objection' in routing ? routing.objection : '').toContain(words)
  })
})

test.each([
  ['tickets nobody has closed yet', 'open_tickets'],
  ['open tickets', 'open_tickets'],
  ['bills that are not paid', 'unpaid_bills'],
  ['deliveries on time', 'deliveries'],
  ['daily revenue', 'revenue_per_day'],
])('%j is not contrary to %s', async (question, name) => {
  const { explanation } = await route(index, question, clock)
  expect(explanation.candidates[0]?.name).toBe(name)
  expect(explanation.verdict).not.toBe('opposed')
})
