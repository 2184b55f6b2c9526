import { expect, test } from 'vitest'
import { chooseThreshold } from '../../../server/questions/refuse.ts'

const range = (from: number, to: number, count = 100): number[] =>
  Array.from({ length: count }, (_, at) => from + ((to - from) * at) / (count - 1))

test('without examples the general threshold stands', () => {
  expect(chooseThreshold(-1, { accepted: [], taken: [], far: range(-9, -5) })).toBe(-1)
})

test('many examples move it to where few of them are refused', () => {
  const accepted = range(-2, 4, 400)
  const threshold = chooseThreshold(0, { accepted, taken: [], far: [] })
  const refused = accepted.filter((value) => value < threshold).length / accepted.length
  expect(threshold).toBeLessThan(0)
  expect(refused).toBeLessThan(0.1)
})

test('near misses that are easily kept out lift it', () => {
  const accepted = range(0, 4, 400)
  const near = chooseThreshold(0, { accepted, taken: range(0.05, 0.31), far: [] })
  expect(near).toBeGreaterThan(chooseThreshold(0, { accepted, taken: range(-30, -20), far: [] }))
})

test('a project that answers what is far away for others does not refuse its own questions for it', () => {
  const accepted = range(-1, 4, 400)
  const threshold = chooseThreshold(-1, { accepted, taken: [], far: range(-4, 4) })
  expect(accepted.filter((value) => value < threshold).length / accepted.length).toBeLessThan(0.1)
})
