import { expect, test } from 'vitest'
import { chooseThreshold } from '../../../server/questions/refuse.ts'

const range = (from: number, to: number, count = 100): number[] =>
  Array.from({ length: count }, (_, at) => from + ((to - from) * at) / (count - 1))

test('without examples the general threshold stands', () => {
  expect(chooseThreshold(-1, { accepted: [], taken: [], far: range(-9, -5), valued: [] })).toBe(-1)
})

test('many examples move it to where few of them are refused', () => {
  const accepted = range(-2, 4, 400)
  const threshold = chooseThreshold(0, { accepted, taken: [], far: [], valued: [] })
  const refused = accepted.filter((value) => value < threshold).length / accepted.length
  expect(threshold).toBeLessThan(0)
  expect(refused).toBeLessThan(0.13)
})

test('near misses that are easily kept out lift it', () => {
  const accepted = range(0, 4, 400)
  const near = chooseThreshold(0, { accepted, taken: range(0.05, 0.31), far: [], valued: [] })
  expect(near).toBeGreaterThan(chooseThreshold(0, { accepted, taken: range(-30, -20), far: [], valued: [] }))
})

test('questions that only name a value of the project lift it too', () => {
  const accepted = range(0, 4, 400)
  const none = { accepted, taken: [], far: [] }
  expect(chooseThreshold(-1, { ...none, valued: range(-1, 0.3) })).toBeGreaterThan(
    chooseThreshold(-1, { ...none, valued: [] }),
  )
})

test('a project that answers what is far away for others does not refuse its own questions for it', () => {
  const accepted = range(-1, 4, 400)
  const threshold = chooseThreshold(-1, { accepted, taken: [], far: range(-4, 4), valued: [] })
  expect(accepted.filter((value) => value < threshold).length / accepted.length).toBeLessThan(0.13)
})
