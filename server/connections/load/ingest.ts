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
  type FetchedVersion,
  type LoadedParts,
  type QueryGate,
  type TableModels,
} from '../../data/index.ts'
import type { Contract, ConvertCall, Converted, QueryEngine, RowsLook, TableBuilder } from '../../engine/index.ts'
import { type StoredFile, type Files } from '../../files/index.ts'
import { Failure } from '../../failure.ts'
import type { JobRecord, Jobs } from '../../jobs/index.ts'
import {
  lockProjectForQuota,
  type Database,
  type BuiltFrom,
  type CursorValue,
  type HeldBecause,
  type LoadWarning,
  type Tables,
} from '../../store/index.ts'
import { ordinaryAhead, type ConvertAhead } from './ahead.ts'
import { openCheckpoint, type Checkpoint } from './checkpoints.ts'
import { fetchChildren, keysOf, readParents, type ChildrenState, type Parents } from './fetch-children.ts'
import { fetchLimits, type FetchedRows, type FetchOptions, type Loaded } from './download.ts'
import { fetchRows, rowsOfFile, rowsOfTables } from './fetch-rows.ts'
import { joinRows } from './join-rows.ts'
import { droppedRows, judgeVersion, refuseErrorObject } from '../sources/judge-version.ts'
import { namedValuesFor } from '../sources/named-values.ts'
import { planLoad, type LoadPlan } from './plan-load.ts'
import { warningsOf } from './whole.ts'
import { windowsOf } from './windows.ts'
import type { RowOrigin } from './row-origin.ts'
import type { RequestOrigin } from '../sources/shared-apis.ts'
import { loadWaiting } from '../sources/schedules.ts'
import { tableContractOf } from '../sources/table-rules.ts'
import { refuseFullProject, refuseTooMuch } from './stored-bytes.ts'
import type { Turn } from './load-turns.ts'
import type { Paces } from '../outbound/pace.ts'
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
  paces: Paces
  config: Config
  now: Clock
  catalogs: Catalogs
  queryGate: QueryGate
  models: TableModels
  vault: Vault
}

export type Ingested = {
  jobs: JobRecord[]
  dataObjectId: string
  truncated: boolean
  /** Why the data does not serve yet; null where it does. */
  heldBecause: HeldBecause | null
  warnings: LoadWarning[]
}

type Input = {
  projectId: string
  datasourceId: string
  from: RowOrigin
  /** Takes the place of what is there, whatever the mode. */
  full?: boolean | undefined
  /** `http_api` when someone asked for it, `schedule` when the clock did, `file` when it was sent, `data_changed` when a
   * table that it is built from did. */
  eventType: 'http_api' | 'schedule' | 'file' | 'data_changed'
  /** Background load: it may take long, reports its progress, and goes on after a failure. */
  background?: { job: JobRecord; progress: (loaded: Loaded) => void } | undefined
  /** May take as long as a background load, without a job's checkpoints. */
  isLong?: boolean
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
    const { full = false } = input
    const plan = await planLoad(app, { ...input, full, requestPath: paths.request })
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
    // Rows of a background load are for its next attempt.
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
type Unchanged = { lastValue: CursorValue | null; warnings: LoadWarning[]; builtFrom?: BuiltFrom[] }

type Loading = { plan: LoadPlan; checkpoint: LoadCheckpoint | undefined; paths: Paths }

/** Everything up to the moment in which it counts. */
async function load(
  app: IngestApp,
  input: Input,
  { plan, checkpoint, paths }: Loading,
): Promise<FetchedVersion | Unchanged> {
  const { projectId } = input
  const { signal } = input.turn
  const api = input.from.kind === 'request' ? input.from.api : null
  const limits = fetchLimits(app.config, input.background !== undefined || input.isLong === true, api)
  const deadlineMs = performance.now() + limits.timeoutMs
  const left = () => ({ signal, timeoutMs: Math.max(1, Math.round(deadlineMs - performance.now())) })
  const { from } = input
  const { rules, live, base } = plan
  const hashKey = app.vault.hashKey(projectId)
  const contract =
    tableContractOf({ rules, load: plan.load }, { live, joins: base !== null, hashKey }) ?? keysAlone(from)
  const convert = (
    source: ConvertCall['source'],
    { call = left(), look = cursorLook(plan) } = {},
  ): Promise<Converted> => {
    const { parquet: parquetPath, rejected: rejectedPath } = paths
    return app.builder.convert(projectId, { source, parquetPath, rejectedPath, contract, look }, call)
  }
  const ahead: ConvertAhead = {
    ...ordinaryAhead,
    convert: (source, signal) => convert(source, { call: { ...left(), signal } }),
  }
  const fetched =
    from.kind === 'file'
      ? rowsOfFile(app.config, from)
      : from.kind === 'built'
        ? await rowsOfTables(from, paths.rows, { base, limits: left() })
        : await fetchFor(app, from, { input, plan, checkpoint, paths, limits, left, ahead })
  if (fetched === null) return { lastValue: null, warnings: [] }
  const look = { ...cursorLook(plan), ...pagesLook(plan, fetched) }
  const converted =
    fetched.converted ??
    (await convert(fetched.source, { look }).catch((error: unknown) => {
      throw error instanceof Failure && error.code === 'query_timeout' ? tooSlow(error) : error
    }))
  return await joinAndJudge(app, input, { plan, paths, fetched, converted, limits: left() })
}

/** Requests for the rows of a table that has none bring only the columns that these would fill. */
function keysAlone(from: RowOrigin): Contract | null {
  if (from.kind !== 'request' || from.forEach === undefined) return null
  const names = Object.keys(keysOf(from.configuration, from.forEach))
  const columns = names.map((name) => ({ sourceKey: name, name, type: null, declared: false }))
  return { columns, onMismatch: 'widen' }
}

type Came = {
  plan: LoadPlan
  paths: Paths
  fetched: FetchedRows
  converted: Converted
  limits: { signal: AbortSignal; timeoutMs: number }
}

/** The table with the rows that came, and whether it may serve. */
async function joinAndJudge(
  app: IngestApp,
  { projectId, from }: Input,
  { plan, paths, fetched, converted, limits }: Came,
): Promise<FetchedVersion | Unchanged> {
  const { rules, live, base, tableName, request } = plan
  const { truncated, validators } = fetched
  const pagination = from.kind === 'request' ? from.pagination : undefined
  const warnings = [
    ...(fetched.warnings ?? []),
    ...warningsOf(fetched.seen(converted.rowCount), pagination, { looked: converted.looked, besides: base?.rowCount }),
  ]
  const isBuilt = from.kind === 'built'
  const builtFrom = isBuilt ? { builtFrom: from.builtFrom } : {}
  if (base !== null && converted.rowCount === 0 && !truncated) return { lastValue: null, warnings, ...builtFrom }
  const requestHash = request.hash
  if (plan.load.mode !== 'replace') refuseErrorObject({ converted, live, requestHash })
  const isDoubtful = warnings.some(({ code }) => code !== 'rows_moved')
  const joined = await joinRows(app, { projectId, plan, converted, truncated, isDoubtful, isBuilt, paths, limits })
  if (!('rows' in joined)) return { ...joined, warnings, ...builtFrom }
  const { rows, columns, rowCount, newRows, parted, whole, repeats } = joined
  // Fewer rows of tables that were judged are what the statement means.
  if (!isBuilt) warnings.push(...droppedRows({ rowCount, live, base, requestHash, rules }))
  // Rows that join others are looked at by themselves, and with them.
  const came: StoredFile = { hash: rows.hash, format: 'parquet' }
  const looked = parted?.part === null ? (whole?.parts[0]?.rows ?? came) : came
  const table = { projectId, tableName, columns, rowCount, whole, live, base, rules, limits }
  const arrival = { ...table, rows: looked, converted, requestHash, warnings, repeats }
  const isShort = base === null && warnings.some(({ code }) => code === 'fewer_than_total')
  return {
    request,
    rows,
    rowCount,
    newRows,
    columns,
    truncated: truncated || isShort || base?.truncated === true,
    parted,
    validators,
    builtFrom: isBuilt ? from.builtFrom : null,
    heldBecause: await judgeVersion(app, arrival),
    warnings,
    rejected: rules.onMismatch === 'null' ? await keepRejected(app.files, paths.rejected, converted) : null,
  }
}

function cursorLook({ load: { mode, cursor } }: LoadPlan): RowsLook {
  return mode === 'replace' || cursor === undefined ? {} : { cursor: cursor.field }
}

/** Rows of pages that are counted may move between them; by a key the same row is found. */
function pagesLook({ load: { mode, primaryKey } }: LoadPlan, { pages, seen }: FetchedRows): RowsLook {
  const { firstRows, isCounted } = seen(1)
  const isLooked = pages > 1 && firstRows > 1 && (isCounted || mode !== 'merge')
  return isLooked ? { pages: { key: primaryKey, firstRows } } : {}
}

/** The cursor as a query parameter, where that is what its author asked for. */
function configurationOf({ configuration }: RequestOrigin, { load: { cursor } }: LoadPlan): HttpConfiguration {
  if (cursor?.parameter === undefined) return configuration
  const value = { value: '{{last_value}}', required: false }
  return { ...configuration, parameters: { ...configuration.parameters, [cursor.parameter]: value } }
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
  // Models above a model are built from its tables, too.
  const isMoved = 'rows' in stored ? !isHeld : stored.builtFrom !== undefined
  if (isMoved) await app.models.sourceChanged(transaction, { projectId, datasourceId })
  if ('rows' in stored && !isHeld && plan.live === null) {
    await loadWaiting(app, transaction, caller, { projectId, tableName: plan.tableName })
  }
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
  return { jobs: [job], dataObjectId, truncated, heldBecause, warnings: stored.warnings }
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
  await noteUnchanged(transaction, dataObjectId, { at, ...stored })
  await recordSourceAct(transaction, caller, {
    action: 'datasource.refreshed',
    projectId,
    datasourceId,
    details: { data_object_id: dataObjectId, version, unchanged: true },
  })
  return { jobs: [], dataObjectId, truncated, heldBecause: null, warnings: stored.warnings }
}

/** Checkpoint of a load: the pages of one request, or the requests for the rows of another table. */
type LoadCheckpoint = Pick<Checkpoint, 'rowsPath' | 'forget'> &
  ({ pages: Checkpoint | undefined } | { children: Checkpoint<ChildrenState> | undefined; parents: Parents })

/** A single page needs no checkpoint, but the rows of another table are read once. */
async function checkpointOf(app: IngestApp, input: Input, plan: LoadPlan): Promise<LoadCheckpoint | undefined> {
  const { background, from, datasourceId, projectId } = input
  if (from.kind !== 'request') return undefined
  const { pagination, forEach, configuration } = from
  const { vault } = app
  const newPath = () => app.files.temporaryPath('rows')
  const known = { datasourceId, configuration, pagination, newPath, vault }
  const joined = [plan.load, plan.base?.dataObjectId ?? null]
  const { tableName } = plan
  const parents =
    forEach === undefined
      ? windowsOf(plan.load, { lastValue: plan.lastValue, before: plan.base?.parted.load ?? null, atMs: app.now() })
      : await readParents(app, projectId, { configuration, forEach, tableName })
  if (parents === null) {
    if (background === undefined || pagination === undefined) return undefined
    const pages = await openCheckpoint(app.store, { ...known, basis: joined, job: background.job })
    return { ...pages, pages }
  }
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
    place: { projectId, datasourceId, apiId: from.hasApiAuth ? from.api?.id : undefined },
    limits,
    pace: app.paces.of(from.api),
    bodyPath: paths.body,
    rowsPath: checkpoint?.rowsPath ?? paths.rows,
    pagination: from.pagination,
    ahead,
    appendPage: (page) => app.builder.appendPage(projectId, page, left()),
    pageValues: (page) => app.builder.pageValues(projectId, page, left()),
    at: new Date(app.now()),
    lastValue: plan.lastValue,
    values: await namedValuesFor(app, projectId, from.configuration),
    onPage: input.background?.progress,
    signal: input.turn.signal,
  }
  const template = configurationOf(from, plan)
  if (checkpoint !== undefined && 'parents' in checkpoint) {
    const { parents, children } = checkpoint
    const atOnce = app.config.limits.childRequestsAtOnce
    return fetchChildren(template, {
      ...options,
      checkpoint: children,
      forEach: plan.load.windows === undefined ? (from.forEach ?? null) : null,
      parents,
      atOnce,
    })
  }
  const pages = checkpoint !== undefined && 'pages' in checkpoint ? checkpoint.pages : undefined
  const { validators, expectedRows } = plan
  return fetchRows(template, { ...options, validators, expectedRows, checkpoint: pages })
}
