import type { Selectable } from 'kysely'
import type { Tables } from '../../store/index.ts'
import type { Plans, Policy } from '../limits/policies.ts'
import type { Permission } from './permissions.ts'

/** A key as the query path sees it. There may be a hundred thousand, so everything that can be shared is shared. */
export type KeyRecord = {
  id: string
  name: string
  /** The person who made it, or let its client in; null where nobody did, such as the operator. */
  maker: string | null
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

export type KeyRow = Selectable<Tables['apiKeys']> & {
  permissions: Permission[]
  /** Instead of its plan's. */
  rate: { perMinute: number; burst: number } | null
}

/** Strings and lists that many records hold, each kept once. */
export type Pool = <Value extends string | readonly string[]>(value: Value) => Value

const none: Readonly<Record<string, unknown>> = Object.freeze({})

export function openPool(): Pool {
  const interned = new Map<string, string | readonly string[]>()
  return (value) => {
    const name = typeof value === 'string' ? value : `[${value.join(',')}`
    const known = interned.get(name)
    if (known !== undefined) return known as typeof value
    interned.set(name, value)
    return value
  }
}

export function recordOf(row: KeyRow, plans: Plans, pool: Pool): KeyRecord {
  return {
    id: row.id,
    name: row.name,
    maker: row.createdBy === null ? null : pool(row.createdBy),
    permissions: row.permissions.map(({ projectId, environments, queries }) => ({
      projectId: pool(projectId),
      environments: pool(environments),
      queries,
    })),
    fixedParameters: Object.keys(row.fixedParameters).length === 0 ? none : row.fixedParameters,
    plan: pool(row.plan),
    policies: plans.policiesOf(row.plan, row),
    state: row.revokedAt !== null ? 'revoked' : row.disabledAt !== null ? 'disabled' : 'active',
    expiresAtMs: row.expiresAt?.getTime() ?? Infinity,
    hash: row.secretHash.toString('latin1'),
    previousHash: row.previousHash?.toString('latin1') ?? null,
    previousUntilMs: row.previousUntil?.getTime() ?? 0,
  }
}
