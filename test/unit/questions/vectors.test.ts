import { expect, test } from 'vitest'
import { settle } from '../../../server/questions/ranking/scan-kernel.ts'
import { dotRow, matrixOf, scan } from '../../../server/questions/ranking/vectors.ts'
import { scatterOf, toWhite, whiten } from '../../../server/questions/ranking/whiten.ts'

const columns = 16
// Numbers without a pattern, the same on every run.
const vector = (seed: number): Float32Array =>
  Float32Array.from({ length: columns }, (_, at) => {
    const mixed = Math.imul((seed * columns + at + 1) ^ 0x5bd1e995, 0x9e3779b1)
    return ((Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> 9) % 1000) / 500 - 1
  })

test('the kernel finds the dot products that plain arithmetic finds', () => {
  const plain = { long: matrixOf([1, 2, 3, 4, 5].map(vector), columns), short: matrixOf([6, 7].map(vector), columns) }
  const settled = settle(plain)
  for (const name of ['long', 'short', 'long'] as const) {
    const scores = scan(settled[name], vector(9))
    expect(scores).toHaveLength(plain[name].rows)
    scores.forEach((score, row) => expect(score).toBeCloseTo(dotRow(plain[name], row, vector(9)), 4))
  }
})

test('in the whitened space the texts of a query scatter evenly in all directions', async () => {
  const rows = Array.from({ length: 400 }, (_, at) => vector(at).map((value, column) => value * (column < 4 ? 5 : 0.5)))
  const matrix = matrixOf(rows, columns)
  const queryOf = Int32Array.from(rows, (_, at) => at % 4)
  const space = await whiten(await scatterOf(matrix, queryOf, 4))
  const spreads = Array.from({ length: columns }, () => 0)
  rows.forEach((row, at) => {
    const white = toWhite(space, row)
    const base = (at % 4) * columns
    white.forEach((value, column) => {
      spreads[column] = (spreads[column] ?? 0) + (value - (space.centroids.data[base + column] ?? 0)) ** 2 / rows.length
    })
  })
  // Before, the widest direction had a hundred times the spread of the narrowest.
  expect(Math.max(...spreads) / Math.min(...spreads)).toBeLessThan(20)
})
