import type { HttpConfiguration } from '../../api/connections.ts'
import type { Vault } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { hidden, redact } from './secrets.ts'

/** How a configuration is kept: readable without its secrets, and sealed with them. */
export type StoredConfiguration = { config: string; sealed_secrets: Buffer }

export function storeConfiguration(vault: Vault, configuration: HttpConfiguration): StoredConfiguration {
  return { config: JSON.stringify(redact(configuration)), sealed_secrets: vault.seal(configuration) }
}

export function openConfiguration(vault: Vault, sealed: Buffer): HttpConfiguration {
  return vault.open(sealed) as HttpConfiguration
}

/**
 * Puts the stored secrets where a caller sent back the `***` they were shown. Only for the same origin: whoever may
 * edit a connection must not be able to send its secrets elsewhere.
 */
export function restoreSecrets(given: HttpConfiguration, stored: HttpConfiguration | undefined): HttpConfiguration {
  const sameOrigin = stored !== undefined && originOf(given.url) === originOf(stored.url)
  return restore(given, sameOrigin ? stored : undefined, []) as HttpConfiguration
}

function restore(given: unknown, stored: unknown, path: string[]): unknown {
  if (given === hidden) {
    if (typeof stored === 'string' && stored !== hidden) return stored
    const field = path.join('.')
    throw new Failure('invalid_request', {
      reason: 'invalid_field',
      message: `Give ${field} again: a stored secret is used only for the address it was stored with.`,
      details: [{ field, message: 'must be given again' }],
    })
  }
  if (Array.isArray(given)) {
    const list = Array.isArray(stored) ? stored : []
    return given.map((item, index) => restore(item, list[index], [...path, String(index)]))
  }
  if (typeof given !== 'object' || given === null) return given
  const record = typeof stored === 'object' && stored !== null ? (stored as Record<string, unknown>) : {}
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      restore(value, Object.hasOwn(record, name) ? record[name] : undefined, [...path, name]),
    ]),
  )
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}
