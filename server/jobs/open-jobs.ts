import { randomUUID } from 'node:crypto'
import { openPeriodic, type Periodic } from '../flow/index.ts'
import type { Observe } from '../observe.ts'
import type { Database } from '../store/index.ts'
import { openEvents, type JobListener } from './events.ts'
import type { JobHandler, JobRecord, JobTransaction, JobWork, NewJob } from './job.ts'
import { openQueue } from './queue.ts'
import { openRecords } from './records.ts'
import type { RunLimits } from './run.ts'
import { openWorker } from './worker.ts'

export type Jobs = {
  /** Before `start`, by the room that does the work. */
  register(jobType: string, handler: JobHandler, options?: Omit<JobWork, 'handler'>): void
  /** Before `start`: enqueues what is due. Done every few seconds, never twice at once. */
  registerSchedules(enqueueDue: () => Promise<void>): void
  /** The job is there when the transaction commits, and starts at once; else it never was. */
  enqueue(transaction: JobTransaction, job: NewJob): Promise<JobRecord>
  /** The job of a kind that waits for this source and was not tried yet, held until the transaction ends. */
  findQueued(
    transaction: JobTransaction,
    job: Pick<NewJob, 'jobType' | 'sourceId' | 'input'>,
  ): Promise<JobRecord | undefined>
  /** Whether one of a kind waits or runs for this source. */
  isUnfinished(transaction: JobTransaction, job: Pick<NewJob, 'jobType' | 'sourceId'>): Promise<boolean>
  /** A queued job is cancelled at once; a running one is asked to stop. One that is final stays as it is. */
  cancel(transaction: JobTransaction, jobId: string): Promise<JobRecord | undefined>
  watch(projectId: string, listener: JobListener): () => void
  /** From now on this process runs jobs and minds schedules. */
  start(): Promise<void>
  health(): Promise<{ ok: boolean; message?: string }>
  close(): Promise<void>
}

export type JobsOptions = {
  store: Database
  observe: Observe
  /** Jobs that run at once in this process. */
  concurrency: number
  limits: RunLimits
  /** How long after the last sign of life a worker counts as dead. At least 10. */
  leaseSeconds?: number
  retrySeconds?: number
}

const tickMs = 5_000

export async function openJobs(options: JobsOptions): Promise<Jobs> {
  const { store, observe, concurrency, limits, leaseSeconds = 30, retrySeconds = 2 } = options
  const queue = await openQueue({ store, observe, leaseSeconds, retrySeconds })
  const handlers = new Map<string, JobWork>()
  const records = openRecords(store, async (transaction, job) => handlers.get(job.jobType)?.ended?.(transaction, job))
  const bootId = randomUUID()
  const leaseMs = leaseSeconds * 1000
  const worker = openWorker({ store, records, queue, handlers, observe, bootId, concurrency, leaseMs, limits })
  const events = await openEvents(store, {
    onChange: (job) => {
      if (job.status === 'queued') worker.wake()
      else if (job.status === 'running' && job.cancelRequestedAt !== null) worker.cancel(job.id)
    },
    onGap: () => worker.wake(),
  })
  const enqueue: Jobs['enqueue'] = async (transaction, job) => {
    const record = await records.insert(transaction, job)
    await queue.put(transaction, record)
    return record
  }
  let enqueueDue = async (): Promise<void> => undefined
  let schedules: Periodic | undefined

  return {
    enqueue,
    findQueued: (transaction, job) => records.findQueued(transaction, job),
    isUnfinished: (transaction, job) => records.isUnfinished(transaction, job),
    registerSchedules: (work) => void (enqueueDue = work),
    watch: (projectId, listener) => events.watch(projectId, listener),
    register(jobType, handler, options = {}) {
      if (handlers.has(jobType)) throw new Error(`Jobs of type ${jobType} have a handler already.`)
      handlers.set(jobType, { ...options, handler })
    },
    async cancel(transaction, jobId) {
      await queue.lock(transaction, jobId)
      const job = await records.lock(transaction, jobId)
      if (job === undefined) return undefined
      if (job.status === 'queued') await queue.withdraw(transaction, jobId)
      return records.cancel(transaction, job)
    },
    async start() {
      await worker.start()
      schedules = openPeriodic({
        everyMs: tickMs,
        work: () => enqueueDue(),
        onError: (error) => observe({ kind: 'fault', where: 'schedules', error }),
      })
      schedules.run()
    },
    async health() {
      try {
        await queue.ping()
        return { ok: true }
      } catch {
        return { ok: false, message: 'The job queue does not answer.' }
      }
    },
    async close() {
      await schedules?.close()
      events.close()
      await worker.close()
      await queue.close()
    },
  }
}
