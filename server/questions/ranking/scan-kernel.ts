import type { Matrix } from './vectors.ts'

/** `scan.wat` through `wat2wasm`: what JavaScript multiplies one by one, it multiplies by four. */
const kernel =
  'AGFzbQEAAAABCQFgBX9/f39/AAIQAQRzY2FuBm1lbW9yeQIAAQMCAQAHCAEEc2NhbgAACpsCAZgCAgJ/BHsCQANAIAAgAU8NAf0M' +
  'AAAAAAAAAAAAAAAAAAAAACEH/QwAAAAAAAAAAAAAAAAAAAAAIQj9DAAAAAAAAAAAAAAAAAAAAAAhCf0MAAAAAAAAAAAAAAAAAAAA' +
  'ACEKIAMhBSAAIAJqIQYDQCAHIAD9AAQAIAX9AAQA/eYB/eQBIQcgCCAA/QAEECAF/QAEEP3mAf3kASEIIAkgAP0ABCAgBf0ABCD9' +
  '5gH95AEhCSAKIAD9AAQwIAX9AAQw/eYB/eQBIQogAEHAAGohACAFQcAAaiEFIAAgBkkNAAsgByAI/eQBIAkgCv3kAf3kASEHIAQg' +
  'B/0fACAH/R8BkiAH/R8CIAf9HwOSkjgCACAEQQRqIQQMAAsLCw=='

type Memory = { readonly buffer: ArrayBuffer }
type Scan = (...addresses: [row: number, end: number, rowBytes: number, vector: number, out: number]) => void

// The compiler's libraries for servers do not know WebAssembly; these are the parts used here.
declare const WebAssembly: {
  Memory: new (size: { initial: number; maximum: number }) => Memory
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: { scan: { memory: Memory } }) => { exports: { scan: Scan } }
}

const pageBytes = 65_536
let compiled: object | undefined

/** The same matrices, side by side in one memory that the kernel can read. Columns must be a multiple of sixteen. */
export function settle<Name extends string>(matrices: Record<Name, Matrix>): Record<Name, Matrix> {
  const all = Object.entries<Matrix>(matrices)
  const columns = Math.max(...all.map(([, matrix]) => matrix.columns))
  const rows = Math.max(...all.map(([, matrix]) => matrix.rows))
  const floats = all.reduce((sum, [, { data }]) => sum + data.length, 0)
  const pages = Math.ceil(((floats + columns + rows) * 4) / pageBytes)
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages })
  compiled ??= new WebAssembly.Module(Buffer.from(kernel, 'base64'))
  const { scan } = new WebAssembly.Instance(compiled, { scan: { memory } }).exports
  const question = new Float32Array(memory.buffer, 0, columns)
  const scores = new Float32Array(memory.buffer, columns * 4, rows)
  let offset = (columns + rows) * 4
  const settled = all.map(([name, matrix]) => {
    const start = offset
    const data = new Float32Array(memory.buffer, start, matrix.data.length)
    data.set(matrix.data)
    offset += data.byteLength
    const rowBytes = matrix.columns * 4
    const scanned = (vector: Float32Array, from: number, to: number): Float32Array => {
      question.set(vector)
      scan(start + from * rowBytes, start + to * rowBytes, rowBytes, 0, columns * 4)
      return scores.slice(0, to - from)
    }
    return [name, { rows: matrix.rows, columns: matrix.columns, data, scan: scanned }]
  })
  return Object.fromEntries(settled) as Record<Name, Matrix>
}
