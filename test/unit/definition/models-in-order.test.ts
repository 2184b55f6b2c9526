import { expect, test } from 'vitest'
import { definedModel } from '../../../api/definition.ts'
import { namesIn } from '../../../server/definition/names-in.ts'
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
  expect(namesIn(sql, known)).toEqual(['orders', 't2'])
})
