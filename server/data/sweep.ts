import type { Database } from '../store/index.ts'
import type { Files } from './files.ts'

/** Removes files that no data object names: what crashes left behind, and versions that were let go. */
export async function sweepFiles(app: { store: Database; files: Files }): Promise<number> {
  const rows = await app.store.db.selectFrom('dataObjects').select('fileHash').distinct().execute()
  const named = new Set(rows.map((row) => row.fileHash))
  return app.files.sweep((hash) => named.has(hash))
}
