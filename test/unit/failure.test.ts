import { expect, test } from 'vitest'
import { closest, editDistance, envelopeOf, Failure, listProblems } from '../../server/failure.ts'
import { spentMs } from '../harness/processor-time.ts'

const problems = (length: number) => Array.from({ length }, (_, at) => ({ field: `f${at}`, message: 'is wrong' }))

test('a failure tells 20 problems, counts the rest, and says so in its envelope only where there is a rest', () => {
  const many = envelopeOf(new Failure('invalid_request', { details: problems(50), more: 7 }), 'req')
  expect(many.details).toEqual(problems(20))
  expect(many.more).toBe(37)
  expect(envelopeOf(new Failure('invalid_request', { details: problems(20) }), 'req')).not.toHaveProperty('more')
  expect(listProblems(problems(12), 3)).toMatch(/^f0 is wrong; .*f9 is wrong; and 5 more$/)
})

test('a name or value is repeated with 100 characters, and half a character never', () => {
  const name = 'x'.repeat(99)
  const { message, details } = new Failure('invalid_request', {
    message: `There is no ${name}yz. Look again.`,
    details: [{ field: `a.${name}yz.b`, message: `${'🙂'.repeat(60)} is wrong` }],
  })
  expect(message).toBe(`There is no ${name}… Look again.`)
  expect(details?.[0]?.field).toBe(`a.${name}….b`)
  expect(details?.[0]?.message.isWellFormed()).toBe(true)
  expect(details?.[0]?.message).toMatch(/… is wrong$/)
  expect(new Failure('invalid_request', { message: 'a b '.repeat(1_000_000) }).message.length).toBeLessThan(4_100)
})

test('the closest name is found as far as a few characters, and not among what is too long to be one', () => {
  const known = ['region', 'customer', 'started_at']
  expect(closest('regoin', known)).toBe('region')
  expect(closest('REGION', known)).toBe('region')
  expect(closest('costumers', known)).toBe('customer')
  expect(closest('stated_at', known)).toBe('started_at')
  expect(closest('weather', known)).toBeUndefined()
  expect(closest('x'.repeat(101), ['x'.repeat(100)])).toBeUndefined()
  expect(closest('', known)).toBeUndefined()
})

test('a name is compared with 2,000 others in a few steps for each of its characters', () => {
  const known = Array.from({ length: 2_001 }, (_, at) => `${'ab'.repeat(47)}${at}`)
  const given = `${'ab'.repeat(42)}vwxyzvwxyzvw`
  const started = spentMs()
  for (let at = 0; at < 20; at += 1) expect(closest(given, known)).toBeUndefined()
  // Alone it takes 0.4 s.
  expect(spentMs() - started).toBeLessThan(8_000)
  expect(closest(known[2_000] ?? '', known)).not.toBe(known[2_000])
})

test('the distance of two texts is that of their whole table, up to five edits', () => {
  const letters = (length: number, seed: number) =>
    Array.from({ length }, (_, at) => 'abc'[(seed * (at + 3) * 7919 + ((at * at * seed) % 11)) % 3]).join('')
  for (let seed = 1; seed < 400; seed += 1) {
    const [one, other] = [letters(seed % 13, seed), letters((seed * 5) % 14, seed + 17)]
    const whole = wholeDistance(one, other)
    expect(editDistance(one, other, 6), `${one} ${other}`).toBe(Math.min(6, whole))
    expect(editDistance(one, other, 3), `${one} ${other}`).toBe(Math.min(3, whole))
  }
  expect(editDistance('a', 'İİİ', 6)).toBe(6)
  expect(editDistance('x'.repeat(101), 'x'.repeat(101), 6)).toBe(6)
})

function wholeDistance(left: string, right: string): number {
  const table = [Array.from({ length: right.length + 1 }, (_, at) => at)]
  for (let row = 1; row <= left.length; row += 1) {
    const above = table[row - 1] ?? []
    const current = [row]
    for (let at = 1; at <= right.length; at += 1) {
      const changed = (above[at - 1] ?? 0) + (left[row - 1] === right[at - 1] ? 0 : 1)
      current.push(Math.min(changed, (above[at] ?? 0) + 1, (current[at - 1] ?? 0) + 1))
    }
    table.push(current)
  }
  return table[left.length]?.[right.length] ?? 0
}
