import type { Transaction } from 'kysely'
import type { Tables } from '../../store/index.ts'

/** Alerts that watch one query go on watching it when it is called otherwise. */
export async function renameWatched(
  transaction: Transaction<Tables>,
  { projectId, from, to }: { projectId: string; from: string; to: string },
): Promise<void> {
  await transaction
    .updateTable('alerts')
    .set({ query: to })
    .where('projectId', '=', projectId)
    .where('query', '=', from)
    .execute()
}
