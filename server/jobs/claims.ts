import type { Database } from '../store/index.ts'
import type { JobContext } from './job.ts'
import type { Queue, JobTicket } from './queue.ts'
import { isFinal, type Records } from './records.ts'
import type { JobRun } from './run.ts'

/** A job that runs here, and the claim under which it does. */
export type Held = {
  job: JobContext['job']
  ticket: JobTicket
  run: JobRun
  renewedAtMs: number
  /** Its result is being written: the claim is about to end by itself. */
  settling: boolean
  settled: Promise<void>
}

type Parts = { store: Pick<Database, 'db' | 'folderId'>; records: Records; queue: Queue }

/** Keeps the claims alive; a run whose claim is gone, or cannot be renewed in time, is stopped. */
export async function renewClaims({ store, queue }: Parts, held: Held[], leaseMs: number): Promise<void> {
  const entries = held.filter(({ settling }) => !settling)
  if (entries.length === 0) return
  const askedAtMs = performance.now()
  try {
    const standing = await queue.renew(entries.map(({ ticket }) => ticket))
    for (const entry of entries) {
      if (standing.has(entry.ticket.id)) entry.renewedAtMs = askedAtMs
      else if (!entry.settling) entry.run.stop('lost')
    }
    // A wish to cancel is announced; this is for announcements that got lost.
    const cancelled = await store.db
      .selectFrom('jobs')
      .select('id')
      .where(
        'id',
        'in',
        entries.map(({ job }) => job.id),
      )
      .where('cancelRequestedAt', 'is not', null)
      .execute()
    for (const { job, run } of entries) if (cancelled.some(({ id }) => id === job.id)) run.stop('cancelled')
  } catch (error) {
    // Stops before the claim lapses, so that whoever takes the job next is alone with it.
    for (const { renewedAtMs, run } of entries) if (performance.now() - renewedAtMs > leaseMs / 2) run.stop('lost')
    throw error
  }
}

/** Puts back what earlier processes of this data folder left running. They are dead, because the folder is ours. */
export async function recoverOrphans({ store, records, queue }: Parts, worker: string): Promise<void> {
  const left = await store.db
    .selectFrom('jobs')
    .select('id')
    .where('status', '=', 'running')
    .where('worker', 'like', `${store.folderId}/%`)
    .where('worker', '<>', worker)
    .execute()
  for (const { id } of left) {
    await store.db.transaction().execute(async (transaction) => {
      await queue.lock(transaction, id)
      const job = await records.lock(transaction, id)
      if (job?.status !== 'running') return
      const settled = await records.settleLost(transaction, job)
      if (isFinal(settled.status)) await queue.withdraw(transaction, id)
      else await queue.putBackOrphan(transaction, id)
    })
  }
}
