import { mkdir, rm } from 'node:fs/promises'
import type { Observe } from '../observe.ts'
import type { Catalog, Column, InspectCall, Inspection, ReadEnd, ReadFormat, Slot } from './executor/protocol.ts'
import { createPool } from './pool.ts'
import { openReadStream, type ReadStream } from './read-stream.ts'

export type EngineOptions = {
  /** A folder of the engine's own: spill files and exports. What a crash left in it is removed at the next open. */
  runDir: string
  executors: number
  concurrencyPerExecutor: number
  /** What one executor's queries may fill together. */
  memoryBytes: number
  queueLength: number
  /** For calls that name no limit of their own. */
  timeoutMs: number
  /** Threads of one query. More than one gives up the order of `string_agg`. */
  threads: number
  idleCloseMs: number
  observe: Observe
  now: () => number
}

export type ReadInput = {
  sql: string
  slots: Slot[]
  format?: ReadFormat
  maxRows: number
  maxBytes: number
  timeoutMs?: number
  signal?: AbortSignal
}

/** A whole result: `bytes` is a JSON array of row objects (or the format asked for), ready to send. */
export type ReadAnswer = ReadEnd & { columns: Column[]; bytes: Buffer }

const openTimeoutMs = 20_000

export type Engine = Awaited<ReturnType<typeof openEngine>>

/** Starts the executors. Every call names a scope (a project) and the catalog of tables it may see. */
export async function openEngine(options: EngineOptions) {
  const { runDir, executors, concurrencyPerExecutor: concurrency, queueLength, timeoutMs, observe, now } = options
  await rm(runDir, { recursive: true, force: true })
  await mkdir(runDir, { recursive: true, mode: 0o700 })
  const { memoryBytes, threads, idleCloseMs } = options
  const shared = { runDir, memoryBytes, threads, idleCloseMs, queueLength, observe, now }
  const reads = createPool({ ...shared, name: 'read', executors, concurrency, background: false })
  await reads.opened(openTimeoutMs)

  /** Reads a whole result into one buffer. */
  async function read(scope: string, catalog: Catalog, input: ReadInput): Promise<ReadAnswer> {
    const { sql, slots, format = 'json', maxRows, maxBytes, signal } = input
    const call = { verb: 'read' as const, sql, slots, format, maxRows, maxBytes, stream: false }
    const reply = await reads.run({ scope, catalog, call, timeoutMs: input.timeoutMs ?? timeoutMs, signal })
    return { ...(reply.head as ReadEnd & { columns: Column[] }), bytes: reply.body }
  }

  /**
   * Reads in parts, with back-pressure. Parts of `json` are row objects joined by commas, without brackets and without
   * a newline; parts of `ndjson` and `csv` are whole lines; parts of `parquet` are bytes of one file.
   */
  function stream(scope: string, catalog: Catalog, input: ReadInput): Promise<ReadStream> {
    const { sql, slots, format = 'json', maxRows, maxBytes, signal } = input
    const call = { verb: 'read' as const, sql, slots, format, maxRows, maxBytes, stream: true }
    return openReadStream((onFrame) =>
      reads.run({ scope, catalog, call, timeoutMs: input.timeoutMs ?? timeoutMs, signal, onFrame }),
    )
  }

  /**
   * Proves that SQL is one SELECT over the catalog's tables, and says what it reads, needs and returns, without running
   * it. `read` refuses what this refuses; call it first to tell an author why.
   */
  async function inspect(scope: string, catalog: Catalog, input: InspectCall): Promise<Inspection> {
    const reply = await reads.run({ scope, catalog, call: { verb: 'inspect', ...input }, timeoutMs, signal: undefined })
    return reply.head as Inspection
  }

  async function explain(scope: string, catalog: Catalog, input: { sql: string; slots: Slot[] }): Promise<string> {
    const reply = await reads.run({ scope, catalog, call: { verb: 'explain', ...input }, timeoutMs, signal: undefined })
    return (reply.head as { plan: string }).plan
  }

  return {
    read,
    stream,
    inspect,
    explain,
    health: () => reads.health(),
    close: (limitMs: number) => reads.close(limitMs),
  }
}
