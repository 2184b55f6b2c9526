import { DuckDBBlobValue, type DuckDBDataChunk, type DuckDBMaterializedResult } from '@duckdb/node-api'
import { Failure } from '../../failure.ts'
import { prepare, throwIfCancelled, withConnection, type Cancellable, type Instance } from './instances.ts'
import { encodesHere, manyRowsSql, plainRowsSql, planFor, type Plan } from './plan.ts'
import type { Column, ReadCall, ReadEnd } from './protocol.ts'
import { bindableSlots, bindSlots } from './slots.ts'
import { directEncoder } from './values.ts'

export type Answer = { columns: Column[]; end: ReadEnd; bytes: Buffer }

/** Below this many rows each SQL expression costs more than encoding the rows here. */
const fewRowsMax = 64

/** A whole result as the bytes of a JSON array (or of lines, for `ndjson`). */
export async function readWhole(instance: Instance, call: Cancellable, input: ReadCall): Promise<Answer> {
  const startedMs = performance.now()
  const slots = bindableSlots(input.slots)
  const plan = await planFor(instance, call, { sql: input.sql, slots })
  const lines = input.format === 'ndjson'
  const here = encodesHere(plan)
  const limit = input.maxRows + 1
  const sql = here
    ? `SELECT ${plainRowsSql(plan)} LIMIT ${limit}`
    : manyRowsSql(plan, limit, lines ? 'chr(10)' : "',' || chr(10)")
  const { rows, rowCount } = await withConnection(instance, call, async (lease) => {
    const statement = await prepare(lease, sql)
    bindSlots(statement, slots)
    throwIfCancelled(call)
    const result = await statement.run()
    return here ? encodeRows(result, plan, { lines, maxBytes: input.maxBytes }) : aggregated(result)
  })
  plan.fewRows = rowCount <= fewRowsMax
  const truncated = rowCount > input.maxRows
  // No newline is inside a row, so the last one is where the row beyond the limit begins.
  const kept = truncated ? rows.subarray(0, Math.max(0, rows.lastIndexOf(10) - (lines ? 0 : 1))) : rows
  if (kept.length > input.maxBytes) throw tooLarge(input.maxBytes)
  const bytes = lines ? Buffer.concat([kept, newline.subarray(0, kept.length > 0 ? 1 : 0)]) : bracketed(kept)
  const end = { rowCount: Math.min(rowCount, input.maxRows), truncated, elapsedMs: performance.now() - startedMs }
  return { columns: plan.columns, end, bytes }
}

const newline = Buffer.from('\n')

function bracketed(rows: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(rows.length + 2)
  bytes[0] = 0x5b
  rows.copy(bytes, 1)
  bytes[rows.length + 1] = 0x5d
  return bytes
}

export function tooLarge(maxBytes: number): Failure {
  return new Failure('result_too_large', { message: `The result is larger than ${maxBytes} bytes.` })
}

function aggregated(result: DuckDBMaterializedResult): { rows: Buffer; rowCount: number } {
  const chunk = result.getChunk(0)
  const value = chunk.getColumnVector(0).getItem(0)
  const rowCount = Number(chunk.getColumnVector(1).getItem(0))
  if (!(value instanceof DuckDBBlobValue)) return { rows: Buffer.alloc(0), rowCount }
  return { rows: Buffer.from(value.bytes.buffer, value.bytes.byteOffset, value.bytes.byteLength), rowCount }
}

function encodeRows(
  result: DuckDBMaterializedResult,
  plan: Plan,
  { lines, maxBytes }: { lines: boolean; maxBytes: number },
): { rows: Buffer; rowCount: number } {
  const separator = lines ? '\n' : ',\n'
  const parts: string[] = []
  let length = 0
  for (let index = 0; index < result.chunkCount && length <= maxBytes; index += 1) {
    const text = encodeChunk(result.getChunk(index), plan, 0).join(separator)
    if (text !== '') parts.push(text)
    length += text.length
  }
  if (length > maxBytes) throw tooLarge(maxBytes)
  return { rows: Buffer.from(parts.join(separator)), rowCount: result.rowCount }
}

/** The rows of a chunk as JSON objects; the columns of the plan begin at `offset`. */
export function encodeChunk(chunk: DuckDBDataChunk, { columns, types }: Plan, offset: number): string[] {
  const { rowCount } = chunk
  const rows = Array.from({ length: rowCount }, () => '')
  for (const [index, type] of types.entries()) {
    const vector = chunk.getColumnVector(index + offset)
    const encode = directEncoder(type) ?? String
    const label = `${index === 0 ? '{' : ','}${JSON.stringify(columns[index]?.name ?? '')}:`
    for (let row = 0; row < rowCount; row += 1) {
      const value = vector.getItem(row)
      rows[row] += label + (value === null ? 'null' : encode(value))
    }
  }
  return rows.map((row) => `${row}}`)
}
