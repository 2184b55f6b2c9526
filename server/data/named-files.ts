import type { Files, StoredFile } from '../files/index.ts'
import { takeLease, type Database, type DatabaseSnapshot } from '../store/index.ts'

/**
 * The files that rows name, here or at the moment of a snapshot. Of a version its parts are named, and what says which of
 * their rows are past.
 */
export async function namedFiles({
  client,
}: {
  client: Pick<DatabaseSnapshot['client'], 'query'>
}): Promise<StoredFile[]> {
  const { rows } = await client.query<StoredFile>(
    `select file_hash as hash, format from data_objects where load is null
     union select deletions->>'hash', 'parquet' from data_objects where deletions is not null
     union select file_hash, 'parquet' from data_parts
     union select native_hash, 'duckdb' from data_parts where native_hash is not null
     union select copy_hash, 'parquet' from iceberg.trino_tables where copy_hash is not null`,
  )
  return rows
}

/** Removes files that no data object names: left by crashes, or of versions that were let go. */
export async function sweepFiles(app: { store: Database; files: Files }): Promise<number> {
  // One of several replicas sweeps the files that they share.
  await using lease = await takeLease(app.store, 'sweep of files')
  const unfinished = await app.files.sweepUnfinished()
  if (lease === undefined) return unfinished
  const named = await namedFiles({ client: app.store.pool })
  return unfinished + (await app.files.sweep(new Set(named.map(({ hash }) => hash))))
}
