import { expect, test } from 'vitest'
import { inverseCholesky, inverseCholeskyOfRows } from '../../../server/router/vectors/cholesky.ts'

/** The same, one sum after the other. */
function plainInverse(matrix: Float64Array, size: number): Float32Array {
  const lower = new Float64Array(size * size)
  const at = (data: Float64Array, row: number, column: number): number => data[row * size + column] ?? 0
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column <= row; column += 1) {
      let sum = at(matrix, row, column)
      for (let k = 0; k < column; k += 1) sum -= at(lower, row, k) * at(lower, column, k)
      lower[row * size + column] = row === column ? Math.sqrt(Math.max(sum, 1e-9)) : sum / at(lower, column, column)
    }
  }
  const inverse = new Float64Array(size * size)
  for (let column = 0; column < size; column += 1) {
    for (let row = column; row < size; row += 1) {
      let sum = row === column ? 1 : 0
      for (let k = column; k < row; k += 1) sum -= at(lower, row, k) * at(inverse, k, column)
      inverse[row * size + column] = sum / at(lower, row, row)
    }
  }
  return Float32Array.from(inverse)
}

/** Symmetric, with all eigenvalues above a half. */
function someMatrix(size: number): Float64Array {
  const factor = Float64Array.from({ length: size * size }, (_, at) => Math.sin(at * 12.9898) / Math.sqrt(size))
  return Float64Array.from({ length: size * size }, (_, at) => {
    const [row, column] = [Math.floor(at / size), at % size]
    let sum = row === column ? 0.5 : 0
    for (let k = 0; k < size; k += 1) sum += (factor[row * size + k] ?? 0) * (factor[column * size + k] ?? 0)
    return sum
  })
}

test.each([1, 3, 4, 7, 8, 61])(
  'the inverse factor of %i columns is to the bit what one sum after the other gives',
  async (size) => {
    const matrix = someMatrix(size)
    expect(await inverseCholesky(matrix, size)).toEqual(plainInverse(matrix, size))
  },
)

test('what has no factor still gets a finite one', async () => {
  const inverse = await inverseCholesky(new Float64Array(64), 8)
  expect(inverse.every(Number.isFinite)).toBe(true)
})

test.each([0, 1, 2, 5, 40, 90])('made of %i rows it is what the matrix of their squares has', async (count) => {
  const [size, round, weight] = [61, 0.02, 0.7]
  const rows = Array.from({ length: count }, (_, row) =>
    Float64Array.from({ length: size }, (__, at) => Math.sin((row * size + at) * 78.233) / 4),
  )
  const matrix = Float64Array.from({ length: size * size }, (_, at) => {
    const [i, j] = [Math.floor(at / size), at % size]
    return rows.reduce((sum, row) => sum + weight * (row[i] ?? 0) * (row[j] ?? 0), i === j ? round : 0)
  })
  const [made, plain] = [await inverseCholeskyOfRows(rows, { round, weight, size }), plainInverse(matrix, size)]
  const largest = Math.max(...plain.map(Math.abs))
  made.forEach((value, at) => expect(Math.abs(value - (plain[at] ?? 0))).toBeLessThan(largest * 1e-6))
})
