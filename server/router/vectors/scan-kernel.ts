import { yieldToEventLoop } from '../../flow/index.ts'
import { rowOf, type Matrix } from './vectors.ts'

/** `scan.wat` as `wat2wasm` assembles it, which a test repeats: four products at a time where JavaScript has one. */
export const kernel =
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

/** A matrix that is there, or one that is written where it is to stand: a large one is never held twice. */
export type Unsettled = Matrix | (Pick<Matrix, 'rows' | 'columns'> & { write: (data: Float32Array) => void })

/** The same matrices, side by side in one memory that the kernel can read. Columns must be a multiple of sixteen. */
export function settle<Name extends string>(matrices: Record<Name, Unsettled>): Record<Name, Matrix> {
  const all = Object.entries<Unsettled>(matrices)
  const columns = Math.max(...all.map(([, matrix]) => matrix.columns))
  const rows = Math.max(...all.map(([, matrix]) => matrix.rows))
  const floats = all.reduce((sum, [, matrix]) => sum + matrix.rows * matrix.columns, 0)
  const { buffer, scan } = kernelIn((floats + columns + rows) * 4)
  const question = new Float32Array(buffer, 0, columns)
  const scores = new Float32Array(buffer, columns * 4, rows)
  let offset = (columns + rows) * 4
  const settled = all.map(([name, matrix]) => {
    const start = offset
    const data = new Float32Array(buffer, start, matrix.rows * matrix.columns)
    if ('data' in matrix) data.set(matrix.data)
    else matrix.write(data)
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
export type RoughSums = ((left: Float32Array, right: Float32Array) => Float32Array) & {
  pairs: RoughRows
  joined: RoughRows
}

type RoughRows = { bytes: Int8Array; scales: Float32Array; sums: (...parts: Float32Array[]) => Float32Array }

/** Rows that are there already: of each row its place among those of `old`; undefined where it is new. */
export type KeptRows = { old: RoughSums; places: Array<number | undefined> }

// Rows are bytes, the question 16-bit numbers: large enough to tell, small enough that no sum leaves 32 bits.
const maxByte = 127
const questionScale = 4_096

/**
 * A quarter of the memory to read: what a scan over every row costs is waiting for it. A question without values is its
 * own mask; for it the two rows of a pair are one, which halves what is left. With `kept`, the two matrices hold the new
 * rows only, in their order.
 */
export async function roughen(left: Matrix, right: Matrix, kept?: KeptRows): Promise<RoughSums> {
  const places = kept?.places ?? Array.from({ length: left.rows }, () => undefined)
  const pairs = await roughRows(
    { places, old: kept?.old.pairs, columns: left.columns + right.columns },
    (row, values) => {
      values.set(rowOf(left, row))
      values.set(rowOf(right, row), left.columns)
    },
  )
  const joined = await roughRows({ places, old: kept?.old.joined, columns: left.columns }, (row, values) => {
    const [one, other] = [rowOf(left, row), rowOf(right, row)]
    for (let at = 0; at < values.length; at += 1) values[at] = (one[at] as number) + (other[at] as number)
  })
  const sums = (first: Float32Array, second: Float32Array): Float32Array =>
    first === second ? joined.sums(first) : pairs.sums(first, second)
  return Object.assign(sums, { pairs, joined })
}

type RoughInput = { places: Array<number | undefined>; old: RoughRows | undefined; columns: number }

/** Rows as bytes of one scale each; `write` puts the numbers of a new row where it is told. */
async function roughRows(
  { places, old, columns }: RoughInput,
  write: (row: number, values: Float32Array) => void,
): Promise<RoughRows> {
  const rows = places.length
  const { buffer, rough } = kernelIn(columns * 2 + rows * 4 + rows * columns)
  const question = new Int16Array(buffer, 0, columns)
  const products = new Int32Array(buffer, columns * 2, rows)
  const start = columns * 2 + rows * 4
  const bytes = new Int8Array(buffer, start, rows * columns)
  const scales = new Float32Array(rows)
  const values = new Float32Array(columns)
  let written = 0
  for (const [row, place] of places.entries()) {
    if (place !== undefined && old !== undefined) {
      bytes.set(old.bytes.subarray(place * columns, (place + 1) * columns), row * columns)
      scales[row] = old.scales[place] as number
      continue
    }
    write(written, values)
    written += 1
    let most = 1e-9
    for (let at = 0; at < columns; at += 1) most = Math.max(most, Math.abs(values[at] as number))
    for (let at = 0; at < columns; at += 1)
      bytes[row * columns + at] = Math.round(((values[at] as number) * maxByte) / most)
    scales[row] = most / (maxByte * questionScale)
    await yieldToEventLoop()
  }
  const sums: RoughRows['sums'] = (...parts) => {
    let done = 0
    for (const part of parts)
      for (let at = 0; at < part.length; at += 1, done += 1) question[done] = (part[at] as number) * questionScale
    rough(start, start + rows * columns, columns, 0, columns * 2)
    const near = new Float32Array(rows)
    for (let row = 0; row < rows; row += 1) near[row] = (scales[row] as number) * (products[row] as number)
    return near
  }
  return { bytes, scales, sums }
}
