/** Rows of equal length in one array: scanned without touching an object per row. */
export type Matrix = { rows: number; columns: number; data: Float32Array }

export function matrixOf(vectors: Float32Array[], columns: number): Matrix {
  const data = new Float32Array(vectors.length * columns)
  vectors.forEach((vector, row) => data.set(vector, row * columns))
  return { rows: vectors.length, columns, data }
}

export function rowOf(matrix: Matrix, row: number): Float32Array {
  return matrix.data.subarray(row * matrix.columns, (row + 1) * matrix.columns)
}

/** Dot product of one row with a vector; four sums, so that the additions do not wait for one another. */
export function dotRow(matrix: Matrix, row: number, vector: Float32Array): number {
  const { data, columns } = matrix
  const base = row * columns
  let [a, b, c, d] = [0, 0, 0, 0]
  for (let at = 0; at < columns; at += 4) {
    a += (data[base + at] as number) * (vector[at] as number)
    b += (data[base + at + 1] as number) * (vector[at + 1] as number)
    c += (data[base + at + 2] as number) * (vector[at + 2] as number)
    d += (data[base + at + 3] as number) * (vector[at + 3] as number)
  }
  return a + b + c + d
}

export function scan(matrix: Matrix, vector: Float32Array): Float32Array {
  const scores = new Float32Array(matrix.rows)
  for (let row = 0; row < matrix.rows; row += 1) scores[row] = dotRow(matrix, row, vector)
  return scores
}

export function normalise(vector: Float32Array): Float32Array {
  let squares = 0
  for (const value of vector) squares += value * value
  const length = Math.sqrt(squares) || 1
  return vector.map((value) => value / length)
}

/** A space in which directions along which a query's own phrasings differ count less. */
export type Whitened = {
  /** Lower triangle of the inverse Cholesky factor, row after row. */
  factor: Float32Array
  columns: number
  mean: Float32Array
  /** Each query's mean, whitened, and how many texts it is the mean of. */
  centroids: Matrix
  counts: Int32Array
}

/** Shared within-class covariance, shrunk to a round one; the fewer texts there are, the rounder. */
export function whiten(vectors: Matrix, classOf: Int32Array, classes: number, shrink: number): Whitened {
  const { columns, rows } = vectors
  const counts = new Int32Array(classes)
  const sums = new Float64Array(classes * columns)
  const mean = new Float32Array(columns)
  for (let row = 0; row < rows; row += 1) {
    const base = (classOf[row] ?? 0) * columns
    counts[classOf[row] ?? 0] = (counts[classOf[row] ?? 0] ?? 0) + 1
    const vector = rowOf(vectors, row)
    for (let at = 0; at < columns; at += 1) {
      sums[base + at] = (sums[base + at] as number) + (vector[at] as number)
      mean[at] = (mean[at] as number) + (vector[at] as number) / rows
    }
  }
  for (let at = 0; at < sums.length; at += 1)
    sums[at] = (sums[at] as number) / Math.max(counts[Math.floor(at / columns)] ?? 0, 1)
  const covariance = withinCovariance(vectors, classOf, sums, counts)
  const factor = inverseCholesky(shrunk(covariance, columns, shrink), columns)
  const space = {
    factor,
    columns,
    mean,
    counts,
    centroids: { rows: classes, columns, data: new Float32Array(classes * columns) },
  }
  for (let row = 0; row < classes; row += 1) {
    space.centroids.data.set(
      toWhite(space, Float32Array.from(sums.subarray(row * columns, (row + 1) * columns))),
      row * columns,
    )
  }
  return space
}

function withinCovariance(vectors: Matrix, classOf: Int32Array, means: Float64Array, counts: Int32Array): Float64Array {
  const { columns, rows } = vectors
  const covariance = new Float64Array(columns * columns)
  let freedom = 0
  for (const count of counts) freedom += Math.max(count - 1, 0)
  const offset = new Float64Array(columns)
  for (let row = 0; row < rows; row += 1) {
    if ((counts[classOf[row] ?? 0] ?? 0) < 2) continue
    const base = (classOf[row] ?? 0) * columns
    const vector = rowOf(vectors, row)
    for (let at = 0; at < columns; at += 1) offset[at] = (vector[at] as number) - (means[base + at] as number)
    for (let i = 0; i < columns; i += 1) {
      const own = (offset[i] as number) / freedom
      for (let j = 0; j <= i; j += 1)
        covariance[i * columns + j] = (covariance[i * columns + j] as number) + own * (offset[j] as number)
    }
  }
  return covariance
}

// With no two texts of any query there is nothing to learn from: a typical spread keeps the scores on one scale.
const typicalVariance = 0.45 / 384

function shrunk(covariance: Float64Array, columns: number, shrink: number): Float64Array {
  let trace = 0
  for (let at = 0; at < columns; at += 1) trace += covariance[at * columns + at] as number
  const round = trace > 0 ? trace / columns : typicalVariance
  const keep = trace > 0 ? 1 - shrink : 0
  const result = covariance.map((value) => value * keep)
  for (let at = 0; at < columns; at += 1)
    result[at * columns + at] = (result[at * columns + at] as number) + round * (1 - keep)
  return result
}

/** Inverse of the lower Cholesky factor, packed as a full lower triangle. */
function inverseCholesky(matrix: Float64Array, size: number): Float32Array {
  const lower = new Float64Array(size * size)
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let sum = matrix[i * size + j] as number
      for (let k = 0; k < j; k += 1) sum -= (lower[i * size + k] as number) * (lower[j * size + k] as number)
      lower[i * size + j] = i === j ? Math.sqrt(Math.max(sum, 1e-9)) : sum / (lower[j * size + j] as number)
    }
  }
  const inverse = new Float32Array(size * size)
  for (let column = 0; column < size; column += 1) {
    for (let row = column; row < size; row += 1) {
      let sum = row === column ? 1 : 0
      for (let k = column; k < row; k += 1)
        sum -= (lower[row * size + k] as number) * (inverse[k * size + column] as number)
      inverse[row * size + column] = sum / (lower[row * size + row] as number)
    }
  }
  return inverse
}

export function toWhite(space: Pick<Whitened, 'factor' | 'columns' | 'mean'>, vector: Float32Array): Float32Array {
  const { factor, columns, mean } = space
  const offset = vector.map((value, at) => value - (mean[at] as number))
  const white = new Float32Array(columns)
  for (let row = 0; row < columns; row += 1) {
    let sum = 0
    const base = row * columns
    for (let at = 0; at <= row; at += 1) sum += (factor[base + at] as number) * (offset[at] as number)
    white[row] = sum
  }
  return white
}
