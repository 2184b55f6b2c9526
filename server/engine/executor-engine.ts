import { mkdir, rm } from 'node:fs/promises'
import type { Observe } from '../observe.ts'
import type {
  Column,
  FileCall,
  FileVerbs,
  InspectCall,
  Inspection,
  LocalCatalog,
  LookupCall,
  LookupWritten,
  EnginePlan,
  ReadEnd,
  ReadFormat,
  ScopedCall,
  SlotComparison,
  SlotValue,
  SqlLimits,
  WriteTableCall,
  WrittenTable,
} from './executor/socket/protocol.ts'
import { createPool } from './pool.ts'
import { openReadStream, type ReadStream } from './read-stream.ts'
import type { Task } from './tickets.ts'

export type EngineOptions = {
  /** A folder of the engine's own: spill files and exports. What a crash left in it is removed at the next open. */
  runDir: string
  executors: number
  /** Executors beyond those, each ready to take the place of one that died. */
  spareExecutors: number
  /** How long a statement that ended an executor is refused. */
  quarantineMs: number
  concurrencyPerExecutor: number
  /** The memory that one executor's queries may fill together. */
  memoryBytes: number
  queueLength: number
  /** For calls that name no limit of their own. */
  timeoutMs: number
  /** Threads of one query. */
  threads: number
  idleCloseMs: number
  /** How long nothing runs until all processes but one are ended; 0: never. */
  restAfterMs: number
  sqlLimits: SqlLimits
  /** Longest time that finding out what a statement reads may take. */
  inspectionTimeoutMs: number
  observe: Observe
  now: () => number
}

export type ReadInput = {
  sql: string
  slots: SlotValue[]
  format?: ReadFormat
  maxRows: number
  maxBytes: number
  timeoutMs?: number
  signal?: AbortSignal
}

/** A whole result: `bytes` is a JSON array of row objects (lines of them, for `ndjson`), ready to send. */
export type ReadAnswer = ReadEnd & { columns: Column[]; bytes: Buffer }

/** Limits of one call, waiting included. */
export type CallLimits = {
  timeoutMs?: number
  signal?: AbortSignal
  /** Takes long for sure: not all places are for such. */
  isHeavy?: boolean
}

export type Engine = Awaited<ReturnType<typeof openEngine>>

const openTimeoutMs = 20_000
const fileTimeoutMs = 600_000
/**
 * Conversions and copies at a time; more would only share the same disk and cores. One is for rows that someone waits
 * for, one for preparing what is small, and one for whatever comes.
 */
const fileConcurrency = 3
/** No scope has this name. */
const preparing = ''
/** Reads at a time of which nobody waits for the answer. */
const behindConcurrency = 2
/** Tables of statements are made one in each of two processes, whose memory it may fill; a scope has one of them. */
const tableProcesses = 2

/** Starts the executors. Every call names a scope (a project); reads also name the catalog of tables they may see. */
// Over 70 lines: one method for each thing the engine does, over the same pools.
export async function openEngine(options: EngineOptions) {
  const { runDir, memoryBytes, threads, idleCloseMs, restAfterMs, sqlLimits, queueLength, observe, now } = options
  await rm(runDir, { recursive: true, force: true })
  await mkdir(runDir, { recursive: true, mode: 0o700 })
  const shared = { runDir, memoryBytes, threads, idleCloseMs, restAfterMs, sqlLimits, queueLength, observe, now }
  const { executors, spareExecutors: spares, quarantineMs, concurrencyPerExecutor: concurrency } = options
  const reads = createPool({
    ...shared,
    name: 'read',
    keeps: 1,
    executors,
    spares,
    quarantineMs,
    concurrency,
    background: false,
  })
  // Background work never takes a slot, a thread or the memory of a read.
  const files = createPool({
    ...shared,
    name: 'files',
    keeps: 0,
    executors: 1,
    spares: 0,
    quarantineMs,
    concurrency: fileConcurrency,
    background: true,
  })
  // Reads for comparison run in a process of their own, so that no caller finds a place, memory or a thread taken.
  const behind = createPool({
    ...shared,
    name: 'behind',
    keeps: 0,
    executors: 1,
    spares: 0,
    quarantineMs,
    concurrency: behindConcurrency,
    background: true,
  })
  // A statement that makes a table is its author's, and may take everything there is: it disturbs only its like.
  const tables = createPool({
    ...shared,
    name: 'tables',
    keeps: 0,
    executors: tableProcesses,
    spares: 0,
    quarantineMs,
    concurrency: 1,
    background: true,
  })
  const started = reads.opened(openTimeoutMs)
  // Everyone who waits for it gets the error.
  started.catch(() => undefined)

  const scoped = (scope: string, catalog: LocalCatalog, call: ScopedCall, input: CallLimits = {}): Task => {
    return { scope, catalog, call, timeoutMs: input.timeoutMs ?? options.timeoutMs, signal: input.signal }
  }

  type Input<Verb extends keyof FileVerbs> = FileVerbs[Verb]['input']
  type Result<Verb extends keyof FileVerbs> = Promise<FileVerbs[Verb]['result']>

  /** The process for files starts with the first call that needs it. */
  async function onFiles<Verb extends keyof FileVerbs>(
    { verb, scope }: { verb: Verb; scope: string },
    input: Input<Verb>,
    { timeoutMs = fileTimeoutMs, signal, isHeavy = false }: CallLimits = {},
  ): Result<Verb> {
    await files.opened(openTimeoutMs)
    const call = { verb, ...input } as FileCall
    const { head } = await files.run({ scope, catalog: null, call, timeoutMs, signal, isHeavy })
    return head as FileVerbs[Verb]['result']
  }
  /** A verb on rows that somebody waits for, in the turns of their scope. */
  const waited =
    <Verb extends keyof FileVerbs>(verb: Verb) =>
    (scope: string, input: Input<Verb>, limits?: CallLimits): Result<Verb> =>
      onFiles({ verb, scope }, input, limits)
  /** Nobody waits for data to be prepared, so it takes turns as one: there is always a place for rows that someone waits for. */
  const prepared =
    <Verb extends keyof FileVerbs>(verb: Verb) =>
    (input: Input<Verb>, limits?: CallLimits): Result<Verb> =>
      onFiles({ verb, scope: preparing }, input, limits)

  /**
   * Reads in parts, with back-pressure. Parts of `json` are row objects joined by commas, without brackets and without a
   * newline; parts of `ndjson` and `csv` are whole lines; parts of `parquet` and `arrow` are bytes of one file or stream.
   */
  function stream(scope: string, catalog: LocalCatalog, input: ReadInput): Promise<ReadStream> {
    const task = scoped(scope, catalog, readCall(input, true), input)
    return openReadStream((onFrame) => reads.run({ ...task, onFrame }))
  }

  return {
    /** Ends when queries can run; those that come before wait. */
    started,

    /** Reads a whole result into one buffer. */
    async read(scope: string, catalog: LocalCatalog, input: ReadInput): Promise<ReadAnswer> {
      if (input.format !== undefined && input.format !== 'json' && input.format !== 'ndjson') {
        return collected(await stream(scope, catalog, input))
      }
      const { head, body } = await reads.run(scoped(scope, catalog, readCall(input, false), input))
      const { columns, rowCount, truncated, elapsedMs } = head as Omit<ReadAnswer, 'bytes'>
      return { columns, bytes: body, rowCount, truncated, elapsedMs }
    },

    stream,

    /**
     * As `stream`, in a process of low priority that starts with the first such read: for what nobody waits for. It
     * takes no place of a caller's read, and callers never wait for it.
     */
    async streamBehind(scope: string, catalog: LocalCatalog, input: ReadInput): Promise<ReadStream> {
      await behind.opened(openTimeoutMs)
      const task = scoped(scope, catalog, readCall(input, true), input)
      return openReadStream((onFrame) => behind.run({ ...task, onFrame }))
    },

    /** All answers of a statement in one file, where their shape allows it; in the process of `streamBehind`. */
    async writeLookup(
      scope: string,
      catalog: LocalCatalog,
      input: LookupCall,
      limits?: CallLimits,
    ): Promise<LookupWritten> {
      await behind.opened(openTimeoutMs)
      return (await behind.run(scoped(scope, catalog, { verb: 'writeLookup', ...input }, limits))).head as LookupWritten
    },

    /** The rows of a statement without slots as a Parquet file, in a process that makes nothing else meanwhile. */
    async writeTable(
      scope: string,
      catalog: LocalCatalog,
      input: WriteTableCall,
      limits?: CallLimits,
    ): Promise<WrittenTable> {
      await tables.opened(openTimeoutMs)
      return (await tables.run(scoped(scope, catalog, { verb: 'writeTable', ...input }, limits))).head as WrittenTable
    },

    /**
     * Proves that SQL is one SELECT over the catalog's tables, and says what it reads, needs and returns, without
     * running it. `read` refuses what this refuses; call this first to tell an author why.
     */
    async inspect(scope: string, catalog: LocalCatalog, input: InspectCall, left?: CallLimits): Promise<Inspection> {
      const timeoutMs = Math.min(options.inspectionTimeoutMs, left?.timeoutMs ?? Number.POSITIVE_INFINITY)
      const limits = { ...left, timeoutMs }
      return (await reads.run(scoped(scope, catalog, { verb: 'inspect', ...input }, limits))).head as Inspection
    },

    /** How slots bound the rows of statements, told by their text alone; null for what cannot be parsed. */
    async readComparisons(scope: string, statements: string[]): Promise<Array<SlotComparison[] | null>> {
      const call = { verb: 'readComparisons' as const, statements }
      const timeoutMs = options.inspectionTimeoutMs
      const { head } = await reads.run({ scope, catalog: null, call, timeoutMs, signal: undefined })
      return head as Array<SlotComparison[] | null>
    },

    /** DuckDB's plan of a statement. */
    async explain(
      scope: string,
      catalog: LocalCatalog,
      input: { sql: string; slots: SlotValue[] },
      limits?: CallLimits,
    ): Promise<EnginePlan> {
      const { head } = await reads.run(scoped(scope, catalog, { verb: 'explain', ...input }, limits))
      return head as EnginePlan
    },

    appendPage: waited('appendPage'),
    convert: waited('convert'),
    peek: waited('peek'),
    pageValues: waited('pageValues'),
    checkRows: waited('checkRows'),
    mergeRows: waited('mergeRows'),
    compactParts: prepared('compactParts'),
    profile: prepared('profile'),
    buildNative: prepared('buildNative'),
    castTable: prepared('castTable'),
    distinctValues: prepared('distinctValues'),
    /** For `/readyz`: ready while at least one executor answers reads. */
    health: () => reads.health(),

    /** Lets what runs finish for at most `limitMs`, then ends every executor. */
    async close(limitMs: number): Promise<void> {
      await Promise.all([reads, files, behind, tables].map((pool) => pool.close(limitMs)))
    },
  }
}

async function collected({ columns, chunks, end }: ReadStream): Promise<ReadAnswer> {
  const parts: Buffer[] = []
  for await (const { bytes } of chunks) parts.push(bytes)
  const { rowCount, truncated, elapsedMs } = end() ?? { rowCount: 0, truncated: true, elapsedMs: 0 }
  return { columns, bytes: Buffer.concat(parts), rowCount, truncated, elapsedMs }
}

function readCall({ sql, slots, format = 'json', maxRows, maxBytes }: ReadInput, stream: boolean): ScopedCall {
  return { verb: 'read', sql, slots, format, maxRows, maxBytes, stream }
}
