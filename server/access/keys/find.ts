import type { ExpressionBuilder, Kysely, Transaction } from 'kysely'
import { Failure } from '../../failure.ts'
import { pageAfter, type Page, type Tables, type Database } from '../../store/index.ts'
import type { Caller } from '../people/caller.ts'
import { personBehind } from '../people/roles.ts'
import type { KeyRow } from './record.ts'
import { readKeys } from './rows.ts'
import { maxAddresses, type KeyUses } from './uses.ts'
import type { Clock } from '../../clock.ts'

/** A key as its owners see it. */
export type ApiKey = Omit<KeyRow, 'secretHash' | 'previousHash' | 'kind'> & {
  status: 'active' | 'disabled' | 'expired' | 'revoked'
  lastUsedAt: Date | null
  calls: number
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
          .where('kind', '=', 'key')
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

/** From where a key was used lately, the last first. The database may be a minute behind what this process knows. */
export async function addressesOfKey(
  app: { store: Database; keyUses: KeyUses },
  caller: Caller,
  keyId: string,
): Promise<Array<{ address: string; lastUsedAt: Date }>> {
  await readKey(app.store.db, caller, keyId)
  const written = await app.store.db
    .selectFrom('apiKeyAddresses')
    .select(['address', 'lastUsedAt'])
    .where('keyId', '=', keyId)
    .execute()
  const known = new Map(written.map(({ address, lastUsedAt }) => [address, lastUsedAt.getTime()]))
  for (const [address, usedMs] of app.keyUses.addresses(keyId)) {
    known.set(address, Math.max(usedMs, known.get(address) ?? 0))
  }
  return [...known]
    .toSorted(([, left], [, right]) => right - left)
    .slice(0, maxAddresses)
    .map(([address, usedMs]) => ({ address, lastUsedAt: new Date(usedMs) }))
}

/** Names of keys, for those who have seen them at work. One that is gone has no name. */
export async function keyNames({ db }: Pick<Database, 'db'>, keyIds: readonly string[]): Promise<Map<string, string>> {
  if (keyIds.length === 0) return new Map()
  const rows = await db.selectFrom('apiKeys').select(['id', 'name']).where('id', 'in', keyIds).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** One that the caller may not manage is the same as one that does not exist. */
export async function readKey(
  db: Kysely<Tables> | Transaction<Tables>,
  caller: Caller,
  keyId: string,
  kind: KeyRow['kind'] = 'key',
): Promise<KeyRow> {
  const [key] = await readKeys(db, (query) =>
    query.where('id', '=', keyId).where('kind', '=', kind).where(visibleTo(caller)),
  )
  const what = kind === 'key' ? 'API key' : 'link'
  if (key === undefined) throw new Failure('not_found', { message: `There is no such ${what}.` })
  return key
}

/** Keys as they are listed, whichever are asked for. */
export async function listedKeys(
  app: { store: Database; keyUses: KeyUses; now: Clock },
  narrow: Parameters<typeof readKeys>[1],
): Promise<ApiKey[]> {
  return asApiKeys(app, await readKeys(app.store.db, narrow))
}

async function asApiKeys(app: { store: Database; keyUses: KeyUses; now: Clock }, rows: KeyRow[]): Promise<ApiKey[]> {
  if (rows.length === 0) return []
  const keyIds = rows.map(({ id }) => id)
  const uses = await app.store.db.selectFrom('apiKeyUses').selectAll().where('keyId', 'in', keyIds).execute()
  const written = new Map(uses.map((use) => [use.keyId, use]))
  return rows.map(({ secretHash: _hash, previousHash: _previous, kind: _kind, ...row }) => {
    const [here, there] = [app.keyUses.lastUse(row.id), written.get(row.id)?.lastUsedAt]
    const { previousUntil } = row
    return {
      ...row,
      status: statusOf(row, app.now()),
      lastUsedAt: here !== undefined && (there === undefined || here > there) ? here : (there ?? null),
      calls: (written.get(row.id)?.calls ?? 0) + app.keyUses.unwrittenCalls(row.id),
      previousSecretUntil: previousUntil !== null && previousUntil.getTime() > app.now() ? previousUntil : null,
    }
  })
}

function statusOf(row: Pick<KeyRow, 'revokedAt' | 'expiresAt' | 'disabledAt'>, nowMs: number): ApiKey['status'] {
  if (row.revokedAt !== null) return 'revoked'
  if (row.expiresAt !== null && row.expiresAt.getTime() <= nowMs) return 'expired'
  return row.disabledAt === null ? 'active' : 'disabled'
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
  return (eb: ExpressionBuilder<Tables, 'apiKeys'>) => {
    if (ownsAll && !isToken) return eb.lit(true)
    if (isToken && caller.role !== 'owner') return eb.lit(false)
    const permissions = eb
      .selectFrom('apiKeyPermissions')
      .leftJoin('members', (join) =>
        join
          .onRef('members.projectId', '=', 'apiKeyPermissions.projectId')
          .on('members.userId', '=', person?.userId ?? '')
          .on('members.role', '=', 'owner'),
      )
      .select('apiKeyPermissions.keyId')
      .whereRef('apiKeyPermissions.keyId', '=', 'apiKeys.id')
    const foreign = permissions.where((row) =>
      row.or([
        row('apiKeyPermissions.projectId', 'is', null),
        ...(ownsAll ? [] : [row('members.userId', 'is', null)]),
        ...(only === null ? [] : [row('apiKeyPermissions.projectId', '<>', only)]),
      ]),
    )
    const made = person === null ? eb.lit(false) : eb('apiKeys.createdBy', '=', person.userId)
    return eb.and([eb.not(eb.exists(foreign)), eb.or([eb.exists(permissions), made])])
  }
}
