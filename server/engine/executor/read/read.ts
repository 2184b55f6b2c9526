import { DuckDBBlobValue, type DuckDBDataChunk, type DuckDBMaterializedResult } from '@duckdb/node-api'
import { Failure } from '../../../failure.ts'
import {
  prepare,
  throwIfCancelled,
  withConnection,
  type Cancellable,
  type Instance,
  type OpenConnection,
} from '../instance/instances.ts'
import { encodesHere, manyRowsSql, plainColumns, planFor, rowsOf, type StatementPlan } from '../inspect/plan.ts'
import type { Column, ReadCall, ReadEnd } from '../socket/protocol.ts'
import { bindableSlots, bindStatement, type BoundSlot } from '../instance/slots.ts'
import { directEncoder } from '../instance/values.ts'

export type WholeAnswer = { columns: Column[]; end: ReadEnd; bytes: Buffer[] }

type Rows = { rows: Buffer; rowCount: number }

/** A whole result as the bytes of a JSON array (or of lines, for `ndjson`). */
export async function readWhole(instance: Instance, call: Cancellable, input: ReadCall): Promise<WholeAnswer> {
  const startedMs = performance.now()
  const slots = bindableSlots(input.slots)
  const plan = await planFor(instance, call, { sql: input.sql, slots })
  const isLines = input.format === 'ndjson'
  const { rows, rowCount } = await withConnection(instance, call, (lease) =>
    readRows(lease, { plan, slots, call }, input),
  )
  const truncated = rowCount > input.maxRows
  // No newline is inside a row, so the last one is where the row beyond the limit begins.
  const included = truncated ? rows.subarray(0, Math.max(0, rows.lastIndexOf(10) - (isLines ? 0 : 1))) : rows
  if (included.length > input.maxBytes) throw tooLarge(input.maxBytes)
  const bytes = isLines ? (included.length > 0 ? [included, newline] : []) : [openBracket, included, closeBracket]
  const end = { rowCount: Math.min(rowCount, input.maxRows), truncated, elapsedMs: performance.now() - startedMs }
  return { columns: plan.columns, end, bytes }
}

async function readRows(
  lease: OpenConnection,
  { plan, slots, call }: { plan: StatementPlan; slots: BoundSlot[]; call: Cancellable },
  { format, maxRows, maxBytes }: ReadCall,
): Promise<Rows> {
  const separator = format === 'ndjson' ? '\n' : ',\n'
  const limit = maxRows + 1
  const run = async (sql: string): Promise<DuckDBMaterializedResult> => {
    const statement = await prepare(lease, sql)
    bindStatement(statement, slots)
    throwIfCancelled(call)
    return statement.run()
  }
  if (encodesHere(plan)) {
    const result = await run(`SELECT ${plainColumns(plan).join(', ')} FROM ${rowsOf(plan)} LIMIT ${limit}`)
    plan.lastRowCount = result.rowCount
    return encodeRows(result, plan, { separator, maxBytes })
  }
  const inSql = separator === '\n' ? 'chr(10)' : "',' || chr(10)"
  const sql = manyRowsSql(plan, limit, inSql)
  // Whatever stops this call, the next one is careful with rows again.
  plan.lastRowCount = null
  let found = aggregated(await run(sql))
  if (found.doubtful) {
    plan.usesCandidates = false
    found = aggregated(await run(manyRowsSql(plan, limit, inSql)))
  }
  plan.lastRowCount = found.rowCount
  return found
}

const newline = Buffer.from('\n')
const openBracket = Buffer.from('[')
const closeBracket = Buffer.from(']')

export function tooLarge(maxBytes: number): Failure {
  return new Failure('result_too_large', { message: `The result is larger than ${maxBytes} bytes.` })
}

function aggregated(result: DuckDBMaterializedResult): Rows & { doubtful: boolean } {
  const chunk = result.getChunk(0)
  const value = chunk.getColumnVector(0).getItem(0)
  const rowCount = Number(chunk.getColumnVector(1).getItem(0))
  const doubtful = chunk.getColumnVector(2).getItem(0) === true
  const bytes = value instanceof DuckDBBlobValue ? value.bytes : new Uint8Array()
  return { rows: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), rowCount, doubtful }
}

function encodeRows(
  result: DuckDBMaterializedResult,
  plan: StatementPlan,
  limits: { separator: string; maxBytes: number },
): Rows {
  const { separator, maxBytes } = limits
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
export function encodeChunk(chunk: DuckDBDataChunk, { columns, types }: StatementPlan, offset: number): string[] {
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
