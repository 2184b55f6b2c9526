import type { Observe } from '../observe.ts'
import type { Database } from '../store/index.ts'
import { jobColumns } from './job.ts'
import { openQueue } from './queue.ts'

/** Jobs of a restored installation that had not ended wait again: the tickets they had are not in a backup. */
export async function requeueUnfinished(app: { store: Database; observe: Observe }): Promise<number> {
  const queue = await openQueue({ ...app, leaseSeconds: 30, retrySeconds: 2 })
  try {
    return await app.store.db.transaction().execute(async (transaction) => {
      const jobs = await transaction
        .updateTable('jobs')
        .set({ status: 'queued', worker: null })
        .where('status', 'in', ['queued', 'running'])
        .returning(jobColumns)
        .execute()
      for (const job of jobs) await queue.put(transaction, job)
      return jobs.length
    })
  } finally {
    await queue.close()
  }
}
