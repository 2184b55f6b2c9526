import { describe, expect, test } from 'vitest'
import { pythonOf } from '../../../cli/types/python.ts'
import { deployedQueries, valueType } from '../../../cli/types/query-types.ts'
import { typescriptOf } from '../../../cli/types/typescript.ts'
import { schemaOfColumn } from '../../../server/queries/slots/column-schema.ts'

const columns = {
  region: 'VARCHAR',
  orders: 'BIGINT',
  'total amount': 'DECIMAL(18,2)',
  items: 'STRUCT("id" INTEGER, "a b" DOUBLE[])[]',
}
const [sales] = deployedQueries({
  paths: { '/v1/queries/sales': { description: 'Revenue of a region */' } },
  components: {
    schemas: {
      sales_slots: {
        properties: {
          region: { type: 'string', enum: ['north', 'south'] },
          days: { type: 'array', items: { type: 'string' } },
          class: { type: 'integer' },
          limit: { type: 'integer', minimum: 1, maximum: 50 },
        },
        required: ['region'],
      },
      sales_row: {
        properties: Object.fromEntries(
          Object.entries(columns).map(([name, type]) => [
            name,
            schemaOfColumn({ type, ...(name === 'orders' && { isCount: true }) }),
          ]),
        ),
        required: Object.keys(columns),
      },
    },
  },
})
if (sales === undefined) throw new Error('nothing is deployed')

describe('types of columns, by what the service says of them', () => {
  test.each([
    ['INTEGER', { kind: 'integer' }],
    ['BIGINT', { kind: 'wide' }],
    ['DECIMAL(38,0)', { kind: 'wide' }],
    ['TIMESTAMP WITH TIME ZONE', { kind: 'text' }],
    ['DATE', { kind: 'text' }],
    ['JSON', { kind: 'any' }],
    ['DOUBLE[][]', { kind: 'list', of: { kind: 'list', of: { kind: 'number' } } }],
    ['DOUBLE[3]', { kind: 'list', of: { kind: 'number' } }],
    ['MAP(VARCHAR, INTEGER)', { kind: 'map', of: { kind: 'integer' } }],
    [
      'STRUCT("a" STRUCT("b" DECIMAL(4,1), "c" VARCHAR), "x, ""y""" BOOLEAN)',
      {
        kind: 'record',
        fields: [
          [
            'a',
            {
              kind: 'record',
              fields: [
                ['b', { kind: 'number' }],
                // Inside of another type, text and JSON have one name.
                ['c', { kind: 'any' }],
              ],
            },
          ],
          ['x, "y"', { kind: 'boolean' }],
        ],
      },
    ],
    ["ENUM('a', 'b')", { kind: 'choice', values: ['a', 'b'] }],
    ['UNION("n" INTEGER, "s" VARCHAR)', { kind: 'any' }],
    ['INTERVAL', { kind: 'text' }],
  ])('%s', (name, expected) => {
    expect(valueType(schemaOfColumn({ type: name }))).toEqual(expected)
  })
})

test('TypeScript names slots and columns as they are deployed', () => {
  expect(typescriptOf([sales], 'production'))
    .toBe(`// Written by \`sluice types\` from what is deployed in production. Run it again after a release.

export type Queries = {
  /** Revenue of a region *∕ */
  sales: {
    parameters: {
      region: "north" | "south"
      days?: Array<string | null> | null
      class?: number | string | null
      limit?: number | null
    }
    row: {
      region: string | null
      orders: number
      "total amount": number | string | null
      items: Array<{ id: number | null; "a b": Array<number | null> | null } | null> | null
    }
  }
}
`)
})

test('Python takes required slots first and no word of its own as a name', () => {
  const text = pythonOf([sales], 'production')
  expect(text).toContain(
    'def sales(client: Client, *, region: Literal["north", "south"], days: Optional[List[Optional[str]]] = None, class_: Optional[Union[int, float, str]] = None, limit: Optional[int] = None) -> Answer[SalesRow]:',
  )
  expect(text).toContain('"class": class_')
  expect(text).toContain('"orders": int')
  expect(text).toContain('"total amount": Optional[Decimal]')
})
