import fc from 'fast-check'
import { expect, test } from 'vitest'
import { brokenBound, exceedsDepth } from '../../server/json-depth.ts'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

test('the depth of any JSON, whatever stands in its texts', () => {
  const text = fc.constantFrom('a', '[[[', '"', '\\', '\\"', '{"', '\\\\"[', '', '}]')
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 7 },
      text,
      fc.integer(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(text, tie('value'), { maxKeys: 3 }),
    ),
  }))
  fc.assert(
    fc.property(value, fc.integer({ min: 0, max: 8 }), fc.constantFrom(0, 1), (each, most, indent) => {
      expect(exceedsDepth(JSON.stringify(each, null, indent), most)).toBe(depthOf(each) > most)
    }),
    { numRuns: 500 },
  )
})

test('what is no JSON is scanned to its end without trouble', () => {
  fc.assert(fc.property(fc.string(), (text) => void exceedsDepth(text, 3)))
  expect(exceedsDepth('['.repeat(1_000_000), 64)).toBe(true)
  expect(exceedsDepth('[]'.repeat(1_000_000), 64)).toBe(false)
  expect(exceedsDepth(`"${'\\'.repeat(1_000_000)}`, 64)).toBe(false)
})

test('members of one object and of all of them together, whatever stands in its texts', () => {
  const text = fc.constantFrom('a', 'b', 'c', 'd', ',,,', '"', '{"a":1,', '}')
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, text, fc.array(tie('value'), { maxLength: 6 }), fc.dictionary(text, tie('value'))),
  }))
  const most = (each: unknown): number => {
    if (typeof each !== 'object' || each === null) return 0
    const own = Array.isArray(each) ? 0 : Object.keys(each).length
    return Math.max(own, ...Object.values(each).map(most))
  }
  fc.assert(
    fc.property(value, fc.integer({ min: 1, max: 6 }), (each, members) => {
      const broken = brokenBound(JSON.stringify(each), { depth: 64, members, values: Infinity })
      expect(broken).toBe(most(each) > members ? 'members' : undefined)
    }),
    { numRuns: 500 },
  )
  const all = { depth: 64, members: Infinity, values: 10 }
  expect(
    brokenBound(
      JSON.stringify([
        [1, 2, 3],
        [4, 5, 6],
      ]),
      all,
    ),
  ).toBeUndefined()
  expect(
    brokenBound(
      JSON.stringify([
        [1, 2, 3],
        [4, 5, 6],
        [7, 8, 9],
      ]),
      all,
    ),
  ).toBe('values')
})
