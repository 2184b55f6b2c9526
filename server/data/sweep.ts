import { takeLease, type Database } from '../store/index.ts'
import type { Files } from '../files/stored-files.ts'
import { namedFiles } from './named-files.ts'

/** Removes files that no data object names: what crashes left behind, and versions that were let go. */
export async function sweepFiles(app: { store: Database; files: Files }): Promise<number> {
  // Of several replicas one sweeps what they share.
  await using lease = await takeLease(app.store, 'sweep of files')
  const unfinished = await app.files.sweepUnfinished()
  if (lease === undefined) return unfinished
  const named = await namedFiles({ client: app.store.pool })
  return unfinished + (await app.files.sweep(new Set(named.map(({ hash }) => hash))))
}
