import type { Transaction } from 'kysely'
import { recordAct, requireRole, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { newestFirst, type JobStatus, type Page, type Role, type Database, type Tables } from '../store/index.ts'
import type { JobListener } from './events.ts'
import { jobColumns, type JobRecord } from './job.ts'
import { isFinal } from './records.ts'
import type { Jobs } from './open-jobs.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'

type Parts = { store: Database; jobs: Jobs }

export function findJob(app: { store: Database }, caller: Caller, jobId: string): Promise<JobRecord> {
  return requireJob(app, caller, jobId, 'viewer')
}

/** Newest first. */
export async function listJobs(
  app: { store: Database },
  caller: Caller,
  input: {
    projectId: string
    status?: JobStatus | undefined
    sourceId?: string | undefined
    limit: number
    cursor?: string | undefined
  },
): Promise<Page<JobRecord>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const { status, sourceId } = input
  return newestFirst(
    app.store.db
      .selectFrom('jobs')
      .select(jobColumns)
      .where('projectId', '=', input.projectId)
      .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'queued'))
      .$if(sourceId !== undefined, (query) => query.where('sourceId', '=', sourceId ?? '')),
    input,
  )
}

/** Cancelling what is cancelled already, or about to be, changes nothing. */
export function cancelJob(app: Parts, caller: Caller, jobId: string): Promise<JobRecord> {
  return changeJob(app, caller, jobId, async (transaction, projectId) => {
    const job = await app.jobs.cancel(transaction, jobId)
    if (job === undefined) throw noSuchJob(jobId)
    if (job.status === 'succeeded' || job.status === 'failed') {
      throw new Failure('conflict', { reason: 'job_finished', message: `The job has ${job.status} already.` })
    }
    await recordAct(transaction, caller, { action: 'job.cancelled', target: jobId, projectId })
    return job
  })
}

/** Final states never change: what is repeated is a new job. */
export function retryJob(app: Parts, caller: Caller, jobId: string): Promise<JobRecord> {
  return changeJob(app, caller, jobId, async (transaction, projectId) => {
    // The row's lock makes two retries that come together take turns.
    const old = await transaction.selectFrom('jobs').selectAll().where('id', '=', jobId).forUpdate().executeTakeFirst()
    if (old === undefined) throw noSuchJob(jobId)
    const unfinished = await transaction
      .selectFrom('jobs')
      .select('id')
      .where('status', 'in', ['queued', 'running'])
      .where('retriedFrom', '=', jobId)
      .executeTakeFirst()
    if (!isFinal(old.status) || unfinished !== undefined) {
      const message = `The job ${unfinished?.id ?? jobId} is not finished. Wait for it, or cancel it first.`
      throw new Failure('conflict', { reason: 'job_unfinished', message })
    }
    const job = await app.jobs.enqueue(transaction, {
      projectId,
      jobType: old.jobType,
      source: old.source,
      sourceId: old.sourceId,
      sourceEventType: old.sourceEventType,
      input: old.input,
      maxAttempts: old.maxAttempts,
      retriedFrom: jobId,
    })
    const details = { retried_from: jobId }
    await recordAct(transaction, caller, { action: 'job.retried', target: job.id, projectId, details })
    return job
  })
}

async function changeJob(
  app: Parts,
  caller: Caller,
  jobId: string,
  act: (transaction: Transaction<Tables>, projectId: string) => Promise<JobRecord>,
): Promise<JobRecord> {
  const { projectId } = await requireJob(app, caller, jobId, 'editor')
  return app.store.db.transaction().execute((transaction) => act(transaction, projectId))
}

/** First the jobs that are not finished, then every change of any job, until the returned function is called. */
export async function watchJobs(
  app: Parts,
  caller: Caller,
  { projectId, onJob, onEnd }: JobListener & { projectId: string },
): Promise<() => void> {
  await requireRole(app, caller, projectId, 'viewer')
  // Heard from before the records are read, told after: no change falls between the two.
  const waiting: JobRecord[] = []
  let deliver = (job: JobRecord): void => void waiting.push(job)
  const stop = app.jobs.watch(projectId, { onJob: (job) => deliver(job), onEnd })
  try {
    const unfinished = await app.store.db
      .selectFrom('jobs')
      .select(jobColumns)
      .where('projectId', '=', projectId)
      .where('status', 'in', ['queued', 'running'])
      .orderBy('id')
      .limit(maxAtOnce)
      .execute()
    deliver = onJob
    for (const job of [...unfinished, ...waiting]) onJob(job)
  } catch (error) {
    stop()
    throw error
  }
  return stop
}

const maxAtOnce = 200

/** A job of a project that the caller may not know of is as missing as one that does not exist. */
async function requireJob(app: { store: Database }, caller: Caller, jobId: string, least: Role): Promise<JobRecord> {
  const job = await app.store.db.selectFrom('jobs').select(jobColumns).where('id', '=', jobId).executeTakeFirst()
  if (job === undefined) throw noSuchJob(jobId)
  try {
    await requireRole(app, caller, job.projectId, least)
  } catch (error) {
    throw error instanceof Failure && error.code === 'not_found' ? noSuchJob(jobId) : error
  }
  return job
}

function noSuchJob(jobId: string): Failure {
  return new Failure('not_found', { message: `There is no job ${jobId}.` })
}

/** When the jobs of a project failed in a span of time, its end included. */
export async function failedJobTimes(
  { db }: Pick<Database, 'db'>,
  projectId: string,
  { from, to }: { from: Date; to: Date },
): Promise<number[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('finishedAt')
    .where('projectId', '=', projectId)
    .where('status', '=', 'failed')
    .where('finishedAt', '>', from)
    .where('finishedAt', '<=', to)
    .execute()
  return rows.flatMap(({ finishedAt }) => (finishedAt === null ? [] : [finishedAt.getTime()]))
}

/** Finished jobs are history for a while, and then nothing. */
export async function forgetOldJobs(app: { store: Database; now: Clock; config: Config }): Promise<void> {
  const before = new Date(app.now() - app.config.limits.jobRetentionDays * 86_400_000)
  await app.store.db.deleteFrom('jobs').where('finishedAt', '<', before).execute()
}
