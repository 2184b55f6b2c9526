import { createHash } from 'node:crypto'
import { rm, stat, truncate } from 'node:fs/promises'
import type { HttpConfiguration, Pagination } from '../../../api/connections.ts'
import type { Vault } from '../../access/index.ts'
import type { Database } from '../../store/index.ts'
import type { LoadState } from '../fetch/download.ts'

/** However a load goes, its rows so far are a file of this size. */
type Saved = { sizeBytes: number }

/** Stored progress of a background load. */
export type Checkpoint<State extends Saved = LoadState> = {
  rowsPath: string
  /** From an earlier attempt of the same load; null where it begins. */
  resumed: State | null
  /** After each page: what is asked twice after a kill is the page that was under way. */
  save(state: State): Promise<void>
  /** Once its rows are stored, or not wanted any more. */
  forget(): Promise<void>
}

type Load = {
  datasourceId: string
  job: { id: string; retriedFrom: string | null }
  configuration: HttpConfiguration
  pagination: Pagination | undefined
  /** Basis of the load: rows that were fetched for another are fetched again. */
  basis: unknown
  newPath: () => string
  /** Addresses of pages may hold keys. */
  vault: Vault
}

/** Finds what an earlier attempt of this load, or of the job that it repeats, has fetched already. */
export async function openCheckpoint<State extends Saved = LoadState>(
  { db }: Pick<Database, 'db'>,
  load: Load,
): Promise<Checkpoint<State>> {
  const { datasourceId, job } = load
  const requestHash = hashOf(load)
  const known = await db
    .selectFrom('loadCheckpoints')
    .selectAll()
    .where('datasourceId', '=', datasourceId)
    .executeTakeFirst()
  const isOwn = known?.jobId === job.id || (job.retriedFrom !== null && known?.jobId === job.retriedFrom)
  const state = known === undefined ? null : (openState(load.vault, known.state) as State | null)
  const isGood = known !== undefined && state !== null && isOwn && known.requestHash === requestHash
  const resumed = isGood && (await cutTo(known.rowsPath, state.sizeBytes)) ? state : null
  if (known !== undefined && resumed === null) await rm(known.rowsPath, { force: true })
  const rowsPath = resumed === null || known === undefined ? load.newPath() : known.rowsPath
  const save = async (next: State): Promise<void> => {
    const sealed = load.vault.seal(next).toString('base64')
    const row = { jobId: job.id, requestHash, rowsPath, state: JSON.stringify({ sealed }) }
    await db
      .insertInto('loadCheckpoints')
      .values({ datasourceId, ...row })
      .onConflict((conflict) => conflict.column('datasourceId').doUpdateSet({ ...row, updatedAt: new Date() }))
      .execute()
  }
  return {
    rowsPath,
    resumed,
    save,
    async forget() {
      await db.deleteFrom('loadCheckpoints').where('datasourceId', '=', datasourceId).execute()
      await rm(rowsPath, { force: true })
    },
  }
}

/** Null where it was sealed with a key that is not used any more: then the load begins anew. */
function openState(vault: Vault, state: object): unknown {
  try {
    const sealed = Buffer.from((state as { sealed: string }).sealed, 'base64')
    return vault.open(sealed)
  } catch {
    return null
  }
}

/** Bytes behind the last page that counts are cut off; false where the file is not what it was. */
async function cutTo(path: string, sizeBytes: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || found.size < sizeBytes) return false
  await truncate(path, sizeBytes)
  return true
}

function hashOf({ configuration, pagination, basis }: Load): string {
  return (
    createHash('sha256')
      // The number is that of the form in which a state is kept.
      .update(JSON.stringify([3, configuration, pagination, basis]))
      .digest('base64url')
  )
}
