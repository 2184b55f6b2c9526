import type { App } from '../app.ts'
import { Failure } from '../failure.ts'
import { newId } from '../ids.ts'
import { pageAfter, type Page, type Role } from '../store/index.ts'
import { recordAct } from './audit.ts'
import { personOf, type Caller } from './caller.ts'
import { newCredential } from './credential.ts'
import { requireAdministrator, requireRole } from './roles.ts'

export type ManagementToken = {
  id: string
  name: string
  role: Role
  projectId: string | null
  start: string
  last4: string
  status: 'active' | 'expired' | 'revoked'
  createdBy: string | null
  createdAt: Date
  expiresAt: Date | null
  lastUsedAt: Date | null
}

/**
 * A token for automation, scoped like a member. It acts with the smaller of its own role and what its maker may do at
 * that moment, so making one never needs more than the maker has.
 */
export async function createManagementToken(
  app: Pick<App, 'store' | 'now'>,
  caller: Caller,
  input: { name: string; role: Role; projectId?: string | undefined; expiresAt?: Date | undefined },
): Promise<ManagementToken & { secret: string }> {
  if (caller.kind === 'token') {
    throw new Failure('permission_denied', {
      reason: 'role_too_small',
      message: 'A management token makes no further tokens. Sign in and make it there.',
    })
  }
  if (input.projectId !== undefined) await requireRole(app, caller, input.projectId, input.role)
  if (input.expiresAt !== undefined && input.expiresAt.getTime() <= app.now()) {
    throw new Failure('invalid_request', {
      reason: 'invalid_field',
      details: [{ field: 'expires_at', message: 'must be in the future' }],
    })
  }
  const { secret, hash, start, last4 } = newCredential('mgmt')
  const id = newId('token')
  await app.store.db.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('management_tokens')
      .values({
        id,
        name: input.name,
        secret_hash: hash,
        start,
        last4,
        project_id: input.projectId ?? null,
        role: input.role,
        created_by: personOf(caller),
        expires_at: input.expiresAt ?? null,
      })
      .execute()
    await recordAct(transaction, caller, {
      action: 'management_token.created',
      target: id,
      ...(input.projectId !== undefined && { projectId: input.projectId }),
      details: { name: input.name, role: input.role },
    })
  })
  const [token] = await selectTokens(app, caller).where('id', '=', id).execute()
  if (token === undefined) throw new Failure('internal_error')
  return { ...withStatus(app, token), secret }
}

/** Everyone sees the tokens they made; administrators see all. */
export async function listManagementTokens(
  app: Pick<App, 'store' | 'now'>,
  caller: Caller,
  input: { limit: number; cursor?: string | undefined },
): Promise<Page<ManagementToken>> {
  const page = await pageAfter(
    (after, limit) =>
      selectTokens(app, caller)
        .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    input,
    (token) => token.id,
  )
  return { ...page, items: page.items.map((token) => withStatus(app, token)) }
}

/** Takes effect at once: tokens are looked up at every call. */
export async function revokeManagementToken(
  app: Pick<App, 'store' | 'now'>,
  caller: Caller,
  tokenId: string,
): Promise<void> {
  const [token] = await selectTokens(app, caller).where('id', '=', tokenId).execute()
  if (token === undefined) throw new Failure('not_found', { message: 'There is no such management token.' })
  if (token.revokedAt !== null) return
  await app.store.db.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('management_tokens')
      .set({ revoked_at: new Date(app.now()) })
      .where('id', '=', tokenId)
      .where('revoked_at', 'is', null)
      .execute()
    await recordAct(transaction, caller, {
      action: 'management_token.revoked',
      target: tokenId,
      ...(token.projectId !== null && { projectId: token.projectId }),
    })
  })
}

function selectTokens(app: Pick<App, 'store'>, caller: Caller) {
  const person = personOf(caller)
  if (person === null) requireAdministrator(caller)
  const seesAll = person === null || (caller.kind === 'user' && caller.administrator)
  return app.store.db
    .selectFrom('management_tokens')
    .select([
      'id',
      'name',
      'role',
      'project_id as projectId',
      'start',
      'last4',
      'created_by as createdBy',
      'created_at as createdAt',
      'expires_at as expiresAt',
      'revoked_at as revokedAt',
      'last_used_at as lastUsedAt',
    ])
    .$if(!seesAll, (query) => query.where('created_by', '=', person))
}

function withStatus<Token extends { revokedAt: Date | null; expiresAt: Date | null }>(
  app: Pick<App, 'now'>,
  { revokedAt, ...token }: Token,
) {
  const expired = token.expiresAt !== null && token.expiresAt.getTime() <= app.now()
  return {
    ...token,
    status: revokedAt !== null ? ('revoked' as const) : expired ? ('expired' as const) : ('active' as const),
  }
}
