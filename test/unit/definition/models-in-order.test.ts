import { expect, test } from 'vitest'
import { definedModel } from '../../../api/definition.ts'
import { knownWords, tablesIn } from '../../../server/definition/known-words.ts'
import { modelsInOrder } from '../../../server/definition/plan-models.ts'

const names = async (models: Record<string, string>) => {
  const given = Object.entries(models).map(([name, sql]) => definedModel.parse({ name, sql }))
  return (await modelsInOrder(given))?.map(({ name }) => name)
}

test('models stand behind those that their text names, in any spelling, and where they name each other', async () => {
  expect(await names({ c: 'select * from B', b: 'select * from {{new rows of a}}', a: 'select * from t' })).toEqual([
    'a',
    'b',
    'c',
  ])
  expect(await names({ a: 'select * from b, a', b: 'select * from a', c: 'select * from t' })).toEqual(['b', 'a', 'c'])
  expect(await modelsInOrder(undefined)).toBeUndefined()
})

test('a name is a word of its own', () => {
  const known = new Set(['orders', 'order_lines', 't2'])
  const sql = 'select Orders.id, orders2.id from "ORDERS" join my_order_lines on t2.id = orders.id -- t'
  expect(knownWords(sql, known)).toEqual(['orders', 't2'])
})

test.each([
  ['with orders as (select * from stg_orders) select * from orders', ['stg_orders']],
  ['with orders as (select * from orders) select * from orders', ['orders']],
  ['with a as (select * from orders), orders as (select 1) select * from orders', ['orders']],
  ['with a as (select 1), Orders as not materialized (select (1)) select orders.id from "ORDERS"', []],
  ['select * from (with orders as (select 1) select * from orders) x, orders', ['orders']],
  ['with a as (with orders as (select 1) select * from orders), b as (select * from orders) select 1', ['orders']],
  ["with orders as -- (the best\n (select ')' /* ) */ from stg_orders) select * from orders as o", ['stg_orders']],
  ['select orders as x, stg_orders from t', ['orders', 'stg_orders']],
  ['with orders as (select 1', []],
])('tables of %s', (sql, tables) => {
  expect(tablesIn(sql, new Set(['orders', 'stg_orders']))).toEqual(tables)
})

test('a text that is made to take long takes as long as it is', () => {
  for (const text of ['/*', "'", '(', 'orders as (', ')', '--', 'a ', "''"]) {
    const sql = text.repeat(Math.ceil(100_000 / text.length))
    const begun = performance.now()
    tablesIn(sql, new Set(['orders']))
    expect(performance.now() - begun, text).toBeLessThan(500)
  }
})
