import { rm } from 'node:fs/promises'
import { Failure } from '../failure.ts'
import type { Database, Deletions } from '../store/index.ts'
import { dataChanged, type Catalogs } from './catalogs.ts'
import { nativeCopy } from './dataline.ts'
import type { Files } from '../files/index.ts'
import { dropUnusedParts, insertPart, partedTable, setParts, type PartRecord } from './parts.ts'
import type { TableBuilder } from '../engine/index.ts'
import { liveDataVersion } from './versions.ts'

type Parts = { store: Database; files: Files; builder: TableBuilder; catalogs: Catalogs }

/** Once this share of the first part is new or past, everything is written anew; before, only what came since. */
const wholeShare = 0.2

/** Which parts of a version are to be put together: all from the first or from the second on, or none. */
export function compactedFrom(
  { parts, deletions }: { parts: Pick<PartRecord, 'rowCount'>[]; deletions: Pick<Deletions, 'rows'> | null },
  maxParts: number,
): 0 | 1 | null {
  const [first, ...others] = parts
  if (first === undefined || (others.length === 0 && deletions === null)) return null
  const changed = others.reduce((sum, part) => sum + part.rowCount, deletions?.rows ?? 0)
  if (changed > first.rowCount * wholeShare) return 0
  return parts.length > maxParts ? 1 : null
}

/**
 * Puts parts of the version that serves together. Its rows stay the same, so it stays the same version; those before it
 * keep the parts they name. The caller holds the turn of the datasource, so that no load builds on the old list.
 */
export async function compactTable(
  app: Parts,
  {
    projectId,
    datasourceId,
    maxParts,
    signal,
  }: { projectId: string; datasourceId: string; maxParts: number; signal: AbortSignal },
): Promise<{ dataObjectId: string; isWhole: boolean } | null> {
  const live = await liveDataVersion(app.store, datasourceId)
  if (live === null || live.parted === null) return null
  const { parted, dataObjectId } = live
  const from = compactedFrom(parted, maxParts)
  if (from === null) return null
  const table = partedTable(parted)
  const paths = { part: app.files.temporaryPath('parquet'), past: app.files.temporaryPath('past') }
  try {
    const numbered = parted.load.mode === 'merge'
    const call = { table, from, partPath: paths.part, pastPath: paths.past, numbered }
    const { rowCount, past } = await app.builder.compactParts(call, { signal, isHeavy: true })
    const expected = parted.parts.slice(from).reduce((sum, part) => sum + part.rowCount, 0)
    const gone = (parted.deletions?.rows ?? 0) - (past?.rows ?? 0)
    if (rowCount !== expected - gone)
      throw new Failure('internal_error', { message: `${expected - gone} rows went in and ${rowCount} came out` })
    const file = await app.files.keep(paths.part, 'parquet')
    const stored = past === null ? null : { ...past, ...(await app.files.keep(paths.past, 'parquet')) }
    // Made before it is needed: no read meets the new file without it.
    const native =
      from === 0 ? await nativeCopy(app, { hash: file.hash, format: 'parquet' }, { signal, isHeavy: true }) : null
    const loads = [...new Set(parted.parts.slice(from).flatMap((part) => part.loads))].toSorted((a, b) => a - b)
    signal.throwIfAborted()
    await app.store.db.transaction().execute(async (transaction) => {
      const object = await transaction
        .selectFrom('dataObjects')
        .select('id')
        .where('id', '=', dataObjectId)
        .forUpdate()
        .executeTakeFirst()
      // It was deleted meanwhile.
      if (object === undefined) return
      const part = await insertPart(
        transaction,
        { projectId, datasourceId },
        { file, rowCount, columns: parted.columns, loads, native },
      )
      const parts = [...parted.parts.slice(0, from), part]
      await setParts(transaction, dataObjectId, parts)
      await transaction
        .updateTable('dataObjects')
        .set({
          fileHash: file.hash,
          sizeBytes: stored?.sizeBytes ?? 0,
          deletions: stored === null ? null : JSON.stringify(stored),
        })
        .where('id', '=', dataObjectId)
        .execute()
      await dropUnusedParts(transaction, datasourceId)
      await app.store.notify(transaction, dataChanged, projectId)
    })
    app.catalogs.forget(projectId)
    return { dataObjectId, isWhole: from === 0 }
  } finally {
    await Promise.all(Object.values(paths).map((path) => rm(path, { force: true })))
  }
}
