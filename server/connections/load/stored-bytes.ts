import type { Kysely, Transaction } from 'kysely'
import type { Config } from '../../config.ts'
import { Failure } from '../../failure.ts'
import { storedBytes } from '../../data/index.ts'
import { lockQuota, type Tables } from '../../store/index.ts'

type Limits = Pick<Config['limits'], 'storedBytes' | 'storedBytesPerProject'>

/** Before anything is fetched: what would be refused when it is there need not be fetched. */
export async function refuseFullProject(db: Kysely<Tables>, limits: Limits, projectId: string): Promise<void> {
  if ((await storedBytes(db, { projectId })) >= limits.storedBytesPerProject) throw tooMuch('The project keeps')
}

/**
 * Within the transaction that stores data, once its rows are there and with the project locked. Versions that the next
 * preparation lets go do not count: a full project can still be refreshed.
 */
export async function refuseTooMuch(
  transaction: Transaction<Tables>,
  limits: Limits,
  { projectId, datasourceId, version }: { projectId: string; datasourceId: string; version: number },
): Promise<void> {
  const source = await transaction
    .selectFrom('datasources')
    .select('keepVersions')
    .where('id', '=', datasourceId)
    .executeTakeFirst()
  const upToVersion = version - (source?.keepVersions ?? version)
  const leavingBytes = await storedBytes(transaction, { datasourceId, upToVersion })
  if ((await storedBytes(transaction, { projectId })) - leavingBytes > limits.storedBytesPerProject) {
    throw tooMuch('The project would keep')
  }
  await lockQuota(transaction, 'stored bytes')
  if ((await storedBytes(transaction, {})) - leavingBytes > limits.storedBytes) throw tooMuch('All projects would keep')
}

function tooMuch(who: string): Failure {
  return new Failure('conflict', {
    reason: 'quota_exceeded',
    message: `${who} more data than it may. Delete datasources, keep fewer versions, or ask an administrator for more.`,
  })
}
