import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exampleQueries } from '../../../server/example/queries.ts'
import { routable } from '../../../server/questions/indexes/snapshot.ts'
import {
  buildIndex,
  route,
  type Encoder,
  type ProjectIndex,
  type RoutableProject,
} from '../../../server/router/index.ts'
import { openSharedEncoder } from '../../harness/shared-parts.ts'
import { shop } from './shop.ts'

const clock = { now: new Date('2026-11-15T10:00:00Z'), timeZone: 'Europe/Oslo' }
const values = {
  'products.category': ['coffee', 'books', 'tea', 'kitchen'],
  'shops.name': ['Harbour Hall', 'Left Bank', 'Old Mill', 'Ramblas'],
}

let encoder: Encoder
const indexes: Record<string, ProjectIndex> = {}
beforeAll(async () => {
  encoder = await openSharedEncoder({ modelDir: 'models/question-encoder', threads: 2 })
  // Conditions are read alike however sure an answer must be.
  const sure = { leastConfidence: 0 }
  indexes['example'] = await buildIndex(encoder, { queries: exampleQueries.map(routable), values, ...sure })
  indexes['shop'] = await buildIndex(encoder, { ...shop, ...sure })
}, 60_000)
afterAll(() => encoder.close())

function ask(project: string, question: string) {
  const index = indexes[project]
  if (index === undefined) throw new Error(`There is no ${project}.`)
  return route(index, question, clock)
}

describe('a condition that the nearest query would turn around is refused and named', () => {
  test.each([
    ['example', 'revenue not in the north', 'region'],
    ['example', 'revenue everywhere except the north', 'region'],
    ['example', "which shops aren't in the west", 'region'],
    ['example', 'revenue of the non-northern regions', 'region'],
    ['example', 'how many orders were not returned', 'status'],
    ['example', 'top 5 products that are not books', 'category'],
    ['example', 'last 10 orders not from Harbour Hall', 'shop'],
    ['example', 'revenue by month not in 2025', 'year'],
    ['example', 'sales in the north in 2025 but not in June', 'until'],
    ['example', 'revenue in the north but not in books', 'category'],
    ['example', 'orders of Harbour Hall above 100 euros', 'count'],
    ['example', 'worst selling products', 'worst'],
    ['example', 'bottom 5 products', 'bottom'],
    ['example', 'least popular books', 'least'],
    ['example', 'delete the shops in the west', 'only reads'],
    ['example', 'revenue in the north; DROP TABLE orders', 'only reads'],
    ['shop', 'customers outside Germany', 'country'],
    ['shop', 'orders of everyone but Anna Berg', 'customer'],
    ['shop', 'orders that have not been shipped yet', 'status'],
    ['shop', 'orders under 200 euros', 'amount'],
    ['shop', 'orders not over 200 euros', 'amount'],
    ['shop', 'customer notes not containing fragile', 'text'],
  ])('%s: %s', async (project, question, named) => {
    const routing = await ask(project, question)
    expect(routing).toMatchObject({ outcome: 'no_match', because: 'opposed' })
    expect(routing).toHaveProperty('objection', expect.stringContaining(named))
  })
})

describe('a value that a slot does not take is asked for, with why', () => {
  test.each([
    ['example', 'revenue in the north and south', 'region', /names several: north, south/],
    ['example', 'compare revenue of north versus south', 'region', /names several/],
    ['example', 'how many orders were returned and how many cancelled', 'status', /names several/],
    ['example', 'revenue by month in 2025 and 2026', 'year', /names several: 2025, 2026/],
    ['example', 'latest orders of Harbour Hall and Left Bank', 'shop', /names several/],
    ['example', 'top 0 products', 'count', /at least 1/],
    ['example', 'top -5 products', 'count', /at least 1/],
    ['example', 'top 1e9 products', 'count', /at most 100/],
    ['example', 'top 99999999999999999999999 products', 'count', /at most 100/],
    ['example', 'top 3.5 products', 'count', /whole/],
    ['example', 'revenue by month in 1850', 'year', /at least 2000/],
    ['example', 'latest 5000 orders of Old Mill', 'count', /at most 1000/],
    ['example', 'revenue in the north on 2025-02-30', 'since', /no day of the calendar: 2025-02-30/],
    ['example', 'revenue in the north since 31 February 2025', 'since', /no day of the calendar/],
    ['example', 'revenue in the north before 2025 and after 2026', 'until', /before since/],
    ['example', 'revenue in the north in March and June', 'until', /names two: March, June/],
    ['shop', 'orders over 1e400', 'amount', /too large/],
    ['shop', 'customers in Norway and Germany', 'country', /names several/],
  ])('%s: %s', async (project, question, slot, why) => {
    const routing = await ask(project, question)
    expect(routing).toMatchObject({ outcome: 'missing_slots', missing: expect.arrayContaining([slot]) })
    const gaps = routing.outcome === 'missing_slots' ? routing.gaps : []
    expect(gaps.find((gap) => gap.slot === slot)?.message).toMatch(why)
    expect(routing).not.toHaveProperty(`parameters.${slot}`)
  })
})

describe('what only sounds like that is answered', () => {
  test.each([
    ['example', 'sales in the north, not the south', { region: 'north' }],
    ['example', 'show me no more than 3 books that sell best', { category: 'books', count: 3 }],
    ['example', 'at most 5 top products', { count: 5 }],
    ['example', 'revenue in the north before 2025', { region: 'north', until: '2024-12-31' }],
    ['example', 'revenue in the north until June 2025', { region: 'north', until: '2025-06-30' }],
    ['example', 'revenue in the north after March 2025', { region: 'north', since: '2025-04-01' }],
    ['example', 'revenue in the north since March', { region: 'north', since: '2026-03-01' }],
    [
      'example',
      'revenue in the north between 2025-06-01 and 2025-01-01',
      { region: 'north', since: '2025-01-01', until: '2025-06-01' },
    ],
    [
      'example',
      'revenue in the north from March to June',
      { region: 'north', since: '2026-03-01', until: '2026-06-30' },
    ],
    ['example', 'ｒｅｖｅｎｕｅ in the ｎｏｒｔｈ', { region: 'north' }],
    ['example', 'revenue by month last year', { year: 2025 }],
    ['example', 'monthly sales this year', { year: 2026 }],
    ['shop', "isn't the milk frother in stock?", { product: 'milk frother' }],
    ['shop', 'orders worth 80 or more', { amount: 80 }],
    ['shop', 'orders over 1e3', { amount: 1000 }],
    ['shop', 'turnover since March 2025', { from_date: '2025-03-01', to_date: '2026-11-15' }],
  ])('%s: %s', async (project, question, parameters) => {
    const routing = await ask(project, question)
    expect(routing.outcome).toBe('answer')
    expect(routing).toHaveProperty('parameters', parameters)
  })
})

test('"this year" is the year it is where the caller is', async () => {
  const now = new Date('2026-12-31T22:30:00Z')
  const { example } = indexes
  if (example === undefined) throw new Error('It is built before.')
  for (const [timeZone, year] of [
    ['Europe/London', 2026],
    ['Europe/Oslo', 2026],
    ['Europe/Helsinki', 2027],
  ] as const) {
    expect(await route(example, 'monthly sales this year', { now, timeZone })).toMatchObject({ parameters: { year } })
  }
})

test('of two queries that differ in a "not" the one that means the question answers', async () => {
  const country = { type: 'string' as const, enum: ['Norway', 'Germany', 'France'] }
  const query = (name: string, description: string, questions: string[]): RoutableProject['queries'][number] => ({
    name,
    description,
    slots: { properties: { country }, required: ['country'] },
    examples: questions.map((question) => ({ question, parameters: { country: question.split(' ').at(-1) } })),
  })
  const inside = query('customers_in', 'Customers in a country', ['customers in Norway', 'who lives in Germany'])
  const outside = query('customers_outside', 'Customers that are not in a country', [
    'customers not in Norway',
    'everybody who lives outside Germany',
  ])
  const index = await buildIndex(encoder, { values: {}, queries: [inside, outside] })
  for (const [question, name] of [
    ['list the customers in France', 'customers_in'],
    ['list the customers not in France', 'customers_outside'],
    ['customers anywhere except Norway', 'customers_outside'],
    ['which customers live in Norway', 'customers_in'],
  ] as const) {
    expect(await route(index, question, clock), question).toMatchObject({ outcome: 'answer', query: name })
  }
})
