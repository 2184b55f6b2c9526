import { yieldToEventLoop } from '../../flow/index.ts'
import { rowOf, type Matrix } from './vectors.ts'

/** `scan.wat` through `wat2wasm`: what JavaScript multiplies one by one, it multiplies by four. */
const kernel =
  'AGFzbQEAAAABCQFgBX9/f39/AAIQAQRzY2FuBm1lbW9yeQIAAQMDAgAABxACBHNjYW4AAAVyb3VnaAABCtUDApgCAgJ/BHsCQANAIAAg' +
  'AU8NAf0MAAAAAAAAAAAAAAAAAAAAACEH/QwAAAAAAAAAAAAAAAAAAAAAIQj9DAAAAAAAAAAAAAAAAAAAAAAhCf0MAAAAAAAAAAAAAAAA' +
  'AAAAACEKIAMhBSAAIAJqIQYDQCAHIAD9AAQAIAX9AAQA/eYB/eQBIQcgCCAA/QAEECAF/QAEEP3mAf3kASEIIAkgAP0ABCAgBf0ABCD9' +
  '5gH95AEhCSAKIAD9AAQwIAX9AAQw/eYB/eQBIQogAEHAAGohACAFQcAAaiEFIAAgBkkNAAsgByAI/eQBIAkgCv3kAf3kASEHIAQgB/0f' +
  'ACAH/R8BkiAH/R8CIAf9HwOSkjgCACAEQQRqIQQMAAsLC7gBAgJ/AnsCQANAIAAgAU8NAf0MAAAAAAAAAAAAAAAAAAAAACEH/QwAAAAA' +
  'AAAAAAAAAAAAAAAAIQggAyEFIAAgAmohBgNAIAcgAP0BAwAgBf0ABAD9ugH9rgEhByAIIAD9AQMIIAX9AAQQ/boB/a4BIQggAEEQaiEA' +
  'IAVBIGohBSAAIAZJDQALIAcgCP2uASEHIAQgB/0bACAH/RsBaiAH/RsCIAf9GwNqajYCACAEQQRqIQQMAAsLCw=='

type Memory = { readonly buffer: ArrayBuffer }
type Scan = (...addresses: [row: number, end: number, rowBytes: number, vector: number, out: number]) => void

// The compiler's libraries for servers do not know WebAssembly; these are the parts used here.
declare const WebAssembly: {
  Memory: new (size: { initial: number; maximum: number }) => Memory
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: { scan: { memory: Memory } }) => { exports: { scan: Scan; rough: Scan } }
}

const pageBytes = 65_536
let compiled: object | undefined

function kernelIn(bytes: number): { buffer: ArrayBuffer; scan: Scan; rough: Scan } {
  const pages = Math.ceil(bytes / pageBytes)
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages })
  compiled ??= new WebAssembly.Module(Buffer.from(kernel, 'base64'))
  return { buffer: memory.buffer, ...new WebAssembly.Instance(compiled, { scan: { memory } }).exports }
}

/** The same matrices, side by side in one memory that the kernel can read. Columns must be a multiple of sixteen. */
export function settle<Name extends string>(matrices: Record<Name, Matrix>): Record<Name, Matrix> {
  const all = Object.entries<Matrix>(matrices)
  const columns = Math.max(...all.map(([, matrix]) => matrix.columns))
  const rows = Math.max(...all.map(([, matrix]) => matrix.rows))
  const floats = all.reduce((sum, [, { data }]) => sum + data.length, 0)
  const { buffer, scan } = kernelIn((floats + columns + rows) * 4)
  const question = new Float32Array(buffer, 0, columns)
  const scores = new Float32Array(buffer, columns * 4, rows)
  let offset = (columns + rows) * 4
  const settled = all.map(([name, matrix]) => {
    const start = offset
    const data = new Float32Array(buffer, start, matrix.data.length)
    data.set(matrix.data)
    offset += data.byteLength
    const rowBytes = matrix.columns * 4
    const scanned = (vector: Float32Array, ranges: ArrayLike<number>): Float32Array => {
      question.set(vector)
      let out = 0
      for (let at = 0; at < ranges.length; at += 2) {
        const [from, to] = [ranges[at] as number, ranges[at + 1] as number]
        scan(start + from * rowBytes, start + to * rowBytes, rowBytes, 0, (columns + out) * 4)
        out += to - from
      }
      return scores.slice(0, out)
    }
    return [name, { rows: matrix.rows, columns: matrix.columns, data, scan: scanned }]
  })
  return Object.fromEntries(settled) as Record<Name, Matrix>
}

/** The sum of two dot products with each pair of rows, off by a thousandth or so: enough to choose what to look at. */
export type RoughSums = (left: Float32Array, right: Float32Array) => Float32Array

// Rows are bytes, the question 16-bit numbers: large enough to tell, small enough that no sum leaves 32 bits.
const maxByte = 127
const questionScale = 4_096

/**
 * A quarter of the memory to read: what a scan over every row costs is waiting for it. A question without values is its
 * own mask; for it the two rows of a pair are one, which halves what is left.
 */
export async function roughen(left: Matrix, right: Matrix): Promise<RoughSums> {
  const pairs = await roughRows(left.rows, left.columns + right.columns, (row, values) => {
    values.set(rowOf(left, row))
    values.set(rowOf(right, row), left.columns)
  })
  const joined = await roughRows(left.rows, left.columns, (row, values) => {
    const [one, other] = [rowOf(left, row), rowOf(right, row)]
    for (let at = 0; at < values.length; at += 1) values[at] = (one[at] as number) + (other[at] as number)
  })
  return (first, second) => (first === second ? joined(first) : pairs(first, second))
}

/** Rows as bytes of one scale each; `write` puts a row's numbers where it is told. */
async function roughRows(
  rows: number,
  columns: number,
  write: (row: number, values: Float32Array) => void,
): Promise<(...parts: Float32Array[]) => Float32Array> {
  const { buffer, rough } = kernelIn(columns * 2 + rows * 4 + rows * columns)
  const question = new Int16Array(buffer, 0, columns)
  const sums = new Int32Array(buffer, columns * 2, rows)
  const start = columns * 2 + rows * 4
  const bytes = new Int8Array(buffer, start, rows * columns)
  const scales = new Float32Array(rows)
  const values = new Float32Array(columns)
  for (let row = 0; row < rows; row += 1) {
    write(row, values)
    let most = 1e-9
    for (let at = 0; at < columns; at += 1) most = Math.max(most, Math.abs(values[at] as number))
    for (let at = 0; at < columns; at += 1)
      bytes[row * columns + at] = Math.round(((values[at] as number) * maxByte) / most)
    scales[row] = most / (maxByte * questionScale)
    await yieldToEventLoop()
  }
  return (...parts) => {
    let done = 0
    for (const part of parts)
      for (let at = 0; at < part.length; at += 1, done += 1) question[done] = (part[at] as number) * questionScale
    rough(start, start + rows * columns, columns, 0, columns * 2)
    const near = new Float32Array(rows)
    for (let row = 0; row < rows; row += 1) near[row] = (scales[row] as number) * (sums[row] as number)
    return near
  }
}
