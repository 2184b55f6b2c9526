import { createHash } from 'node:crypto'
import type { Chart } from '../../api/queries.ts'
import type { KeyCaller } from '../access/index.ts'
import type { Column, ProjectCatalog, ReadFormat, ReadStream, QueryEngine, Catalogs } from '../data/index.ts'
import { largeAnswerBytes } from './answer-room.ts'
import type { Answer, Answers, IncompleteSource } from './answers.ts'
import type { LiveVersion } from './deployment-index.ts'
import { outcomeOf, tellCall, type CallRecord } from './record.ts'
import { bindSlots, checkSlots, type BoundSlots } from './slots.ts'
import type { QueryCallers } from './callers.ts'
import type { CallWatch } from './call-watch.ts'
import type { Observe } from '../observe.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../clock.ts'

/** Everything that one run of a query needs; who asks has been checked by whoever found the version. */
export type Run = {
  projectId: string
  /** Null for a draft. */
  environment: string | null
  /** Empty for SQL that nobody has given one. */
  name: string
  version: LiveVersion
  parameters: Readonly<Record<string, unknown>>
  /** Null for a preview, which no key pays for. */
  caller: KeyCaller | null
  requestId: string | null
  entry: 'direct' | 'question' | 'tool' | 'preview'
  /** What was asked, where a question led here, and how long finding this query took. */
  question?: { text: string; confidence: number | null } | undefined
  /** What its answer says of itself: that it leaves out a part of the question. */
  caveat?: 'unexpressed' | undefined
  routeMs?: number | undefined
  /** Asks for a new execution whatever is kept. */
  fresh?: boolean
  /** Asked for when something is to be stopped: an answer that is there needs none. */
  signal?: (() => AbortSignal) | undefined
}

export type CacheState = 'hit' | 'miss' | 'bypass'

export type RunAnswer = {
  projectId: string
  name: string
  answer: Answer
  parameters: Record<string, unknown>
  /** As its author draws it; null: as its columns and rows suggest. */
  chart: Chart | null
  /** Null where the query keeps no answers. */
  cache: CacheState | null
}

export type StreamAnswer = {
  projectId: string
  name: string
  columns: Column[]
  parameters: Record<string, unknown>
  chart: Chart | null
  version: number
  asOf: Date | null
  source: IncompleteSource | null
  cache: CacheState | null
  /** Ends after the last row or throws; leaving the loop stops the query. */
  chunks: AsyncIterable<{ bytes: Buffer; rowCount: number }>
  /** Known once `chunks` has ended. */
  end: () => { rowCount: number; truncated: boolean; elapsedMs: number }
}

export type RunParts = {
  engine: QueryEngine
  catalogs: Catalogs
  answers: Answers
  queryCallers: QueryCallers
  callWatch: CallWatch
  observe: Observe
  config: Config
  now: Clock
}

/** What is kept is there without a wait; undefined where nothing is, and where `runQuery` will say why not. */
export function keptAnswer(app: RunParts, run: Run): RunAnswer | undefined {
  if (!keepsAnswers(run.version) || run.fresh === true) return undefined
  const startedMs = performance.now()
  const catalog = app.catalogs.peek(run.projectId)
  if (catalog === undefined) return undefined
  const bound = checkSlots(run.version.compiled(), run.parameters)
  if ('details' in bound) return undefined
  const answer = app.answers.get(answerKey(run.version, { bound, catalog }))
  if (answer === undefined) return undefined
  noteCaller(app, run)
  tellRun(app, run, {
    startedMs,
    ...answered(run),
    rows: answer.rowCount,
    bytes: answer.rows.length,
    sqlMs: 0,
    cache: 'hit',
  })
  return { ...told(run), answer, parameters: bound.parameters, cache: 'hit' }
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
    return { ...told(run), answer, parameters: bound.parameters, cache }
  } catch (error) {
    watch.failed(error)
    throw error
  }
}

/** Runs a version and hands its result out in parts, as the engine makes them. */
export async function streamQuery(app: RunParts, run: Run, format: ReadFormat): Promise<StreamAnswer> {
  const watch = watchRun(app, run)
  const cache = keepsAnswers(run.version) ? 'bypass' : null
  try {
    const bound = bindSlots(run.version.compiled(), run.parameters)
    const { queryStreamRows, queryStreamBytes } = app.config.limits
    const limits = { maxRows: queryStreamRows, maxBytes: queryStreamBytes }
    const { stream, catalog } = await reading(app, run, async (found) => ({
      stream: await app.engine.stream(run.projectId, found, readInput(run, bound, { ...limits, format })),
      catalog: found,
    }))
    return {
      ...told(run),
      columns: stream.columns,
      parameters: bound.parameters,
      version: run.version.number,
      asOf: asOf(catalog, run.version),
      source: incompleteSource(catalog, run.version),
      cache,
      chunks: observed(stream, watch, cache),
      end: () => endOf(stream),
    }
  } catch (error) {
    watch.failed(error)
    throw error
  }
}

/** What every answer says of the query that gave it. */
function told({ projectId, name, version: { chart } }: Run): Pick<RunAnswer, 'projectId' | 'name' | 'chart'> {
  return { projectId, name, chart }
}

/** Reads the project's tables, and once more where a file turns out to be damaged: the last whole version serves. */
async function reading<Result>(
  { catalogs }: RunParts,
  { projectId }: Run,
  use: (catalog: ProjectCatalog) => Promise<Result>,
): Promise<Result> {
  const catalog = await catalogs.get(projectId)
  try {
    return await use(catalog)
  } catch (error) {
    const other = await catalogs.withoutDamaged(projectId, catalog, error)
    if (other === undefined) throw error
    return use(other)
  }
}

type Prepared = { bound: BoundSlots; catalog: ProjectCatalog }

async function answerWhole(
  app: RunParts,
  run: Run,
  prepared: Prepared,
): Promise<{ answer: Answer; cache: CacheState | null }> {
  const { version } = run
  if (!keepsAnswers(version)) return { answer: await execute(app, run, prepared), cache: null }
  if (run.fresh === true) return { answer: await execute(app, run, prepared), cache: 'bypass' }
  const key = answerKey(version, prepared)
  const kept = app.answers.get(key)
  if (kept !== undefined) return { answer: kept, cache: 'hit' }
  const ttlMs = (version.cacheSeconds ?? 0) * 1000
  const options = { ttlMs, signal: run.signal?.() }
  const answer = await app.answers.make(key, options, (signal) =>
    execute(app, { ...run, signal: () => signal }, prepared),
  )
  return { answer, cache: 'miss' }
}

function answerKey(version: LiveVersion, { bound, catalog }: Prepared): string {
  return `${dataVersion(catalog, version)}\n${bound.key}`
}

async function execute(app: RunParts, run: Run, { bound, catalog }: Prepared): Promise<Answer> {
  const startedMs = performance.now()
  const { queryRows, queryBytes } = app.config.limits
  const input = readInput(run, bound, { maxRows: queryRows, maxBytes: queryBytes, format: 'json' })
  const leave = await enterRoom(app, run, input.signal)
  const { bytes, columns, rowCount, truncated } = await app.engine
    .read(run.projectId, catalog, input)
    .finally(() => leave?.())
  lastBytes.set(run.version, bytes.length)
  const elapsedMs = Math.round(performance.now() - startedMs)
  const { version } = run
  return {
    rows: bytes,
    columns,
    rowCount,
    truncated,
    elapsedMs,
    version: version.number,
    asOf: asOf(catalog, version),
    source: incompleteSource(catalog, version),
    etag: keepsAnswers(version) ? etagOf(version, bytes) : null,
  }
}

/** What each version answered with last tells what its next answer will take. */
const lastBytes = new WeakMap<LiveVersion, number>()

/** Only what is known to answer with much waits for room. */
function enterRoom(app: RunParts, run: Run, signal: AbortSignal | undefined): Promise<() => void> | undefined {
  const expectedBytes = lastBytes.get(run.version) ?? 0
  if (expectedBytes < largeAnswerBytes) return undefined
  const holder = { projectId: run.projectId, keyId: run.caller?.key.id ?? '' }
  const timeoutMs = run.version.timeoutMs ?? app.config.limits.queryTimeoutMs
  return app.answers.room.enter(holder, { expectedBytes, timeoutMs, signal })
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

function keepsAnswers(version: LiveVersion): boolean {
  return (version.cacheSeconds ?? 0) > 0
}

/** When the oldest of the data that the version reads was fetched. */
function asOf(catalog: ProjectCatalog, version: LiveVersion): Date | null {
  const times = Object.keys(version.tables).flatMap((table) => catalog.asOf.get(table) ?? [])
  return times.length === 0 ? null : new Date(Math.min(...times.map(Number)))
}

/** Of which tables pages or rows were left out when they were fetched; null where a result rests on whole loads. */
function incompleteSource(catalog: ProjectCatalog, version: LiveVersion): IncompleteSource | null {
  if (catalog.truncated.size === 0) return null
  const names = Object.keys(version.tables)
  if (!names.some((name) => catalog.truncated.has(name))) return null
  const tables = names.map((name) => {
    return { name, asOf: catalog.asOf.get(name) ?? null, truncated: catalog.truncated.has(name) }
  })
  return { tables }
}

/** A version and the data it reads, in short. Of its tables only: another table's refresh leaves its answers good. */
function dataVersion(catalog: ProjectCatalog, version: LiveVersion): string {
  let known = dataVersions.get(catalog)
  if (known === undefined) dataVersions.set(catalog, (known = new Map()))
  let found = known.get(version.id)
  if (found === undefined) {
    const names = Object.keys(version.tables)
    const hash = createHash('sha256').update(version.id)
    for (const name of names) hash.update('\n').update(catalog.content.get(name) ?? '')
    known.set(version.id, (found = hash.digest('base64url')))
  }
  return found
}
const dataVersions = new WeakMap<ProjectCatalog, Map<string, string>>()

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

type Measured = { rows: number; bytes: number }
type Executed = { sqlMs: number; cache: CacheState | null }
type Watch = {
  done(measured: Measured & Executed): void
  failed(error: unknown, measured?: Measured): void
}

/** Says once how a run went, whichever way it ended. */
function watchRun(app: RunParts, run: Run): Watch {
  const startedMs = performance.now()
  noteCaller(app, run)
  return {
    done: (measured) => tellRun(app, run, { startedMs, ...answered(run), ...measured }),
    failed(error, measured = { rows: 0, bytes: 0 }) {
      tellRun(app, run, { startedMs, ...outcomeOf(error), ...measured, sqlMs: 0, cache: null })
    },
  }
}

function noteCaller(app: RunParts, { caller, environment, version }: Run): void {
  if (caller === null || environment === null) return
  app.queryCallers.note({ queryId: version.queryId, environment, keyId: caller.key.id })
}

type Outcome = Pick<CallRecord, 'code' | 'reason'>

function answered({ caveat }: Run): Outcome {
  return { code: null, reason: caveat ?? null }
}

function tellRun(app: RunParts, run: Run, ended: Outcome & Measured & Executed & { startedMs: number }): void {
  const { routeMs, version } = run
  const { sqlMs } = ended
  const runMs = performance.now() - ended.startedMs
  tellCall(app, run.caller, {
    requestId: run.requestId,
    projectId: run.projectId,
    environment: run.environment,
    query: run.name === '' ? null : run.name,
    version: version.number,
    keyId: run.caller?.key.id ?? null,
    entry: run.entry,
    question: run.question,
    routeMs,
    code: ended.code,
    reason: ended.reason,
    totalMs: runMs + (routeMs ?? 0),
    queueMs: Math.max(0, runMs - sqlMs),
    sqlMs,
    rows: ended.rows,
    bytes: ended.bytes,
    cache: ended.cache,
  })
  if (!app.callWatch.isOn) return
  if (ended.code === null) app.callWatch.heard(run)
  else app.callWatch.heardFailed(run)
}
