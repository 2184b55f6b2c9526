import type { SlotsSchema } from '../../api/slots.ts'

type Slot = SlotsSchema['properties'][string]

type ExampleQuery = {
  name: string
  description: string
  sql: string
  slots: SlotsSchema
  examples: Array<{ question: string; parameters: Record<string, unknown> }>
}

const region: Slot = {
  type: 'string',
  enum: ['north', 'south', 'east', 'west'],
  description: 'Part of Europe.',
  'x-synonyms': { north: ['northern'], south: ['southern'], east: ['eastern'], west: ['western'] },
}
const since: Slot = { type: 'string', format: 'date', description: 'First day.' }
const until: Slot = { type: 'string', format: 'date', description: 'Last day.' }

function slots(properties: SlotsSchema['properties'], required: string[] = []): SlotsSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** Small enough to read in a minute, different enough that questions tell them apart. */
export const exampleQueries: ExampleQuery[] = [
  {
    name: 'sales_by_region',
    description: 'Revenue and number of orders of one region, optionally within a period.',
    sql: `select region, count(*) as orders, round(sum(total), 2) as revenue
from sales
where region = $region
  and ($since is null or ordered_at >= $since)
  and ($until is null or ordered_at < $until + interval 1 day)
group by region`,
    slots: slots({ region, since, until }, ['region']),
    examples: [
      { question: 'revenue in the north', parameters: { region: 'north' } },
      {
        question: 'how much did we sell in the south since January 2026',
        parameters: { region: 'south', since: '2026-01-01' },
      },
      {
        question: 'sales of the west in 2025',
        parameters: { region: 'west', since: '2025-01-01', until: '2025-12-31' },
      },
      { question: 'what was the turnover of the eastern region', parameters: { region: 'east' } },
    ],
  },
  {
    name: 'top_products',
    description: 'The best-selling products, optionally of one category.',
    sql: `select p.name, p.category, sum(o.quantity) as sold, round(sum(o.total), 2) as revenue
from orders o
join products p on p.id = o.product_id
where o.status <> 'cancelled'
  and ($category is null or p.category = $category)
group by p.name, p.category
order by revenue desc
limit $count`,
    slots: slots({
      category: { type: 'string', 'x-values-from': 'products.category', description: 'Kind of product.' },
      count: { type: 'integer', minimum: 1, maximum: 100, default: 10, description: 'How many.' },
    }),
    examples: [
      { question: 'what are the top 5 products', parameters: { count: 5 } },
      { question: 'best selling coffee', parameters: { category: 'coffee' } },
      { question: 'which 3 books sell best', parameters: { category: 'books', count: 3 } },
      { question: 'most popular products', parameters: {} },
    ],
  },
  {
    name: 'revenue_by_month',
    description: 'Revenue of each month of a year.',
    sql: `select strftime(o.ordered_at, '%Y-%m') as month, count(*) as orders, round(sum(o.total), 2) as revenue
from orders o
where o.status <> 'cancelled' and year(o.ordered_at) = $year
group by month
order by month`,
    slots: slots({ year: { type: 'integer', minimum: 2000, maximum: 2100, description: 'Calendar year.' } }, ['year']),
    examples: [
      { question: 'revenue by month in 2025', parameters: { year: 2025 } },
      { question: 'monthly sales for 2026', parameters: { year: 2026 } },
      { question: 'how did turnover develop month by month in 2025', parameters: { year: 2025 } },
    ],
  },
  {
    name: 'orders_by_status',
    description: 'How many orders have a status, such as returned or cancelled.',
    sql: `select o.status, count(*) as orders, round(sum(o.total), 2) as value
from orders o
where o.status = $status
group by o.status`,
    slots: slots(
      {
        status: {
          type: 'string',
          enum: ['delivered', 'shipped', 'returned', 'cancelled'],
          'x-synonyms': { returned: ['sent back'], cancelled: ['canceled', 'called off'] },
        },
      },
      ['status'],
    ),
    examples: [
      { question: 'how many orders were returned', parameters: { status: 'returned' } },
      { question: 'number of cancelled orders', parameters: { status: 'cancelled' } },
      { question: 'count the shipped orders', parameters: { status: 'shipped' } },
    ],
  },
  {
    name: 'shops_in_region',
    description: 'The shops of a region with city and opening day.',
    sql: `select name, city, country, opened_on
from shops
where region = $region
order by opened_on`,
    slots: slots({ region }, ['region']),
    examples: [
      { question: 'which shops are in the west', parameters: { region: 'west' } },
      { question: 'list our stores in the northern region', parameters: { region: 'north' } },
      { question: 'where do we have shops in the south', parameters: { region: 'south' } },
    ],
  },
  {
    name: 'orders_of_shop',
    description: 'The latest orders of one shop.',
    sql: `select o.id, o.ordered_at, p.name as product, o.quantity, o.total, o.status
from orders o
join shops s on s.id = o.shop_id
join products p on p.id = o.product_id
where s.name = $shop
order by o.ordered_at desc
limit $count`,
    slots: slots(
      {
        shop: { type: 'string', 'x-values-from': 'shops.name', description: 'Name of the shop.' },
        count: { type: 'integer', minimum: 1, maximum: 1000, default: 20, description: 'How many.' },
      },
      ['shop'],
    ),
    examples: [
      { question: 'latest orders of Harbour Hall', parameters: { shop: 'Harbour Hall' } },
      { question: 'show the last 10 orders from Left Bank', parameters: { shop: 'Left Bank', count: 10 } },
      { question: 'what did people order at Old Mill', parameters: { shop: 'Old Mill' } },
    ],
  },
]
