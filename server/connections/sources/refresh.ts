import type { Transaction } from 'kysely'
import { requireRole, type Caller } from '../../access/index.ts'
import { Failure } from '../../failure.ts'
import type { JobRecord, Jobs } from '../../jobs/index.ts'
import type { Database, Tables, SourceKind } from '../../store/index.ts'
import { recordSourceAct } from './source-acts.ts'

/** Queues a refresh, or finds the one that waits already: it will bring the same rows, a full one those and more. */
export async function refreshDatasource(
  app: { store: Database; jobs: Jobs },
  caller: Caller,
  input: { projectId: string; datasourceId: string; full?: boolean },
): Promise<JobRecord> {
  await requireRole(app, caller, input.projectId, 'editor')
  const { db } = app.store
  return db.transaction().execute((transaction) => queueRefresh(app, transaction, caller, input))
}

/** Within the transaction of the act that asks for it. */
export async function queueRefresh(
  { jobs }: { jobs: Jobs },
  transaction: Transaction<Tables>,
  caller: Caller,
  input: { projectId: string; datasourceId: string; full?: boolean },
): Promise<JobRecord> {
  const source = await transaction
    .selectFrom('datasources')
    .select(['kind', 'sealedSecrets'])
    .where('projectId', '=', input.projectId)
    .where('id', '=', input.datasourceId)
    .forUpdate()
    .executeTakeFirst()
  if (source === undefined) throw noDatasource(input.datasourceId)
  if (source.kind === 'file') throw takesFiles()
  if (source.kind === 'http_api' && source.sealedSecrets === null) {
    throw new Failure('invalid_request', {
      reason: 'invalid_field',
      message: 'This datasource has no configuration yet. Give it one, or execute a request for it.',
    })
  }
  const refresh = { jobType: jobOf(source.kind), sourceId: input.datasourceId }
  // A rebuild that a change caused may find nothing to do: one that is asked for is another.
  const asked = source.kind === 'model' ? { asked: true } : {}
  const work = input.full === true ? { full: true } : asked
  for (const known of [{ full: true }, work]) {
    const waiting = await jobs.findQueued(transaction, { ...refresh, input: known })
    if (waiting !== undefined) return waiting
  }
  const job = await jobs.enqueue(transaction, {
    projectId: input.projectId,
    ...refresh,
    source: 'datasource',
    sourceEventType: 'http_api',
    input: work,
  })
  await recordSourceAct(transaction, caller, {
    action: 'datasource.refresh_queued',
    projectId: input.projectId,
    datasourceId: input.datasourceId,
    details: { job_id: job.id },
  })
  return job
}

/** The job that brings a source its next version. */
export function jobOf(kind: SourceKind): string {
  return kind === 'model' ? 'rebuild_model' : 'refresh_datasource'
}

/** There is nothing to call. */
export function takesFiles(): Failure {
  return new Failure('invalid_request', {
    reason: 'invalid_field',
    message:
      'This datasource takes files: send one to POST /v1/projects/{project_id}/datasources/{datasource_id}/files.',
  })
}

/** Its rows come from other tables. */
export function isBuilt(): Failure {
  return new Failure('invalid_request', {
    reason: 'invalid_field',
    message: 'This is a model: its rows are built from other tables. Rebuild it, or change its SQL.',
  })
}

export function noDatasource(datasourceId: string): Failure {
  return new Failure('not_found', { message: `The project has no datasource ${datasourceId}.` })
}
