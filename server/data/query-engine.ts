import type { Catalog } from './catalog.ts'
import type { CallLimits, Engine, ReadAnswer, ReadInput } from './engine.ts'
import type { Inspection, InspectCall, LocalCatalog, Plan, SlotValue } from './executor/protocol.ts'
import type { Files } from './files.ts'
import { leasing } from './leasing.ts'
import { createLocalReads } from './local-reads.ts'
import type { ReadStream } from './read-stream.ts'

/**
 * The engine's door for queries: SQL over the tables of a catalog, which names files by their content. Ours runs DuckDB
 * on this machine; what reads the same objects elsewhere fits behind the same verbs.
 */
export type QueryEngine = {
  /** Reads a whole result into one buffer. */
  read(scope: string, catalog: Catalog, input: ReadInput): Promise<ReadAnswer>
  /** Reads in parts, with back-pressure: see `Engine.stream`. */
  stream(scope: string, catalog: Catalog, input: ReadInput): Promise<ReadStream>
  /** As `stream`, for what nobody waits for: it takes no place of a caller's read. */
  streamBehind(scope: string, catalog: Catalog, input: ReadInput): Promise<ReadStream>
  /**
   * Proves that SQL is one SELECT over the catalog's tables, and says what it reads, needs and returns, without running
   * it. `read` refuses what this refuses; call this first to tell an author why.
   */
  inspect(scope: string, catalog: Catalog, input: InspectCall, limits?: CallLimits): Promise<Inspection>
  explain(
    scope: string,
    catalog: Catalog,
    input: { sql: string; slots: SlotValue[] },
    limits?: CallLimits,
  ): Promise<Plan>
  /** For `/readyz`: ready while something answers reads. */
  health: Engine['health']
}

/** DuckDB on files that are here for as long as a read takes. */
export function createQueryEngine(engine: Engine, files: Files): QueryEngine {
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
    inspect: (scope, catalog, input, limits) =>
      over(catalog, { sql: input.sql, signal: limits?.signal }, (local) => engine.inspect(scope, local, input, limits)),
    explain: (scope, catalog, input, limits) =>
      over(catalog, { sql: input.sql, signal: limits?.signal }, (local) => engine.explain(scope, local, input, limits)),
    health: () => engine.health(),
  }
}
