import {
  columnTypeName,
  type CallLimits,
  type Catalog,
  type Column,
  type ColumnType,
  type DialectEngine,
  type QueryInput,
  type ReadAnswer,
  type ReadStream,
} from '../engine/index.ts'
import { Failure } from '../failure.ts'
import { openGate } from '../flow/index.ts'
import type { TrinoClient, TrinoResult } from './client/client.ts'
import { namedOnce, rowEncoder, type TextFormat } from './dialect/formats.ts'
import { inspectStatement } from './dialect/inspect.ts'
import type { ModelTables } from './catalog/model-tables.ts'
import { projectUser } from './catalog/names.ts'
import { planOf } from './dialect/plan.ts'
import type { RunAs } from './client/run-as.ts'
import type { TrinoSchemas } from './catalog/schemas.ts'
import type { Spool } from './client/spool.ts'
import { executed, readStatement, type Statement } from './dialect/statement.ts'
import { typeOfSignature } from './client/types.ts'

export type TrinoEngineParts = {
  client: TrinoClient
  schemas: TrinoSchemas
  /** For tables of statements. */
  models: ModelTables
  /** For formats that are not lines of text. */
  spool: Spool
  limits: TrinoLimits
}

/** The error for the caller, who may have left or run out of time. */
type ToFailure = (error: unknown) => unknown

export type TrinoLimits = {
  /** Statements at once; of one project three quarters of them. */
  queries: number
  queueLength: number
  timeoutMs: number
  inspectionTimeoutMs: number
  memoryBytes: number
  scanBytes: number
  maxChars: number
}

/** Trino behind the door of queries: each statement in the schema of the catalog that its caller holds. */
// Over 70 lines: the verbs of the door share the turns, and the way in which a statement is ended.
export function createTrinoEngine({ client, schemas, models, spool, limits }: TrinoEngineParts): DialectEngine {
  const gate = openGate({
    room: limits.queries,
    perName: Math.max(1, Math.floor((limits.queries * 3) / 4)),
    queueLength: limits.queueLength,
    waitMs: limits.timeoutMs,
  })

  const statementOf = (sql: string): Statement => readStatement(sql, limits)

  /** Runs a statement in turn and within its time; ending it early ends it on Trino, too. */
  async function within<Result>(
    catalog: Catalog,
    { timeoutMs = limits.timeoutMs, signal: left }: CallLimits,
    work: (run: RunAs, toFailure: ToFailure) => Promise<Result>,
  ): Promise<Result> {
    const deadline = AbortSignal.timeout(Math.ceil(timeoutMs))
    const signal = left === undefined ? deadline : AbortSignal.any([left, deadline])
    const toFailure: ToFailure = (error) => {
      if (left?.aborted === true) return left.reason
      return deadline.aborted ? new Failure('query_timeout', { cause: error }) : error
    }
    try {
      const user = projectUser(catalog.projectId)
      const session = sessionOf(limits, timeoutMs)
      const inTurn = async () => work({ user, schema: await schemas.of(catalog, signal), session, signal }, toFailure)
      return await gate.run([catalog.projectId], inTurn, { signal })
    } catch (error) {
      throw toFailure(error)
    }
  }

  /** Opens when the columns are known; the turn ends when the stream is read to its end, or left. */
  function stream(catalog: Catalog, input: QueryInput): Promise<ReadStream> {
    const opened = Promise.withResolvers<ReadStream>()
    const finished = within(catalog, input, async (run, toFailure) => {
      const statement = statementOf(input.sql)
      const result = await client.run({ sql: executed(statement, input.slots), ...run })
      const read = readRows(result, input)
      const { over, chunks } = untilOver(read.chunks, { toFailure, signal: run.signal })
      opened.resolve({ columns: read.columns, chunks, end: read.end, finished: over })
      await over
    })
    finished.catch(opened.reject)
    return opened.promise
  }

  const openStream = (catalog: Catalog, input: QueryInput): Promise<ReadStream> => {
    const { format = 'json' } = input
    if (format !== 'parquet' && format !== 'arrow' && format !== 'xlsx') return stream(catalog, input)
    return spool.stream(catalog.projectId, { ...input, format }, (lines) => stream(catalog, lines))
  }

  return {
    read: async (_scope, catalog, input) => collected(await openStream(catalog, input), input),
    stream: (_scope, catalog, input) => openStream(catalog, input),
    // Background streams run beside the rest; this process keeps a quarter of its places from any one project.
    streamBehind: (_scope, catalog, input) => openStream(catalog, input),
    writeTable: (_scope, catalog, { sql, path, maxRows, maxBytes }, left = {}) => {
      const statement = statementOf(sql)
      return within(catalog, left, async (run) => {
        const { columns } = await inspectStatement(client, { statement, catalog, run }, { slots: [] })
        const { timeoutMs = limits.timeoutMs } = left
        const wanted = { projectId: catalog.projectId, path, maxRows, maxBytes, timeoutMs }
        return models.write(run, { ...wanted, columns, sql: statement.sql })
      })
    },
    inspect: (_scope, catalog, input, left = {}) => {
      const timeoutMs = Math.min(limits.inspectionTimeoutMs, left.timeoutMs ?? Number.POSITIVE_INFINITY)
      const statement = statementOf(input.sql)
      return within(catalog, { ...left, timeoutMs }, (run) =>
        inspectStatement(client, { statement, catalog, run }, input),
      )
    },
    explain: (_scope, catalog, input, left = {}) => {
      const sql = executed(statementOf(input.sql), input.slots)
      return within(catalog, left, (run) => planOf(client, run, sql))
    },
  }
}

function sessionOf({ memoryBytes, scanBytes }: TrinoLimits, timeoutMs: number): Record<string, string> {
  return {
    query_max_run_time: `${Math.ceil(timeoutMs)}ms`,
    query_max_memory: `${memoryBytes}B`,
    query_max_scan_physical_bytes: `${scanBytes}B`,
  }
}

type Rows = Pick<ReadStream, 'columns' | 'end'> & { chunks: AsyncGenerator<{ bytes: Buffer; rowCount: number }> }

/** Encodes pages in the wanted format, up to the limits of rows and bytes. */
function readRows({ columns: found, pages }: TrinoResult, input: QueryInput): Rows {
  const startedMs = performance.now()
  const names = namedOnce(found.map(({ name }) => name))
  const types = found.map(({ typeSignature }): ColumnType => typeOfSignature(typeSignature))
  const columns = types.map((type, index): Column => ({ name: names[index] ?? '', type: columnTypeName(type) }))
  const encoder = rowEncoder({ columns, types }, (input.format ?? 'json') as TextFormat)
  let end: ReturnType<ReadStream['end']> = null
  async function* chunks() {
    let rowCount = 0
    let sizeBytes = 0
    let truncated = false
    const counted = (bytes: Buffer, count: number) => {
      sizeBytes += bytes.length
      if (sizeBytes > input.maxBytes) {
        throw new Failure('result_too_large', { message: `The result is larger than ${input.maxBytes} bytes.` })
      }
      rowCount += count
      return { bytes, rowCount: count }
    }
    if (encoder.start !== null) yield counted(encoder.start, 0)
    for await (const page of pages) {
      const included = page.length > input.maxRows - rowCount ? page.slice(0, input.maxRows - rowCount) : page
      if (included.length > 0) yield counted(encoder.rows(included), included.length)
      truncated = included.length < page.length
      if (truncated) break
    }
    end = { rowCount, truncated, elapsedMs: performance.now() - startedMs }
  }
  return { columns, chunks: chunks(), end: () => end }
}

/** The same chunks, and a promise of their end: read to the end, failed, or left. */
function untilOver<Chunk>(
  chunks: AsyncGenerator<Chunk>,
  { toFailure, signal }: { toFailure: ToFailure; signal: AbortSignal },
): { over: Promise<void>; chunks: AsyncGenerator<Chunk> } {
  const over = Promise.withResolvers<void>()
  // A reader that never reads, never leaves.
  signal.addEventListener('abort', () => over.resolve(), { once: true })
  async function* watched(): AsyncGenerator<Chunk> {
    try {
      yield* chunks
    } catch (error) {
      throw toFailure(error)
    } finally {
      over.resolve()
    }
  }
  return { over: over.promise, chunks: watched() }
}

/** A whole result, as `Engine.read` hands it out. */
async function collected({ columns, chunks, end }: ReadStream, { format = 'json' }: QueryInput): Promise<ReadAnswer> {
  const parts: Buffer[] = []
  for await (const { bytes } of chunks) {
    if (bytes.length === 0) continue
    if (format === 'json') parts.push(Buffer.from(parts.length === 0 ? '[' : ','))
    parts.push(bytes)
  }
  if (format === 'json') parts.push(Buffer.from(parts.length === 0 ? '[]' : ']'))
  const { rowCount, truncated, elapsedMs } = end() ?? { rowCount: 0, truncated: true, elapsedMs: 0 }
  return { columns, bytes: Buffer.concat(parts), rowCount, truncated, elapsedMs }
}
