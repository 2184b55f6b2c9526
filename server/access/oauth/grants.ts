import { fixedLimits } from '../../../api/limits.ts'
import { randomBytes } from 'node:crypto'
import type { Transaction } from 'kysely'
import { Failure } from '../../failure.ts'
import { newId } from '../../ids.ts'
import type { Database, Tables } from '../../store/index.ts'
import { recordAct } from '../people/audit.ts'
import { systemCaller } from '../people/caller.ts'
import { hashCredential } from '../credentials/credential.ts'
import { createKey, renewKey, revokeKey, revokeKeyWithin } from '../keys/manage.ts'
import { requireScope } from '../keys/scope.ts'
import { actAs, type UserCaller } from '../people/people.ts'
import { isClientAddress, type ClientDocuments } from './client-documents.ts'
import { findClient, keepClient } from './clients.ts'
import { orRefusal, provesChallenge, refused, type OAuthRefusal, type TokenOutcome } from './refusals.ts'

/**
 * A person lets a client call the queries of one environment. What the client gets is an API key that lives for an hour:
 * it has a key's scope, limits, usage and audit, and stands in the list of keys, where it can be revoked. Refreshing
 * gives it a new secret.
 */
type Parts = Parameters<typeof createKey>[0]

/** A client may renew its access for 30 days. */
const refreshSeconds = 2_592_000
const codeMs = 60_000
/** A client that lost an answer asks again with what it has; later than that, somebody else has it. */
const graceMs = 30_000

type Approval = {
  clientId: string
  redirectUri: string
  codeChallenge: string
  projectId: string
  environment: string
}

/** The person's yes: a code that the client exchanges once, within a minute. */
export async function approveClient(
  app: Parts & { clientDocuments: ClientDocuments },
  caller: UserCaller,
  input: Approval,
): Promise<string> {
  const { projectId, environment, redirectUri, codeChallenge } = input
  await requireScope(app, caller, [{ projectId, environments: [environment], queries: null }])
  const client = await findClient(app, input)
  const code = randomBytes(32).toString('base64url')
  const id = newId('oauthGrant')
  await app.store.db.transaction().execute(async (transaction) => {
    if (isClientAddress(client.id)) await keepClient(app, transaction, client)
    await transaction
      .insertInto('oauthGrants')
      .values({
        id,
        clientId: client.id,
        userId: caller.userId,
        projectId,
        environment,
        redirectUri,
        codeChallenge,
        codeHash: hashCredential(code),
        codeExpiresAt: new Date(app.now() + codeMs),
      })
      .execute()
    await recordAct(transaction, caller, {
      action: 'oauth_client.approved',
      target: client.id,
      projectId,
      details: { client: client.name, environment, redirect_uri: redirectUri },
    })
  })
  return code
}

type CodeExchange = { code: string; clientId: string; redirectUri: string; codeVerifier: string }

export async function exchangeCode(app: Parts, input: CodeExchange): Promise<TokenOutcome> {
  const codeHash = hashCredential(input.code)
  const grant = await app.store.db
    .updateTable('oauthGrants')
    .set({ codeUsedAt: new Date(app.now()) })
    .where('codeHash', '=', codeHash)
    .where('codeUsedAt', 'is', null)
    .returningAll()
    .executeTakeFirst()
  if (grant === undefined) return refuseUsedCode(app, codeHash)
  const isMeant = grant.clientId === input.clientId && grant.redirectUri === input.redirectUri
  const isInTime = grant.codeExpiresAt.getTime() > app.now()
  if (!isMeant || !isInTime || !provesChallenge(input.codeVerifier, grant.codeChallenge)) {
    return refused('The code is not good: it has expired, or was given to another client. Connect anew.')
  }
  return orRefusal(async () => {
    await endEarlier(app, grant)
    const caller = await actAs(app, grant.userId)
    const client = await app.store.db
      .selectFrom('oauthClients')
      .select('name')
      .where('id', '=', grant.clientId)
      .executeTakeFirstOrThrow()
    const key = await createKey(app, caller, {
      name: `${client.name} for ${caller.label}`.slice(0, 120),
      permissions: [{ projectId: grant.projectId, environments: [grant.environment], queries: null }],
      expiresAt: accessUntil(app),
    })
    try {
      await app.store.db.updateTable('oauthGrants').set({ keyId: key.id }).where('id', '=', grant.id).execute()
      return { ...(await newRefresh(app, grant, input.code)), accessToken: key.secret }
    } catch (error) {
      // The grant ended meanwhile, with the person's membership: its key would outlive it.
      await revokeKey(app, systemCaller, key.id)
      throw error
    }
  })
}

/** A code that comes twice was seen by somebody else: what it gave is taken back. */
async function refuseUsedCode(app: Parts, codeHash: Buffer): Promise<OAuthRefusal> {
  const used = await app.store.db
    .selectFrom('oauthGrants')
    .select(['id', 'keyId'])
    .where('codeHash', '=', codeHash)
    .executeTakeFirst()
  if (used !== undefined) await endGrant(app, used)
  return refused('The code was used already, or never given. Connect anew.')
}

/**
 * A refresh token is the family, which is the code that was exchanged, and a secret that is good once. Any spent one of
 * the family is a sign of theft and ends the access, however many came after it.
 */
export async function refreshGrant(
  app: Parts,
  { refreshToken, clientId }: { refreshToken: string; clientId: string },
): Promise<TokenOutcome> {
  const hash = hashCredential(refreshToken)
  const family = familyOf(refreshToken)
  const grant = await app.store.db
    .selectFrom('oauthGrants')
    .selectAll()
    .where((row) =>
      row.or([
        row('refreshHash', '=', hash),
        row('previousRefreshHash', '=', hash),
        ...(family === null ? [] : [row('codeHash', '=', hashCredential(family))]),
      ]),
    )
    .executeTakeFirst()
  if (grant === undefined || grant.clientId !== clientId || grant.keyId === null) {
    return refused('The refresh token is not good. Connect anew.')
  }
  const { keyId } = grant
  const isCurrent = grant.refreshHash?.equals(hash) === true
  // A client that lost an answer asks again with what it has.
  const isRepeat =
    grant.previousRefreshHash?.equals(hash) === true && (grant.refreshedAt?.getTime() ?? 0) + graceMs > app.now()
  const isExpired = (grant.refreshExpiresAt?.getTime() ?? 0) <= app.now()
  if (isExpired || (!isCurrent && !isRepeat)) {
    await endGrant(app, grant)
    return refused('The refresh token has expired or was used before: its access was ended. Connect anew.')
  }
  const outcome = await orRefusal(async () => {
    const caller = await actAs(app, grant.userId)
    // A second refresh with the same token finds it replaced.
    const refreshed = await newRefresh(app, grant, family ?? randomBytes(32).toString('base64url'))
    const { secret } = await renewKey(app, caller, {
      keyId,
      expiresAt: accessUntil(app),
      graceSeconds: graceMs / 1000,
    })
    return { ...refreshed, accessToken: secret }
  })
  if ('error' in outcome && outcome.endsAccess === true) await endGrant(app, grant)
  return outcome
}

/** Tokens from before families have none; their next refresh begins one. */
function familyOf(refreshToken: string): string | null {
  const end = refreshToken.indexOf('.')
  return end === -1 ? null : refreshToken.slice(0, end)
}

/** Always answers: a token that is not there is as good as revoked. */
export async function revokeGrant(app: Parts, { token, clientId }: { token: string; clientId: string }): Promise<void> {
  const hash = hashCredential(token)
  const family = familyOf(token)
  const grant = await app.store.db
    .selectFrom('oauthGrants')
    .leftJoin('apiKeys', 'apiKeys.id', 'oauthGrants.keyId')
    .select(['oauthGrants.id', 'oauthGrants.keyId'])
    .where('oauthGrants.clientId', '=', clientId)
    .where((row) =>
      row.or([
        row('oauthGrants.refreshHash', '=', hash),
        row('oauthGrants.previousRefreshHash', '=', hash),
        row('apiKeys.secretHash', '=', hash),
        row('apiKeys.previousHash', '=', hash),
        ...(family === null ? [] : [row('oauthGrants.codeHash', '=', hashCredential(family))]),
      ]),
    )
    .executeTakeFirst()
  if (grant !== undefined) await endGrant(app, grant)
}

/** The same client of the same person for the same place has one key: connecting again replaces it. */
async function endEarlier(
  app: Parts,
  { id, clientId, userId, projectId, environment }: Approved & { id: string },
): Promise<void> {
  const earlier = await app.store.db
    .selectFrom('oauthGrants')
    .select(['id', 'keyId'])
    .where('clientId', '=', clientId)
    .where('userId', '=', userId)
    .where('projectId', '=', projectId)
    .where('environment', '=', environment)
    .where('id', '<>', id)
    .execute()
  for (const grant of earlier) await endGrant(app, grant)
}

type Approved = { clientId: string; userId: string; projectId: string; environment: string }

async function endGrant(app: Parts, { id, keyId }: { id: string; keyId: string | null }): Promise<void> {
  if (keyId !== null) await revokeKey(app, systemCaller, keyId)
  await app.store.db.deleteFrom('oauthGrants').where('id', '=', id).execute()
}

/** Part of taking a role away: the keys of clients that somebody let into a project end in the same transaction. */
export async function endClientsOf(
  app: Parts,
  transaction: Transaction<Tables>,
  { projectId, userId }: { projectId: string; userId: string },
): Promise<string[]> {
  const grants = await transaction
    .deleteFrom('oauthGrants')
    .where('projectId', '=', projectId)
    .where('userId', '=', userId)
    .returning('keyId')
    .execute()
  const keyIds = grants.flatMap(({ keyId }) => (keyId === null ? [] : [keyId]))
  for (const keyId of keyIds.toSorted()) await revokeKeyWithin(app, transaction, systemCaller, keyId)
  return keyIds
}

/** Those whose time is over, with their keys; called now and then. */
export async function endLapsedGrants(app: Parts): Promise<void> {
  const lapsed = await app.store.db
    .selectFrom('oauthGrants')
    .select(['id', 'keyId'])
    .where((row) =>
      row.or([
        row('refreshExpiresAt', '<', new Date(app.now())),
        row.and([row('keyId', 'is', null), row('codeExpiresAt', '<', new Date(app.now() - codeMs))]),
      ]),
    )
    .limit(100)
    .execute()
  for (const grant of lapsed) await endGrant(app, grant)
}

async function newRefresh(
  app: { store: Database; now: Parts['now'] },
  { id, refreshHash: before }: { id: string; refreshHash: Buffer | null },
  family: string,
): Promise<{ refreshToken: string; expiresInSeconds: number; scope: 'queries' }> {
  const refreshToken = `${family}.${randomBytes(32).toString('base64url')}`
  const { numUpdatedRows } = await app.store.db
    .updateTable('oauthGrants')
    .set({
      codeHash: hashCredential(family),
      refreshHash: hashCredential(refreshToken),
      previousRefreshHash: before,
      refreshedAt: new Date(app.now()),
      refreshExpiresAt: new Date(app.now() + refreshSeconds * 1000),
    })
    .where('id', '=', id)
    .where('refreshHash', before === null ? 'is' : '=', before)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw new Failure('conflict', { reason: 'changed_meanwhile' })
  return { refreshToken, expiresInSeconds: fixedLimits.oauthAccessSeconds.value, scope: 'queries' }
}

function accessUntil(app: Pick<Parts, 'now' | 'config'>): Date {
  return new Date(app.now() + fixedLimits.oauthAccessSeconds.value * 1000)
}
