import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { Failure } from '../../failure.ts'
import { newId } from '../../ids.ts'
import type { Database } from '../../store/index.ts'
import { recordAct } from '../people/audit.ts'
import { systemCaller } from '../people/caller.ts'
import { hashCredential } from '../credentials/credential.ts'
import { createKey, renewKey, revokeKey } from '../keys/manage.ts'
import { requireScope } from '../keys/scope.ts'
import { actAs, type UserCaller } from '../people/people.ts'
import { isClientAddress, type ClientDocuments } from './client-documents.ts'
import { findClient, keepClient } from './clients.ts'

/**
 * A person lets a client call the queries of one environment. What the client gets is an API key that lives for an hour:
 * it has a key's scope, limits, usage and audit, and stands in the list of keys, where it can be revoked. Refreshing
 * gives it a new secret.
 */
type Parts = Parameters<typeof createKey>[0]

/** Words of RFC 6749 for what a client did wrong. */
export type OAuthRefusal = {
  error: 'invalid_request' | 'invalid_grant' | 'invalid_target' | 'unsupported_grant_type'
  description: string
}
export type OAuthTokens = { accessToken: string; refreshToken: string; expiresInSeconds: number }
export type TokenOutcome = OAuthTokens | OAuthRefusal

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
    await app.store.db.updateTable('oauthGrants').set({ keyId: key.id }).where('id', '=', grant.id).execute()
    return { ...(await newRefresh(app, grant.id, null)), accessToken: key.secret }
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

export async function refreshGrant(
  app: Parts,
  { refreshToken, clientId }: { refreshToken: string; clientId: string },
): Promise<TokenOutcome> {
  const hash = hashCredential(refreshToken)
  const grant = await app.store.db
    .selectFrom('oauthGrants')
    .selectAll()
    .where((row) => row.or([row('refreshHash', '=', hash), row('previousRefreshHash', '=', hash)]))
    .executeTakeFirst()
  if (grant === undefined || grant.clientId !== clientId || grant.keyId === null) {
    return refused('The refresh token is not good. Connect anew.')
  }
  const { keyId } = grant
  const isCurrent = grant.refreshHash?.equals(hash) === true
  const isInGrace = (grant.refreshedAt?.getTime() ?? 0) + graceMs > app.now()
  const isExpired = (grant.refreshExpiresAt?.getTime() ?? 0) <= app.now()
  if (isExpired || (!isCurrent && !isInGrace)) {
    await endGrant(app, grant)
    return refused('The refresh token has expired or was used before: its access was ended. Connect anew.')
  }
  return orRefusal(async () => {
    const caller = await actAs(app, grant.userId)
    // Whoever comes second with the same token finds it replaced.
    const refreshed = await newRefresh(app, grant.id, grant.refreshHash)
    const { secret } = await renewKey(app, caller, {
      keyId,
      expiresAt: accessUntil(app),
      graceSeconds: graceMs / 1000,
    })
    return { ...refreshed, accessToken: secret }
  })
}

/** Always answers: a token that is not there is as good as revoked. */
export async function revokeGrant(app: Parts, { token, clientId }: { token: string; clientId: string }): Promise<void> {
  const hash = hashCredential(token)
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
  app: { store: Database; now: Parts['now']; config: Pick<Parts['config'], 'limits'> },
  grantId: string,
  before: Buffer | null,
): Promise<Omit<OAuthTokens, 'accessToken'>> {
  const { oauthAccessSeconds, oauthRefreshSeconds } = app.config.limits
  const refreshToken = randomBytes(32).toString('base64url')
  const { numUpdatedRows } = await app.store.db
    .updateTable('oauthGrants')
    .set({
      refreshHash: hashCredential(refreshToken),
      previousRefreshHash: before,
      refreshedAt: new Date(app.now()),
      refreshExpiresAt: new Date(app.now() + oauthRefreshSeconds * 1000),
    })
    .where('id', '=', grantId)
    .where('refreshHash', before === null ? 'is' : '=', before)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw new Failure('conflict', { reason: 'changed_meanwhile' })
  return { refreshToken, expiresInSeconds: oauthAccessSeconds }
}

function accessUntil(app: Pick<Parts, 'now' | 'config'>): Date {
  return new Date(app.now() + app.config.limits.oauthAccessSeconds * 1000)
}

/** What the person may no longer do, the client may not: their role is asked at each refresh. */
async function orRefusal(work: () => Promise<OAuthTokens>): Promise<TokenOutcome> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure && error.code !== 'internal_error') return refused(error.message)
    throw error
  }
}

function refused(description: string): OAuthRefusal {
  return { error: 'invalid_grant', description }
}

const verifierShape = /^[A-Za-z0-9._~-]{43,128}$/

function provesChallenge(verifier: string, challenge: string): boolean {
  if (!verifierShape.test(verifier)) return false
  const proof = Buffer.from(createHash('sha256').update(verifier).digest('base64url'))
  const wanted = Buffer.from(challenge)
  return proof.length === wanted.length && timingSafeEqual(proof, wanted)
}
