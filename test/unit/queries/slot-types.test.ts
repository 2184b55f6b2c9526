import { expect, test } from 'vitest'
import { scalarSlotTypes, slotSchema, type ScalarSlotType } from '../../../api/slots.ts'
import { castOf } from '../../../server/engine/executor/instance/slots.ts'
import { readerOf, scalarTypeOf, schemaOfType, slotTypeOf } from '../../../server/queries/slots/slot-values.ts'
import { freshSlot, slotTypeChoices, slotTypeOf as webTypeOf } from '../../../web/pages/query/slots/slot-types.ts'

const names = Object.keys(scalarSlotTypes) as ScalarSlotType[]

test.each(names)('the type %s is the same to the wire, to queries, to the engine and to the web app', (name) => {
  const schema = slotSchema.parse(schemaOfType(name))
  expect(slotTypeOf(schema)).toBe(name)
  expect(slotTypeOf(slotSchema.parse(schemaOfType(`${name}[]`)))).toBe(`${name}[]`)
  expect(castOf(`${name}[]`)).toBe(`${castOf(name)}[]`)
  expect(readerOf(schema)({})).toHaveProperty('problem')
  expect(slotTypeChoices.map(({ value }) => value)).toContain(name)
  expect(freshSlot(name)).toEqual(schema)
  expect(webTypeOf({ ...scalarSlotTypes[name] })).toBe(name)
})

test('each type has a schema of its own', () => {
  expect(new Set(names.map((name) => JSON.stringify(scalarSlotTypes[name]))).size).toBe(names.length)
  for (const name of names) expect(scalarTypeOf({ ...scalarSlotTypes[name], description: 'said' })).toBe(name)
})
