import { vi } from 'vitest'
import { expectStatus, type Client, type TestApp } from './app.ts'
import { execute, type Source } from './source.ts'

const customers = [
  ['Ada Byron', 'London'],
  ['Grace Hopper', 'New York'],
  ['Alan Turing', 'Manchester'],
  ['Edsger Dijkstra', 'Rotterdam'],
  ['Barbara Liskov', 'Boston'],
  ['Radia Perlman', 'Seattle'],
] as const
const products = [
  ['Steel Kettle', 'kitchen', 39],
  ['Hand Grinder', 'kitchen', 55],
  ['Morning Roast', 'coffee', 12],
  ['Dark Alley', 'coffee', 14],
  ['Green Hill', 'tea', 9],
  ['Earl Grey', 'tea', 8],
] as const
const statuses = ['paid', 'shipped', 'returned'] as const

/** Two orders a day through 2025, everything in turn. */
function orderRows(): object[] {
  return Array.from({ length: 730 }, (_, index) => {
    const [customer, city] = customers[index % customers.length] ?? customers[0]
    const [product, category, price] = products[(index * 5 + Math.floor(index / 6)) % products.length] ?? products[0]
    const quantity = 1 + (index % 3)
    return {
      id: 1000 + index,
      ordered_on: new Date(Date.UTC(2025, 0, 1 + Math.floor(index / 2))).toISOString().slice(0, 10),
      customer,
      city,
      product,
      category,
      status: statuses[index % 3],
      quantity,
      total: quantity * price,
    }
  })
}

const text = (from: string) => ({ type: 'string', 'x-values-from': from })
const day = { type: 'string', format: 'date' }

function slots(properties: Record<string, unknown>, required = Object.keys(properties)) {
  return { type: 'object', properties, required }
}

type ShopQuery = { name: string; sql: string; description: string; slots: object; examples: object[] }

function shopQuery(name: string, description: string, rest: Omit<ShopQuery, 'name' | 'description'>): ShopQuery {
  return { name, description, ...rest }
}

const shopQueries: ShopQuery[] = [
  shopQuery('orders_of_customer', 'All orders of one customer', {
    sql: 'SELECT id, ordered_on, product, total FROM orders WHERE customer = $customer ORDER BY id',
    slots: slots({ customer: text('orders.customer') }),
    examples: [
      { question: 'What did Ada Byron order?', parameters: { customer: 'Ada Byron' } },
      { question: 'Show me the orders of Alan Turing', parameters: { customer: 'Alan Turing' } },
      { question: 'list everything bought by Grace Hopper', parameters: { customer: 'Grace Hopper' } },
      { question: 'purchases made by Barbara Liskov', parameters: { customer: 'Barbara Liskov' } },
    ],
  }),
  shopQuery('revenue_between', 'Total revenue between two days', {
    sql: 'SELECT sum(total) AS revenue FROM orders WHERE ordered_on >= $from_day AND ordered_on <= $to_day',
    slots: slots({ from_day: day, to_day: day }),
    examples: [
      {
        question: 'How much did we earn between 2025-03-01 and 2025-03-31?',
        parameters: { from_day: '2025-03-01', to_day: '2025-03-31' },
      },
      {
        question: 'total revenue from 2025-01-01 to 2025-02-15',
        parameters: { from_day: '2025-01-01', to_day: '2025-02-15' },
      },
      { question: 'What was our turnover in May 2025?', parameters: { from_day: '2025-05-01', to_day: '2025-05-31' } },
      { question: 'income in Q1 2025', parameters: { from_day: '2025-01-01', to_day: '2025-03-31' } },
    ],
  }),
  shopQuery('orders_by_status', 'Orders that have a status', {
    sql: 'SELECT id, customer, total FROM orders WHERE status = $status ORDER BY id',
    slots: slots({
      status: {
        type: 'string',
        enum: [...statuses],
        'x-synonyms': { returned: ['sent back'], shipped: ['sent', 'dispatched'] },
      },
    }),
    examples: [
      { question: 'Which orders were returned?', parameters: { status: 'returned' } },
      { question: 'show all shipped orders', parameters: { status: 'shipped' } },
      { question: 'list the orders that are paid', parameters: { status: 'paid' } },
    ],
  }),
  shopQuery('best_sellers', 'The products that sold most, best first', {
    sql: 'SELECT product, sum(quantity) AS sold FROM orders GROUP BY product ORDER BY sold DESC, product LIMIT $count',
    slots: slots({ count: { type: 'integer', minimum: 1, maximum: 100, default: 5 } }, []),
    examples: [
      { question: 'What are our best selling products?', parameters: {} },
      { question: 'top 3 products by units sold', parameters: { count: 3 } },
      { question: 'which items sell most?', parameters: {} },
    ],
  }),
  shopQuery('orders_above', 'Orders of more than an amount of money', {
    sql: 'SELECT id, customer, total FROM orders WHERE total > $amount ORDER BY total DESC, id',
    slots: slots({ amount: { type: 'number', minimum: 0, maximum: 100000 } }),
    examples: [
      { question: 'Which orders are worth more than 100 euros?', parameters: { amount: 100 } },
      { question: 'orders above $50', parameters: { amount: 50 } },
      { question: 'show purchases over 75', parameters: { amount: 75 } },
    ],
  }),
  shopQuery('customers_in_city', 'The customers who live in a city', {
    sql: 'SELECT DISTINCT customer FROM orders WHERE city = $city ORDER BY customer',
    slots: slots({ city: text('orders.city') }),
    examples: [
      { question: 'Who lives in London?', parameters: { city: 'London' } },
      { question: 'customers from Seattle', parameters: { city: 'Seattle' } },
      { question: 'which clients do we have in Boston?', parameters: { city: 'Boston' } },
    ],
  }),
  shopQuery('revenue_of_category', 'Revenue of a category of products', {
    sql: 'SELECT category, sum(total) AS revenue FROM orders WHERE category = $category GROUP BY category',
    slots: slots({ category: text('orders.category') }),
    examples: [
      { question: 'How much revenue does coffee bring?', parameters: { category: 'coffee' } },
      { question: 'what did we earn with tea?', parameters: { category: 'tea' } },
      { question: 'sales of the kitchen category', parameters: { category: 'kitchen' } },
    ],
  }),
  shopQuery('order_count', 'How many orders there are in all', {
    sql: 'SELECT count(*) AS orders FROM orders',
    slots: slots({}),
    examples: [
      { question: 'How many orders do we have?', parameters: {} },
      { question: 'number of orders', parameters: {} },
      { question: 'count all orders', parameters: {} },
    ],
  }),
]

export type Shop = {
  projectId: string
  /** `/v1/projects/{id}` */
  path: string
  caller: Client
  ask(query: string, more?: Record<string, unknown>, headers?: Record<string, string>): ReturnType<Client['post']>
}

/** A shop whose orders came from an API, with its values collected, eight deployed queries and a key. */
export async function openShop(t: TestApp, source: Source): Promise<Shop> {
  const projectId = await t.project()
  const path = `/v1/projects/${projectId}`
  source.answer(orderRows())
  await t.app.jobs.start()
  const datasourceId = `ds_orders_${projectId}`
  await expectStatus(200, execute(t.operator, { projectId, datasourceId, url: source.url, name: 'orders' }))
  await vi.waitFor(
    async () => {
      const { db } = t.app.store
      await db.selectFrom('columnValues').selectAll().where('datasourceId', '=', datasourceId).executeTakeFirstOrThrow()
    },
    { timeout: 60_000 },
  )
  for (const query of shopQueries) {
    await expectStatus(201, t.operator.post(`${path}/queries`, query))
    await expectStatus(200, t.operator.post(`${path}/queries/${query.name}/deploy`, {}))
  }
  const permissions = [{ project_id: projectId, environments: '*' }]
  const made = await expectStatus(
    201,
    t.operator.post('/v1/api-keys', { name: 'shop', plan: 'unlimited', permissions }),
  )
  const caller = t.withToken(made.body.secret)
  return {
    projectId,
    path,
    caller,
    ask: (query, more = {}, headers = { 'x-sluice-environment': 'production' }) =>
      caller.post('/v1/query', { query, project_id: projectId, ...more }, headers),
  }
}
