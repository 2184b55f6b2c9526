import { describe, expect, test } from 'vitest'
import { pythonOf } from '../../../cli/types/python.ts'
import { columnType, type DeployedQuery } from '../../../cli/types/query-types.ts'
import { typescriptOf } from '../../../cli/types/typescript.ts'

const sales: DeployedQuery = {
  name: 'sales',
  version: 3,
  description: 'Revenue of a region */',
  slots: {
    type: 'object',
    properties: {
      region: { type: 'string', enum: ['north', 'south'] },
      days: { type: 'array', items: { type: 'string', format: 'date' } },
      class: { type: 'integer' },
    },
    required: ['region'],
    additionalProperties: false,
  },
  columns: [
    { name: 'region', type: 'VARCHAR' },
    { name: 'total amount', type: 'DECIMAL(18,2)' },
    { name: 'items', type: 'STRUCT(id INTEGER, "a b" VARCHAR[])[]' },
  ],
}

describe('types of columns', () => {
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
      'STRUCT(a STRUCT(b DECIMAL(4,1), c VARCHAR), "x, ""y""" BOOLEAN)',
      {
        kind: 'record',
        fields: [
          [
            'a',
            {
              kind: 'record',
              fields: [
                ['b', { kind: 'wide' }],
                ['c', { kind: 'text' }],
              ],
            },
          ],
          ['x, "y"', { kind: 'boolean' }],
        ],
      },
    ],
    ["ENUM('a', 'b')", { kind: 'text' }],
  ])('%s', (name, expected) => {
    expect(columnType(name)).toEqual(expected)
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
    }
    row: {
      region: string | null
      "total amount": number | string | null
      items: Array<{ id: number | null; "a b": Array<string | null> | null } | null> | null
    }
  }
}
`)
})

test('Python takes required slots first and no word of its own as a name', () => {
  const text = pythonOf([sales], 'production')
  expect(text).toContain(
    'def sales(client: Client, *, region: Literal["north", "south"], days: Optional[List[Optional[str]]] = None, class_: Optional[Union[int, float, str]] = None) -> Answer[SalesRow]:',
  )
  expect(text).toContain('"class": class_')
})
