import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  buildIndex,
  openEncoder,
  route,
  type Encoder,
  type ProjectIndex,
  type RoutableProject,
} from '../../../server/router/index.ts'
import { garage } from './garage.ts'

const clock = { now: new Date('2026-11-16T12:00:00Z'), timeZone: 'UTC' }
let encoder: Encoder
let index: ProjectIndex
beforeAll(async () => {
  const models = { modelDir: 'models/question-encoder', readerDir: 'models/question-reader' }
  encoder = await openEncoder({ ...models, threads: 2 })
  index = await buildIndex(encoder, garage)
}, 60_000)
afterAll(() => encoder.close())

async function found(question: string): Promise<unknown> {
  const routing = await route(index, question, clock)
  return routing.outcome === 'answer' ? routing.parameters : routing.outcome
}

/** What a question that was not answered was told. */
async function told(question: string): Promise<string> {
  const routing = await route(index, question, clock)
  expect(routing.outcome).not.toBe('answer')
  if (routing.outcome === 'missing_slots') return routing.gaps.map(({ message }) => message).join(' ')
  return routing.outcome === 'no_match' && routing.because === 'opposed' ? routing.objection : routing.outcome
}

describe('a part of a name stands for the one value that has it', () => {
  test.each([
    ['jobs of Grace', { mechanic: 'Grace Okafor' }],
    ['jobs of grace', { mechanic: 'Grace Okafor' }],
    ['what did Tomas repair', { mechanic: 'Tomas Ruiz' }],
    ['jobs of Okafor', { mechanic: 'Grace Okafor' }],
    ['jobs of Anna Berg', { mechanic: 'Anna Berg' }],
    ['number of repairs in Molde last month', { depots: ['Molde Harbour'], from: '2026-10-01', to: '2026-10-31' }],
  ])('%s', async (question, parameters) => {
    expect(await found(question)).toEqual(parameters)
  })

  test.each([
    ['jobs of Anna', 'Anna Berg, Anna Lindqvist'],
    ['what did anna repair last month', 'Anna Berg, Anna Lindqvist'],
    ['number of repairs in Skien last month', 'Skien Dock, Skien Central'],
    ['jobs of Anna Smith', 'no such value'],
  ])('%s: asked back with those that it may be', async (question, message) => {
    expect(await told(question)).toContain(message)
  })
})

describe('a value that nobody has is named, also in small letters and beside others', () => {
  test.each([
    'jobs of Marcus',
    'jobs of marcus',
    'number of repairs in oslo last month',
    'number of repairs in bergen and oslo last month',
    'number of repairs in Bergen and Oslo last month',
    'repairs over 45 minutes in oslo',
    'fan belts in stock in trondheim',
  ])('%s', async (question) => {
    expect(await told(question)).toMatch(/no such value: “.*(?:marcus|oslo|trondheim)”; there are /iu)
  })
})

describe('amounts are read as they are said', () => {
  test.each([
    ['jobs that took more than half an hour', { min_minutes: 30 }],
    ['jobs that took over an hour and a half', { min_minutes: 90 }],
    ['jobs that took over three quarters of an hour', { min_minutes: 45 }],
    ['jobs that took over 1 hour 15 minutes', { min_minutes: 75 }],
    ['jobs that took over 1h30', { min_minutes: 90 }],
    ['which lorries have stood still for a fortnight', { min_days: 14 }],
    ['which lorries have stood still for 48 hours', { min_days: 2 }],
    ['lorries idle for at least a dozen days', { min_days: 12 }],
    ['cold rooms below minus 18 degrees', { max_celsius: -18 }],
    ['cold rooms below minus eighteen', { max_celsius: -18 }],
    ['cold rooms below 18 degrees below zero', { max_celsius: -18 }],
    ['repairs of at least half a million euros', { min_eur: 500_000 }],
    ['repairs of at least one and a half thousand euros', { min_eur: 1_500 }],
    ['repairs of at least €1.2k', { min_eur: 1_200 }],
    ['repairs of at least 1 000 euros', { min_eur: 1_000 }],
    ['half a dozen of the newest lorries', { limit: 6 }],
  ])('%s', async (question, parameters) => {
    expect(await found(question)).toEqual(parameters)
  })

  test.each([
    ['repairs of at least $500', 'is in euros'],
    ['repairs of at least 50 quid', 'is in euros'],
    ['which lorries have stood still for a month', 'is in days'],
    ['which lorries have stood still for three and a half weeks', 'whole number'],
    ['cold rooms below -80 degrees', 'at least -60'],
    ['the 500 newest lorries', 'at most 100'],
  ])('%s: is asked back', async (question, message) => {
    expect(await told(question)).toContain(message)
  })
})

describe('a month that is misspelled is never a whole year', () => {
  test.each([
    ['how many repairs did Bergen finish in Setpember 2025', { from: '2025-09-01', to: '2025-09-30' }],
    ['how many repairs did Bergen finish in Agust 2025', { from: '2025-08-01', to: '2025-08-31' }],
    ['how many repairs did Bergen finish between 3 march and 9 aprl 2026', { from: '2026-03-03', to: '2026-04-09' }],
  ])('%s', async (question, days) => {
    expect(await found(question)).toEqual({ depots: ['Bergen'], ...days })
  })

  test.each([
    'how many repairs did Bergen finish in Xyzember 2025',
    'how many repairs did Bergen finish in mai 2025',
    'how many repairs did Bergen finish from march to mai 2026',
    'fuel costs by month in Xyzember 2024',
  ])('%s: is asked back', async (question) => {
    expect(await told(question)).toContain('names no month that is known')
  })
})

describe('words of time that give no day are never another period', () => {
  test.each([
    'how many repairs did Bergen finish in late October',
    'how many repairs did Bergen finish in fiscal year 2025',
    'how many repairs did Bergen finish in the last few days',
    'how many repairs did Bergen finish last summer',
    'how many repairs did Bergen finish in the same week last year',
    'how many repairs did Bergen finish 1.-5. November',
    'how many repairs did Bergen finish every Monday',
    'how many repairs did Bergen finish the summer of 2025',
    'how many repairs did Bergen finish at the beginning of 2025',
    'how many repairs did Bergen finish later this year',
    'how many repairs did Bergen finish on Good Friday',
    'how many repairs did Bergen finish on the night of 18 July 2026',
  ])('%s: is asked back', async (question) => {
    expect(await told(question)).toContain('names no period that is known')
  })

  test('a part of a day is not the whole of it', async () => {
    expect(await told('how many repairs did Bergen finish yesterday evening')).toContain('part of a day')
  })

  test('what came late is no part of a week', async () => {
    const said = JSON.stringify(await found('how many repairs did Bergen finish late this week'))
    expect(said).not.toContain('names no period')
  })

  test.each([
    ['how many repairs did Bergen finish on 2 and 6 November', { from: '2026-11-02', to: '2026-11-06' }],
    ['how many repairs did Bergen finish on 12/13 September', { from: '2026-09-12', to: '2026-09-13' }],
    ['how many repairs did Bergen finish in Jan/Feb 2026', { from: '2026-01-01', to: '2026-02-28' }],
    ['how many repairs did Bergen finish in January and February 2026', { from: '2026-01-01', to: '2026-02-28' }],
  ])('%s: is one stretch', async (question, days) => {
    expect(await found(question)).toEqual({ depots: ['Bergen'], ...days })
  })

  test.each([
    'how many repairs did Bergen finish in March and June',
    'how many repairs did Bergen finish this week last year',
  ])('%s: is two', async (question) => {
    expect(await told(question)).toContain('takes one stretch of days')
  })
})

describe('a year is no number of anything else', () => {
  test.each(['details of the lorry in 2025', 'details of lorries of 2025', 'details of invoice 42'])(
    '%s',
    async (question) => {
      expect(typeof (await found(question))).toBe('string')
    },
  )

  test('and its last two digits are a year', async () => {
    expect(await found("fuel costs by month in '24")).toEqual({ year: 2024 })
  })
})

/** Slots that count in units of their own. */
const measured: RoutableProject = {
  values: { 'regions.name': ['North', 'South', 'East', 'West'] },
  queries: [
    {
      name: 'long_trails',
      description: 'Trails that are longer than a length in metres',
      slots: {
        properties: {
          min_length: { type: 'number', minimum: 0, description: 'least length in metres' },
          region: { type: 'string', 'x-values-from': 'regions.name' },
        },
        required: ['min_length'],
      },
      examples: [
        { question: 'trails longer than 800 metres', parameters: { min_length: 800 } },
        { question: 'trails over 1200 metres in the North', parameters: { min_length: 1200, region: 'North' } },
      ],
    },
    {
      name: 'slow_requests',
      description: 'Requests that took longer than a number of milliseconds',
      slots: { properties: { min_ms: { type: 'integer', minimum: 1 } }, required: ['min_ms'] },
      examples: [{ question: 'requests slower than 250 ms', parameters: { min_ms: 250 } }],
    },
    {
      name: 'large_towns',
      description: 'Towns with at least so many inhabitants',
      slots: { properties: { min_people: { type: 'integer', minimum: 1 } }, required: ['min_people'] },
      examples: [{ question: 'towns with at least 20000 people', parameters: { min_people: 20_000 } }],
    },
  ],
}

describe('numbers are told into what the slot counts', () => {
  let trails: ProjectIndex
  beforeAll(async () => {
    trails = await buildIndex(encoder, measured)
  }, 60_000)

  test.each([
    ['trails longer than 2 km', { min_length: 2_000 }],
    ['trails longer than 1.5 kilometres in the South', { min_length: 1_500, region: 'South' }],
    ['trails longer than a mile', { min_length: 1_609.344 }],
    ['trails longer than 500 feet', { min_length: 152.4 }],
    ['trails over 1200 metres in the Nroth', { min_length: 1_200, region: 'North' }],
    ['trails over 1200 metres in the Soth', { min_length: 1_200, region: 'South' }],
    ['trails over 1200 metres in the Esat', { min_length: 1_200, region: 'East' }],
    ['requests slower than 2 seconds', { min_ms: 2_000 }],
    ['requests slower than 750ms', { min_ms: 750 }],
    ['towns with at least 1.5k people', { min_people: 1_500 }],
    ['towns with at least half a million people', { min_people: 500_000 }],
    ['towns with at least a quarter of a million people', { min_people: 250_000 }],
  ])('%s', async (question, parameters) => {
    const routing = await route(trails, question, clock)
    expect(routing.outcome === 'answer' ? routing.parameters : routing).toEqual(parameters)
  })
})

test('among few queries nothing that is refused shows a greater share than what is answered', async () => {
  const shares = { answered: [] as number[], refused: [] as number[] }
  for (const question of [
    'jobs of Grace Okafor',
    'what has Wei Chen repaired',
    'jobs that took longer than 2 hours',
    'lorries that have stood still for three weeks',
    'repairs dearer than 900 euros in Hamar',
    'how many headlights are in stock',
    'which way is Bergen',
    'i like Hamar',
    'when was Anna Berg born',
    'how do i draw a lorry',
    'is a fan belt dangerous',
    'my brother loves Molde Harbour',
    'what colour is the oil filter',
    'what is the opposite of a cold room',
    'lorries for beginners',
  ]) {
    const { outcome, explanation } = await route(index, question, clock)
    if (outcome === 'answer') shares.answered.push(explanation.confidence ?? 0)
    if (outcome === 'no_match') shares.refused.push(...explanation.candidates.map(({ confidence }) => confidence))
  }
  expect(shares.answered.length).toBeGreaterThan(3)
  expect(shares.refused.length).toBeGreaterThan(10)
  expect(Math.max(...shares.refused)).toBeLessThanOrEqual(Math.min(...shares.answered))
})
