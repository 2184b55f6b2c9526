import type { Transaction } from 'kysely'
import type { HttpConfiguration } from '../../../api/connections.ts'
import { fixedLimits } from '../../../api/limits.ts'
import type { Vault } from '../../access/index.ts'
import { withinBytes, type Database, type Tables } from '../../store/index.ts'
import { maskConfiguration } from '../secrets/mask.ts'

/** How a configuration is kept: readable without its secrets, and sealed with them. */
export type StoredConfiguration = { config: string; sealedSecrets: Buffer }

export function storeConfiguration(vault: Vault, configuration: HttpConfiguration): StoredConfiguration {
  return { config: JSON.stringify(maskConfiguration(configuration)), sealedSecrets: vault.seal(configuration) }
}

export function openConfiguration(vault: Vault, sealed: Buffer): HttpConfiguration {
  return vault.open(sealed) as HttpConfiguration
}

/** With the contracts of tables, models included. */
const weights = {
  datasources: `coalesce(octet_length(sealed_secrets), 0) + coalesce(octet_length(pagination::text), 0)
    + coalesce(octet_length(for_each::text), 0) + octet_length(column_rules::text) + octet_length(checks::text)
    + octet_length(load::text)`,
  apis: 'octet_length(sealed_secrets)',
}

/** A definition, and a list, holds all of them at once. */
export async function withinConnectionBytes<Result>(
  transaction: Transaction<Tables>,
  { projectId, table, id }: { projectId: string; table: 'datasources' | 'apis'; id: string },
  write: () => Promise<Result>,
): Promise<Result> {
  const room = { weights, most: fixedLimits.connectionBytes.value, what: 'Connections and APIs of a project' }
  return withinBytes(transaction, { ...room, projectId, table, key: 'id', value: id }, write)
}

const maskedAtOnce = 500

/** Configurations that an earlier version stored readable are masked by today's rules; the sealed copy has all. */
export async function maskStoredConfigurations(app: { store: Database }): Promise<void> {
  const { db, pool } = app.store
  const rows = db.selectFrom('datasources').select(['id', 'config']).where('config', 'is not', null)
  for (let after = ''; ;) {
    const batch = await rows.where('id', '>', after).orderBy('id').limit(maskedAtOnce).execute()
    for (const { id, config } of batch) {
      const before = JSON.stringify(config)
      const masked = JSON.stringify(maskConfiguration(config as HttpConfiguration))
      if (masked === before) continue
      // Not where it was changed meanwhile: that was masked already.
      const values = [id, masked, before]
      await pool.query('update datasources set config = $2 where id = $1 and config = $3::jsonb', values)
    }
    const last = batch.at(-1)
    if (last === undefined || batch.length < maskedAtOnce) return
    after = last.id
  }
}
