import type { Database } from '../store/index.ts'
import type { Files } from './files.ts'

/** Removes files that no data object names: what crashes left behind, and versions that were let go. */
export async function sweepFiles(app: { store: Database; files: Files }): Promise<number> {
  const { db } = app.store
  const objects = await db.selectFrom('dataObjects').select(['fileHash', 'load', 'deletions']).execute()
  const parts = await db.selectFrom('dataParts').select(['fileHash', 'nativeHash']).execute()
  const named = new Set([
    // Of a version in parts the parts are named, and what says which of their rows are past.
    ...objects.flatMap(({ fileHash, load, deletions }) => (load === null ? fileHash : (deletions?.hash ?? []))),
    ...parts.flatMap(({ fileHash, nativeHash }) => (nativeHash === null ? [fileHash] : [fileHash, nativeHash])),
  ])
  return app.files.sweep((hash) => named.has(hash))
}
