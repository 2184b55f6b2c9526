import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { fromWire, toWire } from '../../../api/wire-codec.ts'

const schema = z.strictObject({
  max_rows: z.int().nullable(),
  rate_limit: z.strictObject({ per_minute: z.int(), burst: z.int() }).nullable().default(null),
  made_at: z.string(),
  tags: z.array(z.strictObject({ tag_name: z.string() })).optional(),
  slot_values: z.record(z.string(), z.unknown()),
  any_thing: z.unknown(),
})

test('keys of the schema are renamed however deep they stand; those that people chose are not', () => {
  const wire = {
    max_rows: 5,
    rate_limit: { per_minute: 60, burst: 2 },
    made_at: '2026-01-02T03:04:05.000Z',
    tags: [{ tag_name: 'a' }],
    slot_values: { max_rows: 1, nested_key: { per_minute: 2 } },
    any_thing: { per_minute: [{ tag_name: 1 }] },
  }
  const value = fromWire(schema, wire)
  expect(value).toEqual({
    maxRows: 5,
    rateLimit: { perMinute: 60, burst: 2 },
    madeAt: '2026-01-02T03:04:05.000Z',
    tags: [{ tagName: 'a' }],
    slotValues: { max_rows: 1, nested_key: { per_minute: 2 } },
    anyThing: { per_minute: [{ tag_name: 1 }] },
  })
  expect(toWire(schema, { ...value, madeAt: new Date('2026-01-02T03:04:05Z') })).toEqual(wire)
})

test('what the schema does not name never reaches the wire, and what is left out stays left out', () => {
  const given = { maxRows: null, madeAt: 'x', slotValues: {}, anyThing: null, rateLimit: null, secretHash: 'no' }
  expect(toWire(schema, given)).toEqual({
    max_rows: null,
    made_at: 'x',
    slot_values: {},
    any_thing: null,
    rate_limit: null,
  })
  expect(fromWire(schema.partial(), { max_rows: 3 })).toEqual({ maxRows: 3 })
})

test('there and back is the same, whatever the values are', () => {
  const json = fc.jsonValue()
  const any = fc.record({
    max_rows: fc.option(fc.integer()),
    rate_limit: fc.option(fc.record({ per_minute: fc.integer(), burst: fc.integer() })),
    made_at: fc.string(),
    tags: fc.array(fc.record({ tag_name: fc.string() })),
    slot_values: fc.dictionary(fc.string(), json),
    any_thing: json,
  })
  fc.assert(
    fc.property(any, (wire) => {
      expect(toWire(schema, fromWire(schema, wire))).toEqual(wire)
    }),
  )
})
