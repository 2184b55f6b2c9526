import { expect, test } from 'vitest'
import { chooseThreshold } from '../../../server/router/indexing/calibrate.ts'

const range = (from: number, to: number, count = 100): number[] =>
  Array.from({ length: count }, (_, at) => from + ((to - from) * at) / (count - 1))
const many = 1
const few = 0

test('among many queries without examples zero stands', () => {
  expect(chooseThreshold(many, { accepted: [], taken: [], far: range(-9, -5) })).toBe(0)
})

test('many examples move it to where few of them are refused', () => {
  const accepted = range(-2, 4, 400)
  const threshold = chooseThreshold(many, { accepted, taken: [], far: [] })
  const refused = accepted.filter((value) => value < threshold).length / accepted.length
  expect(threshold).toBeLessThan(0)
  expect(refused).toBeLessThan(0.13)
})

test('near misses that are easily kept out lift it', () => {
  const accepted = range(0, 4, 400)
  const near = chooseThreshold(many, { accepted, taken: range(0.05, 0.31), far: [] })
  expect(near).toBeGreaterThan(chooseThreshold(many, { accepted, taken: range(-30, -20), far: [] }))
})

test('questions of other worlds lift it too', () => {
  const accepted = range(0, 4, 400)
  const none = { accepted, taken: [] }
  expect(chooseThreshold(many, { ...none, far: range(-1, 0.4) })).toBeGreaterThan(
    chooseThreshold(many, { ...none, far: [] }),
  )
})

test('a project that answers what is far away for others does not refuse its own questions for it', () => {
  const accepted = range(-1, 4, 400)
  const threshold = chooseThreshold(many, { accepted, taken: [], far: range(-4, 4) })
  expect(accepted.filter((value) => value < threshold).length / accepted.length).toBeLessThan(0.13)
})

test('among few queries it stands where nearly every far-away question is refused, whatever few examples say', () => {
  const far = range(-5, 2.5)
  for (const accepted of [[], [-3], [7, 8]]) {
    const threshold = chooseThreshold(few, { accepted, taken: [], far })
    expect(far.filter((value) => value >= threshold).length).toBeLessThanOrEqual(1)
  }
})

test('among few queries it stays where a sure question is answered and a strange one refused', () => {
  expect(chooseThreshold(few, { accepted: [], taken: [], far: range(-20, -10) })).toBeGreaterThanOrEqual(-1)
  expect(chooseThreshold(few, { accepted: [], taken: [], far: range(0, 20) })).toBeLessThanOrEqual(4)
})
