import { setTimeout as wait } from 'node:timers/promises'
import { Failure } from '../failure.ts'
import { createSerial, within } from '../flow/index.ts'
import type { Observe } from '../observe.ts'
import type { Database } from '../store/index.ts'
import { recoverOrphans, renewClaims, type Held } from './claims.ts'
import type { JobContext, JobRecord, JobWork } from './job.ts'
import { throttleProgress } from './progress.ts'
import type { Queue, JobTicket } from './queue.ts'
import { isFinal, type Hold, type Outcome, type Records } from './records.ts'
import { startRun, type RunLimits } from './run.ts'

export type Worker = {
  start(): Promise<void>
  /** Looks for work now instead of at the next poll. */
  wake(): void
  cancel(jobId: string): void
  close(): Promise<void>
}

export type WorkerOptions = {
  store: Pick<Database, 'db' | 'folderId'>
  records: Records
  queue: Queue
  handlers: ReadonlyMap<string, JobWork>
  observe: Observe
  /** Unique to this start of this process. */
  bootId: string
  concurrency: number
  leaseMs: number
  limits: RunLimits
}

/** For repetitions that become due, and for announcements that got lost. */
const pollMs = 2_000

/** Takes tickets as long as there is room, runs their jobs, and keeps their claims alive. */
export function openWorker(options: WorkerOptions): Worker {
  const { store, observe, concurrency, leaseMs, limits } = options
  const worker = `${store.folderId}/${options.bootId}`
  const held = new Map<string, Held>()
  const timers: NodeJS.Timeout[] = []
  const fault = (error: unknown) => observe({ kind: 'fault', where: 'jobs', error })
  const isOpen = () => timers.length > 0

  const looking = createSerial(() => look().catch(fault))
  const wake = () => {
    if (isOpen()) void looking.run()
  }

  const look = async () => {
    while (isOpen() && held.size < concurrency) {
      const claimedAtMs = performance.now()
      const claimed = await claim(options, held, worker)
      if (claimed === undefined) return
      if (claimed.job !== undefined) begin(claimed.job, claimed.ticket, claimedAtMs)
    }
  }

  const begin = (job: JobContext['job'], ticket: JobTicket, startedAtMs: number) => {
    const hold = { id: job.id, attempt: job.attempt, worker }
    const progress = throttleProgress((done, details) => options.records.progress(hold, done, details).catch(fault))
    const { handler, timeoutMs = limits.timeoutMs } = options.handlers.get(job.jobType) ?? { handler: refuseUnknown }
    const run = startRun(handler, { job, progress: progress.report }, { ...limits, timeoutMs })
    const entry: Held = { job, ticket, run, renewedAtMs: startedAtMs, settling: false, settled: Promise.resolve() }
    held.set(job.id, entry)
    const facts = { jobId: job.id, jobType: job.jobType, projectId: job.projectId, attempt: job.attempt }
    observe({ kind: 'job-started', ...facts })
    const conclude = async () => {
      const { outcome, cause } = await run.ended
      entry.settling = true
      if (outcome !== 'lost') await progress.flush()
      const end = outcome === 'lost' ? undefined : await settle(options, { hold, ticket, outcome }, entry.renewedAtMs)
      const elapsedMs = Math.round(performance.now() - startedAtMs)
      if (end === undefined) observe({ kind: 'job-lost', ...facts, elapsedMs })
      else if (end.error === null) observe({ kind: 'job-finished', ...facts, elapsedMs, status: end.status })
      else observe({ kind: 'job-failed', ...facts, elapsedMs, final: isFinal(end.status), error: cause })
    }
    entry.settled = conclude().catch(fault)
    // A handler that did not heed its signal keeps its place until it is through.
    void Promise.all([entry.settled, run.released]).finally(() => {
      held.delete(job.id)
      wake()
    })
  }

  return {
    wake,
    cancel: (jobId) => held.get(jobId)?.run.stop('cancelled'),
    async start() {
      await recoverOrphans(options, worker)
      const renew = () => void renewClaims(options, [...held.values()], leaseMs).catch(fault)
      timers.push(setInterval(wake, pollMs), setInterval(renew, leaseMs / 4))
      wake()
    },
    async close() {
      for (const timer of timers.splice(0)) clearInterval(timer)
      await looking.settled()
      const entries = [...held.values()]
      for (const { run } of entries) run.stop('stopping')
      const settled = Promise.all(entries.map((entry) => entry.settled))
      await within(limits.graceMs + 1_000, settled, () => undefined)
    },
  }
}

/**
 * Takes a ticket and makes its job a running one, or none where it needs no run; undefined when there is no ticket.
 * Projects that have nothing running here come first, and none holds every place: one with many jobs does not shut the
 * others out, nor one with long ones.
 */
function claim(
  { store, records, queue, concurrency }: Pick<WorkerOptions, 'store' | 'records' | 'queue' | 'concurrency'>,
  held: ReadonlyMap<string, Held>,
  worker: string,
): Promise<{ ticket: JobTicket; job: JobContext['job'] | undefined } | undefined> {
  return store.db.transaction().execute(async (transaction) => {
    const holders = [...held.values()].map(({ job }) => job.projectId)
    const busy = [...new Set(holders)]
    const full = busy.filter((id) => concurrency > 1 && holders.filter((each) => each === id).length >= concurrency - 1)
    let ticket = busy.length === 0 ? undefined : await queue.take(transaction, busy)
    ticket ??= await queue.take(transaction, full)
    if (ticket === undefined) return undefined
    const current = held.get(ticket.jobId)
    if (current !== undefined) {
      // The claim lapsed while the run went on. It is not started beside itself, not even in its last moments.
      current.run.stop('lost')
      await queue.putBack(transaction, ticket)
      return { ticket, job: undefined }
    }
    const peers = await records.lockPeers(transaction, ticket.jobId)
    let job = peers.find(({ id }) => id === ticket.jobId)
    // Two jobs of one kind for one source would undo each other's work: the later one waits.
    if (job?.status === 'queued' && peers.some(({ id, status }) => id !== ticket.jobId && status === 'running')) {
      await queue.postpone(transaction, ticket, job)
      return { ticket, job: undefined }
    }
    if (job?.status === 'running') job = await records.settleLost(transaction, job)
    if (job?.status === 'queued') return { ticket, job: await records.begin(transaction, job.id, worker) }
    await queue.finish(transaction, ticket)
    return { ticket, job: undefined }
  })
}

/** A result outlives a database that is away for a moment, but not the claim under which it came about. */
async function settle(
  { store, records, queue, observe, leaseMs }: Omit<WorkerOptions, 'limits'>,
  { hold, ticket, outcome }: { hold: Hold; ticket: JobTicket; outcome: Outcome },
  renewedAtMs: number,
): Promise<JobRecord | undefined> {
  for (let pauseMs = 50; ; pauseMs *= 2) {
    try {
      return await store.db.transaction().execute(async (transaction) => {
        await queue.lock(transaction, hold.id)
        const job = await records.settle(transaction, hold, outcome)
        if (job === undefined) return undefined
        await (isFinal(job.status) ? queue.finish(transaction, ticket) : queue.putBack(transaction, ticket))
        return job
      })
    } catch (error) {
      observe({ kind: 'fault', where: 'jobs', error })
      if (performance.now() + pauseMs > renewedAtMs + leaseMs) return undefined
      await wait(pauseMs)
    }
  }
}

async function refuseUnknown({ job }: JobContext): Promise<void> {
  throw new Failure('internal_error', { cause: new Error(`Nothing is registered for jobs of type ${job.jobType}.`) })
}
