import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildIndex, route, type Encoder, type ProjectIndex } from '../../../server/router/index.ts'
import { openSharedEncoder } from '../../harness/shared-parts.ts'
import { depot } from './depot.ts'

// A Sunday.
const clock = { now: new Date('2026-11-15T10:00:00Z'), timeZone: 'Europe/Oslo' }

let encoder: Encoder
let index: ProjectIndex
beforeAll(async () => {
  encoder = await openSharedEncoder({ modelDir: 'models/question-encoder', threads: 2 })
  // Lists are read alike however sure an answer must be.
  index = await buildIndex(encoder, { ...depot, leastConfidence: 0 })
}, 60_000)
afterAll(() => encoder.close())

describe('a list takes each of its values once, and all of them are used', () => {
  test.each([
    ['everything at customs', ['at_customs']],
    ['shipments that are booked, in transit or delivered', ['booked', 'in_transit', 'delivered']],
    ['shipments in transit but not at customs', ['in_transit']],
    ['dangerous goods to the Netherlands, Italy and Germany', ['NL', 'IT', 'DE']],
  ])('%s', async (question, values) => {
    const routing = await route(index, question, clock)
    expect(routing.outcome).toBe('answer')
    expect(Object.values(routing.explanation.parameters)).toEqual([values])
    const leftAside = routing.explanation.unused.filter(({ text }) => !text.endsWith('customs'))
    expect(leftAside).toEqual([])
  })

  test('that leaves all of its values out is refused', async () => {
    for (const question of ['shipments that are not booked or lost', 'dangerous goods except to Germany and Italy']) {
      expect(await route(index, question, clock), question).toMatchObject({ outcome: 'no_match', because: 'opposed' })
    }
  })
})

describe('a name that nobody knows', () => {
  test('where an optional value would stand is asked back, not left aside', async () => {
    for (const name of ['France', 'Großbritannien']) {
      const routing = await route(index, `dangerous goods to ${name}`, clock)
      expect(routing).toMatchObject({ outcome: 'missing_slots', gaps: [{ message: expect.stringContaining(name) }] })
    }
  })

  test('is told what there is', async () => {
    expect(await route(index, 'dangerous goods to France', clock)).toMatchObject({
      gaps: [{ message: expect.stringMatching(/has no such value: “.*France”; there are DE, NL, IT$/) }],
    })
  })

  test('elsewhere, or as one of words that all begin with a capital letter, is none', async () => {
    for (const question of ['Which Dangerous Goods To Ship', 'dangerous goods, asked by Anna'])
      expect((await route(index, question, clock)).outcome, question).not.toBe('missing_slots')
  })
})

describe('more or other days than a slot holds are never cut to fit', () => {
  test.each([
    ['deliveries this week', /takes one day.*this week/],
    ['what do we deliver from 1 to 5 December', /takes one day/],
    ['deliveries in 2025', /takes one day/],
    ['what do we deliver on 4 and 5 December', /names several: 4, 5 December/],
  ])('%s: is asked back', async (question, why) => {
    const routing = await route(index, question, clock)
    expect(routing).toMatchObject({ outcome: 'missing_slots', missing: [expect.stringMatching(/^(?:date|week_of)$/)] })
    expect(routing.outcome === 'missing_slots' && routing.gaps[0]?.message).toMatch(why)
  })

  test.each([
    ['deliveries after 4 December', 'date cannot be the least'],
    ['punctuality of Transalpina in 2024', 'since cannot have an end'],
    ['on-time rate of Blue Arrow before March', 'since cannot be the most'],
    ['top customers in March 2024', 'year cannot hold all of “March 2024”'],
    ['top customers in Q3 2024', 'year cannot hold all of “Q3 2024”'],
  ])('%s: is refused', async (question, why) => {
    const routing = await route(index, question, clock)
    expect(routing).toMatchObject({ outcome: 'no_match', because: 'opposed' })
    expect(routing).toHaveProperty('objection', expect.stringContaining(why))
  })

  test.each([
    ['driving hours last week', { week_of: '2026-11-02' }],
    ['deliveries on 2026-11-20', { date: '2026-11-20' }],
    ['punctuality of Quickship since September', { carrier: 'Quickship', since: '2026-09-01' }],
    ['punctuality of Quickship in the last 3 months', { carrier: 'Quickship', since: '2026-08-16' }],
    ['top 3 customers in 2024', { limit: 3, year: 2024 }],
  ])('%s: is answered', async (question, parameters) => {
    expect(await route(index, question, clock)).toMatchObject({ outcome: 'answer', parameters })
  })
})

test.each([
  ['shipments lighter than 3 kg', { max_kg: 3 }],
  ['shipments of 30 kg or more', { min_kg: 30 }],
  ['shipments of 30 kg or less', { max_kg: 30 }],
])('%s: which way it is meant chooses the end of the range', async (question, parameters) => {
  const routing = await route(index, question, clock)
  expect(routing.outcome).toBe('answer')
  expect(routing).toHaveProperty('parameters', parameters)
})

test('a number beyond the bounds of an optional slot is asked back, whatever else it could be', async () => {
  const routing = await route(index, 'top 500 customers', clock)
  expect(routing).toMatchObject({ outcome: 'missing_slots', query: 'top_customers', missing: ['limit'] })
})

describe('a number is read in the unit that its slot counts', () => {
  test.each([
    ['shipments over 50kg', { min_kg: 50 }],
    ['shipments of 10-15kg', { min_kg: 10, max_kg: 15 }],
    ['shipments between 20-40 kg', { min_kg: 20, max_kg: 40 }],
    ['shipments heavier than 1.2 tonnes', { min_kg: 1200 }],
    ['shipments heavier than 1,5 kg', { min_kg: 1.5 }],
    ['shipments more than two weeks late', { days: 14 }],
    ['shipments more than a week late', { days: 7 }],
    ['customers who owe 500 euros or more', { min_amount: 500 }],
    ['freight bills over 1.000,50 €', { amount: 1000.5 }],
    ['freight bills over 99,90 euros', { amount: 99.9 }],
  ])('%s', async (question, parameters) => {
    const routing = await route(index, question, clock)
    expect(routing).toMatchObject({ outcome: 'answer', parameters })
  })

  test.each([
    ['shipments more than three months late', 'days', /is in .*three months/],
    ['customers overdue for three months', 'days', /is in .*three months/],
    ['shipments more than 20 weeks late', 'days', /at most 60/],
    ['shipments more than 36 hours late', 'days', /whole/],
  ])('%s: is asked back', async (question, slot, why) => {
    const routing = await route(index, question, clock)
    expect(routing).toMatchObject({ outcome: 'missing_slots', missing: [slot] })
    expect(routing.outcome === 'missing_slots' && routing.gaps[0]?.message).toMatch(why)
  })

  test('of another kind it is refused', async () => {
    const routing = await route(index, 'shipments heavier than 20 km', clock)
    expect(routing).toMatchObject({ outcome: 'no_match', because: 'opposed' })
    expect(routing).toHaveProperty('objection', expect.stringContaining('20 km'))
  })
})

test('several numbers of a kind for a slot that takes one are asked back, also where a dash joins them', async () => {
  for (const question of ['track NL123456789 and NL123456788', 'freight bills over 400-500 euros']) {
    expect(await route(index, question, clock), question).toMatchObject({ outcome: 'missing_slots' })
  }
})

describe('an hour is a value of its own', () => {
  test.each([
    ['free pickup windows on friday after 3pm', { date: '2026-11-13', not_before: '15:00:00' }],
    [
      'trucks at the gate yesterday from 8 pm to 11 pm',
      { date: '2026-11-14', from_time: '20:00:00', to_time: '23:00:00' },
    ],
    ['trucks at the gate yesterday from 5 to 9 pm', { date: '2026-11-14', from_time: '17:00:00', to_time: '21:00:00' }],
    ['trucks at the gate today between 6:30 and 9', { date: '2026-11-15', from_time: '06:30:00', to_time: '09:00:00' }],
    [
      'trucks at the gate on 9 November from 18:00 until 20:15',
      { date: '2026-11-09', from_time: '18:00:00', to_time: '20:15:00' },
    ],
  ])('%s', async (question, parameters) => {
    const routing = await route(index, question, clock)
    expect(routing.outcome).toBe('answer')
    expect(routing).toHaveProperty('parameters', parameters)
    expect(routing.explanation.unused).toEqual([])
  })

  test.each([
    ['free pickup windows tomorrow before noon', 'not_before cannot be the most'],
    ['deliveries tomorrow after 3 pm', 'date cannot hold an hour'],
  ])('%s: is refused', async (question, why) => {
    const routing = await route(index, question, clock)
    expect(routing).toHaveProperty('objection', expect.stringContaining(why))
  })
})

test.each([
  ['wheres nl123456789', { tracking_number: 'NL123456789' }],
  ['busiest routes in the last 6 months', { from: '2026-05-16', to: '2026-11-15' }],
  ['top 3 routes by transports in the last 6 months', { limit: 3, from: '2026-05-16', to: '2026-11-15' }],
  ['customs file 26-118830', { file_number: '26-118830' }],
  ['show customs file 26118830', { file_number: '26118830' }],
  ['what do we deliver right now today', { date: '2026-11-15' }],
  ['how punctual is ocean and co', { carrier: 'Ocean & Co' }],
  ['co2 of Quickship in 2025', { carrier: 'Quickship', year: 2025 }],
  ['freight bills over 600 in March 2025', { amount: 600, month: 3, year: 2025 }],
  ['freight bills over 600 in May', { amount: 600, month: 5 }],
])('%s', async (question, parameters) => {
  const routing = await route(index, question, clock)
  expect(routing.outcome).toBe('answer')
  expect(routing).toHaveProperty('parameters', parameters)
  expect(routing.explanation.unused).toEqual([])
})

describe('typing errors', () => {
  test('are read as what was meant, and told in the words that were written', async () => {
    const right = await route(index, 'dangerous goods to Italy', clock)
    const question = 'dangeruos gooods to Italy'
    const routing = await route(index, question, clock)
    expect(routing).toMatchObject({ outcome: 'answer', query: 'query' in right ? right.query : '' })
    expect(routing.explanation.readAs).toBe('dangerous goods to Italy')
    for (const { start, end, text } of Object.values(routing.explanation.sources)) {
      expect(question.slice(start, end)).toBe(text)
    }
  })
})
