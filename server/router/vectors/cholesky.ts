import { yieldToEventLoop } from '../../flow/index.ts'

/**
 * Rows, then columns, that are worked on side by side. A sum waits for its last addition: four that do not wait for
 * each other take a third of the time, and each adds in the same order as alone.
 */
const lanes = 4

/** The inverse of the lower Cholesky factor of a symmetric matrix, whose upper triangle is not read. */
export async function inverseCholesky(matrix: Float64Array, size: number): Promise<Float32Array> {
  const lower = new Float64Array(size * size)
  for (let from = 0; from < size; from += lanes) {
    const areFour = from + lanes <= size
    if (areFour) factorRows(matrix, lower, { from, size })
    for (let row = from; row < Math.min(size, from + lanes); row += 1) {
      factorRow(matrix, lower, { row, from: areFour ? from : 0, size })
    }
    await yieldToEventLoop()
  }
  // As the transpose, so that the inner loops run along rows of both.
  const transposed = new Float64Array(size * size)
  for (let from = 0; from < size; from += lanes) {
    const areFour = from + lanes <= size
    for (let column = from; column < Math.min(size, from + lanes); column += 1) {
      invertColumn(lower, transposed, { column, to: areFour ? from + lanes : size, size })
    }
    if (areFour) invertColumns(lower, transposed, { from, size })
    await yieldToEventLoop()
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
  let row = 0
  for (; row + lanes <= rows; row += lanes) {
    const first = row * columns
    const second = first + columns
    const third = second + columns
    const fourth = third + columns
    let a = 0
    let b = 0
    let c = 0
    let d = 0
    for (let k = 0; k < columns; k += 1) {
      const value = vector[k] as number
      a += (matrix[first + k] as number) * value
      b += (matrix[second + k] as number) * value
      c += (matrix[third + k] as number) * value
      d += (matrix[fourth + k] as number) * value
    }
    into[from + row] = a
    into[from + row + 1] = b
    into[from + row + 2] = c
    into[from + row + 3] = d
  }
  for (; row < rows; row += 1) {
    let sum = 0
    for (let k = 0; k < columns; k += 1) sum += (matrix[row * columns + k] as number) * (vector[k] as number)
    into[from + row] = sum
  }
}

/** Four rows of the factor, up to the columns that they are themselves. */
function factorRows(matrix: Float64Array, lower: Float64Array, { from, size }: { from: number; size: number }): void {
  const first = from * size
  const second = first + size
  const third = second + size
  const fourth = third + size
  for (let column = 0; column < from; column += 1) {
    const base = column * size
    let a = matrix[first + column] as number
    let b = matrix[second + column] as number
    let c = matrix[third + column] as number
    let d = matrix[fourth + column] as number
    for (let k = 0; k < column; k += 1) {
      const factor = lower[base + k] as number
      a -= (lower[first + k] as number) * factor
      b -= (lower[second + k] as number) * factor
      c -= (lower[third + k] as number) * factor
      d -= (lower[fourth + k] as number) * factor
    }
    const pivot = lower[base + column] as number
    lower[first + column] = a / pivot
    lower[second + column] = b / pivot
    lower[third + column] = c / pivot
    lower[fourth + column] = d / pivot
  }
}

/** One row of the factor, the columns before `from` being there. */
function factorRow(
  matrix: Float64Array,
  lower: Float64Array,
  { row, from, size }: { row: number; from: number; size: number },
): void {
  const own = row * size
  for (let column = from; column <= row; column += 1) {
    const base = column * size
    let sum = matrix[own + column] as number
    for (let k = 0; k < column; k += 1) sum -= (lower[own + k] as number) * (lower[base + k] as number)
    lower[own + column] = row === column ? Math.sqrt(Math.max(sum, 1e-9)) : sum / (lower[base + column] as number)
  }
}

/** One column of the inverse, down to the row before `to`. */
function invertColumn(
  lower: Float64Array,
  transposed: Float64Array,
  { column, to, size }: { column: number; to: number; size: number },
): void {
  const own = column * size
  for (let row = column; row < to; row += 1) {
    const base = row * size
    let sum = row === column ? 1 : 0
    for (let k = column; k < row; k += 1) sum -= (lower[base + k] as number) * (transposed[own + k] as number)
    transposed[own + row] = sum / (lower[base + row] as number)
  }
}

/** Four columns of the inverse, below the rows that they are themselves. */
function invertColumns(
  lower: Float64Array,
  transposed: Float64Array,
  { from, size }: { from: number; size: number },
): void {
  const first = from * size
  const second = first + size
  const third = second + size
  const fourth = third + size
  for (let row = from + lanes; row < size; row += 1) {
    const base = row * size
    let a = 0
    let b = 0
    let c = 0
    let d = 0
    // Above its diagonal a column is zero and adds nothing.
    for (let k = from; k < row; k += 1) {
      const factor = lower[base + k] as number
      a -= factor * (transposed[first + k] as number)
      b -= factor * (transposed[second + k] as number)
      c -= factor * (transposed[third + k] as number)
      d -= factor * (transposed[fourth + k] as number)
    }
    const pivot = lower[base + row] as number
    transposed[first + row] = a / pivot
    transposed[second + row] = b / pivot
    transposed[third + row] = c / pivot
    transposed[fourth + row] = d / pivot
  }
}
