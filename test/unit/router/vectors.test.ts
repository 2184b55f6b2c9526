import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import openWabt from 'wabt'
import { kernel, roughen, settle } from '../../../server/router/vectors/scan-kernel.ts'
import { dotRow, matrixOf, scan, scanRanges } from '../../../server/router/vectors/vectors.ts'
import { centred, pullsOf, scatterOf, toWhite, whiten } from '../../../server/router/vectors/whiten.ts'

const columns = 16
// Numbers without a pattern, the same on every run.
const vector = (seed: number): Float32Array =>
  Float32Array.from({ length: columns }, (_, at) => {
    const mixed = Math.imul((seed * columns + at + 1) ^ 0x5bd1e995, 0x9e3779b1)
    return ((Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> 9) % 1000) / 500 - 1
  })

test('the bytes of the kernel are scan.wat, assembled', async () => {
  const path = 'server/router/vectors/scan.wat'
  const module = (await openWabt()).parseWat(path, readFileSync(path, 'utf8'), { simd: true })
  module.validate()
  expect(Buffer.from(module.toBinary({}).buffer).toString('base64')).toBe(kernel)
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

test('several ranges are as good as one at a time', () => {
  const { rows } = settle({ rows: matrixOf([1, 2, 3, 4, 5].map(vector), columns) })
  const both = scanRanges(rows, vector(9), [3, 5, 0, 1])
  expect([...both]).toEqual([...scan(rows, vector(9), 3, 5), ...scan(rows, vector(9), 0, 1)])
  expect(both).toHaveLength(3)
})

test('rough sums are near the exact ones, whatever the size of a row', async () => {
  const scaled = (seed: number): Float32Array => vector(seed).map((value) => value * seed * 0.3)
  const [left, right] = [matrixOf([1, 2, 3].map(scaled), columns), matrixOf([4, 5, 6].map(vector), columns)]
  const sums = (await roughen(left, right))(vector(8), vector(9))
  expect(sums).toHaveLength(3)
  sums.forEach((sum, row) => {
    const exact = dotRow(left, row, vector(8)) + dotRow(right, row, vector(9))
    expect(Math.abs(sum - exact)).toBeLessThan(0.06)
  })
})

test('a question that is its own mask is compared with both rows of a pair at once', async () => {
  const [left, right] = [matrixOf([1, 2, 3].map(vector), columns), matrixOf([4, 5, 6].map(vector), columns)]
  const rough = await roughen(left, right)
  const asked = vector(8)
  const apart = rough(asked, asked.slice())
  rough(asked, asked).forEach((sum, row) => {
    const exact = dotRow(left, row, asked) + dotRow(right, row, asked)
    expect(Math.abs(sum - exact)).toBeLessThan(0.06)
    expect(Math.abs(sum - (apart[row] ?? NaN))).toBeLessThan(0.06)
  })
})

test('a vector in the whitened space is the factor times it, also where the factor is cut into bands', async () => {
  const wide = 160
  const long = (seed: number): Float32Array =>
    Float32Array.from({ length: wide }, (_, at) => vector(seed * 10 + Math.floor(at / columns))[at % columns] ?? 0)
  const rows = Array.from({ length: 60 }, (_, at) => long(at + 1))
  const queryOf = Int32Array.from(rows, (_, at) => at % 6)
  const space = await whiten(await scatterOf(matrixOf(rows, wide), queryOf, 6))
  expect(space.factor.map((band) => [band.rows, band.columns])).toEqual([
    [64, 64],
    [64, 128],
    [32, 160],
  ])
  const asked = long(99)
  const offset = asked.map((value, at) => value - (space.mean[at] ?? 0))
  const expected = space.factor.flatMap((band) =>
    Array.from({ length: band.rows }, (_, row) => {
      let sum = 0
      for (let at = 0; at < band.columns; at += 1) sum += (band.data[row * band.columns + at] ?? 0) * (offset[at] ?? 0)
      return sum
    }),
  )
  toWhite(space, asked).forEach((value, at) => expect(value).toBeCloseTo(expected[at] ?? NaN, 2))
  const products = scan(await pullsOf(space), centred(space, asked))
  const white = scan(space.centroids, toWhite(space, asked))
  expect(products).toHaveLength(6)
  products.forEach((product, query) => expect(product / (white[query] ?? NaN)).toBeCloseTo(1, 3))
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
