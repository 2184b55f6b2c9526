import { yieldToEventLoop } from '../../flow/index.ts'
import { inverseCholesky, inverseCholeskyOfRows } from './cholesky.ts'
import { settle } from './scan-kernel.ts'
import { matrixOf, rowOf, scan, type Matrix } from './vectors.ts'

/** A space in which directions along which a query's own phrasings differ count less. */
export type Whitened = {
  mean: Float32Array
  /** Inverse Cholesky factor of the within-query covariance, cut into bands of rows: right of them it is zero. */
  factor: Matrix[]
  /** Each query's mean in that space, and how many texts it is the mean of. */
  centroids: Matrix
  /** Squared length of each mean. */
  squares: Float32Array
  counts: Int32Array
}

/** Means of a project's queries and how their texts scatter around them, the even queries apart from the odd ones. */
export type Scatter = {
  columns: number
  mean: Float32Array
  means: Float64Array
  counts: Int32Array
  halves: Half[]
}

/** How the texts of half of the queries lie from the means of their queries. */
type Half = { offsets: Float64Array[]; freedom: number; sum?: Float64Array }

// A few thousand texts settle a covariance; more would only make the build longer.
const maxRows = 2_000
// With no two texts of any query there is nothing to learn from: a typical spread keeps the scores on one scale.
const typicalVariance = 0.45 / 384
// Share of the round covariance: there are seldom more texts than dimensions.
const shrink = 0.3
const bandRows = 64
// Below this many texts the factor is made at once, without the covariance.
const fewRows = 128

export async function scatterOf(vectors: Matrix, queryOf: Int32Array, queries: number): Promise<Scatter> {
  const { columns, rows } = vectors
  const counts = new Int32Array(queries)
  const means = new Float64Array(queries * columns)
  const mean = new Float32Array(columns)
  for (const query of queryOf) counts[query] = (counts[query] ?? 0) + 1
  for (let row = 0; row < rows; row += 1) {
    const base = (queryOf[row] ?? 0) * columns
    const share = 1 / (counts[queryOf[row] ?? 0] ?? 1)
    for (let at = 0; at < columns; at += 1) {
      const value = vectors.data[row * columns + at] as number
      means[base + at] = (means[base + at] as number) + value * share
      mean[at] = (mean[at] as number) + value / rows
    }
    await yieldToEventLoop()
  }
  const halves: Half[] = [0, 1].map(() => ({ offsets: [], freedom: 0 }))
  for (let row = 0; row < rows; row += Math.max(1, Math.ceil(rows / maxRows))) {
    const query = queryOf[row] ?? 0
    const texts = counts[query] ?? 0
    const half = halves[query % 2]
    if (texts < 2 || half === undefined) continue
    half.freedom += (texts - 1) / texts
    const own = means.subarray(query * columns, (query + 1) * columns)
    half.offsets.push(Float64Array.from(rowOf(vectors, row), (value, at) => value - (own[at] as number)))
    await yieldToEventLoop()
  }
  return { columns, mean, means, counts, halves }
}

/** The lower triangle of the sum of the products of all pairs; counted once, however many spaces are made of it. */
async function sumOf(half: Half, columns: number): Promise<Float64Array> {
  if (half.sum !== undefined) return half.sum
  const sum = new Float64Array(columns * columns)
  for (const offset of half.offsets) {
    addSquare(sum, offset)
    await yieldToEventLoop()
  }
  half.sum = sum
  return sum
}

/** Adds the products of all pairs to the lower triangle. */
function addSquare(sum: Float64Array, offset: Float64Array): void {
  const size = offset.length
  for (let i = 0; i < size; i += 1) {
    const left = offset[i] as number
    const base = i * size
    for (let j = 0; j <= i; j += 1) sum[base + j] = (sum[base + j] as number) + left * (offset[j] as number)
  }
}

/** The space learned from all of a project's texts, or from one half of its queries to judge the other half fairly. */
export async function whiten({ columns, mean, means, counts, halves }: Scatter, half?: number): Promise<Whitened> {
  const used = half === undefined ? halves : halves.slice(half, half + 1)
  const data = await factorOf(used, columns)
  const factor = bandsOf(data, columns)
  await yieldToEventLoop()
  const centroids = { rows: counts.length, columns, data: new Float32Array(counts.length * columns) }
  for (let query = 0; query < counts.length; query += 1) {
    const own = Float32Array.from(means.subarray(query * columns, (query + 1) * columns))
    centroids.data.set(toWhite({ mean, factor }, own), query * columns)
    await yieldToEventLoop()
  }
  const squares = Float32Array.from({ length: counts.length }, (_, query) => squareOf(rowOf(centroids, query)))
  return { mean, factor, ...settle({ centroids }), squares, counts }
}

/**
 * Each query's mean carried back through the factor: its product with a centred vector is that of both in the white
 * space, and nobody has to carry the vector there.
 */
export async function pullsOf({ factor, centroids }: Whitened): Promise<Matrix> {
  const { rows, columns } = centroids
  const { back } = settle({ back: transposed(factor, columns) })
  const data = new Float32Array(rows * columns)
  for (let row = 0; row < rows; row += 1) {
    data.set(scan(back, rowOf(centroids, row)), row * columns)
    await yieldToEventLoop()
  }
  return settle({ pulls: { rows, columns, data } }).pulls
}

function transposed(factor: Matrix[], columns: number): Matrix {
  const data = new Float32Array(columns * columns)
  let row = 0
  for (const band of factor) {
    for (let at = 0; at < band.rows; at += 1, row += 1)
      rowOf(band, at).forEach((value, column) => (data[column * columns + row] = value))
  }
  return { rows: columns, columns, data }
}

/** Each band as wide as its last row: nearly half of the factor is zeros that need not be read. */
function bandsOf(data: Float32Array, columns: number): Matrix[] {
  const bands: Record<string, Matrix> = {}
  for (let from = 0; from < columns; from += bandRows) {
    const to = Math.min(columns, from + bandRows)
    const rows = Array.from({ length: to - from }, (_, at) =>
      data.subarray((from + at) * columns, (from + at) * columns + to),
    )
    bands[from] = matrixOf(rows, to)
  }
  return Object.values(settle(bands))
}

/** The inverse factor of the covariance of the halves that are used, a share of it being made round. */
async function factorOf(used: Half[], columns: number): Promise<Float32Array> {
  const freedom = used.reduce((sum, each) => sum + each.freedom, 0)
  if (freedom === 0) return roundFactor(columns)
  const offsets = used.flatMap((each) => each.offsets)
  const trace = offsets.reduce((sum, offset) => sum + squareOf(offset), 0) / freedom
  // Texts that are all the same scatter nowhere: the least spread keeps the factor finite.
  const round = Math.max(trace / columns, typicalVariance / 100) * shrink
  const weight = (1 - shrink) / freedom
  if (offsets.length <= fewRows) return inverseCholeskyOfRows(offsets, { round, weight, size: columns })
  const covariance = new Float64Array(columns * columns)
  for (const each of used) {
    const sum = await sumOf(each, columns)
    for (let at = 0; at < sum.length; at += 1)
      covariance[at] = (covariance[at] as number) + (sum[at] as number) * weight
  }
  for (let at = 0; at < columns; at += 1)
    covariance[at * columns + at] = (covariance[at * columns + at] as number) + round
  await yieldToEventLoop()
  return inverseCholesky(covariance, columns)
}

/** The factor where there is nothing to learn from. */
function roundFactor(columns: number): Float32Array {
  const factor = new Float32Array(columns * columns)
  for (let at = 0; at < columns; at += 1) factor[at * columns + at] = 1 / Math.sqrt(typicalVariance)
  return factor
}

/** Where a vector lies from the mean of all texts. */
export function centred({ mean }: Pick<Whitened, 'mean'>, vector: Float32Array): Float32Array {
  const offset = new Float32Array(mean.length)
  for (let at = 0; at < offset.length; at += 1) offset[at] = (vector[at] as number) - (mean[at] as number)
  return offset
}

export function toWhite({ factor, mean }: Pick<Whitened, 'factor' | 'mean'>, vector: Float32Array): Float32Array {
  const offset = centred({ mean }, vector)
  const white = new Float32Array(mean.length)
  let done = 0
  for (const band of factor) {
    white.set(scan(band, offset.subarray(0, band.columns)), done)
    done += band.rows
  }
  return white
}

export function squareOf(vector: Float32Array | Float64Array): number {
  let sum = 0
  for (let at = 0; at < vector.length; at += 1) sum += (vector[at] as number) ** 2
  return sum
}

export function squaredDistance(left: Float32Array, right: Float32Array): number {
  let [a, b] = [0, 0]
  for (let at = 0; at < left.length; at += 2) {
    const first = (left[at] as number) - (right[at] as number)
    const second = (left[at + 1] as number) - (right[at + 1] as number)
    a += first * first
    b += second * second
  }
  return a + b
}
