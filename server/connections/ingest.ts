import { rm, writeFile } from 'node:fs/promises'
import type { Transaction } from 'kysely'
import type { ForEach, HttpConfiguration, Pagination } from '../../api/connections.ts'
import { recordAct, type Caller, type Vault } from '../access/index.ts'
import {
  dataChanged,
  insertVersion,
  liveDataVersion,
  type Catalogs,
  type Converted,
  type Engine,
  type FetchedVersion,
  type Files,
  type QueryGate,
} from '../data/index.ts'
import { Failure } from '../failure.ts'
import type { JobRecord, Jobs } from '../jobs/index.ts'
import { lockProjectForQuota, type Database, type HeldBecause, type Tables } from '../store/index.ts'
import { openCheckpoint, type Checkpoint } from './checkpoints.ts'
import { fetchChildren, readParents, type ChildrenState } from './fetch-children.ts'
import { fetchRows, type FetchedRows, type FetchOptions, type Loaded } from './fetch-rows.ts'
import { namedValuesFor } from './named-values.ts'
import { judgeVersion } from './judge.ts'
import { contractOf, noRules, readRules } from './table-rules.ts'
import { refuseFullProject, refuseTooMuch } from './stored-bytes.ts'
import { maskConfiguration } from './secrets/mask.ts'
import type { Turn } from './turns.ts'
import type { Outbound } from './outbound/send.ts'
import type { TokenSource } from './oauth.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../clock.ts'

export type IngestApp = {
  store: Database
  files: Files
  engine: Engine
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
  configuration: HttpConfiguration
  pagination?: Pagination | undefined
  forEach?: ForEach | undefined
  /** `http_api` when someone asked for it, `schedule` when the clock did. */
  eventType: 'http_api' | 'schedule'
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
 * transaction both data objects, their lineage and the job that prepares the data. Until then nothing is there, and
 * whatever fails leaves the version before it serving.
 */
export async function ingest(app: IngestApp, caller: Caller, input: Input): Promise<Ingested> {
  const bodyPath = app.files.temporaryPath('body')
  const { load, checkpoint } = await openLoad(app, input)
  const rowsPath = checkpoint?.rowsPath ?? app.files.temporaryPath('rows')
  const parquetPath = app.files.temporaryPath('parquet')
  const rejectedPath = app.files.temporaryPath('rejected')
  const requestPath = app.files.temporaryPath('json')
  const { signal } = input.turn
  const limits = fetchLimits(app, input.background !== undefined)
  const deadlineMs = performance.now() + limits.timeoutMs
  const left = () => ({ signal, timeoutMs: Math.max(1, Math.round(deadlineMs - performance.now())) })
  await refuseFullProject(app.store.db, app.config.limits, input.projectId)
  try {
    const fetched = await load({
      outbound: app.outbound,
      tokens: app.tokens,
      limits,
      bodyPath,
      rowsPath,
      pagination: input.pagination,
      appendPage: (page) => app.engine.appendPage(input.projectId, page, left()),
      at: new Date(app.now()),
      values: await namedValuesFor(app, input.projectId, input.configuration),
      onPage: input.background?.progress,
      signal,
    })
    const { rules, tableName } = (await readRules(app.store.db, input.datasourceId)) ?? {
      rules: noRules,
      tableName: '',
    }
    const live = await liveDataVersion(app.store, input.datasourceId)
    const call = { source: fetched.source, parquetPath, rejectedPath, contract: contractOf(rules, live) }
    const converted = await app.engine.convert(input.projectId, call, left()).catch((error: unknown) => {
      throw error instanceof Failure && error.code === 'query_timeout' ? tooSlow(error) : error
    })
    await writeFile(requestPath, `${JSON.stringify(maskConfiguration(input.configuration), null, 2)}\n`)
    const request = await app.files.keep(requestPath, 'json')
    const rows = await app.files.keep(parquetPath, 'parquet')
    const arrival = { projectId: input.projectId, tableName, converted, live, rules, limits: left() }
    const stored: FetchedVersion = {
      request,
      rows,
      rowCount: converted.rowCount,
      columns: converted.columns,
      truncated: fetched.truncated,
      heldBecause: await judgeVersion(app, {
        ...arrival,
        parquetPath: app.files.pathOf(rows.hash, 'parquet'),
        requestHash: request.hash,
      }),
      rejected: rules.onMismatch === 'null' ? await keepRejected(app.files, rejectedPath, converted) : null,
    }
    signal.throwIfAborted()
    const ingested = await app.store.db
      .transaction()
      .execute((transaction) => record(app, transaction, caller, { input, stored }))
    app.catalogs.forget(input.projectId)
    await checkpoint?.forget()
    return ingested
  } catch (error) {
    // The datasource may be gone meanwhile; then nobody will go on.
    await checkpoint?.flush().catch(() => undefined)
    throw error
  } finally {
    // What a load in the background has fetched is for its next attempt.
    const paths = [bodyPath, parquetPath, rejectedPath, requestPath, ...(checkpoint === undefined ? [rowsPath] : [])]
    await Promise.all(paths.map((path) => rm(path, { force: true })))
  }
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

async function record(
  app: IngestApp,
  transaction: Transaction<Tables>,
  caller: Caller,
  { input, stored }: { input: Input; stored: FetchedVersion },
): Promise<Ingested> {
  // First, as whoever deletes the project takes it first.
  await lockProjectForQuota(transaction, input.projectId)
  await input.turn.keep(transaction)
  await input.before?.(transaction)
  const { projectId, datasourceId } = input
  const at = new Date(app.now())
  // The datasource's row is the lock under which versions are counted.
  await transaction
    .updateTable('datasources')
    .set({ ...(stored.heldBecause === null && { refreshedAt: at }), lastError: null })
    .where('id', '=', datasourceId)
    .executeTakeFirstOrThrow()
  const { dataObjectId, version } = await insertVersion(transaction, { projectId, datasourceId, at }, stored)
  await refuseTooMuch(transaction, app.config.limits, { ...input, version })
  const job = await app.jobs.enqueue(transaction, {
    projectId,
    jobType: 'build_dataline_from_connected_resource',
    source: 'datasource',
    sourceId: datasourceId,
    sourceEventType: input.eventType,
    input: { data_object_id: dataObjectId },
  })
  await recordAct(transaction, caller, {
    action: stored.heldBecause === null ? 'datasource.refreshed' : 'datasource.version_held',
    target: datasourceId,
    projectId,
    details: {
      data_object_id: dataObjectId,
      version,
      rowCount: stored.rowCount,
      ...(stored.heldBecause !== null && { reason: stored.heldBecause.reason }),
    },
  })
  await app.store.notify(transaction, dataChanged, projectId)
  const { truncated, heldBecause } = stored
  const ingested = { jobs: [job], dataObjectId, truncated, heldBecause }
  await input.after?.(transaction, ingested)
  return ingested
}

type Load = {
  load: (options: Omit<FetchOptions, 'checkpoint'>) => Promise<FetchedRows>
  /** Of one page there is nothing to go on from. */
  checkpoint: Pick<Checkpoint, 'rowsPath' | 'flush' | 'forget'> | undefined
}

/** One request with its pages, or a request for each row of another table. */
async function openLoad(app: IngestApp, input: Input): Promise<Load> {
  const { background, pagination, forEach, datasourceId, projectId, configuration } = input
  const { vault } = app
  const newPath = () => app.files.temporaryPath('rows')
  if (forEach === undefined) {
    const known = { datasourceId, configuration, pagination, newPath, vault }
    const isLong = background !== undefined && pagination !== undefined
    const checkpoint = isLong ? await openCheckpoint(app.store, { ...known, job: background.job }) : undefined
    return { checkpoint, load: (options) => fetchRows(configuration, { ...options, checkpoint }) }
  }
  const { tableName = '' } = (await readRules(app.store.db, datasourceId)) ?? {}
  const parents = await readParents(app, projectId, { configuration, forEach, tableName })
  const children = [forEach, parents.digest]
  const known = { datasourceId, configuration, pagination, children, newPath, vault }
  const checkpoint =
    background === undefined
      ? undefined
      : await openCheckpoint<ChildrenState>(app.store, { ...known, job: background.job })
  const atOnce = app.config.limits.childRequestsAtOnce
  return {
    checkpoint,
    load: (options) => fetchChildren(configuration, { ...options, checkpoint, forEach, parents, atOnce }),
  }
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
