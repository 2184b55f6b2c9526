import duckdb from '@duckdb/node-bindings'
import type { DuckDBDataChunk } from '@duckdb/node-api'

/**
 * The columns of a chunk as the engine has them in memory. To make a value of JavaScript of each costs more than the
 * query; most formats want the bytes. Whatever is given here is a copy: the chunk's own memory goes when it goes.
 */
export type Vector = duckdb.Vector

export function vectorAt({ chunk }: DuckDBDataChunk, column: number): Vector {
  return duckdb.data_chunk_get_vector(chunk, column)
}

/** Bytes of a vector whose values are all of one width. */
export function fixedBytes(vector: Vector, sizeBytes: number): Uint8Array {
  return new Uint8Array(duckdb.vector_get_data(vector, sizeBytes))
}

/** A bit for each value, 1 where it is not NULL. Nothing where no value is NULL. */
export function validBits(vector: Vector, count: number): Uint8Array | null {
  // The binding gives nothing where the engine has none.
  const bits = duckdb.vector_get_validity(vector, Math.ceil(count / 64) * 8) as Uint8Array | null
  return bits === null ? null : new Uint8Array(bits)
}

/** A text in a vector: four bytes of length, then the text itself, or four bytes of it and where it lies. */
const [entryBytes, lengthBytes, inlineBytes, pointerAt] = [16, 4, 12, 8]

/** Texts one after the other, and where each begins; the last offset is where they end. NULL has no bytes. */
export type Texts = { bytes: Buffer; offsets: Int32Array }

/**
 * The engine lays the texts of a chunk side by side, so those of many rows are copied at a time. What does not lie behind
 * the text before it is copied by itself.
 */
export function textsOf(vector: Vector, count: number): Texts {
  const entries = duckdb.vector_get_data(vector, count * entryBytes)
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength)
  const offsets = textOffsets(view, validBits(vector, count), count)
  const lengthOf = (row: number): number => (offsets[row + 1] ?? 0) - (offsets[row] ?? 0)
  const bytes = Buffer.allocUnsafe(offsets[count] ?? 0)
  for (let row = 0; row < count;) {
    const [first, start] = [row, offsets[row] ?? 0]
    let length = lengthOf(row)
    row += 1
    if (length <= inlineBytes) {
      const from = first * entryBytes + lengthBytes
      for (let at = 0; at < length; at += 1) bytes[start + at] = entries[from + at] ?? 0
      continue
    }
    const place = pointerOf(view, first)
    for (; row < count && lengthOf(row) > inlineBytes && pointerOf(view, row) === place + length; row += 1) {
      length += lengthOf(row)
    }
    const at = entries.byteOffset + first * entryBytes + pointerAt
    bytes.set(duckdb.get_data_from_pointer(entries.buffer as ArrayBuffer, at, length), start)
  }
  return { bytes, offsets }
}

function textOffsets(view: DataView, valid: Uint8Array | null, count: number): Int32Array {
  const offsets = new Int32Array(count + 1)
  let sum = 0
  for (let row = 0; row < count; row += 1) {
    if (valid === null || isValid(valid, row)) sum += view.getUint32(row * entryBytes, true)
    offsets[row + 1] = sum
  }
  return offsets
}

export function isValid(bits: Uint8Array, row: number): boolean {
  return (((bits[row >> 3] ?? 0) >> (row & 7)) & 1) === 1
}

/** An address has 48 bits, which a number holds. */
function pointerOf(view: DataView, row: number): number {
  const at = row * entryBytes + pointerAt
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32
}
