import { breather } from './breathe.ts'
import { rowOf, type Matrix } from './vectors.ts'

/** A space in which directions along which a query's own phrasings differ count less. */
export type Whitened = {
  columns: number
  mean: Float32Array
  /** Inverse Cholesky factor of the within-query covariance, its lower triangle row after row. */
  factor: Float32Array
  /** Each query's mean in that space, and how many texts it is the mean of. */
  centroids: Matrix
  counts: Int32Array
}

// A few thousand texts settle a covariance; more would only make the build longer.
const mostRows = 2_000
// With no two texts of any query there is nothing to learn from: a typical spread keeps the scores on one scale.
const typicalVariance = 0.45 / 384

type Classes = { classOf: Int32Array; count: number }

/** Shared within-class covariance, shrunk to a round one. Built in steps that leave room for other work. */
export async function whiten(vectors: Matrix, classes: Classes, shrink: number): Promise<Whitened> {
  const { columns, rows } = vectors
  const counts = new Int32Array(classes.count)
  const sums = new Float64Array(classes.count * columns)
  const mean = new Float32Array(columns)
  for (let row = 0; row < rows; row += 1) {
    const own = classes.classOf[row] ?? 0
    counts[own] = (counts[own] ?? 0) + 1
    rowOf(vectors, row).forEach((value, at) => {
      sums[own * columns + at] = (sums[own * columns + at] as number) + value
      mean[at] = (mean[at] as number) + value / rows
    })
  }
  const means = sums.map((sum, at) => sum / Math.max(counts[Math.floor(at / columns)] ?? 0, 1))
  const covariance = await withinCovariance(vectors, classes, means, counts)
  const factor = await inverseCholesky(shrunk(covariance, columns, shrink), columns)
  const centroids = { rows: classes.count, columns, data: new Float32Array(classes.count * columns) }
  const breathe = breather()
  for (let row = 0; row < classes.count; row += 1) {
    const own = Float32Array.from(means.subarray(row * columns, (row + 1) * columns))
    centroids.data.set(toWhite({ columns, mean, factor }, own), row * columns)
    await breathe()
  }
  return { columns, mean, factor, centroids, counts }
}

async function withinCovariance(
  vectors: Matrix,
  { classOf }: Classes,
  means: Float64Array,
  counts: Int32Array,
): Promise<Float64Array> {
  const { columns, rows } = vectors
  const breathe = breather()
  const covariance = new Float64Array(columns * columns)
  const offset = new Float64Array(columns)
  const step = Math.max(1, Math.ceil(rows / mostRows))
  let freedom = 0
  for (let row = 0; row < rows; row += step) {
    const own = classOf[row] ?? 0
    const texts = counts[own] ?? 0
    if (texts < 2) continue
    freedom += (texts - 1) / texts
    const vector = rowOf(vectors, row)
    for (let at = 0; at < columns; at += 1) offset[at] = (vector[at] as number) - (means[own * columns + at] as number)
    for (let i = 0; i < columns; i += 1) {
      const left = offset[i] as number
      const base = i * columns
      for (let j = 0; j <= i; j += 1)
        covariance[base + j] = (covariance[base + j] as number) + left * (offset[j] as number)
    }
    await breathe()
  }
  return freedom === 0 ? covariance : covariance.map((value) => value / freedom)
}

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

async function inverseCholesky(matrix: Float64Array, size: number): Promise<Float32Array> {
  const breathe = breather()
  const lower = new Float64Array(size * size)
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let sum = matrix[i * size + j] as number
      for (let k = 0; k < j; k += 1) sum -= (lower[i * size + k] as number) * (lower[j * size + k] as number)
      lower[i * size + j] = i === j ? Math.sqrt(Math.max(sum, 1e-9)) : sum / (lower[j * size + j] as number)
    }
    await breathe()
  }
  const inverse = new Float64Array(size * size)
  for (let column = 0; column < size; column += 1) {
    for (let row = column; row < size; row += 1) {
      let sum = row === column ? 1 : 0
      for (let k = column; k < row; k += 1)
        sum -= (lower[row * size + k] as number) * (inverse[k * size + column] as number)
      inverse[row * size + column] = sum / (lower[row * size + row] as number)
    }
    await breathe()
  }
  return Float32Array.from(inverse)
}

export function toWhite(
  { factor, columns, mean }: Pick<Whitened, 'factor' | 'columns' | 'mean'>,
  vector: Float32Array,
): Float32Array {
  const offset = new Float32Array(columns)
  for (let at = 0; at < columns; at += 1) offset[at] = (vector[at] as number) - (mean[at] as number)
  const white = new Float32Array(columns)
  for (let row = 0; row < columns; row += 1) {
    const base = row * columns
    let sum = 0
    for (let at = 0; at <= row; at += 1) sum += (factor[base + at] as number) * (offset[at] as number)
    white[row] = sum
  }
  return white
}
