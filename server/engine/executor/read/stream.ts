import type { DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api'
import {
  prepare,
  throwIfCancelled,
  withStreamConnection,
  type Cancellable,
  type Instance,
  type OpenConnection,
} from '../instance/instances.ts'
import { isWide, plainColumns, planFor, rowObject, streamSql, type StatementPlan } from '../inspect/plan.ts'
import type { OpenedHead, ReadCall, ReadEnd, ReadFormat } from '../socket/protocol.ts'
import { encodeChunk, tooLarge } from './read.ts'
import { bindableSlots, bindStatement, type BoundSlot } from '../instance/slots.ts'
import { csvCell, csvRecord } from '../../../../api/csv.ts'
import { csvLine } from './csv-values.ts'
import { textsOf, vectorAt } from './vectors.ts'

/** Where the parts of a streamed result go. `chunk` waits until the reader has room for more. */
export type StreamSink = {
  opened: (opened: OpenedHead) => void
  chunk: (bytes: Buffer, rowCount: number) => Promise<void>
}

/**
 * Sends a result in parts as DuckDB makes them. JSON parts are row objects joined by commas, without brackets; lines of
 * NDJSON and CSV are whole; Arrow parts are those of one stream.
 */
export async function readStream(
  instance: Instance,
  call: Cancellable,
  { input, sink }: { input: ReadCall; sink: StreamSink },
): Promise<ReadEnd> {
  const startedMs = performance.now()
  const { slots, plan } = await openRead(instance, call, input)
  sink.opened({ columns: plan.columns, sizeBytes: null })
  const counted = await withStreamConnection(instance, call, (lease) => {
    return streamRows({ lease, plan, slots, call }, input, sink)
  })
  return { ...counted, elapsedMs: performance.now() - startedMs }
}

/** The slots and the plan of a read. */
export async function openRead(
  instance: Instance,
  call: Cancellable,
  input: ReadCall,
): Promise<{ slots: BoundSlot[]; plan: StatementPlan }> {
  const slots = bindableSlots(input.slots)
  const plan = await planFor(instance, call, { sql: input.sql, slots })
  return { slots, plan }
}

type Source = { lease: OpenConnection; plan: StatementPlan; slots: BoundSlot[]; call: Cancellable }

type Streamed = Omit<ReadEnd, 'elapsedMs'>

async function streamRows(source: Source, input: ReadCall, sink: StreamSink): Promise<Streamed> {
  const { lease, plan, slots, call } = source
  const encoder = await encoderOf(plan, input.format)
  const sql = streamSql(plan, encoder.list)
  const statement = await prepare(lease, sql)
  let isWhole = false
  try {
    bindStatement(statement, slots)
    const streamed = await sendRows({ result: await statement.stream(), encoder, call }, input, sink)
    isWhole = !streamed.truncated
    return streamed
  } finally {
    // A statement whose rows were not all fetched holds on to what the engine has kept for the rest, tables of joins too.
    if (!isWhole) lease.statements.delete(sql)
  }
}

type Rows = { result: DuckDBResult; encoder: Encoder; call: Cancellable }

async function sendRows({ result, encoder, call }: Rows, input: ReadCall, sink: StreamSink): Promise<Streamed> {
  let rowCount = 0
  let sizeBytes = 0
  const counted = (bytes: Buffer): Buffer => {
    sizeBytes += bytes.length
    if (sizeBytes > input.maxBytes) throw tooLarge(input.maxBytes)
    return bytes
  }
  if (encoder.start !== null) await sink.chunk(counted(encoder.start), 0)
  let fetching = result.fetchChunk()
  try {
    for (;;) {
      const chunk = await fetching
      throwIfCancelled(call)
      if (chunk === null || chunk.rowCount === 0) throw new Error('Invalid Input Error: The query failed midway')
      const complete = chunk.getColumnVector(0).getItem(chunk.rowCount - 1) === null
      const count = chunk.rowCount - (complete ? 1 : 0)
      const allowed = Math.min(count, input.maxRows - rowCount)
      const isLast = complete || allowed < count
      // The engine makes the next rows while these are written and sent; the memory of each chunk is its own.
      if (!isLast) fetching = failingLater(result.fetchChunk())
      rowCount += allowed
      if (allowed > 0) await sink.chunk(counted(encoder.rows(chunk, allowed)), allowed)
      if (!isLast) continue
      if (encoder.end !== null) await sink.chunk(counted(encoder.end()), 0)
      return { rowCount, truncated: allowed < count }
    }
  } catch (error) {
    // Nobody wants the rows that are on their way.
    call.interrupt?.()
    throw error
  } finally {
    // The statement must not end while its rows are fetched.
    await fetching.catch(() => undefined)
  }
}

/** Its failure is met where it is awaited, which may be after it happened. */
function failingLater<Result>(promise: Promise<Result>): Promise<Result> {
  promise.catch(() => undefined)
  return promise
}

/** How rows become bytes: what to select (the first column is never NULL), and what goes before, for and after them. */
type Encoder = {
  list: string[]
  start: Buffer | null
  rows: (chunk: DuckDBDataChunk, count: number) => Buffer
  end: (() => Buffer) | null
}

async function encoderOf(plan: StatementPlan, format: ReadFormat): Promise<Encoder> {
  if (format === 'arrow') {
    // Loaded when first asked for: the library costs every executor 30 MB and a slower start.
    const { arrowColumns, createArrowEncoder } = await import('./arrow.ts')
    const { start, batch, end } = createArrowEncoder(plan)
    return { list: ['true', ...arrowColumns(plan)], start, rows: batch, end: () => end }
  }
  if (format === 'xlsx') {
    const { createXlsxEncoder, xlsxColumns } = await import('./xlsx.ts')
    return { list: ['true', ...xlsxColumns(plan)], ...createXlsxEncoder(plan) }
  }
  if (format === 'csv') {
    const header = Buffer.from(csvRecord(plan.columns.map(({ name }) => csvCell(name))))
    return {
      list: [csvLine(plan)],
      start: header,
      rows: textBytes,
      end: null,
    }
  }
  const isLines = format === 'ndjson'
  const separator = isLines ? '\n' : ','
  if (!isWide(plan)) {
    return {
      list: [rowObject(plan, separator)],
      start: null,
      rows: isLines ? textBytes : (chunk, count) => textBytes(chunk, count).subarray(0, -separator.length),
      end: null,
    }
  }
  const encode = (chunk: DuckDBDataChunk, count: number): Buffer =>
    joined(encodeChunk(chunk, plan, 1).slice(0, count), separator, isLines)
  return { list: ['true', ...plainColumns(plan)], start: null, rows: encode, end: null }
}

/** Rows that are one text each, as the engine has written them. */
function textBytes(chunk: DuckDBDataChunk, count: number): Buffer {
  return textsOf(vectorAt(chunk, 0), count).bytes
}

function joined(lines: string[], separator: string, closed: boolean): Buffer {
  return Buffer.from(closed ? lines.join(separator) + separator : lines.join(separator))
}
