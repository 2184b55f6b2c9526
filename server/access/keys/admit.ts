import { timingSafeEqual } from 'node:crypto'
import type { FailureReason } from '../../../api/failures.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { Failure } from '../../failure.ts'
import type { Attempts } from '../credentials/attempts.ts'
import { countedFailure, credentialKind, hashCredential } from '../credentials/credential.ts'
import type { Vault } from '../credentials/vault.ts'
import type { Buckets } from '../limits/buckets.ts'
import { takeCall, type Standing, type LimitVerdict } from '../limits/limiter.ts'
import { ratePolicy } from '../limits/policies.ts'
import { isBrowserToken, narrowTo, openBrowserToken, secretMark, type BrowserToken } from './browser-token.ts'
import type { Keys } from './feed.ts'
import type { KeyRecord } from './record.ts'
import type { PresentedKey, KeyCredential } from './snapshot.ts'
import type { KeyUses } from './uses.ts'

/**
 * One call with an API key: who calls, and how far the call has come. It lives as long as the call.
 * Not a `Caller`: no management verb can be handed one.
 */
export type KeyCaller = {
  kind: 'key'
  /** With a browser token, what the token leaves of it. */
  key: KeyRecord
  /** Which of the key's two secrets it came with. */
  secret: PresentedKey['secret']
  /** The token of a page that the key was used by. */
  browserTokenId: string | null
  requestId: string
  /** Where the key stands with every limit that has counted the call so far, for the headers of the answer. */
  standings: Standing[]
  /** How the call ended has been told, so nobody else tells it. */
  isRecorded: boolean
}

/** A call over the limit is refused, and still a call: whoever refuses it knows whose it was. */
export type Admission = { caller: KeyCaller; refusal: Failure | null }

type Parts = {
  keys: Keys
  keyUses: KeyUses
  buckets: Buckets
  browserTokens: Vault
  authenticationAttempts: Attempts
  config: Pick<Config, 'managementToken'>
  now: Clock
}

type Presented = {
  /** Reads what the transport was given: what it refuses counts as any other secret that is not good. */
  credential: () => KeyCredential
  /** Whether this is one of the few things that a browser may do with a token of a key. */
  takesBrowserTokens: boolean
  /** Whether this opens links to queries, and nothing else. */
  opensLinks?: boolean
  address: string
  requestId: string
}

/**
 * From a secret to its caller, counted against the limits of the key. A secret that is not good counts as a failure of
 * the address it came from. Waits only where limits are kept elsewhere: on the way of every call each wait shows.
 */
export function admit(app: Parts, input: Presented): Admission | Promise<Admission> {
  const { caller, browserToken } = authenticate(app, input)
  if (browserToken !== null) return admitBrowser(app, caller, browserToken)
  const verdict = takeCall(app.buckets, caller.key.id, caller.key.policies)
  return verdict instanceof Promise ? verdict.then((taken) => admitted(caller, taken)) : admitted(caller, verdict)
}

/** Counted for the token first: a visitor who asks too often takes nothing from the others. */
async function admitBrowser({ buckets }: Parts, caller: KeyCaller, token: BrowserToken): Promise<Admission> {
  const own = await takeCall(buckets, `${caller.key.id} ${token.id}`, [ratePolicy('browser', token.rate)])
  caller.standings = own.standings
  if (own.waitSeconds > 0) return { caller, refusal: tooMany('Too many calls from this page.', own.waitSeconds) }
  const { waitSeconds } = await takeCall(buckets, caller.key.id, caller.key.policies)
  return { caller, refusal: waitSeconds > 0 ? tooMany('Too many calls from pages like this.', waitSeconds) : null }
}

function admitted(caller: KeyCaller, { waitSeconds, standings }: LimitVerdict): Admission {
  caller.standings = standings
  return { caller, refusal: waitSeconds > 0 ? tooMany('Too many calls with this API key.', waitSeconds) : null }
}

type LimitedQuery = { id: string; name: string; rateLimit: { perMinute: number; burst: number } }

/** The limit that a query has of its own, for each key. */
export async function admitToQuery(
  app: { buckets: Buckets },
  caller: KeyCaller,
  { id, name, rateLimit }: LimitedQuery,
): Promise<void> {
  const verdict = await takeCall(app.buckets, `${caller.key.id} ${id}`, [ratePolicy(name, rateLimit)])
  caller.standings = [...caller.standings, ...verdict.standings]
  if (verdict.waitSeconds > 0) throw tooMany(`Too many calls of ${name} with this API key.`, verdict.waitSeconds)
}

function tooMany(what: string, waitSeconds: number): Failure {
  return new Failure('rate_limit_exceeded', {
    message: `${what} Wait ${waitSeconds} s.`,
    retryAfterSeconds: waitSeconds,
  })
}

/** The caller behind an API key, without a look into the database. */
function authenticate(
  app: Parts,
  { credential: present, takesBrowserTokens, opensLinks = false, address, requestId }: Presented,
): { caller: KeyCaller; browserToken: BrowserToken | null } {
  try {
    const credential = present()
    const isFromBrowser = isBrowserToken(credential.secret)
    if (isFromBrowser && !takesBrowserTokens) throw notForBrowsers()
    if (!isFromBrowser)
      credential.hash ??= opensLinks ? readLink(credential.secret) : readSecret(app, credential.secret)
    const { key, secret, browserToken } = isFromBrowser
      ? findBehindToken(app, credential)
      : { ...findKey(app, credential), browserToken: null }
    app.keyUses.note(key.id, isFromBrowser ? null : address)
    const browserTokenId = browserToken?.id ?? null
    return {
      caller: { kind: 'key', key, secret, browserTokenId, requestId, standings: [], isRecorded: false },
      browserToken,
    }
  } catch (error) {
    throw countedFailure(app, address, error)
  }
}

/** For an answer that goes on: whether the key that asked for it is good still. Counts nothing. */
export function isGoodKey(app: Parts, credential: KeyCredential): boolean {
  try {
    findKey(app, credential)
    return true
  } catch {
    return false
  }
}

function readLink(secret: string): Buffer {
  if (credentialKind(secret) === 'share') return hashCredential(secret)
  throw refused('malformed', 'This is no link to a query: copy it whole.')
}

function readSecret(app: Parts, secret: string): Buffer {
  const kind = credentialKind(secret)
  if (kind === 'mgmt' || kind === 'link' || (kind === undefined && isOperator(app, secret))) {
    throw refused('wrong_kind', 'Query endpoints take an API key (slc_live_… or slc_test_…), not a management token.')
  }
  if (kind === 'share') throw refused('wrong_kind', 'This is the end of a link to one query, not an API key.')
  if (kind === undefined) throw refused('malformed', 'The API key is malformed: copy it whole.')
  return hashCredential(secret)
}

/** The key behind a browser token, as far as the token reaches. It is no better than the key and its secret are now. */
function findBehindToken(app: Parts, credential: KeyCredential): PresentedKey & { browserToken: BrowserToken } {
  const browserToken = (credential.browserToken ??= openBrowserToken(app.browserTokens, credential.secret) ?? null)
  if (browserToken === null) throw refused('malformed', 'The browser token is not one of ours: ask for another.')
  if (browserToken.expiresAtMs <= app.now()) {
    throw refused('expired', "This browser token has expired. The page's server can make another.")
  }
  const key = app.keys.get(browserToken.keyId)
  const secret = key && secretOf(key, browserToken)
  if (key === undefined || secret === undefined) {
    throw refused('expired', 'The API key of this browser token was rotated, and the secret it was made with is over.')
  }
  requireGood(app, { key, secret })
  return { key: narrowTo(key, browserToken), secret, browserToken }
}

function secretOf({ hash, previousHash }: KeyRecord, { secret }: BrowserToken): PresentedKey['secret'] | undefined {
  if (secret === secretMark(hash)) return 'current'
  return previousHash !== null && secret === secretMark(previousHash) ? 'previous' : undefined
}

function notForBrowsers(): Failure {
  return refused('wrong_kind', 'A browser token asks questions and calls queries, nothing else. This takes an API key.')
}

function findKey(app: Parts, credential: KeyCredential): PresentedKey {
  const found = app.keys.find(credential)
  if (found === undefined) throw refused('unknown', 'This API key does not exist.')
  requireGood(app, found)
  return found
}

function requireGood(app: Parts, { key, secret }: PresentedKey): void {
  if (key.state === 'revoked') throw refused('revoked', 'This API key was revoked.')
  if (key.state === 'disabled') throw refused('disabled', 'This API key is disabled. Its owner can enable it again.')
  if (key.expiresAtMs <= app.now()) throw refused('expired', 'This API key has expired.')
  if (secret === 'previous' && key.previousUntilMs <= app.now()) {
    throw refused('expired', 'This API key was rotated and its old secret has expired. Use the new one.')
  }
}

function isOperator({ config: { managementToken } }: Parts, secret: string): boolean {
  return managementToken !== undefined && timingSafeEqual(hashCredential(secret), hashCredential(managementToken))
}

function refused(reason: FailureReason<'authentication_failed'>, message: string): Failure {
  return new Failure('authentication_failed', { reason, message })
}
