import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api'
import {
  openInstance,
  throwIfCancelled,
  withConnection,
  withOwnConnection,
  type Cancellable,
  type Instance,
} from './instances.ts'
import { encodesHere, planFor, rowObject, rowsOf, streamSql, wideStreamSql, type Plan } from './plan.ts'
import type { Column, ExecutorSettings, ReadCall, ReadEnd } from './protocol.ts'
import { encodeChunk, tooLarge } from './read.ts'
import { bindableSlots, bindSlots, type BoundSlot } from './slots.ts'
import { quoteText } from './sql-text.ts'
import { csvLine, csvText } from './csv-values.ts'

/** Where the parts of a streamed result go. `chunk` waits until the reader has room for more. */
export type Sink = { opened: (columns: Column[]) => void; chunk: (bytes: Buffer, rowCount: number) => Promise<void> }

const fileChunkBytes = 262_144

/**
 * Sends a result in parts as DuckDB makes them. JSON parts are row objects joined by commas, without brackets; lines of
 * NDJSON and CSV are whole.
 */
export async function readStream(
  instance: Instance,
  call: Cancellable,
  { input, sink }: { input: ReadCall; sink: Sink },
): Promise<ReadEnd> {
  const startedMs = performance.now()
  const slots = bindableSlots(input.slots)
  const plan = await planFor(instance, call, { sql: input.sql, slots })
  sink.opened(plan.columns)
  const counted = await withOwnConnection(instance, call, (connection) => {
    return streamLines({ connection, plan, slots, call }, input, sink)
  })
  return { ...counted, elapsedMs: performance.now() - startedMs }
}

type Source = { connection: DuckDBConnection; plan: Plan; slots: BoundSlot[]; call: Cancellable }

async function streamLines(
  { connection, plan, slots, call }: Source,
  input: ReadCall,
  sink: Sink,
): Promise<Omit<ReadEnd, 'elapsedMs'>> {
  const { format, maxRows, maxBytes } = input
  const end = { json: ',', ndjson: '\n', csv: '\r\n', parquet: '', arrow: '' }[format]
  const isWide = format !== 'csv' && encodesHere({ ...plan, fewRows: false })
  const line = format === 'csv' ? csvLine(plan) : rowObject(plan)
  const statement = await connection.prepare(isWide ? wideStreamSql(plan) : streamSql(plan, line))
  bindSlots(statement, slots)
  const result = await statement.stream()
  let rowCount = 0
  let sizeBytes = 0
  const send = async (lines: string[], rows: number): Promise<void> => {
    const bytes = Buffer.from(format === 'json' ? lines.join(end) : lines.join(end) + end)
    sizeBytes += bytes.length
    if (sizeBytes > maxBytes) throw tooLarge(maxBytes)
    await sink.chunk(bytes, rows)
  }
  if (format === 'csv') await send([plan.columns.map(({ name }) => csvText(name)).join(',')], 0)
  for (;;) {
    const chunk = await result.fetchChunk()
    throwIfCancelled(call)
    if (chunk === null || chunk.rowCount === 0) throw new Error('Invalid Input Error: The query failed midway')
    const { lines, complete } = linesOf(chunk, isWide ? plan : null)
    const kept = lines.slice(0, maxRows - rowCount)
    rowCount += kept.length
    if (kept.length > 0) await send(kept, kept.length)
    if (kept.length < lines.length) return { rowCount, truncated: true }
    if (complete) return { rowCount, truncated: false }
  }
}

/** The lines of a chunk, and whether the row that marks the end is in it. `plan` is given when they are encoded here. */
function linesOf(chunk: DuckDBDataChunk, plan: Plan | null): { lines: string[]; complete: boolean } {
  const marks = chunk.getColumnVector(0)
  const complete = marks.getItem(chunk.rowCount - 1) === null
  const count = chunk.rowCount - (complete ? 1 : 0)
  if (plan !== null) return { lines: encodeChunk(chunk, plan, 1).slice(0, count), complete }
  return { lines: Array.from({ length: count }, (_, row) => String(marks.getItem(row))), complete }
}

/**
 * A result as a Parquet file. Writing needs a path, which a locked instance does not have: an instance of its own
 * opens for this one call, allowed to reach this one file.
 */
export async function exportParquet(
  { instance, settings, id }: { instance: Instance; settings: ExecutorSettings; id: number },
  call: Cancellable,
  { input, sink }: { input: ReadCall; sink: Sink },
): Promise<ReadEnd> {
  const startedMs = performance.now()
  const slots = bindableSlots(input.slots)
  const plan = await planFor(instance, call, { sql: input.sql, slots })
  sink.opened(plan.columns)
  const path = join(settings.tempDir, `export-${id}.parquet`)
  const exporter = await openInstance(instance.catalog, settings, path)
  try {
    const names = plan.columns.map(
      ({ name }, index) => `c${index} AS ${quoteIdentifier(name, plan.columns.slice(0, index))}`,
    )
    const rows = `SELECT ${names.join(', ')} FROM ${rowsOf(plan)} LIMIT ${input.maxRows + 1}`
    const count = await withConnection(exporter, call, async ({ connection }) => {
      const statement = await connection.prepare(
        `COPY (${rows}) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION zstd)`,
      )
      bindSlots(statement, slots)
      const result = await statement.run()
      return Number(result.getChunk(0).getColumnVector(0).getItem(0))
    })
    // A Parquet file cannot be cut after it is written, and a cut must be said: beyond the limit it is refused.
    if (count > input.maxRows) throw tooLarge(input.maxBytes)
    if ((await stat(path)).size > input.maxBytes) throw tooLarge(input.maxBytes)
    for await (const bytes of createReadStream(path, { highWaterMark: fileChunkBytes }))
      await sink.chunk(bytes as Buffer, 0)
    return { rowCount: count, truncated: false, elapsedMs: performance.now() - startedMs }
  } finally {
    for (const { connection } of exporter.idle) connection.closeSync()
    exporter.database.closeSync()
    await rm(path, { force: true })
  }
}

/** Columns of a file are told apart without regard to case. */
function quoteIdentifier(name: string, before: Column[]): string {
  const taken = before.some((column) => column.name.toLowerCase() === name.toLowerCase())
  return `"${(taken ? `${name}_${before.length}` : name).replaceAll('"', '""')}"`
}
