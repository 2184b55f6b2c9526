import type { Kysely, SelectQueryBuilder, Selectable, Transaction } from 'kysely'
import type { Tables } from '../../store/index.ts'
import type { Permission } from './permissions.ts'
import type { KeyRow } from './record.ts'

type Narrow = (
  query: SelectQueryBuilder<Tables, 'apiKeys', Selectable<Tables['apiKeys']>>,
) => SelectQueryBuilder<Tables, 'apiKeys', Selectable<Tables['apiKeys']>>

/** Keys with their permissions, in two statements whatever their number. */
export async function readKeys(db: Kysely<Tables> | Transaction<Tables>, narrow: Narrow): Promise<KeyRow[]> {
  const rows = await narrow(db.selectFrom('apiKeys').selectAll()).execute()
  if (rows.length === 0) return []
  const permissions = await readPermissions(
    db,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => {
    const { perMinute, burst } = row
    const rate = perMinute === null || burst === null ? null : { perMinute, burst }
    return Object.assign(row, { permissions: permissions.get(row.id) ?? [], rate })
  })
}

async function readPermissions(db: Kysely<Tables>, keyIds: string[]): Promise<Map<string, Permission[]>> {
  const rows = await db
    .selectFrom('apiKeyPermissions')
    .selectAll()
    .where('keyId', 'in', keyIds)
    .orderBy('keyId')
    .orderBy('position')
    .execute()
  const byKey = new Map<string, Permission[]>()
  for (const { keyId, projectId, environments, queries } of rows) {
    const list = byKey.get(keyId) ?? []
    list.push({ projectId: projectId ?? '*', environments: environments ?? '*', queries })
    byKey.set(keyId, list)
  }
  return byKey
}

export async function writePermissions(
  transaction: Transaction<Tables>,
  keyId: string,
  permissions: readonly Permission[],
): Promise<void> {
  await transaction.deleteFrom('apiKeyPermissions').where('keyId', '=', keyId).execute()
  const rows = permissions.map(({ projectId, environments, queries }, position) => ({
    keyId,
    position,
    projectId: projectId === '*' ? null : projectId,
    environments: environments === '*' ? null : [...environments],
    queries: queries === null ? null : [...queries],
  }))
  await transaction.insertInto('apiKeyPermissions').values(rows).execute()
}
