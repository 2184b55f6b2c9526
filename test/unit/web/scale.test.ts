import { expect, test } from 'vitest'
import { arcsOf } from '../../../clients/chart/index.ts'
import { pieceAt, reachesOf, scaleOf, shareIn, shareOf } from '../../../web/parts/chart/scale.ts'

test('an axis has three to six marks at round numbers around all values', () => {
  expect(scaleOf([3, 17, 42]).ticks).toEqual([0, 10, 20, 30, 40, 50])
  expect(scaleOf([0.12, 0.31]).ticks).toEqual([0, 0.1, 0.2, 0.3, 0.4])
  expect(scaleOf([-5, 12]).ticks).toEqual([-5, 0, 5, 10, 15])
  expect(scaleOf([981, 1004], { isClose: true }).ticks).toEqual([980, 985, 990, 995, 1000, 1005])
  // Half a call is no mark.
  expect(scaleOf([0, 1, 2], { isWhole: true }).ticks).toEqual([0, 1, 2])
  for (const numbers of [[], [0], [7], [-3], [1e-7], [4e15, 9e15], [0.1, 0.2, 0.30000000000000004]]) {
    for (const isClose of [true, false]) {
      const scale = scaleOf(numbers, { isClose })
      expect(scale.ticks.length, numbers.join()).toBeGreaterThanOrEqual(2)
      expect(scale.ticks.length, numbers.join()).toBeLessThanOrEqual(7)
      expect(scale.high).toBeGreaterThan(scale.low)
      for (const number of numbers)
        expect(shareIn(scale, number)).toBeCloseTo(Math.min(1, Math.max(0, shareIn(scale, number))), 9)
    }
  }
})

test('the pointer meets the piece that is drawn there', () => {
  for (const spread of ['bands', 'ends'] as const)
    for (const count of [1, 2, 7, 100])
      for (let piece = 0; piece < count; piece++)
        expect(pieceAt(spread, shareOf(spread, piece, count), count)).toBe(piece)
  expect([pieceAt('ends', -1, 5), pieceAt('ends', 2, 5), pieceAt('bands', 1, 5)]).toEqual([0, 4, 4])
})

test('values stand on those of their own stack, above and below nothing, and unknown ones nowhere', () => {
  const lines = [
    { values: [2, null, -1], stack: 'now' },
    { values: [3, 4, -2], stack: 'now' },
    { values: [5, 1, 1], stack: null },
  ]
  expect(reachesOf(lines)).toEqual([
    [[0, 2], null, [0, -1]],
    [
      [2, 5],
      [0, 4],
      [-1, -3],
    ],
    [
      [0, 5],
      [0, 1],
      [0, 1],
    ],
  ])
})

test('parts of a whole go once around', () => {
  const [whole] = arcsOf([5], 200)
  expect(whole).toMatch(/^M 100 100 m -92 0 a 92 92 0 1 0 184 0 a /)
  const arcs = arcsOf([3, 1], 200)
  expect(arcs).toEqual([
    'M 100 100 L 100.0 8.0 A 92 92 0 1 1 8.0 100.0 Z',
    'M 100 100 L 8.0 100.0 A 92 92 0 0 1 100.0 8.0 Z',
  ])
})
