import type { Database, JobDetails, Tables } from '../store/index.ts'
import type { Selectable, Transaction } from 'kysely'

export type JobRecord = Pick<Selectable<Tables['jobs']>, (typeof jobColumns)[number]>

export type NewJob = {
  projectId: string
  jobType: string
  source: string
  sourceId: string
  sourceEventType: string
  /** Input of the job beyond its source, in wire names. Never a secret. */
  input?: Record<string, unknown>
  maxAttempts?: number
  retriedFrom?: string
}

/** Context of a handler. It heeds the signal: the job is cancelled, late, lost or the service stops. */
export type JobContext = {
  job: JobRecord & { input: Record<string, unknown> }
  signal: AbortSignal
  /** How much is done, from 0 to 1, and what of it. May be called as often as one likes. */
  progress: (fraction: number, details?: JobDetails) => void
}

/** Does the work of one job type. It may be run again after a crash at any point, so it must bear repetition. */
export type JobHandler = (context: JobContext) => Promise<void>

export type JobTransaction = Transaction<Tables>

/**
 * Hears of the end of a job, in the transaction that ends it: also of one that was cancelled before it ran, or whose
 * process died.
 */
export type JobEndHandler = (transaction: JobTransaction, job: JobContext['job']) => Promise<void>

/** `timeoutMs`: longest time of one attempt, where the work needs another than jobs have in general. */
export type JobWork = { handler: JobHandler; timeoutMs?: number | undefined; ended?: JobEndHandler | undefined }

/** Every change of a job travels on this channel when it commits. */
export const jobChannel = 'sluice_jobs'

export const jobColumns = [
  'id',
  'jobType',
  'status',
  'projectId',
  'source',
  'sourceId',
  'sourceEventType',
  'attempt',
  'maxAttempts',
  'progress',
  'details',
  'error',
  'retriedFrom',
  'cancelRequestedAt',
  'createdAt',
  'startedAt',
  'finishedAt',
] as const

export async function announceJob(store: Pick<Database, 'notify'>, transaction: JobTransaction, job: JobRecord) {
  await store.notify(transaction, jobChannel, JSON.stringify(job))
}

export function readAnnouncement(payload: string): JobRecord {
  const job = JSON.parse(payload) as { [Key in keyof JobRecord]: JobRecord[Key] extends Date ? string : JobRecord[Key] }
  return {
    ...job,
    createdAt: new Date(job.createdAt),
    cancelRequestedAt: dateOrNull(job.cancelRequestedAt),
    startedAt: dateOrNull(job.startedAt),
    finishedAt: dateOrNull(job.finishedAt),
  }
}

function dateOrNull(value: Date | string | null): Date | null {
  return value === null ? null : new Date(value)
}
