import type { Value } from '../../../api/wire-codec.ts'
import type { managementToken } from '../../../api/people.ts'
import type { Selectable, Transaction } from 'kysely'
import { Failure, invalidField } from '../../failure.ts'
import { newId } from '../../ids.ts'
import {
  countOf,
  lockQuota,
  newestFirst,
  refuseFull,
  type Page,
  type Role,
  type Database,
  type Tables,
} from '../../store/index.ts'
import { recordAct } from './audit.ts'
import { personOf, type Caller } from './caller.ts'
import { newCredential } from '../credentials/credential.ts'
import { requireAdministrator, requireRole } from './roles.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'

export type ManagementToken = Value<typeof managementToken>

/**
 * A token for automation, scoped like a member. It acts with the smaller of its own role and what its maker may do at
 * that moment, so making one never needs more than the maker has.
 */
export async function createManagementToken(
  app: { store: Database; now: Clock; config: Pick<Config, 'limits'> },
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
    throw invalidField('expires_at', 'must be in the future')
  }
  const { secret, hash, start, last4 } = newCredential('mgmt')
  const id = newId('token')
  await app.store.db.transaction().execute(async (transaction) => {
    await requireRoom(app, transaction, personOf(caller))
    await transaction
      .insertInto('managementTokens')
      .values({
        id,
        name: input.name,
        secretHash: hash,
        start,
        last4,
        projectId: input.projectId ?? null,
        role: input.role,
        createdBy: personOf(caller),
        expiresAt: input.expiresAt ?? null,
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

async function requireRoom(
  app: { now: Clock; config: Pick<Config, 'limits'> },
  transaction: Transaction<Tables>,
  person: string | null,
): Promise<void> {
  if (person === null) return
  await lockQuota(transaction, `tokens of ${person}`)
  const count = await countOf(
    transaction
      .selectFrom('managementTokens')
      .where('createdBy', '=', person)
      .where('revokedAt', 'is', null)
      .where((row) => row.or([row('expiresAt', 'is', null), row('expiresAt', '>', new Date(app.now()))])),
  )
  const most = app.config.limits.tokensPerPerson
  refuseFull({ count, most, what: 'Management tokens of a person are' })
}

/** Everyone sees the tokens they made; administrators see all. */
export async function listManagementTokens(
  app: { store: Database; now: Clock },
  caller: Caller,
  input: { limit: number; cursor?: string | undefined },
): Promise<Page<ManagementToken>> {
  const page = await newestFirst(selectTokens(app, caller), input)
  return { ...page, items: page.items.map((token) => withStatus(app, token)) }
}

/** Takes effect at once: tokens are looked up at every call. */
export async function revokeManagementToken(
  app: { store: Database; now: Clock },
  caller: Caller,
  tokenId: string,
): Promise<void> {
  const [token] = await selectTokens(app, caller).where('id', '=', tokenId).execute()
  if (token === undefined) throw new Failure('not_found', { message: 'There is no such management token.' })
  if (caller.kind === 'token' && caller.role !== 'owner') {
    throw new Failure('permission_denied', {
      reason: 'role_too_small',
      message: `To revoke a management token, another needs the role owner; this one is ${caller.role}.`,
    })
  }
  await endManagementToken(app, caller, tokenId)
}

/** Without asking who may: for whoever holds it, and for the service itself. */
export async function endManagementToken(
  app: { store: Database; now: Clock },
  caller: Caller,
  tokenId: string,
): Promise<void> {
  await app.store.db.transaction().execute(async (transaction) => {
    const ended = await transaction
      .updateTable('managementTokens')
      .set({ revokedAt: new Date(app.now()) })
      .where('id', '=', tokenId)
      .where('revokedAt', 'is', null)
      .returning(['name', 'projectId'])
      .executeTakeFirst()
    if (ended === undefined) return
    await recordAct(transaction, caller, {
      action: 'management_token.revoked',
      target: tokenId,
      details: { name: ended.name },
      ...(ended.projectId !== null && { projectId: ended.projectId }),
    })
  })
}

function selectTokens(app: { store: Database }, caller: Caller) {
  const person = personOf(caller)
  if (person === null) requireAdministrator(caller)
  // A token of one project learns nothing of others, whoever made it.
  const only = caller.kind === 'token' ? caller.projectId : null
  const seesAll = person === null || (caller.kind === 'user' && caller.administrator)
  return app.store.db
    .selectFrom('managementTokens')
    .selectAll()
    .$if(!seesAll, (query) => query.where('createdBy', '=', person))
    .$if(only !== null, (query) => query.where('projectId', '=', only))
}

/** Without the hash of its secret, which nobody needs. */
function withStatus(
  app: { now: Clock },
  { revokedAt, secretHash: _hash, ...token }: Selectable<Tables['managementTokens']>,
): ManagementToken {
  const expired = token.expiresAt !== null && token.expiresAt.getTime() <= app.now()
  return {
    ...token,
    status: revokedAt !== null ? 'revoked' : expired ? 'expired' : 'active',
  }
}
