import { createHash } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { z } from 'zod'
import type { authShapes } from '../../../api/authentication.ts'
import type { HttpConfiguration } from '../../../api/connections.ts'
import { resealColumn, type Vault } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import { Failure } from '../../failure.ts'
import { newId } from '../../ids.ts'
import { awaitLease, type Database, type Lease, type Tables } from '../../store/index.ts'
import { parseUrl, readAuth } from '../request/build-request.ts'
import { lateError, outboundError } from '../outbound/error.ts'
import type { Outbound } from '../outbound/send.ts'
import { parametersOf } from './parameters.ts'
import { askForTokens, forToken, type IssuedTokens } from './token-endpoint.ts'
import { marginMs, type GrantPlace, type Timing, type TokenAnswer } from './token.ts'

export type CodeAuth = z.output<(typeof authShapes)['OAuth2 Authorization Code']>
export type Grants = { token(configuration: HttpConfiguration, timing: Timing): Promise<TokenAnswer> }

type Parts = { store: Database; vault: Vault; outbound: Outbound; now: Clock }

/** The sealed part of a grant. `boundTo` is the only use that its tokens have. */
type Tokens = { boundTo: string; accessToken: string; refreshToken: string | null; expiresAt: number | null }
type Grant = { id: string; generation: number; tokens: Tokens }
/** Which grant: the one of a connection, or the one that began with a refresh token somebody gave. */
type Asked = { place: GrantPlace; purpose: string; boundTo: string; auth: CodeAuth }

/** Grants given by hand are forgotten when nothing has used them for so long. */
const unusedMs = 180 * 86_400_000

/**
 * Tokens that somebody granted to a connection, and that follow from a refresh token. Each use of a refresh token may
 * make it worthless and bring another, so one process at a time uses it, and the new one is stored before it counts.
 */
export function openGrants(parts: Parts): Grants {
  return {
    async token(configuration, timing) {
      const asked = askedFor(configuration, timing.place)
      const known = await findGrant(parts, asked)
      if (known !== null && isGood(parts, known, timing)) return used(parts, known)
      if (known === null && asked.auth.refresh_token === undefined) return refused(notConnected(asked.auth))
      await using turn = await takeTurn(parts, asked, timing)
      if (turn.lease === null) return refused(forToken(lateError(new URL(asked.auth.token_url), timing.timeoutMs)))
      // The turn before may have brought a new one.
      const current = await findGrant(parts, asked)
      if (current !== null && isGood(parts, current, timing)) return used(parts, current)
      // Awaited here: the turn lasts until the new tokens are stored.
      return await renew(parts, asked, current, { timeoutMs: turn.leftMs(), signal: timing.signal })
    },
  }
}

/** Tokens are bound to the endpoint and client that they came from, and to the origin that they are sent to. */
export function bindingOf(configuration: HttpConfiguration, auth: Pick<CodeAuth, 'token_url' | 'client_id'>): string {
  const { href } = parseUrl(auth.token_url, 'auth.token_url')
  return JSON.stringify([href, auth.client_id, parseUrl(configuration.url, 'url').origin])
}

/** In the transaction in which somebody connected. */
export async function storeGrant(
  { vault, now }: Pick<Parts, 'vault' | 'now'>,
  transaction: Transaction<Tables>,
  grant: { place: OwnedPlace; boundTo: string; tokens: IssuedTokens; connectedBy: string },
): Promise<void> {
  const { place, boundTo, connectedBy } = grant
  const { projectId } = place
  const owner = place.apiId === undefined ? { datasourceId: place.datasourceId } : { apiId: place.apiId }
  const at = new Date(now())
  const kept = {
    sealedTokens: vault.seal(tokensOf(grant.tokens, boundTo, at.getTime())),
    connectedBy,
    connectedAt: at,
    usedAt: at,
    refusal: null,
  }
  await transaction
    .insertInto('upstreamGrants')
    .values({ id: newId('grant'), projectId, ...owner, purpose: purposeOf(place), ...kept })
    .onConflict((conflict) =>
      conflict
        .columns(['projectId', 'purpose'])
        .doUpdateSet((row) => ({ ...kept, generation: row('upstreamGrants.generation', '+', 1) })),
    )
    .execute()
}

/** The place of what a connection may use. */
export type OwnedPlace = GrantPlace & { datasourceId: string }

/** The purpose of what was granted to a connection, or to the API that it shares with others. */
export function purposeOf({ datasourceId, apiId }: OwnedPlace | (GrantPlace & { apiId: string })): string {
  return apiId === undefined ? `datasource ${datasourceId}` : `api ${apiId}`
}

/** Seals all tokens anew, and answers how many there were. */
export const resealGrants = resealColumn('upstreamGrants', 'sealedTokens')

/** Those that began with a refresh token which no request holds any more, and attempts to connect that were left. */
export async function forgetOldGrants({ store, now }: Pick<Parts, 'store' | 'now'>): Promise<void> {
  await store.db
    .deleteFrom('upstreamGrants')
    .where('datasourceId', 'is', null)
    .where('apiId', 'is', null)
    .where('usedAt', '<', new Date(now() - unusedMs))
    .execute()
  await store.db.deleteFrom('upstreamAttempts').where('expiresAt', '<', new Date(now())).execute()
}

function askedFor(configuration: HttpConfiguration, place: GrantPlace | undefined): Asked {
  const auth = readAuth('OAuth2 Authorization Code', configuration.auth)
  const boundTo = bindingOf(configuration, auth)
  if (place === undefined) throw needs('project_id', 'the tokens of an authorization code are kept with its project')
  if (auth.refresh_token !== undefined) {
    const seed = createHash('sha256').update(JSON.stringify([boundTo, auth.refresh_token]))
    return { place, purpose: `given ${seed.digest('base64url')}`, boundTo, auth }
  }
  const { datasourceId, apiId } = place
  if (apiId !== undefined) return { place, purpose: purposeOf({ ...place, apiId }), boundTo, auth }
  if (datasourceId === undefined) throw needs('datasource_id', 'save the connection and connect it first')
  return { place, purpose: purposeOf({ ...place, datasourceId }), boundTo, auth }
}

function needs(field: string, why: string): Failure {
  const message = `is required: ${why}`
  const details = [{ field, message }]
  return new Failure('invalid_request', { reason: 'invalid_field', message: `${field} ${message}.`, details })
}

function tokensOf(issued: IssuedTokens, boundTo: string, nowMs: number): Tokens {
  const { accessToken, refreshToken, lifeMs } = issued
  return { boundTo, accessToken, refreshToken, expiresAt: lifeMs === null ? null : nowMs + lifeMs }
}

async function findGrant({ store, vault }: Parts, { place, purpose, boundTo }: Asked): Promise<Grant | null> {
  const row = await store.db
    .selectFrom('upstreamGrants')
    .select(['id', 'generation', 'sealedTokens'])
    .where('projectId', '=', place.projectId)
    .where('purpose', '=', purpose)
    .executeTakeFirst()
  if (row === undefined) return null
  const tokens = vault.open(row.sealedTokens) as Tokens
  // Granted for other addresses: whoever may edit must not be able to send the tokens elsewhere.
  return tokens.boundTo === boundTo ? { id: row.id, generation: row.generation, tokens } : null
}

function isGood({ now }: Parts, { tokens }: Grant, { rejected }: Timing): boolean {
  const { accessToken, expiresAt } = tokens
  return accessToken !== rejected && (expiresAt === null || expiresAt - marginMs > now())
}

const noteUseEveryMs = 86_400_000

async function used({ store, now }: Parts, { id, tokens }: Grant): Promise<TokenAnswer> {
  const at = new Date(now())
  await store.db
    .updateTable('upstreamGrants')
    .set({ usedAt: at })
    .where('id', '=', id)
    .where('usedAt', '<', new Date(at.getTime() - noteUseEveryMs))
    .execute()
  return { ok: true, token: tokens.accessToken }
}

type GrantTurn = AsyncDisposable & { lease: Lease | null; leftMs(): number }

/** One process at a time asks for the next tokens of a grant; the lease is null where that took too long. */
async function takeTurn({ store }: Parts, { place, purpose }: Asked, timing: Timing): Promise<GrantTurn> {
  const deadline = performance.now() + timing.timeoutMs
  const name = `oauth/${place.projectId}/${purpose}`
  const lease = (await awaitLease(store, name, { waitMs: timing.timeoutMs, signal: timing.signal })) ?? null
  return {
    lease,
    leftMs: () => Math.max(1, Math.round(deadline - performance.now())),
    [Symbol.asyncDispose]: async () => lease?.[Symbol.asyncDispose](),
  }
}

async function renew(
  parts: Parts,
  asked: Asked,
  current: Grant | null,
  timing: Pick<Timing, 'timeoutMs' | 'signal'>,
): Promise<TokenAnswer> {
  const { auth, boundTo } = asked
  const refreshToken = current === null ? auth.refresh_token : current.tokens.refreshToken
  if (refreshToken === undefined || refreshToken === null) return refused(hasExpired(auth))
  const { scope: _asGranted, ...wishes } = auth
  const parameters = parametersOf(wishes, { grant_type: 'refresh_token', refresh_token: refreshToken })
  // Not ended by whoever waits for it: what it brings may be the only token that is good from then on.
  const answer = await askForTokens(parts.outbound, auth, parameters, { timeoutMs: timing.timeoutMs })
  if (!answer.ok) {
    if (answer.refusal === 'invalid_grant' && current !== null) await noteRefusal(parts, current, answer.error.message)
    return { ok: false, error: answer.error }
  }
  // A server that does not rotate leaves the refresh token out (RFC 6749, 6).
  const issued = { ...answer.tokens, refreshToken: answer.tokens.refreshToken ?? refreshToken }
  await storeRenewed(parts, asked, current, tokensOf(issued, boundTo, parts.now()))
  timing.signal?.throwIfAborted()
  return { ok: true, token: issued.accessToken }
}

async function storeRenewed(
  { store, vault, now }: Parts,
  { place, purpose }: Asked,
  current: Grant | null,
  tokens: Tokens,
): Promise<void> {
  const at = new Date(now())
  const kept = { sealedTokens: vault.seal(tokens), usedAt: at, refusal: null }
  if (current === null) {
    await store.db
      .insertInto('upstreamGrants')
      .values({ id: newId('grant'), projectId: place.projectId, purpose, ...kept, connectedAt: at })
      .onConflict((conflict) => conflict.columns(['projectId', 'purpose']).doUpdateSet(kept))
      .execute()
    return
  }
  // Somebody may have connected anew meanwhile, and theirs is the newer one.
  await store.db
    .updateTable('upstreamGrants')
    .set({ ...kept, generation: current.generation + 1 })
    .where('id', '=', current.id)
    .where('generation', '=', current.generation)
    .execute()
}

async function noteRefusal({ store }: Parts, { id, generation }: Grant, message: string): Promise<void> {
  await store.db
    .updateTable('upstreamGrants')
    .set({ refusal: message })
    .where('id', '=', id)
    .where('generation', '=', generation)
    .execute()
}

function refused(error: ReturnType<typeof outboundError>): TokenAnswer {
  return { ok: false, error }
}

function notConnected({ token_url: tokenUrl }: CodeAuth) {
  const { host } = new URL(tokenUrl)
  const message = `Nobody has connected this to ${host} yet, or its addresses have changed since. Connect it in the app, or give a refresh_token.`
  return outboundError('token_refused', message)
}

function hasExpired({ token_url: tokenUrl }: CodeAuth) {
  const { host } = new URL(tokenUrl)
  const message = `The access that ${host} granted is over, and it gave no refresh token. Connect again; many servers give one for the scope offline_access.`
  return outboundError('token_refused', message)
}
