import { expect, test } from 'vitest'
import { slotsSchema } from '../../../api/slots.ts'
import { compareContracts } from '../../../server/queries/slots/compatibility.ts'

const contract = (columns: Record<string, string>, properties: object = {}, required: string[] = []) => ({
  columns: Object.entries(columns).map(([name, type]) => ({ name, type })),
  slots: slotsSchema.parse({ type: 'object', properties, required }),
})
const text = { type: 'string' }
const base = contract({ id: 'BIGINT' }, { a: text }, ['a'])

test('the first version is first', () => {
  expect(compareContracts(null, base)).toEqual({ compatibility: 'first', changes: [] })
})

test.each<[string, ReturnType<typeof contract>, ReturnType<typeof contract>, string]>([
  ['nothing changes', base, base, 'compatible'],
  ['a wider integer', contract({ id: 'INTEGER' }), contract({ id: 'BIGINT' }), 'compatible'],
  ['another order of columns', contract({ a: 'DATE', b: 'DATE' }), contract({ b: 'DATE', a: 'DATE' }), 'compatible'],
  ['a new column', contract({ id: 'BIGINT' }), contract({ id: 'BIGINT', x: 'DATE' }), 'additive'],
  ['a column that is gone', contract({ id: 'BIGINT', x: 'DATE' }), contract({ id: 'BIGINT' }), 'breaking'],
  ['a column of another type', contract({ id: 'BIGINT' }), contract({ id: 'VARCHAR' }), 'breaking'],
  ['a new optional slot', contract({}), contract({}, { a: text }), 'additive'],
  ['a new required slot', contract({}), contract({}, { a: text }, ['a']), 'breaking'],
  [
    'a new required slot with a default',
    contract({}),
    contract({}, { a: { ...text, default: 'x' } }, ['a']),
    'additive',
  ],
  ['a slot that is gone', contract({}, { a: text }), contract({}), 'breaking'],
  ['optional becomes required', contract({}, { a: text }), contract({}, { a: text }, ['a']), 'breaking'],
  ['required becomes optional', contract({}, { a: text }, ['a']), contract({}, { a: text }), 'additive'],
  ['another type', contract({}, { a: text }), contract({}, { a: { type: 'integer' } }), 'breaking'],
  ['text to a time', contract({}, { a: text }), contract({}, { a: { ...text, format: 'time' } }), 'breaking'],
  ['a title', contract({}, { a: text }), contract({}, { a: { ...text, title: 'Region' } }), 'compatible'],
  ['integer to number', contract({}, { a: { type: 'integer' } }), contract({}, { a: { type: 'number' } }), 'additive'],
  [
    'fewer choices',
    contract({}, { a: { ...text, enum: ['x', 'y'] } }),
    contract({}, { a: { ...text, enum: ['x'] } }),
    'breaking',
  ],
  [
    'more choices',
    contract({}, { a: { ...text, enum: ['x'] } }),
    contract({}, { a: { ...text, enum: ['x', 'y'] } }),
    'additive',
  ],
  [
    'choices where there were none',
    contract({}, { a: text }),
    contract({}, { a: { ...text, enum: ['x'] } }),
    'breaking',
  ],
  [
    'a higher minimum',
    contract({}, { a: { type: 'integer', minimum: 1 } }),
    contract({}, { a: { type: 'integer', minimum: 2 } }),
    'breaking',
  ],
  [
    'a lower minimum',
    contract({}, { a: { type: 'integer', minimum: 2 } }),
    contract({}, { a: { type: 'integer', minimum: 1 } }),
    'additive',
  ],
  [
    'a new maximum',
    contract({}, { a: { type: 'integer' } }),
    contract({}, { a: { type: 'integer', maximum: 1 } }),
    'breaking',
  ],
  ['a new pattern', contract({}, { a: text }), contract({}, { a: { ...text, pattern: 'x' } }), 'breaking'],
  ['no pattern any more', contract({}, { a: { ...text, pattern: 'x' } }), contract({}, { a: text }), 'additive'],
  [
    'another default',
    contract({}, { a: { ...text, default: 'x' } }),
    contract({}, { a: { ...text, default: 'y' } }),
    'compatible',
  ],
])('%s', (_name, before, after, expected) => {
  expect(compareContracts(before, after).compatibility).toBe(expected)
})
