import { createHash } from 'node:crypto'
import type { ProjectCatalog } from '../../data/index.ts'
import type { ReadFormat, ReadStream } from '../../engine/index.ts'
import type { LookedUp } from '../../lookups/index.ts'
import type { Answer } from './answers.ts'
import { dataFacts } from './data-facts.ts'
import type { LiveVersion } from '../deployed/deployment-index.ts'
import { isWrittenAs, lookupStatement, streamOf } from './lookups.ts'
import type { CacheState, Run, RunAnswer, RunParts, StreamAnswer } from './run-types.ts'
import { answered, noteCaller, tellRun, watchRun, type Watch } from './watch-run.ts'
import { bindSlots, checkSlots, type BoundSlots } from '../slots/slots.ts'

/** A cached or prewritten answer returns at once; undefined where there is none, or where `runQuery` says why not. */
export function readyAnswer(app: RunParts, run: Run): RunAnswer | undefined {
  if (run.fresh === true) return undefined
  const startedMs = performance.now()
  const newest = app.catalogs.peek(run.projectId)
  if (newest === undefined) return undefined
  const catalog = readBy(run, newest)
  const bound = checkSlots(run.version.compiled(), run.parameters)
  if ('details' in bound) return undefined
  const keeps = keepsAnswers(run)
  const prepared = { bound, catalog }
  const answer = keeps ? app.answers.get(answerKey(run.version, prepared)) : writtenAnswer(app, run, prepared)
  if (answer === undefined) return undefined
  noteCaller(app, run)
  const { rowCount, rows } = answer
  const cache = keeps ? 'hit' : null
  const sqlMs = keeps ? 0 : performance.now() - startedMs
  tellRun(app, run, { ...answered(run), startedMs, rows: rowCount, bytes: rows.length, sqlMs, cache })
  return { ...answerBase(run), answer, parameters: bound.parameters, cache }
}

/** Runs a version and answers with the whole result: the one path of direct calls, questions, tools and previews. */
export async function runQuery(app: RunParts, run: Run): Promise<RunAnswer> {
  const watch = watchRun(app, run)
  try {
    const bound = bindSlots(run.version.compiled(), run.parameters)
    const { answer, cache } = await reading(app, run, (catalog) => answerWhole(app, run, { bound, catalog }))
    watch.done({
      rows: answer.rowCount,
      bytes: answer.rows.length,
      sqlMs: cache === 'hit' ? 0 : answer.elapsedMs,
      cache,
    })
    return { ...answerBase(run), answer, parameters: bound.parameters, cache }
  } catch (error) {
    watch.failed(error)
    throw error
  }
}

/** Runs a version and hands its result out in parts, as the engine makes them. */
export async function streamQuery(app: RunParts, run: Run, format: ReadFormat): Promise<StreamAnswer> {
  const watch = watchRun(app, run)
  const cache = keepsAnswers(run) ? 'bypass' : null
  try {
    const bound = bindSlots(run.version.compiled(), run.parameters)
    const { queryStreamRows, queryStreamBytes } = app.config.limits
    const limits = { maxRows: queryStreamRows, maxBytes: queryStreamBytes }
    const { stream, catalog } = await reading(app, run, async (found) => {
      const written = writtenStream(app, run, { bound, catalog: found }, { ...limits, format })
      const input = readInput(run, bound, { ...limits, format })
      return { stream: written ?? (await app.engine.stream(run.projectId, found, input)), catalog: found }
    })
    const { asOf, source } = dataFacts(catalog, run.version)
    return {
      ...answerBase(run),
      columns: stream.columns,
      parameters: bound.parameters,
      version: run.version.number,
      asOf,
      source,
      cache,
      ...(stream.sizeBytes !== undefined && { sizeBytes: stream.sizeBytes }),
      chunks: observed(stream, watch, cache),
      end: () => endOf(stream),
    }
  } catch (error) {
    watch.failed(error)
    throw error
  }
}

/** The fields of every answer about the query that gave it. */
function answerBase({ projectId, name, version: { chart } }: Run): Pick<RunAnswer, 'projectId' | 'name' | 'chart'> {
  return { projectId, name, chart }
}

/** Reads the project's tables, and once more where a file turns out to be damaged: the last whole version serves. */
async function reading<Result>(
  { catalogs }: RunParts,
  run: Run,
  use: (catalog: ProjectCatalog) => Promise<Result>,
): Promise<Result> {
  const { projectId, entry } = run
  const catalog = await catalogs.get(projectId)
  try {
    return await use(readBy(run, catalog))
  } catch (error) {
    const other = await catalogs.withoutDamaged(projectId, catalog, { error, isProved: entry !== 'preview' })
    if (other === undefined) throw error
    return use(readBy(run, other))
  }
}

/** The tables as its statement reads them: those of models with what they were built from. */
export function readBy({ version }: Run, catalog: ProjectCatalog): ProjectCatalog {
  return catalog.hasModels ? catalog.together(Object.keys(version.tables)) : catalog
}

type Prepared = { bound: BoundSlots; catalog: ProjectCatalog }

async function answerWhole(
  app: RunParts,
  run: Run,
  prepared: Prepared,
): Promise<{ answer: Answer; cache: CacheState | null }> {
  const { version } = run
  if (!keepsAnswers(run)) return { answer: await execute(app, run, prepared), cache: null }
  if (run.fresh === true) return { answer: await execute(app, run, prepared), cache: 'bypass' }
  const key = answerKey(version, prepared)
  const cached = app.answers.get(key)
  if (cached !== undefined) return { answer: cached, cache: 'hit' }
  const ttlMs = (version.cacheSeconds ?? 0) * 1000
  const options = { ttlMs, signal: run.signal?.() }
  const answer = await app.answers.make(key, options, (signal) =>
    execute(app, { ...run, signal: () => signal }, prepared),
  )
  return { answer, cache: 'miss' }
}

export function answerKey(version: LiveVersion, { bound, catalog }: Prepared): string {
  return `${dataFacts(catalog, version).dataVersion}\n${bound.key}`
}

async function execute(app: RunParts, run: Run, prepared: Prepared): Promise<Answer> {
  const written = run.fresh === true ? undefined : writtenAnswer(app, run, prepared)
  if (written !== undefined) return written
  const startedMs = performance.now()
  const { bound, catalog } = prepared
  const { queryRows, queryBytes } = app.config.limits
  const input = readInput(run, bound, { maxRows: queryRows, maxBytes: queryBytes, format: 'json' })
  const leave = await enterRoom(app, run, input.signal)
  const { bytes, columns, rowCount, truncated } = await app.engine
    .read(run.projectId, catalog, input)
    .finally(() => leave?.())
  lastBytes.set(run.version, bytes.length)
  const elapsedMs = Math.round(performance.now() - startedMs)
  return asAnswer(run, catalog, { rows: bytes, columns, rowCount, truncated, elapsedMs })
}

type Made = Pick<Answer, 'rows' | 'columns' | 'rowCount' | 'truncated' | 'elapsedMs'>

function asAnswer(run: Run, catalog: ProjectCatalog, made: Made): Answer {
  const { version } = run
  const { asOf, source } = dataFacts(catalog, version)
  const etag = keepsAnswers(run) ? etagOf(version, made.rows) : null
  return { ...made, version: version.number, asOf, source, etag }
}

/** The answer as it lies in a file, for a version that is live: a draft's would be written for nobody. */
function writtenAnswer(app: RunParts, run: Run, prepared: Prepared): Answer | undefined {
  const found = lookUp(app, run, prepared, {
    maxRows: app.config.limits.queryRows,
    maxBytes: app.config.limits.queryBytes,
  })
  return found && asAnswer(run, prepared.catalog, { ...found, truncated: false, elapsedMs: 0 })
}

type ReadLimits = { maxRows: number; maxBytes: number }

function lookUp(
  app: RunParts,
  { projectId, environment, version }: Run,
  { bound, catalog }: Prepared,
  { maxRows, maxBytes }: ReadLimits,
): LookedUp | undefined {
  const statement = environment === null ? null : lookupStatement(version)
  if (statement === null) return undefined
  const found = app.lookups.find({ projectId, catalog, statement }, bound.slots)
  // The engine cuts or refuses what is beyond a limit.
  if (found === undefined || found.rowCount > (version.maxRows ?? maxRows)) return undefined
  return found.rows.length > (version.maxBytes ?? maxBytes) ? undefined : found
}

function writtenStream(
  app: RunParts,
  run: Run,
  prepared: Prepared,
  { format, ...limits }: ReadLimits & { format: ReadFormat },
): ReadStream | undefined {
  if (run.fresh === true || !isWrittenAs(format)) return undefined
  const found = lookUp(app, run, prepared, limits)
  return found && streamOf(found, format)
}

/** The size of each version's last answer predicts the next one's. */
const lastBytes = new WeakMap<LiveVersion, number>()

/** Smaller answers never wait for room. */
const largeAnswerBytes = 1_048_576

/** Waits for room for an answer that was large the last time. */
function enterRoom(app: RunParts, run: Run, signal: AbortSignal | undefined): Promise<() => void> | undefined {
  const expectedBytes = lastBytes.get(run.version) ?? 0
  if (expectedBytes < largeAnswerBytes) return undefined
  const waitMs = run.version.timeoutMs ?? app.config.limits.queryTimeoutMs
  return app.answers.room.enter([run.projectId, run.caller?.key.id], { amount: expectedBytes, waitMs, signal })
}

function readInput(
  { version, signal }: Run,
  { slots }: BoundSlots,
  { maxRows, maxBytes, format }: { maxRows: number; maxBytes: number; format: ReadFormat },
) {
  return {
    dialect: version.dialect,
    sql: version.sql,
    slots,
    format,
    maxRows: version.maxRows ?? maxRows,
    maxBytes: version.maxBytes ?? maxBytes,
    ...(version.timeoutMs !== null && { timeoutMs: version.timeoutMs }),
    ...(signal !== undefined && { signal: signal() }),
  }
}

/** A draft runs in no environment, and its answers are not cached. */
function keepsAnswers({ environment, version }: Run): boolean {
  return environment !== null && (version.cacheSeconds ?? 0) > 0
}

/** Weak: two executions give the same rows in answers that differ in their times. */
function etagOf(version: LiveVersion, rows: Buffer): string {
  const hash = createHash('sha256').update(version.id).update(rows).digest('base64url')
  return `W/"${hash.slice(0, 27)}"`
}

async function* observed(stream: ReadStream, watch: Watch, cache: CacheState | null) {
  let rows = 0
  let bytes = 0
  let outcome: 'ended' | 'failed' | 'left' = 'left'
  try {
    for await (const chunk of stream.chunks) {
      rows += chunk.rowCount
      bytes += chunk.bytes.length
      yield chunk
    }
    outcome = 'ended'
  } catch (error) {
    outcome = 'failed'
    watch.failed(error, { rows, bytes })
    throw error
  } finally {
    if (outcome !== 'failed') watch.done({ rows, bytes, sqlMs: stream.end()?.elapsedMs ?? 0, cache })
  }
}

function endOf(stream: ReadStream) {
  const { rowCount, truncated, elapsedMs } = stream.end() ?? { rowCount: 0, truncated: true, elapsedMs: 0 }
  return { rowCount, truncated, elapsedMs: Math.round(elapsedMs) }
}
