import type { RowTest } from '../../api/row-tests.ts'
import type { ModelContent } from '../models/index.ts'

const usual = { load: { mode: 'replace' as const }, schedule: null, scheduleTimeZone: 'UTC', keepVersions: 5, tags: [] }

/** Whatever counts as a sale, said once: queries read it instead of joining shops and leaving out what was cancelled. */
export const exampleModel: ModelContent & { name: string } = {
  ...usual,
  name: 'sales',
  description: 'Orders that count as sales, with the region of their shop: all but the cancelled ones.',
  sql: `select o.id, o.ordered_at, s.region, o.product_id, o.quantity, o.total
from orders o
join shops s on s.id = o.shop_id
where o.status <> 'cancelled'`,
}

const given: RowTest['given'] = {
  shops: [
    { id: 'shop_01', name: 'Harbour Hall', region: 'north' },
    { id: 'shop_04', name: 'Old Mill', region: 'south' },
  ],
  orders: [
    {
      id: 'ord_1',
      ordered_at: '2026-01-31T23:59:00',
      shop_id: 'shop_01',
      quantity: 1,
      total: 9.5,
      status: 'delivered',
    },
    { id: 'ord_2', ordered_at: '2026-02-01T08:00:00', shop_id: 'shop_01', quantity: 2, total: 19, status: 'shipped' },
    { id: 'ord_3', ordered_at: '2026-02-02T12:00:00', shop_id: 'shop_01', quantity: 1, total: 24, status: 'cancelled' },
    {
      id: 'ord_4',
      ordered_at: '2026-02-02T13:00:00',
      shop_id: 'shop_04',
      quantity: 3,
      total: 12.6,
      status: 'returned',
    },
  ],
}
const usualTest = { parameters: {}, error: null, ordered: false, exact: false }

/** One test of the model on its tables, and one of a query on the model, by a question. */
export const exampleTests: RowTest[] = [
  {
    ...usualTest,
    name: 'sales_leave_out_cancelled',
    description: 'What was cancelled is no sale; what was sent back is.',
    model: 'sales',
    given,
    expect: [
      { id: 'ord_1', region: 'north' },
      { id: 'ord_2', region: 'north' },
      { id: 'ord_4', region: 'south' },
    ],
  },
  {
    ...usualTest,
    name: 'last_day_counts',
    description: 'The last day of a period belongs to it, to its last minute.',
    query: 'sales_by_region',
    question: 'revenue in the north until 31 January 2026',
    given: {
      sales: [
        { id: 'ord_1', ordered_at: '2026-01-31T23:59:00', region: 'north', total: 9.5 },
        { id: 'ord_2', ordered_at: '2026-02-01T08:00:00', region: 'north', total: 19 },
      ],
    },
    expect: [{ region: 'north', orders: 1, revenue: 9.5 }],
  },
]
