import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildIndex, openEncoder, route, type Encoder, type ProjectIndex } from '../../../server/router/index.ts'

/** Two queries as people write them in their first week: a month as a text with a pattern, a yes or no with one line. */
const workshop = {
  values: { 'stations.name': ['Harbour', 'Old Town', 'Main Station'] },
  queries: [
    {
      name: 'income_month',
      description: 'Income of the workshop in one month.',
      slots: {
        properties: {
          month: { type: 'string' as const, description: 'written YYYY-MM', pattern: '^[0-9]{4}-[0-9]{2}$' },
        },
        required: ['month'],
      },
      examples: [
        { question: 'income of the workshop in April 2026', parameters: { month: '2026-04' } },
        { question: 'what did the workshop earn in July 2025', parameters: { month: '2025-07' } },
      ],
    },
    {
      name: 'available_now',
      description: 'Free bikes at a station, live.',
      slots: {
        properties: {
          station: { type: 'string' as const, 'x-values-from': 'stations.name' },
          electric_only: {
            type: 'boolean' as const,
            description: 'true = those with a motor, otherwise every bike',
            default: false,
          },
        },
        required: ['station'],
      },
      examples: [
        { question: 'free bikes at Old Town', parameters: { station: 'Old Town' } },
        { question: 'are there bikes left at Main Station', parameters: { station: 'Main Station' } },
      ],
    },
    {
      name: 'idle_bikes',
      description: 'Bikes that nobody has moved for a while.',
      slots: { properties: { min_days: { type: 'integer' as const, description: 'idle for so many days' } } },
      examples: [
        { question: 'which bikes stand idle', parameters: {} },
        { question: 'bikes not moved for 30 days', parameters: { min_days: 30 } },
        { question: 'idle bikes', parameters: {} },
      ],
    },
  ],
}

const clock = { now: new Date('2026-11-16T12:00:00Z'), timeZone: 'UTC' }
let encoder: Encoder
let index: ProjectIndex
beforeAll(async () => {
  encoder = await openEncoder({ modelDir: 'models/question-encoder', threads: 2 })
  index = await buildIndex(encoder, workshop)
}, 60_000)
afterAll(() => encoder.close())

describe('a text whose pattern takes YYYY-MM is a month', () => {
  test.each([
    ['income of the workshop in October 2026', '2026-10'],
    ['income of the workshop last month', '2026-10'],
    ['income of the workshop in 2026-04', '2026-04'],
    ['income of the workshop 03/2026', '2026-03'],
    ['income of the workshop as of 31 December 2025', '2025-12'],
  ])('%s', async (question, month) => {
    expect(await route(index, question, clock)).toMatchObject({ outcome: 'answer', parameters: { month } })
  })

  test.each(['income of the workshop on 5 October 2026', 'income of the workshop from 1 to 7 October 2026'])(
    '%s: a part of a month is not answered with all of it',
    async (question) => {
      const routing = await route(index, question, clock)
      expect(routing.outcome).not.toBe('answer')
      expect(JSON.stringify(routing)).toContain('takes a whole month')
    },
  )

  test('more than one month is no value', async () => {
    const routing = await route(index, 'income of the workshop in 2025', clock)
    expect(routing).toMatchObject({ outcome: 'missing_slots', missing: ['month'] })
  })
})

describe('a number with its unit fills the slot that counts in it', () => {
  test.each([
    ['bikes not moved for at least 3 weeks', { min_days: 21 }],
    ['bikes idle two weeks or more', { min_days: 14 }],
    ['bikes idle for 10d', { min_days: 10 }],
    ['bikes at any of the stations, 60+ days idle', { min_days: 60 }],
  ])('%s', async (question, parameters) => {
    expect(await route(index, question, clock)).toMatchObject({ query: 'idle_bikes', parameters })
  })
})

describe('words of its description set a yes or no', () => {
  test.each([
    ['free bikes with a motor at Old Town', { station: 'Old Town', electric_only: true }],
    // What follows "otherwise" is the other case, and words of the query itself say nothing.
    ['free bikes at Old Town, every bike', { station: 'Old Town' }],
  ])('%s', async (question, parameters) => {
    expect(await route(index, question, clock)).toMatchObject({ outcome: 'answer', parameters })
  })
})
