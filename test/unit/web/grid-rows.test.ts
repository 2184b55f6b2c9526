import { expect, test } from 'vitest'
import { columnsOf, formatOf, sayMoment } from '../../../web/parts/cells/cell-text.ts'
import { copyText } from '../../../web/parts/cells/copy-text.ts'
import { wholeView, type ColumnProfile, type GridColumn, type View } from '../../../web/parts/cells/model.ts'
import { orderRows } from '../../../web/parts/cells/order-rows.ts'
import { countColumn } from '../../../web/parts/cells/profile-rows.ts'

const columns = [
  { name: 'name', type: 'VARCHAR' },
  { name: 'amount', type: 'DECIMAL(18,2)' },
  { name: 'at', type: 'TIMESTAMP' },
  { name: 'paid', type: 'BOOLEAN' },
]
const rows = [
  { name: 'Béla', amount: 10, at: '2024-01-02T00:00:00Z', paid: true },
  { name: 'anna', amount: '9007199254740993', at: '2024-01-01T12:00:00Z', paid: false },
  { name: null, amount: null, at: null, paid: null },
  { name: 'Anna', amount: -2.5, at: '2024-01-01T13:00:00+02:00', paid: true },
]
const seen = (view: Partial<View>): number[] => [
  ...(orderRows(rows, columns, { ...wholeView, ...view }) ?? rows.keys()),
]

test('rows are sorted as the service sorts them: by size, by letter, by moment, what is missing last', () => {
  expect(seen({ sort: { column: 'amount', descending: false } })).toEqual([3, 0, 1, 2])
  expect(seen({ sort: { column: 'amount', descending: true } })).toEqual([1, 0, 3, 2])
  expect(seen({ sort: { column: 'name', descending: false } })).toEqual([3, 0, 1, 2])
  expect(seen({ sort: { column: 'at', descending: false } })).toEqual([3, 1, 0, 2])
  expect(orderRows(rows, columns, wholeView)).toBeNull()
})

test('rows are found by what a column holds, and by words anywhere', () => {
  expect(seen({ filters: [{ column: 'name', test: 'contains', value: 'ANN' }] })).toEqual([1, 3])
  expect(seen({ filters: [{ column: 'amount', test: 'at_least', value: '10' }] })).toEqual([0, 1])
  expect(seen({ filters: [{ column: 'amount', test: 'at_most', value: '10' }] })).toEqual([0, 3])
  expect(seen({ filters: [{ column: 'at', test: 'at_most', value: '2024-01-01T12:00:00.000Z' }] })).toEqual([1, 3])
  expect(seen({ filters: [{ column: 'paid', test: 'is', value: 'true' }] })).toEqual([0, 3])
  expect(seen({ filters: [{ column: 'name', test: 'is_not', value: 'anna' }] })).toEqual([0, 2, 3])
  expect(seen({ filters: [{ column: 'name', test: 'empty' }] })).toEqual([2])
  expect(seen({ filters: [{ column: 'name', test: 'present' }], search: '9007' })).toEqual([1])
  expect(seen({ filters: [{ column: 'gone', test: 'is', value: 'x' }] })).toEqual([0, 1, 2, 3])
})

function profileOf(held: Array<Record<string, unknown>>, column: GridColumn): ColumnProfile {
  const counting = countColumn(held, column)
  for (;;) {
    const { done, value } = counting.next()
    if (done === true) return value
  }
}

test('a column is told by its ends, its commonest values and what is missing', () => {
  const many = Array.from({ length: 30_000 }, (_, at) => ({ n: at % 10 === 0 ? null : at % 50, word: `w${at % 3}` }))
  const numbers = profileOf(many, { name: 'n', type: 'BIGINT' })
  expect(numbers).toMatchObject({ null_count: 3000, distinct_count: 45, min: '1', max: '49' })
  expect(numbers.histogram.reduce((sum, { count }) => sum + count, 0)).toBe(27_000)
  const words = profileOf(many, { name: 'word', type: 'VARCHAR' })
  expect(words.top_values).toEqual([
    { value: 'w0', count: 10_000 },
    { value: 'w1', count: 10_000 },
    { value: 'w2', count: 10_000 },
  ])
  expect(profileOf([], { name: 'n', type: 'BIGINT' })).toMatchObject({ min: null, distinct_count: 0, histogram: [] })
})

test('numbers stand under one another, and those that name a thing are read as they are written', () => {
  const say = (name: string, type: string, values: unknown[]): string[] => {
    const { say: write } = formatOf(
      { name, type },
      values.map((value) => ({ [name]: value })),
    )
    return values.map(write)
  }
  expect(say('amount', 'DOUBLE', [1234.5, 2, 0.25])).toEqual(['1,234.50', '2.00', '0.25'])
  expect(say('amount', 'HUGEINT', ['9007199254740993', '-12345'])).toEqual(['9,007,199,254,740,993', '-12,345'])
  expect(say('customer_id', 'BIGINT', [10_000])).toEqual(['10000'])
  expect(say('year', 'BIGINT', [2024])).toEqual(['2024'])
  expect(sayMoment('no time')).toBe('no time')
  expect(columnsOf([{ a: 1, b: '2024-01-01T10:00:00Z', c: '2024-01-01', d: [1], e: null }])).toEqual([
    { name: 'a', type: 'BIGINT' },
    { name: 'b', type: 'TIMESTAMP' },
    { name: 'c', type: 'DATE' },
    { name: 'd', type: 'JSON' },
    { name: 'e', type: 'VARCHAR' },
  ])
})

test('rows are copied exactly, and nothing in them becomes a formula or a column', () => {
  const odd = [{ a: '=SUM(1)', b: 'x, "y"\nz', c: { d: 1 } }, undefined]
  const names = ['a', 'b', 'c']
  expect(copyText('csv', names, odd)).toBe('a,b,c\r\n\'=SUM(1),"x, ""y""\nz","{""d"":1}"\r\n,,')
  expect(copyText('tsv', names, odd)).toBe('a\tb\tc\n\'=SUM(1)\tx, "y" z\t{"d":1}\n\t\t')
  expect(copyText('markdown', ['a|b'], [{ 'a|b': '1|2' }])).toBe('| a\\|b |\n| --- |\n| 1\\|2 |')
  expect(JSON.parse(copyText('json', ['c'], odd))).toEqual([{ c: { d: 1 } }, { c: null }])
  expect(copyText('csv', ['n'], [{ n: '-12' }])).toBe('n\r\n-12')
})
