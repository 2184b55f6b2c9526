import { takeLease, type Database } from '../store/index.ts'
import type { Trino } from './open-trino.ts'

/** Tables and schemas that no project reads any more go, and what Trino wrote beside the data to describe them. */
export async function sweepTrino({ store, trino }: { store: Database; trino: Trino | null }): Promise<void> {
  if (trino === null) return
  // One of several replicas sweeps what they share.
  await using lease = await takeLease(store, 'sweep of Trino')
  if (lease !== undefined) await trino.sweep()
}
