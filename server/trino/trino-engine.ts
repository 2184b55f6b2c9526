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
} from '../data/index.ts'
import { Failure } from '../failure.ts'
import { createWorkTurns } from '../flow/index.ts'
import type { TrinoClient, TrinoResult } from './client/client.ts'
import { namedOnce, rowEncoder, type TextFormat } from './dialect/formats.ts'
import { inspectStatement } from './dialect/inspect.ts'
import { projectUser, schemaPrefix } from './catalog/names.ts'
import { planOf } from './dialect/plan.ts'
import type { RunAs } from './client/run-as.ts'
import type { TrinoSchemas } from './catalog/schemas.ts'
import type { Spool } from './client/spool.ts'
import { executed, readStatement, type Statement } from './dialect/statement.ts'
import { typeOfSignature } from './client/types.ts'

export type TrinoEngineParts = {
  client: TrinoClient
  schemas: TrinoSchemas
  /** For formats that are no lines of text. */
  spool: Spool
  limits: TrinoLimits
}

/** What an error is to the caller, who may have left, or run out of time. */
type Told = (error: unknown) => unknown

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
export function createTrinoEngine({ client, schemas, spool, limits }: TrinoEngineParts): DialectEngine {
  const busy = (): Failure => new Failure('overloaded', { retryAfterSeconds: 1 })
  const turns = createWorkTurns({
    each: Math.max(1, Math.floor((limits.queries * 3) / 4)),
    most: limits.queries,
    queueLength: limits.queueLength,
    waitMs: limits.timeoutMs,
    late: busy,
    full: busy,
  })

  const statementOf = (catalog: Catalog, sql: string): Statement =>
    readStatement(sql, { maxChars: limits.maxChars, ownPrefix: schemaPrefix(catalog.projectId) })

  /** In turn and within its time; what ends it, ends it on Trino too. */
  async function within<Result>(
    catalog: Catalog,
    { timeoutMs = limits.timeoutMs, signal: left }: CallLimits,
    work: (run: RunAs, told: Told) => Promise<Result>,
  ): Promise<Result> {
    const deadline = AbortSignal.timeout(Math.ceil(timeoutMs))
    const signal = left === undefined ? deadline : AbortSignal.any([left, deadline])
    const told: Told = (error) => {
      if (left?.aborted === true) return left.reason
      return deadline.aborted ? new Failure('query_timeout', { cause: error }) : error
    }
    try {
      return await turns.take(catalog.projectId, async () => {
        signal.throwIfAborted()
        const schema = await schemas.of(catalog, signal)
        return work(
          { user: projectUser(catalog.projectId), schema, session: sessionOf(limits, timeoutMs), signal },
          told,
        )
      })
    } catch (error) {
      throw told(error)
    }
  }

  /** Opened when columns are known; its turn ends when it is read to its end, or left. */
  function stream(catalog: Catalog, input: QueryInput): Promise<ReadStream> {
    const opened = Promise.withResolvers<ReadStream>()
    const finished = within(catalog, input, async (run, told) => {
      const statement = statementOf(catalog, input.sql)
      const result = await client.run({ sql: executed(statement, input.slots), ...run })
      const read = readRows(result, input)
      const { over, chunks } = untilOver(read.chunks, { told, signal: run.signal })
      opened.resolve({ columns: read.columns, chunks, end: read.end, finished: over })
      await over
    })
    finished.catch(opened.reject)
    return opened.promise
  }

  const openStream = (catalog: Catalog, input: QueryInput): Promise<ReadStream> => {
    const { format = 'json' } = input
    if (format !== 'parquet' && format !== 'arrow') return stream(catalog, input)
    return spool.stream(catalog.projectId, { ...input, format }, (lines) => stream(catalog, lines))
  }

  return {
    read: async (_scope, catalog, input) => collected(await openStream(catalog, input), input),
    stream: (_scope, catalog, input) => openStream(catalog, input),
    // Trino runs what nobody waits for beside the rest; this process keeps a quarter of its places from any one project.
    streamBehind: (_scope, catalog, input) => openStream(catalog, input),
    inspect: (_scope, catalog, input, left = {}) => {
      const timeoutMs = Math.min(limits.inspectionTimeoutMs, left.timeoutMs ?? Number.POSITIVE_INFINITY)
      const statement = statementOf(catalog, input.sql)
      return within(catalog, { ...left, timeoutMs }, (run) =>
        inspectStatement(client, { statement, catalog, run }, input),
      )
    },
    explain: (_scope, catalog, input, left = {}) => {
      const sql = executed(statementOf(catalog, input.sql), input.slots)
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

/** Pages become parts of the format that is wanted, up to the limits of rows and bytes. */
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
      const kept = page.length > input.maxRows - rowCount ? page.slice(0, input.maxRows - rowCount) : page
      if (kept.length > 0) yield counted(encoder.rows(kept), kept.length)
      truncated = kept.length < page.length
      if (truncated) break
    }
    end = { rowCount, truncated, elapsedMs: performance.now() - startedMs }
  }
  return { columns, chunks: chunks(), end: () => end }
}

/** The same parts, and when they are over: read to the end, failed, or left. */
function untilOver<Chunk>(
  chunks: AsyncGenerator<Chunk>,
  { told, signal }: { told: Told; signal: AbortSignal },
): { over: Promise<void>; chunks: AsyncGenerator<Chunk> } {
  const over = Promise.withResolvers<void>()
  // Whoever never reads, never leaves.
  signal.addEventListener('abort', () => over.resolve(), { once: true })
  async function* watched(): AsyncGenerator<Chunk> {
    try {
      yield* chunks
    } catch (error) {
      throw told(error)
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
  return { columns, bytes: Buffer.concat(parts), rowCount, truncated, elapsedMs, together: 1 }
}
