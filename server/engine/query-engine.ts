import { Failure } from '../failure.ts'
import type { Dialect } from '../store/index.ts'
import type { Catalog } from './catalog.ts'
import type { CallLimits, Engine, ReadAnswer, ReadInput } from './executor-engine.ts'
import { LRUCache } from 'lru-cache'
import type {
  Inspection,
  InspectCall,
  LocalCatalog,
  EnginePlan,
  SlotComparison,
  SlotValue,
  WriteTableCall,
  WrittenTable,
} from './executor/socket/protocol.ts'
import { type Files, leasing } from '../files/index.ts'
import { createLocalReads } from './local-reads.ts'
import type { ReadStream } from './read-stream.ts'

/** The dialect of the SQL decides which engine it is for. */
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
  /** The rows of a statement without slots as a Parquet file on this machine. */
  writeTable(scope: string, catalog: Catalog, input: In<WriteTableCall>, limits?: CallLimits): Promise<WrittenTable>
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
  ): Promise<EnginePlan>
  /**
   * How slots bound the rows of statements in any dialect, one list for each; null for what cannot be parsed. Known ones
   * are answered from memory.
   */
  comparisons(scope: string, statements: string[]): Promise<Array<SlotComparison[] | null>>
  /** For `/readyz`: ready while something answers reads. */
  health: Engine['health']
}

/** One engine among several: it is handed what is in its dialect. */
export type DialectEngine = Omit<QueryEngine, 'comparisons' | 'health'>

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
    writeTable: async (scope, catalog, input, limits) => of(input.dialect).writeTable(scope, catalog, input, limits),
    inspect: async (scope, catalog, input, limits) => of(input.dialect).inspect(scope, catalog, input, limits),
    explain: async (scope, catalog, input, limits) => of(input.dialect).explain(scope, catalog, input, limits),
    comparisons: knownComparisons(engine),
    health: () => engine.health(),
  }
}

/** A statement and what is known of it, in characters. */
const maxComparisonChars = 64 * 1024 * 1024
/** As many as keep an executor for a moment only. */
const statementsAtOnce = 100

function knownComparisons(engine: Pick<Engine, 'readComparisons'>): QueryEngine['comparisons'] {
  const known = new LRUCache<string, { comparisons: SlotComparison[] | null }>({ maxSize: maxComparisonChars })
  return async (scope, statements) => {
    const found = new Map(statements.map((sql) => [sql, known.get(sql)]))
    const fresh = [...found].flatMap(([sql, each]) => (each === undefined ? [sql] : []))
    for (let from = 0; from < fresh.length; from += statementsAtOnce) {
      const some = fresh.slice(from, from + statementsAtOnce)
      const read = await engine.readComparisons(scope, some)
      for (const [at, sql] of some.entries()) {
        const each = { comparisons: read[at] ?? null }
        found.set(sql, each)
        known.set(sql, each, { size: sql.length + JSON.stringify(each).length })
      }
    }
    return statements.map((sql) => found.get(sql)?.comparisons ?? null)
  }
}

/** The refusal where there is no Trino: its SQL cannot be read otherwise. */
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
    writeTable: (scope, catalog, { dialect: _dialect, ...input }, limits) =>
      over(catalog, { sql: input.sql, signal: limits?.signal }, (local) =>
        engine.writeTable(scope, local, input, limits),
      ),
    inspect: (scope, catalog, { sql, slots }, limits) =>
      over(catalog, { sql, signal: limits?.signal }, (local) => engine.inspect(scope, local, { sql, slots }, limits)),
    explain: (scope, catalog, { sql, slots }, limits) =>
      over(catalog, { sql, signal: limits?.signal }, (local) => engine.explain(scope, local, { sql, slots }, limits)),
  }
}
