import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { slotsSchema } from '../../../api/slots.ts'
import { bindSlots, checkSlots, compileSlots } from '../../../server/queries/slots/slots.ts'
import { spentMs } from '../../harness/processor-time.ts'

const compile = (properties: object, required: string[] = []) =>
  compileSlots(slotsSchema.parse({ type: 'object', properties, required }))

/** What a slot of this schema makes of a value: the canonical form, or the message. */
function read(schema: object, value: unknown): unknown {
  const checked = checkSlots(compile({ x: schema }), { x: value })
  return 'details' in checked ? checked.details[0]?.message : checked.parameters['x']
}

describe('a call names every slot at fault at once', () => {
  const compiled = compile({ region: { type: 'string' }, year: { type: 'integer' }, paid: { type: 'boolean' } }, [
    'region',
    'year',
  ])
  test('missing, unknown and mistyped together', () => {
    expect(() => bindSlots(compiled, { regoin: 'north', paid: 'yes' })).toThrow(
      expect.objectContaining({
        code: 'invalid_query',
        reason: 'missing_slots',
        details: [
          { field: 'region', message: 'is required' },
          { field: 'year', message: 'is required' },
          { field: 'paid', message: 'must be true or false' },
          { field: 'regoin', message: 'is not a slot of this query; perhaps you meant region' },
        ],
      }),
    )
  })
  test('the reason is the first that applies: missing, unknown, invalid', () => {
    const good = { region: 'north', year: 2024 }
    expect(() => bindSlots(compiled, { ...good, other: 1 })).toThrow(
      expect.objectContaining({ reason: 'unknown_slots' }),
    )
    expect(() => bindSlots(compiled, { ...good, paid: 1 })).toThrow(
      expect.objectContaining({ reason: 'invalid_slots' }),
    )
  })
  test('null is the same as left out; a default fills in; what is optional is NULL', () => {
    const slots = compile({ a: { type: 'integer', default: 5 }, b: { type: 'string' } }, ['a'])
    for (const given of [{}, { a: null, b: null }]) {
      expect(bindSlots(slots, given).slots).toEqual([
        { name: 'a', type: 'integer', value: 5 },
        { name: 'b', type: 'string', value: null },
      ])
    }
    expect(() => bindSlots(compile({ a: { type: 'string' } }, ['a']), { a: null })).toThrow(
      expect.objectContaining({ reason: 'missing_slots' }),
    )
  })
  test('names of Object.prototype are slots like any other, and unknown ones are refused', () => {
    expect(() => bindSlots(compiled, JSON.parse('{"__proto__": 1, "region": "a", "year": 1}'))).toThrow(
      expect.objectContaining({ reason: 'unknown_slots' }),
    )
    expect(bindSlots(compile({ constructor: { type: 'string' } }), {}).parameters).toEqual({ constructor: null })
  })
  test('the key of a call depends on the values, not on their order or spelling', () => {
    const slots = compile({ a: { type: 'string', format: 'date-time' }, b: { type: 'integer' } })
    const left = bindSlots(slots, { a: '2024-01-01T10:00:00+02:00', b: 1 })
    const right = bindSlots(slots, { b: 1, a: '2024-01-01T08:00:00Z' })
    expect(left.key).toBe(right.key)
    expect(left.key).not.toBe(bindSlots(slots, { b: 2, a: '2024-01-01T08:00:00Z' }).key)
  })
})

describe('values', () => {
  test.each<[string, object, unknown, unknown]>([
    ['an integer', { type: 'integer' }, 42, 42],
    ['the largest exact integer', { type: 'integer' }, 2 ** 53 - 1, 2 ** 53 - 1],
    ['2^63 as text', { type: 'integer' }, '9223372036854775808', '9223372036854775808'],
    ['2^63 as a number has lost digits', { type: 'integer' }, 2 ** 63, 'must be sent as text beyond ±(2^53 − 1)'],
    ['a small integer as text', { type: 'integer' }, '5', 'must be an integer, not text'],
    ['too many bits', { type: 'integer' }, '9'.repeat(39), 'must have at most 127 bits'],
    ['a fraction', { type: 'integer' }, 1.5, 'must be an integer'],
    ['minus zero', { type: 'integer' }, -0, 0],
    ['a number', { type: 'number' }, 1.5, 1.5],
    ['infinity', { type: 'number' }, Infinity, 'must be a number'],
    ['NaN', { type: 'number' }, NaN, 'must be a number'],
    ['a number as text', { type: 'number' }, '1.5', 'must be a number'],
    ['a boolean', { type: 'boolean' }, true, true],
    ['yes', { type: 'boolean' }, 'yes', 'must be true or false'],
    ['8 KB of text', { type: 'string' }, 'x'.repeat(8_192), 'x'.repeat(8_192)],
    ['NUL', { type: 'string' }, 'a\0b', 'must not contain a NUL character'],
    ['half a pair', { type: 'string' }, '\ud800', 'must be well-formed Unicode'],
    ['SQL', { type: 'string' }, "'; DROP TABLE orders; --", "'; DROP TABLE orders; --"],
    ['an object', { type: 'string' }, { a: 1 }, 'must be a string'],
    ['a date', { type: 'string', format: 'date' }, '2024-02-29', '2024-02-29'],
    ['no such day', { type: 'string', format: 'date' }, '2023-02-29', 'must be a date as YYYY-MM-DD'],
    ['no such month', { type: 'string', format: 'date' }, '2023-13-01', 'must be a date as YYYY-MM-DD'],
    ['a date in words', { type: 'string', format: 'date' }, 'yesterday', 'must be a date as YYYY-MM-DD'],
    ['UTC', { type: 'string', format: 'date-time' }, '2024-01-31T23:30:00Z', '2024-01-31T23:30:00Z'],
    [
      'an offset',
      { type: 'string', format: 'date-time' },
      '2024-01-31T23:30:00.1234567-01:30',
      '2024-02-01T01:00:00.123456Z',
    ],
    [
      '25 o’clock',
      { type: 'string', format: 'date-time' },
      '2024-01-31T25:00:00Z',
      'must be a timestamp as YYYY-MM-DDTHH:MM:SSZ',
    ],
    ['a time', { type: 'string', format: 'time' }, '08:30', '08:30:00'],
    ['a time to the microsecond', { type: 'string', format: 'time' }, '23:59:59.1234567', '23:59:59.123456'],
    ['24 hours', { type: 'string', format: 'time' }, '24:00', 'must be a time of day as HH:MM or HH:MM:SS'],
    [
      'a time with an offset',
      { type: 'string', format: 'time' },
      '08:30:00Z',
      'must be a time of day as HH:MM or HH:MM:SS',
    ],
    ['an array', { type: 'array', items: { type: 'integer' } }, [1, 2], [1, 2]],
    ['an empty array', { type: 'array', items: { type: 'integer' } }, [], []],
    ['a bad item', { type: 'array', items: { type: 'integer' } }, [1, 'x'], 'item 1 must be an integer'],
    ['a scalar for an array', { type: 'array', items: { type: 'integer' } }, 1, 'must be an array'],
    ['a choice', { type: 'string', enum: ['north', 'south'] }, 'north', 'north'],
    [
      'no choice',
      { type: 'string', enum: ['north', 'south'] },
      'nort',
      'must be one of north, south; perhaps you meant north',
    ],
    ['a match', { type: 'string', pattern: '^[A-Z]{2}$' }, 'DE', 'DE'],
    ['no match', { type: 'string', pattern: '^[A-Z]{2}$' }, 'DEU', 'must match ^[A-Z]{2}$'],
    ['at the bound', { type: 'integer', minimum: 1, maximum: 3 }, 3, 3],
    ['above it', { type: 'integer', minimum: 1, maximum: 3 }, 4, 'must be at most 3'],
    ['far above it', { type: 'integer', maximum: 3 }, '9223372036854775808', 'must be at most 3'],
    ['below', { type: 'number', minimum: 0.5 }, 0.25, 'must be at least 0.5'],
  ])('%s', (_name, schema, value, expected) => {
    expect(read(schema, value)).toEqual(expected)
  })

  test('10,000 items pass, one more does not', () => {
    const list = { type: 'array', items: { type: 'integer' } }
    expect(
      read(
        list,
        Array.from({ length: 10_000 }, (_, index) => index),
      ),
    ).toHaveLength(10_000)
    expect(
      read(
        list,
        Array.from({ length: 10_001 }, () => 1),
      ),
    ).toBe('must have at most 10000 items')
  })

  test('of 50 values that are no choice, the first three come with the nearest one', () => {
    const choice = { type: 'string', enum: Array.from({ length: 1_000 }, (_, at) => `region_${at}`) }
    const compiled = compile(Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`s${at}`, choice])))
    const given = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`s${at}`, 'regoin_1']))
    const checked = checkSlots(compiled, given)
    const messages = 'details' in checked ? checked.details.map(({ message }) => message) : []
    expect(messages).toHaveLength(50)
    expect(messages.filter((message) => message.endsWith('perhaps you meant region_1'))).toHaveLength(3)
  })

  test('a pattern that would stall a backtracking matcher answers at once', () => {
    const startedMs = spentMs()
    expect(read({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(5_000)}b`)).toMatch(/must match/)
    expect(spentMs() - startedMs).toBeLessThan(1_000)
  })

  test('whatever JSON is sent, the canonical form of what passes passes again unchanged', () => {
    const schemas = [
      { type: 'string' },
      { type: 'integer' },
      { type: 'number' },
      { type: 'boolean' },
      { type: 'string', format: 'date' },
      { type: 'string', format: 'date-time' },
      { type: 'array', items: { type: 'integer' } },
    ]
    fc.assert(
      fc.property(fc.constantFrom(...schemas), fc.jsonValue(), (schema, value) => {
        const slots = compile({ x: schema })
        const once = checkSlots(slots, { x: value })
        if ('details' in once) return
        expect(checkSlots(slots, once.parameters)).toEqual(once)
      }),
    )
  })
})
