import { randomUUID } from 'node:crypto'
import type { Observe } from '../observe.ts'
import type { Database } from '../store/index.ts'
import { openEvents, type JobListener } from './events.ts'
import type { JobHandler, JobRecord, JobTransaction, NewJob } from './job.ts'
import { openQueue } from './queue.ts'
import { openRecords } from './records.ts'
import type { RunLimits } from './run.ts'
import { runDueSchedules } from './schedules.ts'
import { openWorker } from './worker.ts'

export type Jobs = {
  /** Before `start`, by the room that does the work. */
  register(jobType: string, handler: JobHandler): void
  /** The job is there when the transaction commits, and starts at once; else it never was. */
  enqueue(transaction: JobTransaction, job: NewJob): Promise<JobRecord>
  /** The job of a kind that waits for this source and was not tried yet, held until the transaction ends. */
  findQueued(transaction: JobTransaction, job: Pick<NewJob, 'jobType' | 'sourceId'>): Promise<JobRecord | undefined>
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
  now: () => number
  /** Jobs that run at once in this process. */
  concurrency: number
  limits: RunLimits
  /** How long after the last sign of life a worker counts as dead. At least 10. */
  leaseSeconds?: number
  retrySeconds?: number
}

const tickMs = 5_000

export async function openJobs(options: JobsOptions): Promise<Jobs> {
  const { store, observe, now, concurrency, limits, leaseSeconds = 30, retrySeconds = 2 } = options
  const queue = await openQueue({ store, observe, leaseSeconds, retrySeconds })
  const records = openRecords(store)
  const handlers = new Map<string, JobHandler>()
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
  let ticking: NodeJS.Timeout | undefined
  let ticked: Promise<void> | undefined
  const tick = () => {
    ticked ??= runDueSchedules({ store, enqueue, now, observe })
      .catch((error: unknown) => observe({ kind: 'fault', where: 'schedules', error }))
      .finally(() => (ticked = undefined))
  }

  return {
    enqueue,
    findQueued: (transaction, job) => records.findQueued(transaction, job),
    watch: (projectId, listener) => events.watch(projectId, listener),
    register(jobType, handler) {
      if (handlers.has(jobType)) throw new Error(`Jobs of type ${jobType} have a handler already.`)
      handlers.set(jobType, handler)
    },
    async cancel(transaction, jobId) {
      const job = await records.lock(transaction, jobId)
      if (job === undefined) return undefined
      if (job.status === 'queued') await queue.withdraw(transaction, jobId)
      return records.cancel(transaction, job)
    },
    async start() {
      await worker.start()
      ticking = setInterval(tick, tickMs)
      tick()
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
      clearInterval(ticking)
      await ticked
      events.close()
      await worker.close()
      await queue.close()
    },
  }
}
