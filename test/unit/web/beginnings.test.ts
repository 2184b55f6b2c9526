import { expect, test } from 'vitest'
import { sayBeginning, sayValue } from '../../../web/text/words.ts'

test.each([null, 1, true, 'short', [1, 'a', null], { a: [1, { b: 'c"d' }], e: {} }, [], [[], {}]])(
  'a short value is written whole: %j',
  (value) => {
    expect(sayBeginning(value)).toBe(sayValue(value))
  },
)

test('of a long one only the beginning is written, whatever its size', () => {
  expect(sayBeginning('x'.repeat(5_000))).toBe(`${'x'.repeat(1_000)}…`)
  const rows = Array.from({ length: 200_000 }, (_, id) => ({ id, name: 'n'.repeat(50) }))
  let looked = 0
  const watched = new Proxy(rows, {
    get: (target, key, receiver) => ((looked += 1), Reflect.get(target, key, receiver)),
  })
  expect(sayBeginning(watched)).toBe(`${JSON.stringify(rows).slice(0, 1_000)}…`)
  expect(looked).toBeLessThan(200)
  const deep = sayBeginning({ text: 'y'.repeat(10_000_000) })
  expect(deep).toHaveLength(1_001)
})
