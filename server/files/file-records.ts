import { inTransaction, type Database } from '../store/index.ts'
import { orphanAgeMs, type StoredFile } from './stored-files.ts'

/** Files that one transaction lets go of. */
const batch = 50
/** In SQL: nobody has kept it for as long as a transaction may take to name it. */
const isOld = `kept_at < now() - make_interval(secs => ${orphanAgeMs / 1000})`

/** Records of the objects in the bucket. */
export type FileRecords = ReturnType<typeof createFileRecords>

export function createFileRecords({ pool }: Pick<Database, 'pool'>) {
  return {
    /** Before an object is written: a sweep that is about to remove one of the same content comes first, or leaves it. */
    async note({ hash, format }: StoredFile): Promise<void> {
      await pool.query(
        'insert into stored_files (hash, format) values ($1, $2) on conflict (hash, format) do update set kept_at = now()',
        [hash, format],
      )
    },

    /**
     * Lets go of what no row names, an hour after it was last kept: what is younger may belong to a transaction that has
     * not committed yet. Each is removed under the lock of its row, for which whoever keeps the same content waits.
     */
    async sweep(isNamed: (hash: string) => boolean, remove: (file: StoredFile) => Promise<void>): Promise<number> {
      const { rows: old } = await pool.query<StoredFile>(`select hash from stored_files where ${isOld}`)
      const hashes = old.map(({ hash }) => hash).filter((hash) => !isNamed(hash))
      let swept = 0
      for (let at = 0; at < hashes.length; at += batch) {
        await inTransaction({ pool }, async (connection) => {
          const { rows: gone } = await connection.query<StoredFile>(
            `delete from stored_files where hash = any($1) and ${isOld} returning hash, format`,
            [hashes.slice(at, at + batch)],
          )
          for (const file of gone) await remove(file)
          swept += gone.length
        })
      }
      return swept
    },
  }
}

/** After a restore: every object that a row names is known, so that it can be let go of one day. */
export async function recordFiles({ pool }: Pick<Database, 'pool'>, files: StoredFile[]): Promise<void> {
  await pool.query(
    `insert into stored_files (hash, format)
     select hash, format from unnest($1::text[], $2::text[]) as named (hash, format) on conflict do nothing`,
    [files.map(({ hash }) => hash), files.map(({ format }) => format)],
  )
}
