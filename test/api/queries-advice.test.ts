import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
let path: string
beforeAll(async () => {
  t = await openTestApp({}, { isShared: true })
  q = await openQueryProject(t)
  path = `/v1/projects/${q.projectId}/queries`
  await q.deploy({
    name: 'order_amounts',
    description: 'The total amount of orders in a region',
    sql: 'SELECT sum(amount) AS total FROM orders WHERE region = $region',
    slots: region,
    examples: [
      { question: 'what did the north order in total', parameters: { region: 'north' } },
      { question: 'total amount of orders in the south', parameters: { region: 'south' } },
    ],
  })
}, 90_000)
afterAll(() => t.close())

const region = {
  type: 'object',
  properties: { region: { type: 'string', enum: ['north', 'south', 'east'] } },
  required: ['region'],
}

type Advice = { kind: string; about: string | null; rival: string | null; message: string; change: unknown }

async function advice(query: Record<string, unknown>): Promise<Advice[]> {
  await expectStatus(201, t.operator.post(path, query))
  return (await expectStatus(200, t.operator.get(`${path}/${String(query['name'])}/advice`))).body.data
}

function about(found: Advice[], kind: string): Array<string | null> {
  return found.filter((each) => each.kind === kind).map((each) => each.about)
}

test('what the SQL does and the description does not say, with a description that would', async () => {
  const found = await advice({
    name: 'regional_figures',
    description: 'Figures of orders.',
    sql: `SELECT date_trunc('month', DATE '2026-01-01' + id::INTEGER) AS m, region, avg(amount) AS a
          FROM orders WHERE region IN ('north', 'south') GROUP BY 1, region ORDER BY a DESC LIMIT 5`,
    examples: [{ question: 'show me the figures' }],
  })
  expect(about(found, 'unsaid')).toEqual([
    'on average',
    'by month',
    'by region',
    'highest a first',
    'only with region north or south',
  ])
  expect(found.find((each) => each.about === 'by month')).toMatchObject({
    message: 'The query gives a row for each month, and its description does not say so.',
    change: { description: 'Figures of orders, by month.' },
  })
})

test('nothing is missing where the description says it in other words', async () => {
  const found = await advice({
    name: 'region_ranking',
    description: 'The three largest orders of every region each month, mean amounts of the north and the south',
    sql: `SELECT strftime(DATE '2026-01-01' + id::INTEGER, '%Y-%m') AS m, region, avg(amount) AS a
          FROM orders WHERE region IN ('north', 'south') GROUP BY ALL ORDER BY a DESC LIMIT 3`,
    examples: [{ question: 'largest orders of each region by month' }],
  })
  expect(about(found, 'unsaid')).toEqual([])
})

test('a slot that nothing is said of, with words told from where the SQL uses it', async () => {
  const found = await advice({
    name: 'orders_over',
    description: 'Orders, only some of them',
    sql: 'SELECT id FROM orders WHERE amount >= $x1 AND region = $region ORDER BY id LIMIT $n',
    slots: {
      type: 'object',
      properties: {
        x1: { type: 'number' },
        n: { type: 'integer', default: 5 },
        region: { type: 'string', description: 'Where it came from' },
      },
      required: ['x1', 'region'],
    },
    examples: [{ question: 'orders above 20 in the north', parameters: { x1: 20, region: 'north' } }],
  })
  expect(about(found, 'wordless_slot')).toEqual(['x1', 'n'])
  const [first, second] = found.filter((each) => each.kind === 'wordless_slot')
  expect(first?.change).toMatchObject({ slots: { properties: { x1: { description: 'Minimum amount' } } } })
  expect(second?.change).toMatchObject({
    slots: { properties: { n: { description: 'How many rows at most', default: 5 } } },
  })
})

test('questions of another query that come too close, and its own that another would take', async () => {
  const found = await advice({
    name: 'order_sums',
    description: 'Total amount of orders in a region',
    sql: 'SELECT sum(amount) AS total FROM orders WHERE region = $region AND amount > 0',
    slots: region,
    examples: [{ question: 'total amount of the orders in the east', parameters: { region: 'east' } }],
  })
  const close = found.filter((each) => each.kind === 'close_question')
  expect(close.map((each) => each.rival)).toContain('order_amounts')
  expect(close.map((each) => each.about)).toContain('total amount of orders in the south')
  const apart = await advice({
    name: 'customers_by_name',
    description: 'Find a customer by a part of the name',
    sql: "SELECT 'x' AS customer FROM orders WHERE region LIKE $text",
    slots: {
      type: 'object',
      properties: { text: { type: 'string', description: 'A part of the name' } },
      required: ['text'],
    },
    examples: [{ question: 'who is called Berg', parameters: { text: 'Berg' } }],
  })
  expect(about(apart, 'close_question')).toEqual([])
})

test('what is taken is what the draft then says', async () => {
  const found = await advice({ name: 'places', sql: 'SELECT region, sum(amount) AS s FROM orders GROUP BY region' })
  expect(about(found, 'no_examples')).toHaveLength(1)
  const change = found.find((each) => each.kind === 'unsaid')?.change as Record<string, unknown>
  await expectStatus(200, t.operator.put(`${path}/places`, change))
  const { body } = await expectStatus(200, t.operator.get(`${path}/places/advice`))
  expect(about(body.data, 'unsaid')).not.toContain(found.find((each) => each.kind === 'unsaid')?.about)
})
