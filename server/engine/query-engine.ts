import { Failure } from '../failure.ts'
import type { Dialect } from '../store/index.ts'
import type { Catalog } from './catalog.ts'
import type { CallLimits, Engine, ReadAnswer, ReadInput } from './executor-engine.ts'
import type { Inspection, InspectCall, LocalCatalog, Plan, SlotValue } from './executor/socket/protocol.ts'
import type { Files } from '../files/stored-files.ts'
import { leasing } from '../files/leasing.ts'
import { createLocalReads } from './local-reads.ts'
import type { ReadStream } from './read-stream.ts'

/** What SQL is written in says which engine it is for. */
type In<Input> = Input & { dialect: Dialect }
export type QueryInput = In<ReadInput>

/**
 * The engine's door for queries: SQL over the tables of a catalog, which names files by their content. DuckDB runs on
 * this machine; what reads the same objects elsewhere fits behind the same verbs.
 */
export type QueryEngine = {
  /** Reads a whole result into one buffer. */
  read(scope: string, catalog: Catalog, input: QueryInput): Promise<ReadAnswer>
  /** Reads in parts, with back-pressure: see `Engine.stream`. */
  stream(scope: string, catalog: Catalog, input: QueryInput): Promise<ReadStream>
  /** As `stream`, for what nobody waits for: it takes no place of a caller's read. */
  streamBehind(scope: string, catalog: Catalog, input: QueryInput): Promise<ReadStream>
  /**
   * Proves that SQL is one SELECT over the catalog's tables, and says what it reads, needs and returns, without running
   * it. `read` refuses what this refuses; call this first to tell an author why.
   */
  inspect(scope: string, catalog: Catalog, input: In<InspectCall>, limits?: CallLimits): Promise<Inspection>
  explain(
    scope: string,
    catalog: Catalog,
    input: In<{ sql: string; slots: SlotValue[] }>,
    limits?: CallLimits,
  ): Promise<Plan>
  /** For `/readyz`: ready while something answers reads. */
  health: Engine['health']
}

/** One engine among several: it is handed what is in its dialect. */
export type DialectEngine = Omit<QueryEngine, 'health'>

/** Each statement goes to the engine of its dialect. `trino` is null where none is configured. */
export function createQueryEngine(engine: Engine, files: Files, trino: DialectEngine | null): QueryEngine {
  const duckdb = createLocalEngine(engine, files)
  const of = (dialect: Dialect): DialectEngine => {
    if (dialect === 'duckdb') return duckdb
    if (trino === null) throw noTrino()
    return trino
  }
  return {
    read: async (scope, catalog, input) => of(input.dialect).read(scope, catalog, input),
    stream: async (scope, catalog, input) => of(input.dialect).stream(scope, catalog, input),
    streamBehind: async (scope, catalog, input) => of(input.dialect).streamBehind(scope, catalog, input),
    inspect: async (scope, catalog, input, limits) => of(input.dialect).inspect(scope, catalog, input, limits),
    explain: async (scope, catalog, input, limits) => of(input.dialect).explain(scope, catalog, input, limits),
    health: () => engine.health(),
  }
}

/** What was written for Trino cannot be read otherwise. */
export function noTrino(): Failure {
  return new Failure('conflict', {
    reason: 'no_trino',
    message: 'This needs Trino, and the server has none: whoever runs it sets SLUICE_TRINO_URL (docs/scaling.md).',
  })
}

/** DuckDB on files that are here for as long as a read takes. */
function createLocalEngine(engine: Engine, files: Files): DialectEngine {
  const localReads = createLocalReads(files)
  const over = <Result>(
    catalog: Catalog,
    { sql, signal }: { sql: string; signal?: AbortSignal | undefined },
    use: (local: LocalCatalog) => Promise<Result>,
  ): Promise<Result> => {
    const { catalog: local, files: needed } = localReads(catalog, sql)
    return leasing(files, needed, () => use(local), { signal })
  }
  const streamed = (open: Engine['stream'], [scope, catalog, input]: Parameters<QueryEngine['stream']>) => {
    const { catalog: local, files: needed } = localReads(catalog, input.sql)
    const until = ({ finished }: ReadStream): Promise<unknown> => finished
    return leasing(files, needed, () => open(scope, local, input), { signal: input.signal, until })
  }
  return {
    read: (scope, catalog, input) => over(catalog, input, (local) => engine.read(scope, local, input)),
    stream: (...call) => streamed((...read) => engine.stream(...read), call),
    streamBehind: (...call) => streamed((...read) => engine.streamBehind(...read), call),
    inspect: (scope, catalog, { sql, slots }, limits) =>
      over(catalog, { sql, signal: limits?.signal }, (local) => engine.inspect(scope, local, { sql, slots }, limits)),
    explain: (scope, catalog, { sql, slots }, limits) =>
      over(catalog, { sql, signal: limits?.signal }, (local) => engine.explain(scope, local, { sql, slots }, limits)),
  }
}
