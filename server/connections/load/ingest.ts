import { rm } from 'node:fs/promises'
import type { Caller } from '../../access/index.ts'
import type { FetchedVersion } from '../../data/index.ts'
import type { Contract, ConvertCall, Converted, RowsLook } from '../../engine/index.ts'
import { type StoredFile, type Files } from '../../files/index.ts'
import { Failure } from '../../failure.ts'
import { ordinaryAhead, type ConvertAhead } from '../fetch/ahead.ts'
import { fetchLimits, type FetchedRows } from '../fetch/download.ts'
import { keysOf } from '../fetch/fetch-children.ts'
import { rowsOfFile, rowsOfTables } from '../fetch/fetch-rows.ts'
import type { RowOrigin } from '../fetch/row-origin.ts'
import { warningsOf } from '../fetch/whole.ts'
import { checkpointOf, fetchFor, type LoadCheckpoint } from './fetch-origin.ts'
import { joinRows } from './join-rows.ts'
import type { Ingested, IngestApp, LoadInput, LoadOutcome } from './loading.ts'
import { planLoad, type LoadPlan } from './plan-load.ts'
import { recordLoad } from './record-load.ts'
import { refuseFullProject } from './stored-bytes.ts'
import { droppedRows, judgeVersion, refuseErrorObject } from '../sources/judge-version.ts'
import { tableContractOf } from '../sources/table-rules.ts'

/**
 * Calls the API and stores what it answers as a new version of the datasource's table: files first, then in one
 * transaction both data objects, their lineage, where the next load goes on, and the job that prepares the data. Until
 * then nothing is there, and whatever fails leaves the version before it serving. What brings nothing new makes no version.
 */
export async function ingest(app: IngestApp, caller: Caller, input: LoadInput): Promise<Ingested> {
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
      .execute((transaction) => recordLoad(app, transaction, caller, { input, plan, stored }))
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

type Loading = { plan: LoadPlan; checkpoint: LoadCheckpoint | undefined; paths: Paths }

/** Everything up to the moment in which it counts. */
async function load(app: IngestApp, input: LoadInput, { plan, checkpoint, paths }: Loading): Promise<LoadOutcome> {
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
  { projectId, from }: LoadInput,
  { plan, paths, fetched, converted, limits }: Came,
): Promise<LoadOutcome> {
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
