import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseInPieces } from '../../../server/http/request/json-pieces.ts'

const parse = (text: string): unknown => JSON.parse(text)
const without = { parse }
/** With limits, the shortest text is taken apart. */
const bounded = { parse, limits: { part: () => undefined, whole: () => undefined } }
const long = Array.from({ length: 20_000 }, (_, at) => ({ at, text: `{[",\\${at}`, more: [[], {}, null] }))

test('whatever JSON writes is read as JSON reads it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), fc.constantFrom(undefined, 1, '\t'), async (text, space) => {
      const spaced = JSON.stringify(JSON.parse(text), null, space)
      for (const reading of [without, bounded]) {
        expect(await parseInPieces(spaced, reading)).toEqual(JSON.parse(spaced))
      }
    }),
  )
  const numbers = Array.from({ length: 40_000 }, (_, at) => at)
  const members = Object.fromEntries(numbers.map((at) => [`member ${at}`, [at]]))
  const odd = [{}, [], { a: [] }, { long, after: 1, '"': { '\\': [','] } }, { long: [long, long], b: '}' }]
  for (const value of [...odd, long, numbers, { numbers }, members, { members }, { ['n'.repeat(300_000)]: long }]) {
    for (const space of [undefined, 2]) {
      const text = ` ${JSON.stringify(value, null, space)}\n`
      // Compared as texts: of values of megabytes that takes a hundredth of the time.
      for (const reading of [without, bounded]) {
        expect(JSON.stringify(await parseInPieces(text, reading)) === JSON.stringify(value)).toBe(true)
      }
    }
  }
})

const many = JSON.stringify(long)

test.each([
  '{',
  '{"a":1,}',
  '{,"a":1}',
  '{"a":1} {"b":2}',
  '{"a" 1}',
  '{"a":}',
  '{a:1}',
  '{"a":[],}',
  '{,"a":[]}',
  '{"a":[]"b":1}',
  '[1,]',
  '[,1]',
  '[1],[2]',
  '\u00a0{"a":1}',
  '{"a":1]}',
  `{"a":${many.slice(0, -1)},]}`,
  `{"a":[,${many.slice(1)}}`,
  `{"a":${many}],"b":1}`,
  `{"a":${many}`,
  `${many.slice(0, -1)},]`,
  `{"b":${many},}`,
])('what is no JSON is refused: %.30s', async (text) => {
  expect(() => parse(text)).toThrow(SyntaxError)
  for (const reading of [without, bounded]) {
    await expect(parseInPieces(text, reading)).rejects.toThrow(SyntaxError)
  }
})

test('limits are asked of every piece before it is parsed, and of what is found while it is looked through', async () => {
  const [parts, wholes]: [string[], object[]] = [[], []]
  const limits = {
    part: (text: string) => void parts.push(text),
    whole: (found: object) => void wholes.push(found),
  }
  await parseInPieces('{"a":1,"b":[{"c":[2,3]},4]}', { parse, limits })
  expect(parts).toEqual(['"a":1', '{"c":[2,3]}', '4'])
  // Behind "a", with `"b"` and all it holds, behind the first of its items, and behind the second.
  expect(wholes).toEqual([
    { parts: 1, values: 1 },
    { parts: 2, values: 7 },
    { parts: 1, values: 4 },
    { parts: 2, values: 5 },
  ])
})

test('what holds too much is refused before it has been looked through', async () => {
  const seen: Array<{ parts: number; values: number }> = []
  const whole = (found: { parts: number; values: number }): void => {
    seen.push(found)
    if (found.values > 50_000) throw new Error('too many')
  }
  const text = `{"a":[${'{},'.repeat(1_000_000)}{}]}`
  const reading = { parse, limits: { part: () => undefined, whole } }
  await expect(parseInPieces(text, reading)).rejects.toThrow('too many')
  expect(seen.at(-1)?.parts).toBe(0)
  expect(seen.at(-1)?.values).toBeLessThan(200_000)
})
