import { expect, test } from 'vitest'
import { startOf } from '../../../server/connections/request/last-value.ts'
import { totalRows } from '../../../server/connections/request/total-rows.ts'
import { outlineOf } from '../../../server/rows/index.ts'

const start = (type: string, value: string, lookBack?: string | number) =>
  startOf({ mode: 'append', cursor: { field: 'at', ...(lookBack !== undefined && { lookBack }) } }, { type, value })
    ?.value

test.each([
  ['BIGINT', '9007199254740993', 3, '9007199254740990'],
  ['DECIMAL(18,2)', '10.50', 0.5, '10'],
  ['DATE', '2026-03-01', '1d', '2026-02-28'],
  ['DATE', '2026-03-01', '1h', '2026-02-28'],
  ['TIMESTAMP', '2026-03-01 00:00:00.000001', '1s', '2026-02-28 23:59:59.000001'],
  ['TIMESTAMPTZ', '2026-03-01 00:00:00+00', '1w', '2026-02-22 00:00:00+00'],
  ['TIMESTAMP', '2026-03-01 00:00:00', undefined, '2026-03-01 00:00:00'],
])('a look-back from %s %s by %s begins at %s', (type, value, lookBack, begins) => {
  expect(start(type, value, lookBack)).toBe(begins)
})

test('a look-back that does not fit its column says so', () => {
  expect(() => start('VARCHAR', 'x', '1d')).toThrow('look_back does not fit at, which is VARCHAR')
  expect(() => start('TIMESTAMP', '2026-03-01 00:00:00', 5)).toThrow('a number needs a column of numbers')
  expect(() => start('BIGINT', '5', '1d')).toThrow('needs a column of days or times')
})

test('a first load begins at the value it is given, and otherwise nowhere', () => {
  expect(startOf({ mode: 'merge', cursor: { field: 'at', initialValue: 0 } }, null)).toEqual({
    type: 'DOUBLE',
    value: '0',
  })
  expect(startOf({ mode: 'merge', cursor: { field: 'at' } }, null)).toBeNull()
  expect(startOf({ mode: 'merge' }, { type: 'BIGINT', value: '1' })).toBeNull()
})

test.each([
  [{ 'x-total-count': '600' }, [], 600],
  [{ 'content-range': 'items 0-99/600' }, [], 600],
  [{}, { data: [], meta: { pagination: { total: 600 } } }, 600],
  [{}, { hits: { total: { value: 600, relation: 'eq' } } }, 600],
  [{}, { count: 100, results: [] }, null],
  [{}, { data: [{ total: 600 }] }, null],
  [{ 'x-total-count': 'many' }, null, null],
])('of %o and %o the total is %s', (headers: Record<string, string>, body, total) => {
  expect(totalRows({ headers, outline: outlineOf(body), rowCount: 100, rowsAt: ['data'] })).toBe(total)
})
