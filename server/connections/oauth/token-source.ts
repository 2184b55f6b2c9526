import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type HttpConfiguration } from '../../../api/connections.ts'
import { untilAborted, within } from '../../flow/index.ts'
import { parseUrl, readAuth } from '../request/build-request.ts'
import { lateError } from '../outbound/error.ts'
import type { Outbound } from '../outbound/send.ts'
import type { Grants } from './upstream-grants.ts'
import { parametersOf } from './parameters.ts'
import { marginMs, type Timing, type TokenAnswer } from './token.ts'
import { logIn } from './log-in.ts'
import { signedJwt } from '../signing/jwt.ts'
import { askForTokens, forToken, type OAuthClient, type TokenReply } from './token-endpoint.ts'

const maxTokens = 1000
/** RFC 7523, 2.1. */
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const ordinaryLifeMs = 300_000

export type TokenSource = {
  /** The token a configuration needs: none, one that is known, or a new one. */
  token: (configuration: HttpConfiguration, timing: Timing) => Promise<TokenAnswer>
}
type Entry = {
  askedAt: number
  expiresAt: number
  answer: Promise<TokenAnswer>
}
type Credentials = OAuthClient & { scope?: string | undefined }
type Ask = (timing: Pick<Timing, 'timeoutMs'>) => Promise<TokenReply>

/**
 * Tokens for calls. Those by client credentials or a login are kept in memory until they expire, and callers that ask at
 * the same time share one call; those that somebody granted are kept by `grants`.
 */
export function createTokenSource(
  outbound: Outbound,
  now: () => number = Date.now,
  grants: Grants | null = null,
): TokenSource {
  const entries = new LRUCache<string, Entry>({ max: maxTokens })

  async function fetchToken(ask: Ask, timing: Pick<Timing, 'timeoutMs'>, entry: Entry): Promise<TokenAnswer> {
    const asked = await ask(timing)
    if (!asked.ok) return { ok: false, error: asked.error }
    const { accessToken, lifeMs } = asked.tokens
    entry.expiresAt = now() + Math.max(0, (lifeMs ?? ordinaryLifeMs) - marginMs)
    return { ok: true, token: accessToken }
  }

  async function keptToken(auth: { token_url: string }, timing: Timing, ask: Ask): Promise<TokenAnswer> {
    parseUrl(auth.token_url, 'auth.token_url')
    // The key is a hash, so that the secrets are held once, in the call alone.
    const key = createHash('sha256').update(JSON.stringify(auth)).digest('base64')
    const known = entries.get(key)
    // Asked for later than now: the clock was set back, and nobody knows how long the token is good.
    if (known !== undefined && known.askedAt <= now() && known.expiresAt > now()) {
      const answer = await withinTime(known.answer, auth, timing)
      if (!answer.ok || answer.token !== timing.rejected) return answer
    }
    const entry: Entry = {
      askedAt: now(),
      expiresAt: now() + timing.timeoutMs,
      answer: Promise.resolve({ ok: true, token: undefined }),
    }
    // Others may wait for it too: it ends with its time and not with whoever asked first.
    entry.answer = fetchToken(ask, { timeoutMs: timing.timeoutMs }, entry)
    const forget = (): boolean => entries.peek(key) === entry && entries.delete(key)
    entry.answer.then(({ ok }) => ok || forget(), forget)
    entries.set(key, entry)
    return withinTime(entry.answer, auth, timing)
  }

  return {
    async token(configuration, timing) {
      if (configuration.authType === 'OAuth2 Client Credentials') {
        const auth: Credentials = readAuth('OAuth2 Client Credentials', configuration.auth)
        const parameters = parametersOf(auth, { grant_type: 'client_credentials' })
        return keptToken(auth, timing, (limit) => askForTokens(outbound, auth, parameters, limit))
      }
      if (configuration.authType === 'Login Request') {
        const auth = readAuth('Login Request', configuration.auth)
        return keptToken(auth, timing, (limit) => logIn(outbound, auth, { ...limit, nowMs: now() }))
      }
      if (configuration.authType === 'Signed JWT') {
        const auth = readAuth('Signed JWT', configuration.auth)
        if (auth.token_url === undefined) {
          // Made here, and again for each load: it costs no call.
          return { ok: true, token: signedJwt(auth, now()) }
        }
        const client = { token_url: auth.token_url, client_id: '' }
        return keptToken({ ...auth, ...client }, timing, (limit) => {
          const assertion = signedJwt(auth, now())
          return askForTokens(outbound, client, { grant_type: jwtBearer, assertion }, limit)
        })
      }
      if (configuration.authType !== 'OAuth2 Authorization Code') return { ok: true, token: undefined }
      if (grants === null) throw new Error('This token source keeps no grants.')
      return grants.token(configuration, timing)
    },
  }
}

/** A call that others wait for too may have longer than this one has, and goes on when this one leaves. */
function withinTime(answer: Promise<TokenAnswer>, auth: { token_url: string }, timing: Timing): Promise<TokenAnswer> {
  const { timeoutMs, signal } = timing
  const late = (): TokenAnswer => ({ ok: false, error: forToken(lateError(new URL(auth.token_url), timeoutMs)) })
  return within(timeoutMs, untilAborted(answer, signal), late)
}
