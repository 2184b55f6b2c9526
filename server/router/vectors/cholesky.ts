import { yieldToEventLoop } from '../../flow/index.ts'

// So many rows or columns are worked on between two looks at other work.
const turnRows = 8

/** The inverse of the lower Cholesky factor of a symmetric matrix, whose upper triangle is not read. */
export async function inverseCholesky(matrix: Float64Array, size: number): Promise<Float32Array> {
  const lower = new Float64Array(size * size)
  for (let row = 0; row < size; row += 1) {
    factorRow(matrix, lower, { row, size })
    if (row % turnRows === 0) await yieldToEventLoop()
  }
  // As the transpose, so that the inner loop runs along rows of both.
  const transposed = new Float64Array(size * size)
  for (let column = 0; column < size; column += 1) {
    invertColumn(lower, transposed, { column, size })
    if (column % turnRows === 0) await yieldToEventLoop()
  }
  const inverse = new Float32Array(size * size)
  for (let row = 0; row < size; row += 1)
    for (let column = 0; column <= row; column += 1)
      inverse[row * size + column] = transposed[column * size + row] as number
  return inverse
}

type Spread = { round: number; weight: number; size: number }

/**
 * The same of `round` times the identity plus `weight` times the sum of the squares of the rows given, of which there
 * are few. Below the diagonal such a factor has no higher rank than there are rows, and the matrix need not be made: one
 * of as many rows and columns as there are rows is inverted step by step instead, one coordinate after the other.
 */
export async function inverseCholeskyOfRows(
  rows: Float64Array[],
  { round, weight, size }: Spread,
): Promise<Float32Array> {
  const count = rows.length
  const scale = Math.sqrt(weight / round)
  /** The rows on their side: what each coordinate is in all of them. */
  const points = new Float64Array(size * count)
  rows.forEach((row, at) => row.forEach((value, i) => (points[i * count + at] = value * scale)))
  /** Inverse of the identity plus the squares of the points so far. */
  const inverse = new Float64Array(count * count)
  for (let at = 0; at < count; at += 1) inverse[at * count + at] = 1
  const factor = new Float32Array(size * size)
  const pull = new Float64Array(count)
  for (let i = 0; i < size; i += 1) {
    const point = points.subarray(i * count, (i + 1) * count)
    multiply(inverse, point, { rows: count, into: pull, from: 0 })
    let grown = 1
    for (let at = 0; at < count; at += 1) grown += (pull[at] as number) * (point[at] as number)
    const length = 1 / Math.sqrt(grown * round)
    multiply(points, pull, { rows: i, into: factor, from: i * size })
    for (let j = i * size; j < i * size + i; j += 1) factor[j] = -length * (factor[j] as number)
    factor[i * size + i] = length
    for (let at = 0; at < count; at += 1) {
      const times = (pull[at] as number) / grown
      const base = at * count
      for (let other = 0; other < count; other += 1)
        inverse[base + other] = (inverse[base + other] as number) - times * (pull[other] as number)
    }
    await yieldToEventLoop()
  }
  return factor
}

type Product = { rows: number; into: Float32Array | Float64Array; from: number }

/** The products of so many rows of a matrix with a vector. */
function multiply(matrix: Float64Array, vector: Float64Array, { rows, into, from }: Product): void {
  const columns = vector.length
  for (let row = 0; row < rows; row += 1) {
    let sum = 0
    for (let k = 0; k < columns; k += 1) sum += (matrix[row * columns + k] as number) * (vector[k] as number)
    into[from + row] = sum
  }
}

/** One row of the factor; those above it are there. */
function factorRow(matrix: Float64Array, lower: Float64Array, { row, size }: { row: number; size: number }): void {
  const own = row * size
  for (let column = 0; column <= row; column += 1) {
    const base = column * size
    let sum = matrix[own + column] as number
    for (let k = 0; k < column; k += 1) sum -= (lower[own + k] as number) * (lower[base + k] as number)
    lower[own + column] = row === column ? Math.sqrt(Math.max(sum, 1e-9)) : sum / (lower[base + column] as number)
  }
}

/** One column of the inverse, along a row of the transpose. */
function invertColumn(
  lower: Float64Array,
  transposed: Float64Array,
  { column, size }: { column: number; size: number },
): void {
  const own = column * size
  for (let row = column; row < size; row += 1) {
    const base = row * size
    let sum = row === column ? 1 : 0
    for (let k = column; k < row; k += 1) sum -= (lower[base + k] as number) * (transposed[own + k] as number)
    transposed[own + row] = sum / (lower[base + row] as number)
  }
}
