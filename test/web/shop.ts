const regions = ['north', 'south', 'east', 'west']
/** The answer of a shop's API. */
export const shopOrders = Array.from({ length: 1200 }, (_, index) => ({
  id: index + 1,
  region: regions[index % 4],
  total: Math.round((20 + ((index * 37) % 180)) * 100) / 100,
  ordered_on: `2026-${String((index % 12) + 1).padStart(2, '0')}-15`,
  note: index % 5 === 0 ? null : `order ${index}`,
  customer: { name: `Customer ${index % 40}`, country: index % 2 === 0 ? 'DE' : 'FR' },
}))

/** What it answers later: fewer, and without a column that queries read. */
export const latestOrders = shopOrders.slice(0, 900).map(({ region: _gone, ...rest }) => rest)

const countries = ['Germany', 'France', 'Sweden', 'Portugal', 'Belgium', 'Italy', 'Poland']
const segments = ['retail', 'retail', 'retail', 'wholesale', 'wholesale', 'online']
export const customers = Array.from({ length: 420 }, (_, index) => ({
  id: index + 1,
  name: `Customer ${index + 1}`,
  country: countries[Math.floor(((index * 31) % 100) ** 2 / 1430)],
  segment: segments[(index * 7) % 6],
  since: new Date(Date.UTC(2025, (index * 5) % 22, 1 + ((index * 11) % 27))).toISOString().slice(0, 10),
  revenue: Math.round(80 + ((index * 97) % 240) + ((index * 53) % 97) ** 2 / 9),
  newsletter: index % 3 !== 0,
  phone: index % 4 === 0 ? null : `+49 30 ${100_000 + index * 37}`,
}))

/** Drafts over these tables. */
export const shopQueries = [
  {
    name: 'sales_by_region',
    description: 'Revenue of one region.',
    sql: 'select region, sum(total) as revenue from orders where region = $region group by region',
    slots: { properties: { region: { type: 'string', 'x-values-from': 'orders.region' } }, required: ['region'] },
    examples: [{ question: 'revenue in the north', parameters: { region: 'north' } }],
  },
  {
    name: 'top_orders',
    description: 'The most valuable orders.',
    sql: 'select id, total, ordered_on, note\nfrom orders\nwhere total >= $least\norder by total desc\nlimit 50',
    slots: { properties: { least: { type: 'number', default: 50, description: 'Worth at least.' } } },
    examples: [{ question: 'orders worth more than 100', parameters: { least: 100 } }],
  },
  {
    name: 'customers_of_country',
    description: 'The customers of one country, the best first.',
    sql: 'select name, segment, revenue from customers where country = $country order by revenue desc',
    slots: { properties: { country: { type: 'string', 'x-values-from': 'customers.country' } }, required: ['country'] },
    examples: [{ question: 'who are our customers in Sweden', parameters: { country: 'Sweden' } }],
  },
  {
    name: 'revenue_by_month',
    description: 'What the customers of a segment bring, by the month since when they are ours.',
    sql: "select date_trunc('month', since)::date as month,\n       sum(revenue) as revenue, max(revenue) as largest\nfrom customers\nwhere segment = $segment\ngroup by month\norder by month",
    slots: {
      properties: {
        segment: { type: 'string', 'x-values-from': 'customers.segment', default: 'retail', description: 'Whose.' },
      },
    },
    examples: [{ question: 'revenue of wholesale by month', parameters: { segment: 'wholesale' } }],
  },
]
