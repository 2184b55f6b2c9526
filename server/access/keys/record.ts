import type { Selectable } from 'kysely'
import type { Tables } from '../../store/index.ts'
import type { Plans, Policy } from '../limits/policies.ts'
import type { Permission } from './permissions.ts'

/** A key as the query path sees it. There may be a hundred thousand, so everything that can be shared is shared. */
export type KeyRecord = {
  id: string
  name: string
  permissions: readonly Permission[]
  fixedParameters: Readonly<Record<string, unknown>>
  plan: string
  policies: readonly Policy[]
  state: 'active' | 'disabled' | 'revoked'
  /** Infinity: never. */
  expiresAtMs: number
  /** The 32 bytes of a SHA-256 as a string of one byte a character: less than half of what a Buffer costs. */
  hash: string
  previousHash: string | null
  previousUntilMs: number
}

export type KeyRow = Selectable<Tables['apiKeys']> & { permissions: Permission[] }

/** Strings and lists that many records hold, each kept once. */
export type Pool = <Value extends string | readonly string[]>(value: Value) => Value

const none: Readonly<Record<string, unknown>> = Object.freeze({})

export function openPool(): Pool {
  const kept = new Map<string, string | readonly string[]>()
  return (value) => {
    const name = typeof value === 'string' ? value : `[${value.join(',')}`
    const known = kept.get(name)
    if (known !== undefined) return known as typeof value
    kept.set(name, value)
    return value
  }
}

export function recordOf(row: KeyRow, plans: Plans, pool: Pool): KeyRecord {
  const rate = row.perMinute === null || row.burst === null ? null : { perMinute: row.perMinute, burst: row.burst }
  return {
    id: row.id,
    name: row.name,
    permissions: row.permissions.map(({ projectId, environments, queries }) => ({
      projectId: pool(projectId),
      environments: pool(environments),
      queries,
    })),
    fixedParameters: Object.keys(row.fixedParameters).length === 0 ? none : row.fixedParameters,
    plan: pool(row.plan),
    policies: plans.policiesOf(row.plan, { rate, perDay: row.perDay }),
    state: row.revokedAt !== null ? 'revoked' : row.disabledAt !== null ? 'disabled' : 'active',
    expiresAtMs: row.expiresAt?.getTime() ?? Infinity,
    hash: row.secretHash.toString('latin1'),
    previousHash: row.previousHash?.toString('latin1') ?? null,
    previousUntilMs: row.previousUntil?.getTime() ?? 0,
  }
}
