import { rm } from 'node:fs/promises'
import type { Transaction } from 'kysely'
import type { HttpConfiguration } from '../../../api/connections.ts'
import type { Caller, Vault } from '../../access/index.ts'
import {
  compactedFrom,
  dataChanged,
  insertVersion,
  noteUnchanged,
  type Catalogs,
  type ConvertCall,
  type Converted,
  type QueryEngine,
  type StoredFile,
  type TableBuilder,
  type FetchedVersion,
  type Files,
  type LoadedParts,
  type QueryGate,
} from '../../data/index.ts'
import { Failure } from '../../failure.ts'
import type { JobRecord, Jobs } from '../../jobs/index.ts'
import {
  lockProjectForQuota,
  type Database,
  type CursorValue,
  type HeldBecause,
  type Tables,
} from '../../store/index.ts'
import { ordinaryAhead, type ConvertAhead } from './ahead.ts'
import { openCheckpoint, type Checkpoint } from './checkpoints.ts'
import { fetchChildren, readParents, type ChildrenState, type Parents } from './fetch-children.ts'
import { fetchRows, type FetchedRows, type FetchOptions, type Loaded } from '../fetch-rows.ts'
import { joinRows } from './join-rows.ts'
import { errorObject, judgeVersion } from '../sources/judge-version.ts'
import { namedValuesFor } from '../sources/named-values.ts'
import { planLoad, type LoadPlan } from './plan-load.ts'
import type { FileOrigin, RequestOrigin, RowOrigin } from '../row-origin.ts'
import { tableContractOf } from '../sources/table-rules.ts'
import { refuseFullProject, refuseTooMuch } from './stored-bytes.ts'
import type { Turn } from './load-turns.ts'
import type { Outbound } from '../outbound/send.ts'
import type { TokenSource } from '../oauth/token-source.ts'
import type { Config } from '../../config.ts'
import type { Clock } from '../../clock.ts'
import { recordSourceAct } from '../sources/source-acts.ts'

export type IngestApp = {
  store: Database
  files: Files
  engine: QueryEngine
  builder: TableBuilder
  jobs: Jobs
  outbound: Outbound
  tokens: TokenSource
  config: Config
  now: Clock
  catalogs: Catalogs
  queryGate: QueryGate
  vault: Vault
}

export type Ingested = {
  jobs: JobRecord[]
  dataObjectId: string
  truncated: boolean
  /** Why the data does not serve yet; null where it does. */
  heldBecause: HeldBecause | null
}

type Input = {
  projectId: string
  datasourceId: string
  from: RowOrigin
  /** Takes the place of what is there, whatever the mode. */
  full?: boolean | undefined
  /** `http_api` when someone asked for it, `schedule` when the clock did, `file` when it was sent. */
  eventType: 'http_api' | 'schedule' | 'file'
  /** Of a load in the background: it may take long, says how far it is, and goes on after a failure. */
  background?: { job: JobRecord; progress: (loaded: Loaded) => void } | undefined
  /** The right to fetch this datasource now, while nobody else does. */
  turn: Turn
  /** Joins the transaction that stores the data: before it, to register the datasource. */
  before?: (transaction: Transaction<Tables>) => Promise<void>
  /** Joins it at the end, with the answer. */
  after?: (transaction: Transaction<Tables>, ingested: Ingested) => Promise<void>
}

/**
 * Calls the API and stores what it answers as a new version of the datasource's table: files first, then in one
 * transaction both data objects, their lineage, where the next load goes on, and the job that prepares the data. Until
 * then nothing is there, and whatever fails leaves the version before it serving. What brings nothing new makes no version.
 */
export async function ingest(app: IngestApp, caller: Caller, input: Input): Promise<Ingested> {
  const paths = workPaths(app.files)
  await refuseFullProject(app.store.db, app.config.limits, input.projectId)
  let checkpoint: LoadCheckpoint | undefined
  try {
    const { datasourceId, from, full = false } = input
    const plan = await planLoad(app, { datasourceId, from, full, requestPath: paths.request })
    checkpoint = await checkpointOf(app, input, plan)
    const stored = await load(app, input, { plan, checkpoint, paths })
    input.turn.signal.throwIfAborted()
    const ingested = await app.store.db
      .transaction()
      .execute((transaction) => record(app, transaction, caller, { input, plan, stored }))
    app.catalogs.forget(input.projectId)
    await checkpoint?.forget()
    return ingested
  } finally {
    // What a load in the background has fetched is for its next attempt.
    await Promise.all(Object.values(paths).map((path) => rm(path, { force: true })))
  }
}

type Paths = ReturnType<typeof workPaths>

function workPaths(files: Files) {
  const path = (extension: string) => files.temporaryPath(extension)
  return {
    body: path('body'),
    rows: path('rows'),
    parquet: path('parquet'),
    part: path('parquet'),
    past: path('parquet'),
    rejected: path('rejected'),
    request: path('json'),
  }
}

/** The API says, or shows, that what it has is here already; the cursor may still have moved. */
type Unchanged = { lastValue: CursorValue | null }

type Loading = { plan: LoadPlan; checkpoint: LoadCheckpoint | undefined; paths: Paths }

/** Everything up to the moment in which it counts. */
async function load(
  app: IngestApp,
  input: Input,
  { plan, checkpoint, paths }: Loading,
): Promise<FetchedVersion | Unchanged> {
  const { projectId } = input
  const { signal } = input.turn
  const limits = fetchLimits(app, input.background !== undefined)
  const deadlineMs = performance.now() + limits.timeoutMs
  const left = () => ({ signal, timeoutMs: Math.max(1, Math.round(deadlineMs - performance.now())) })
  const { from } = input
  const { rules, live, base, tableName, request } = plan
  const contract = tableContractOf(rules, live, base !== null)
  const convert = (source: ConvertCall['source'], call = left()): Promise<Converted> => {
    const { parquet: parquetPath, rejected: rejectedPath } = paths
    return app.builder.convert(projectId, { source, parquetPath, rejectedPath, contract }, call)
  }
  const ahead: ConvertAhead = { ...ordinaryAhead, convert: (source, signal) => convert(source, { ...left(), signal }) }
  const fetched =
    from.kind === 'file'
      ? rowsOfFile(app, from)
      : await fetchFor(app, from, { input, plan, checkpoint, paths, limits, left, ahead })
  if (fetched === null) return { lastValue: null }
  const converted =
    fetched.converted ??
    (await convert(fetched.source).catch((error: unknown) => {
      throw error instanceof Failure && error.code === 'query_timeout' ? tooSlow(error) : error
    }))
  const { truncated, validators } = fetched
  if (base !== null && converted.rowCount === 0 && !truncated) return { lastValue: null }
  const requestHash = request.hash
  if (plan.load.mode !== 'replace') refuseErrorObject({ converted, live, requestHash })
  const joined = await joinRows(app, { projectId, plan, converted, truncated, paths, limits: left() })
  if (!('rows' in joined)) return joined
  const { rows, columns, rowCount, newRows, parted, whole } = joined
  // Rows that join others are looked at by themselves, and with them.
  const came: StoredFile = { hash: rows.hash, format: 'parquet' }
  const looked = parted?.part === null ? (whole?.parts[0]?.rows ?? came) : came
  const arrival = { projectId, tableName, converted, columns, rowCount, whole, live, base, rules, limits: left() }
  return {
    request,
    rows,
    rowCount,
    newRows,
    columns,
    truncated: truncated || base?.truncated === true,
    parted,
    validators,
    heldBecause: await judgeVersion(app, { ...arrival, rows: looked, requestHash }),
    rejected: rules.onMismatch === 'null' ? await keepRejected(app.files, paths.rejected, converted) : null,
  }
}

/** A file is there already. */
function rowsOfFile({ config: { limits } }: IngestApp, from: FileOrigin): FetchedRows {
  const { path, contentType, extractor, sizeBytes } = from
  const body = { path, contentType, extractor, maxDepth: limits.jsonDepth, maxBytes: limits.loadResponseBytes }
  const source = { kind: 'answer' as const, ...body }
  return { source, pages: 1, truncated: false, validators: null, responseBytes: sizeBytes, elapsedMs: 0 }
}

/** The cursor as a query parameter, where that is what its author asked for. */
function configurationOf({ configuration }: RequestOrigin, { load: { cursor } }: LoadPlan): HttpConfiguration {
  if (cursor?.parameter === undefined) return configuration
  const value = { value: '{{last_value}}', required: false }
  return { ...configuration, parameters: { ...configuration.parameters, [cursor.parameter]: value } }
}

/** One object that says what went wrong is no row to join others. */
function refuseErrorObject(arrival: Parameters<typeof errorObject>[0]): void {
  const found = errorObject(arrival)
  if (found !== null) throw new Failure('upstream_error', { reason: 'not_tabular', message: found.message })
}

async function keepRejected(
  files: Files,
  path: string,
  { mismatches }: Converted,
): Promise<FetchedVersion['rejected']> {
  if (mismatches.length === 0) return null
  const counts = Object.fromEntries(mismatches.map(({ column, count }) => [column, count]))
  return { file: await files.keep(path, 'parquet'), counts }
}

function tooSlow(cause: Failure): Failure {
  const message = 'The answer came, but making a table of it took longer than an execute may take in all.'
  return new Failure('query_timeout', { message, cause })
}

type Recording = { input: Input; plan: LoadPlan; stored: FetchedVersion | Unchanged }

async function record(
  app: IngestApp,
  transaction: Transaction<Tables>,
  caller: Caller,
  { input, plan, stored }: Recording,
): Promise<Ingested> {
  // First, as whoever deletes the project takes it first.
  await lockProjectForQuota(transaction, input.projectId)
  await input.turn.keep(transaction)
  await input.before?.(transaction)
  const { projectId, datasourceId } = input
  const at = new Date(app.now())
  const isHeld = 'rows' in stored && stored.heldBecause !== null
  // The datasource's row is the lock under which versions are counted.
  await transaction
    .updateTable('datasources')
    .set({ ...(!isHeld && { refreshedAt: at }), lastError: null })
    .where('id', '=', datasourceId)
    .executeTakeFirstOrThrow()
  const ingested =
    'rows' in stored
      ? await recordVersion(app, transaction, caller, { input, stored, at })
      : await recordUnchanged(transaction, caller, { input, plan, stored, at })
  await app.store.notify(transaction, dataChanged, projectId)
  await input.after?.(transaction, ingested)
  return ingested
}

async function recordVersion(
  app: IngestApp,
  transaction: Transaction<Tables>,
  caller: Caller,
  { input, stored, at }: { input: Input; stored: FetchedVersion; at: Date },
): Promise<Ingested> {
  const { projectId, datasourceId } = input
  const { dataObjectId, version, drift } = await insertVersion(transaction, { projectId, datasourceId, at }, stored)
  await refuseTooMuch(transaction, app.config.limits, { ...input, version })
  const work = { projectId, source: 'datasource', sourceId: datasourceId, sourceEventType: input.eventType }
  const job = await app.jobs.enqueue(transaction, {
    ...work,
    jobType: 'build_dataline_from_connected_resource',
    input: { data_object_id: dataObjectId },
  })
  const { parted, heldBecause, truncated, rowCount, newRows } = stored
  if (parted !== null && heldBecause === null && hasManyParts(app, parted)) {
    await app.jobs.enqueue(transaction, { ...work, jobType: 'compact_table' })
  }
  await recordSourceAct(transaction, caller, {
    action: heldBecause === null ? 'datasource.refreshed' : 'datasource.version_held',
    projectId,
    datasourceId,
    details: {
      data_object_id: dataObjectId,
      version,
      row_count: rowCount,
      ...(parted !== null && { new_rows: newRows }),
      ...(input.from.kind === 'file' && { file: input.from.filename ?? null, file_bytes: input.from.sizeBytes }),
      ...(heldBecause !== null && { reason: heldBecause.reason }),
      // Also where nothing changed: versions are let go, and then this alone tells.
      drift,
    },
  })
  return { jobs: [job], dataObjectId, truncated, heldBecause }
}

function hasManyParts({ config }: IngestApp, { base, part, deletions }: LoadedParts): boolean {
  const parts = part === null ? base : [...base, part]
  return compactedFrom({ parts, deletions }, config.limits.versionParts) !== null
}

async function recordUnchanged(
  transaction: Transaction<Tables>,
  caller: Caller,
  { input, plan, stored, at }: { input: Input; plan: LoadPlan; stored: Unchanged; at: Date },
): Promise<Ingested> {
  const { projectId, datasourceId } = input
  if (plan.live === null) throw new Failure('internal_error', { message: 'Nothing is unchanged where nothing was.' })
  const { dataObjectId, version, truncated } = plan.live
  await noteUnchanged(transaction, dataObjectId, { at, lastValue: stored.lastValue })
  await recordSourceAct(transaction, caller, {
    action: 'datasource.refreshed',
    projectId,
    datasourceId,
    details: { data_object_id: dataObjectId, version, unchanged: true },
  })
  return { jobs: [], dataObjectId, truncated, heldBecause: null }
}

/** Where a load goes on from: the pages of one request, or the requests for the rows of another table. */
type LoadCheckpoint = Pick<Checkpoint, 'rowsPath' | 'forget'> &
  ({ pages: Checkpoint | undefined } | { children: Checkpoint<ChildrenState> | undefined; parents: Parents })

/** Of one page there is nothing to go on from, but the rows of another table are read once. */
async function checkpointOf(app: IngestApp, input: Input, plan: LoadPlan): Promise<LoadCheckpoint | undefined> {
  const { background, from, datasourceId, projectId } = input
  if (from.kind === 'file') return undefined
  const { pagination, forEach, configuration } = from
  const { vault } = app
  const newPath = () => app.files.temporaryPath('rows')
  const known = { datasourceId, configuration, pagination, newPath, vault }
  const joined = [plan.load, plan.base?.dataObjectId ?? null]
  if (forEach === undefined) {
    if (background === undefined || pagination === undefined) return undefined
    const pages = await openCheckpoint(app.store, { ...known, basis: joined, job: background.job })
    return { ...pages, pages }
  }
  const parents = await readParents(app, projectId, { configuration, forEach, tableName: plan.tableName })
  if (background === undefined)
    return { rowsPath: newPath(), forget: () => Promise.resolve(), children: undefined, parents }
  const basis = [joined, forEach, parents.digest]
  const children = await openCheckpoint<ChildrenState>(app.store, { ...known, basis, job: background.job })
  return { ...children, children, parents }
}

type Fetching = Loading & {
  input: Input
  limits: FetchOptions['limits']
  left: () => { signal: AbortSignal; timeoutMs: number }
  ahead: ConvertAhead
}

/** One request with its pages, or a request for each row of another table. */
async function fetchFor(
  app: IngestApp,
  from: RequestOrigin,
  { input, plan, checkpoint, paths, limits, left, ahead }: Fetching,
): Promise<FetchedRows | null> {
  const { projectId, datasourceId } = input
  const options: Omit<FetchOptions, 'checkpoint' | 'validators' | 'expectedRows'> = {
    outbound: app.outbound,
    tokens: app.tokens,
    place: { projectId, datasourceId },
    limits,
    bodyPath: paths.body,
    rowsPath: checkpoint?.rowsPath ?? paths.rows,
    pagination: from.pagination,
    ahead,
    appendPage: (page) => app.builder.appendPage(projectId, page, left()),
    at: new Date(app.now()),
    lastValue: plan.lastValue,
    values: await namedValuesFor(app, projectId, from.configuration),
    onPage: input.background?.progress,
    signal: input.turn.signal,
  }
  const template = configurationOf(from, plan)
  if (checkpoint !== undefined && 'parents' in checkpoint && from.forEach !== undefined) {
    const { parents, children } = checkpoint
    const atOnce = app.config.limits.childRequestsAtOnce
    return fetchChildren(template, { ...options, checkpoint: children, forEach: from.forEach, parents, atOnce })
  }
  const pages = checkpoint !== undefined && 'pages' in checkpoint ? checkpoint.pages : undefined
  const { validators, expectedRows } = plan
  return fetchRows(template, { ...options, validators, expectedRows, checkpoint: pages })
}

function fetchLimits({ config: { limits } }: IngestApp, isBackground: boolean) {
  return {
    tryTimeoutMs: limits.executeTryTimeoutMs,
    timeoutMs: isBackground ? limits.loadTimeoutMs : limits.executeTimeoutMs,
    responseBytes: isBackground ? limits.loadResponseBytes : limits.executeResponseBytes,
    redirects: limits.outboundRedirects,
    retries: limits.outboundTries - 1,
    maxDepth: limits.jsonDepth,
  }
}
