import { invalidField } from '../failure.ts'
import { newId } from '../ids.ts'
import type { Database, JobDetails, JobError } from '../store/index.ts'
import {
  announceJob,
  jobColumns,
  type JobContext,
  type JobEndHandler,
  type JobRecord,
  type JobTransaction,
  type NewJob,
} from './job.ts'

/** One run of one attempt: what a worker must still hold for its result to count. */
export type Hold = { id: string; attempt: number; worker: string }

export type Outcome =
  | { status: 'succeeded' | 'cancelled' }
  /** `final`: not tried again, whatever attempts are left. */
  | { status: 'failed'; error: JobError; final?: boolean }
  /** Put back without counting an attempt: nothing of the job's own went wrong. */
  | { status: 'queued' }

/** The states of a job and every way from one to the next. Each change is announced in its own transaction. */
export type Records = {
  insert(transaction: JobTransaction, job: NewJob): Promise<JobRecord>
  /** The job and its row's lock. */
  lock(transaction: JobTransaction, id: string): Promise<JobRecord | undefined>
  /** The job and the others of its kind for the same source that are not finished, each with its row's lock. */
  lockPeers(transaction: JobTransaction, id: string): Promise<JobRecord[]>
  /** Locked, so that nobody begins it before the transaction ends. One that waits for a repetition is not meant. */
  findQueued(
    transaction: JobTransaction,
    job: Pick<NewJob, 'jobType' | 'sourceId' | 'input'>,
  ): Promise<JobRecord | undefined>
  /** Whether one of the kind waits or runs for this source. */
  isUnfinished(transaction: JobTransaction, job: Pick<NewJob, 'jobType' | 'sourceId'>): Promise<boolean>
  begin(transaction: JobTransaction, id: string, worker: string): Promise<JobContext['job'] | undefined>
  /** Undefined when the hold is gone: another run, a cancellation or the end of the project came first. */
  settle(transaction: JobTransaction, hold: Hold, outcome: Outcome): Promise<JobRecord | undefined>
  /** A job whose run ended without a word: as after a failure, or cancelled where that was asked for. */
  settleLost(transaction: JobTransaction, job: JobRecord): Promise<JobRecord>
  cancel(transaction: JobTransaction, job: JobRecord): Promise<JobRecord>
  progress(hold: Hold, fraction: number, details?: JobDetails): Promise<void>
}

/** An announcement must fit into a notification; with this and a short message it does. */
const maxSourceId = 200
const maxMessage = 1_000
const interrupted: JobError = { code: 'interrupted', message: 'The service stopped while the job was running.' }

// Over 70 lines: one method for each change of a record, each a single statement.
export function openRecords(store: Pick<Database, 'db' | 'notify'>, ended: JobEndHandler): Records {
  const change = async (transaction: JobTransaction, hold: { id: string } & Partial<Hold>, to: Change) => {
    const job = await transaction
      .updateTable('jobs')
      .set((row) => ({
        status: to.status,
        worker: to.worker ?? null,
        ...(to.error !== undefined && { error: to.error === null ? null : JSON.stringify(to.error) }),
        ...(to.nextAttempt === true && { attempt: row('attempt', '+', 1) }),
        ...(to.status === 'running' && { startedAt: row.fn<Date>('now', []), progress: 0 }),
        ...(to.status === 'succeeded' && { progress: 1 }),
        ...(isFinal(to.status) && { finishedAt: row.fn<Date>('now', []) }),
      }))
      .where('id', '=', hold.id)
      .$if(hold.worker !== undefined, (query) =>
        query
          .where('status', '=', 'running')
          .where('worker', '=', hold.worker ?? '')
          .where('attempt', '=', hold.attempt ?? 0),
      )
      .where('status', 'in', ['queued', 'running'])
      .returning([...jobColumns, 'input'])
      .executeTakeFirst()
    if (job === undefined) return undefined
    const { input, ...record } = job
    if (isFinal(record.status)) await ended(transaction, job)
    await announceJob(store, transaction, record)
    return { ...record, input }
  }

  const fail = (job: Pick<JobRecord, 'attempt' | 'maxAttempts'>, error: JobError, final = false): Change =>
    final || job.attempt >= job.maxAttempts
      ? { status: 'failed', error: shortened(error) }
      : { status: 'queued', error: shortened(error), nextAttempt: true }

  const lock = (transaction: JobTransaction, id: string) =>
    transaction.selectFrom('jobs').select(jobColumns).where('id', '=', id).forUpdate().executeTakeFirst()

  return {
    lock,
    async insert(transaction, { projectId, jobType, source, sourceId, sourceEventType, ...rest }) {
      if (sourceId.length > maxSourceId) {
        const message = `must have at most ${maxSourceId} characters`
        throw invalidField('source_id', message)
      }
      const job = await transaction
        .insertInto('jobs')
        .values({
          id: newId('job'),
          projectId,
          jobType,
          status: 'queued',
          source,
          sourceId,
          sourceEventType,
          input: JSON.stringify(rest.input ?? {}),
          ...(rest.maxAttempts !== undefined && { maxAttempts: rest.maxAttempts }),
          ...(rest.retriedFrom !== undefined && { retriedFrom: rest.retriedFrom }),
        })
        .returning(jobColumns)
        .executeTakeFirstOrThrow()
      await announceJob(store, transaction, job)
      return job
    },
    lockPeers: (transaction, id) =>
      transaction
        .selectFrom('jobs')
        .select(jobColumns)
        .where('status', 'in', ['queued', 'running'])
        .where((where) =>
          where(
            where.refTuple('projectId', 'sourceId', 'jobType'),
            'in',
            where
              .selectFrom('jobs as own')
              .select(['own.projectId', 'own.sourceId', 'own.jobType'])
              .where('own.id', '=', id)
              .$asTuple('projectId', 'sourceId', 'jobType'),
          ),
        )
        // One order for all, so that two who lock the same jobs never wait for each other.
        .orderBy('id')
        .forUpdate()
        .execute(),
    findQueued: (transaction, { jobType, sourceId, input = {} }) =>
      transaction
        .selectFrom('jobs')
        .select(jobColumns)
        .where('status', '=', 'queued')
        .where('jobType', '=', jobType)
        .where('sourceId', '=', sourceId)
        .where('attempt', '=', 1)
        .where('input', '=', JSON.stringify(input) as never)
        .orderBy('id')
        .limit(1)
        // Waits for a worker that is just looking at it, and finds it only if it still waits then.
        .forUpdate()
        .executeTakeFirst(),
    async isUnfinished(transaction, { jobType, sourceId }) {
      const job = await transaction
        .selectFrom('jobs')
        .select('id')
        .where('status', 'in', ['queued', 'running'])
        .where('jobType', '=', jobType)
        .where('sourceId', '=', sourceId)
        .executeTakeFirst()
      return job !== undefined
    },
    begin: (transaction, id, worker) => change(transaction, { id }, { status: 'running', worker }),
    async settle(transaction, hold, outcome) {
      if (outcome.status !== 'failed') return change(transaction, hold, { status: outcome.status, error: null })
      const job = await lock(transaction, hold.id)
      return job === undefined ? undefined : change(transaction, hold, fail(job, outcome.error, outcome.final))
    },
    async settleLost(transaction, job) {
      const to: Change = job.cancelRequestedAt === null ? fail(job, interrupted) : { status: 'cancelled' }
      return (await change(transaction, { id: job.id }, to)) ?? job
    },
    async cancel(transaction, job) {
      if (job.status === 'queued') return (await change(transaction, job, { status: 'cancelled' })) ?? job
      const asked = await transaction
        .updateTable('jobs')
        .set((row) => ({ cancelRequestedAt: row.fn<Date>('now', []) }))
        .where('id', '=', job.id)
        .where('status', '=', 'running')
        .returning(jobColumns)
        .executeTakeFirst()
      if (asked !== undefined) await announceJob(store, transaction, asked)
      return asked ?? job
    },
    async progress(hold, fraction, details) {
      await store.db.transaction().execute(async (transaction) => {
        const job = await transaction
          .updateTable('jobs')
          .set({ progress: fraction, ...(details !== undefined && { details: JSON.stringify(details) }) })
          .where('id', '=', hold.id)
          .where('status', '=', 'running')
          .where('worker', '=', hold.worker)
          .where('attempt', '=', hold.attempt)
          .returning(jobColumns)
          .executeTakeFirst()
        if (job !== undefined) await announceJob(store, transaction, job)
      })
    },
  }
}

type Change = {
  status: JobRecord['status']
  worker?: string
  error?: JobError | null
  nextAttempt?: boolean
}

export function isFinal(status: JobRecord['status']): boolean {
  return status !== 'queued' && status !== 'running'
}

function shortened(error: JobError): JobError {
  return { ...error, message: error.message.slice(0, maxMessage) }
}
