/** Rows of equal length in one array: scanned without touching an object per row. */
export type Matrix = {
  rows: number
  columns: number
  data: Float32Array
  /** Dot products of some rows with a vector, where the matrix is settled for it; ranges as in `scanRanges`. */
  scan?: (vector: Float32Array, ranges: ArrayLike<number>) => Float32Array
}

export function matrixOf(vectors: Float32Array[], columns: number): Matrix {
  const data = new Float32Array(vectors.length * columns)
  vectors.forEach((vector, row) => data.set(vector, row * columns))
  return { rows: vectors.length, columns, data }
}

export function rowOf(matrix: Matrix, row: number): Float32Array {
  return matrix.data.subarray(row * matrix.columns, (row + 1) * matrix.columns)
}

/** Dot product of one row with a vector; four sums, so that the additions do not wait in line. */
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

/** Dot products of the rows from `from` up to `to` with a vector. */
export function scan(matrix: Matrix, vector: Float32Array, from = 0, to = matrix.rows): Float32Array {
  return scanRanges(matrix, vector, [from, to])
}

/** The same for several ranges, one after the other: `ranges` holds where each begins and ends. */
export function scanRanges(matrix: Matrix, vector: Float32Array, ranges: ArrayLike<number>): Float32Array {
  if (matrix.scan !== undefined) return matrix.scan(vector, ranges)
  const scores: number[] = []
  for (let at = 0; at < ranges.length; at += 2) {
    for (let row = ranges[at] as number; row < (ranges[at + 1] as number); row += 1)
      scores.push(dotRow(matrix, row, vector))
  }
  return Float32Array.from(scores)
}

export function toUnitLength(vector: Float32Array): Float32Array {
  let squares = 0
  for (const value of vector) squares += value * value
  const length = Math.sqrt(squares) || 1
  return vector.map((value) => value / length)
}
