import type { ExecuteRequest, ForEach, HttpConfiguration, Pagination } from '../../api/connections.ts'
import { requireRole, systemCaller, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import type { JobContext } from '../jobs/index.ts'
import { executeConfiguration } from './request/build-request.ts'
import { insertDatasource } from './sources/datasources.ts'
import { isBuilt, takesFiles } from './sources/refresh.ts'
import { claimCall, type FirstCall } from './idempotency.ts'
import { ingest } from './load/ingest.ts'
import type { Ingested, IngestApp } from './load/loading.ts'
import type { Loaded } from './fetch/download.ts'
import { checkPagination } from './request/pages.ts'
import {
  apiNamed,
  givenRequest,
  openRequest,
  requestOrigin,
  selectRequests,
  type StoredRequest,
} from './apis/shared-apis.ts'
import { storeConfiguration, withinConnectionBytes } from './apis/stored-configuration.ts'
import { takeTurn, type Turn } from './load/load-turns.ts'
import type { BuiltOrigin } from './fetch/row-origin.ts'
import type { Database } from '../store/index.ts'

/** The answer of an execute, in a form that can be kept and given again. */
export type ExecuteAnswer = Omit<Ingested, 'jobs' | 'warnings'> & {
  /** Absent in one that was stored by an earlier version. */
  warnings?: Ingested['warnings']
  jobs: Array<Omit<Ingested['jobs'][number], 'createdAt'> & { createdAt: string }>
}

export async function executeRequest(
  app: IngestApp,
  caller: Caller,
  input: { request: ExecuteRequest; idempotencyKey?: string | undefined; signal?: AbortSignal | undefined },
): Promise<ExecuteAnswer> {
  const { request, idempotencyKey: key, signal } = input
  const configuration = executeConfiguration(request)
  if (request.pagination !== undefined) checkPagination(request.pagination)
  await requireRole(app, caller, request.project_id, 'editor')
  if (key === undefined) return executeAnswerOf(await execute(app, caller, { request, configuration, signal }))
  const claim = await claimCall(app, { projectId: request.project_id, key, body: request })
  if ('answer' in claim) return claim.answer as ExecuteAnswer
  await using first = claim.first
  return executeAnswerOf(await execute(app, caller, { request, configuration, signal, first }))
}

type Execution = {
  request: ExecuteRequest
  configuration: HttpConfiguration
  signal: AbortSignal | undefined
  first?: FirstCall
}

async function execute(app: IngestApp, caller: Caller, execution: Execution): Promise<Ingested> {
  const { request, signal } = execution
  await using turn = await takeTurn(app, { projectId: request.project_id, datasourceId: request.datasource_id }, signal)
  return await executeInTurn(app, caller, execution, turn)
}

async function executeInTurn(app: IngestApp, caller: Caller, execution: Execution, turn: Turn): Promise<Ingested> {
  const { request, first } = execution
  const { project_id: projectId, datasource_id: datasourceId } = request
  const known = await findKnown(app, projectId, datasourceId)
  const api = await apiNamed(app, projectId, execution.configuration)
  const pagination = request.pagination ?? known?.pagination
  const given = { configuration: execution.configuration, api }
  const { configuration, origin } = givenRequest(given, known, { pagination, forEach: known?.forEach })
  try {
    return await ingest(app, caller, {
      projectId,
      datasourceId,
      from: origin,
      eventType: 'http_api',
      turn,
      before: async (transaction) => {
        // Another act may delete it meanwhile.
        await apiNamed({ ...app, store: { db: transaction } }, projectId, configuration)
        const stored = storeConfiguration(app.vault, configuration)
        const updated = await withinConnectionBytes(
          transaction,
          { projectId, table: 'datasources', id: datasourceId },
          () =>
            transaction
              .updateTable('datasources')
              .set({ ...stored, ...(request.pagination && { pagination: JSON.stringify(request.pagination) }) })
              .where('id', '=', datasourceId)
              .where('projectId', '=', projectId)
              .executeTakeFirst(),
        )
        if (updated.numUpdatedRows > 0n) return
        const name = request.connect_spec.name
        await insertDatasource(app, transaction, caller, {
          id: datasourceId,
          projectId,
          name,
          config: configuration,
          pagination: request.pagination,
        })
      },
      after: async (transaction, ingested) => first?.keep(transaction, executeAnswerOf(ingested)),
    })
  } catch (error) {
    if (known !== undefined && !isStopped(execution.signal, error)) await noteFailure(app, datasourceId, error)
    throw error
  }
}

/** A caller who hangs up wants it no longer: the data is as it was and nothing is wrong with it. */
function isStopped(signal: AbortSignal | undefined, error: unknown): boolean {
  return signal?.aborted === true && error === signal.reason
}

/** The work of a `refresh_datasource` job: the stored request once more. */
export async function runRefresh(app: IngestApp, { job, signal, progress }: JobContext): Promise<void> {
  await using turn = await takeTurn(app, { projectId: job.projectId, datasourceId: job.sourceId }, signal)
  const known = await findKnown(app, job.projectId, job.sourceId)
  // It was deleted while the job waited.
  if (known?.configuration === undefined) return
  progress(0.05)
  let last: Loaded = { pages: 1, rows: 0, bytes: 0 }
  try {
    const { warnings } = await ingest(app, systemCaller, {
      projectId: job.projectId,
      datasourceId: job.sourceId,
      from: requestOrigin({ configuration: known.configuration, api: known.api }, known),
      full: job.input['full'] === true,
      eventType: job.sourceEventType === 'schedule' ? 'schedule' : 'http_api',
      background: {
        job,
        progress: (loaded) => {
          last = loaded
          progress(0.05 + 0.85 * shareOf(loaded), loaded)
        },
      },
      turn,
    })
    const [first] = warnings
    if (first !== undefined) progress(0.95, { ...last, rows: last.rows || first.received, warnings })
  } catch (error) {
    if (!isStopped(signal, error)) await noteFailure(app, job.sourceId, error)
    throw error
  }
}

/**
 * The work of a job whose rows are made of what is here, by the rules of every load. `plan` says of what, once it is this
 * job's turn; null where there is nothing to do.
 */
export async function buildTable(
  app: IngestApp,
  caller: Caller,
  { job, signal, progress }: JobContext,
  plan: () => Promise<BuiltOrigin | null>,
): Promise<void> {
  const { projectId, sourceId: datasourceId } = job
  await using turn = await takeTurn(app, { projectId, datasourceId }, signal)
  const { sourceEventType: event } = job
  const eventType = event === 'schedule' || event === 'data_changed' ? event : 'http_api'
  progress(0.05)
  try {
    const from = await plan()
    if (from === null) return
    const full = job.input['full'] === true
    await ingest(app, caller, { projectId, datasourceId, from, full, eventType, turn, isLong: true })
  } catch (error) {
    if (!isStopped(signal, error)) await noteFailure(app, datasourceId, error)
    throw error
  }
}

/** A load whose size nobody knows comes a little nearer to its end with each page. */
function shareOf({ pages, rows, estimate }: Loaded): number {
  return estimate === undefined ? 1 - 20 / (20 + pages) : Math.min(1, rows / Math.max(1, estimate.rows))
}

type Known = StoredRequest & {
  pagination: Pagination | undefined
  forEach: ForEach | undefined
}

async function findKnown(app: IngestApp, projectId: string, datasourceId: string): Promise<Known | undefined> {
  const row = await selectRequests(app.store.db)
    .select(['datasources.projectId', 'kind', 'pagination', 'forEach'])
    .where('datasources.id', '=', datasourceId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  if (row.projectId !== projectId) {
    throw new Failure('conflict', {
      reason: 'name_taken',
      message: 'This datasource_id cannot be used in this project. Choose another.',
    })
  }
  if (row.kind === 'file') throw takesFiles()
  if (row.kind === 'model') throw isBuilt()
  return {
    ...openRequest(app.vault, row),
    // Written from the same schema that reads it.
    pagination: (row.pagination ?? undefined) as Pagination | undefined,
    forEach: (row.forEach ?? undefined) as ForEach | undefined,
  }
}

/** A person sees on the datasource why its last refresh brought nothing; the data from before goes on serving. */
async function noteFailure(app: { store: Database }, datasourceId: string, error: unknown): Promise<void> {
  const told =
    error instanceof Failure
      ? { code: error.reason ?? error.code, message: error.message }
      : { code: 'internal_error', message: 'It failed here; the log has the cause.' }
  await app.store.db
    .updateTable('datasources')
    .set({ lastError: JSON.stringify(told) })
    .where('id', '=', datasourceId)
    .execute()
}

export function executeAnswerOf({ jobs, ...rest }: Ingested): ExecuteAnswer {
  return { ...rest, jobs: jobs.map((job) => ({ ...job, createdAt: job.createdAt.toISOString() })) }
}
