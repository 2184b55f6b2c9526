import type { ExpressionBuilder, Kysely, Transaction } from 'kysely'
import { Failure } from '../../failure.ts'
import { pageAfter, type Page, type Tables, type Database } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import { personBehind } from '../roles.ts'
import type { Permission } from './permissions.ts'
import type { KeyRow } from './record.ts'
import { readKeys } from './rows.ts'
import type { KeyUses } from './uses.ts'
import type { Clock } from '../../clock.ts'

/** A key as its owners see it. */
export type ApiKey = {
  id: string
  name: string
  start: string
  last4: string
  permissions: Permission[]
  fixedParameters: Record<string, unknown>
  plan: string
  rate: { perMinute: number; burst: number } | null
  perDay: number | null
  status: 'active' | 'disabled' | 'expired' | 'revoked'
  createdBy: string | null
  createdAt: Date
  expiresAt: Date | null
  lastUsedAt: Date | null
  /** Until when the secret before the last rotation is good as well. */
  previousSecretUntil: Date | null
}

/** The keys whose every project the caller owns, newest first. Administrators see all. */
export async function listKeys(
  app: { store: Database; keyUses: KeyUses; now: Clock },
  caller: Caller,
  input: { limit: number; cursor?: string | undefined },
): Promise<Page<ApiKey>> {
  const page = await pageAfter(
    (after, limit) =>
      readKeys(app.store.db, (query) =>
        query
          .where(visibleTo(caller))
          .$if(after !== undefined, (narrowed) => narrowed.where('id', '<', after ?? ''))
          .orderBy('id', 'desc')
          .limit(limit),
      ),
    input,
    (key) => key.id,
  )
  return { ...page, items: await asApiKeys(app, page.items) }
}

export async function findKey(
  app: { store: Database; keyUses: KeyUses; now: Clock },
  caller: Caller,
  keyId: string,
): Promise<ApiKey> {
  const [key] = await asApiKeys(app, [await readKey(app.store.db, caller, keyId)])
  if (key === undefined) throw new Failure('internal_error')
  return key
}

/** What keys are called, for those who have seen them at work. One that is gone has no name. */
export async function keyNames({ db }: Pick<Database, 'db'>, keyIds: readonly string[]): Promise<Map<string, string>> {
  if (keyIds.length === 0) return new Map()
  const rows = await db.selectFrom('api_keys').select(['id', 'name']).where('id', 'in', keyIds).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** One that the caller may not manage is the same as one that does not exist. */
export async function readKey(
  db: Kysely<Tables> | Transaction<Tables>,
  caller: Caller,
  keyId: string,
): Promise<KeyRow> {
  const [key] = await readKeys(db, (query) => query.where('id', '=', keyId).where(visibleTo(caller)))
  if (key === undefined) throw new Failure('not_found', { message: 'There is no such API key.' })
  return key
}

async function asApiKeys(app: { store: Database; keyUses: KeyUses; now: Clock }, rows: KeyRow[]): Promise<ApiKey[]> {
  if (rows.length === 0) return []
  const keyIds = rows.map(({ id }) => id)
  const uses = await app.store.db.selectFrom('api_key_uses').selectAll().where('key_id', 'in', keyIds).execute()
  const written = new Map(uses.map((use) => [use.key_id, use.last_used_at]))
  return rows.map((row) => {
    const [here, there] = [app.keyUses.lastUse(row.id), written.get(row.id)]
    return {
      id: row.id,
      name: row.name,
      start: row.start,
      last4: row.last4,
      permissions: row.permissions,
      fixedParameters: row.fixed_parameters,
      plan: row.plan,
      rate: row.per_minute === null || row.burst === null ? null : { perMinute: row.per_minute, burst: row.burst },
      perDay: row.per_day,
      status: statusOf(row, app.now()),
      createdBy: row.created_by,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      lastUsedAt: here !== undefined && (there === undefined || here > there) ? here : (there ?? null),
      previousSecretUntil:
        row.previous_until !== null && row.previous_until.getTime() > app.now() ? row.previous_until : null,
    }
  })
}

function statusOf(row: KeyRow, nowMs: number): ApiKey['status'] {
  if (row.revoked_at !== null) return 'revoked'
  if (row.expires_at !== null && row.expires_at.getTime() <= nowMs) return 'expired'
  return row.disabled_at === null ? 'active' : 'disabled'
}

/**
 * The rule of `effectiveRole` for many keys in one statement. A key that reaches every project is the administrators';
 * one whose projects are all deleted is theirs and its maker's.
 */
function visibleTo(caller: Caller) {
  const person = personBehind(caller)
  const isToken = caller.kind === 'token'
  const only = isToken ? caller.projectId : null
  const ownsAll = person === null || person.administrator
  return (eb: ExpressionBuilder<Tables, 'api_keys'>) => {
    if (ownsAll && !isToken) return eb.lit(true)
    if (isToken && caller.role !== 'owner') return eb.lit(false)
    const permissions = eb
      .selectFrom('api_key_permissions')
      .leftJoin('members', (join) =>
        join
          .onRef('members.project_id', '=', 'api_key_permissions.project_id')
          .on('members.user_id', '=', person?.userId ?? '')
          .on('members.role', '=', 'owner'),
      )
      .select('api_key_permissions.key_id')
      .whereRef('api_key_permissions.key_id', '=', 'api_keys.id')
    const foreign = permissions.where((row) =>
      row.or([
        row('api_key_permissions.project_id', 'is', null),
        ...(ownsAll ? [] : [row('members.user_id', 'is', null)]),
        ...(only === null ? [] : [row('api_key_permissions.project_id', '<>', only)]),
      ]),
    )
    const made = person === null ? eb.lit(false) : eb('api_keys.created_by', '=', person.userId)
    return eb.and([eb.not(eb.exists(foreign)), eb.or([eb.exists(permissions), made])])
  }
}
