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
import { askForTokens, forToken, type OAuthClient } from './token-endpoint.ts'

const maxTokens = 1000
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

/**
 * Tokens for calls. Those by client credentials are kept in memory until they expire, and callers that ask at the same
 * time share one call; those that somebody granted are kept by `grants`.
 */
export function createTokenSource(
  outbound: Outbound,
  now: () => number = Date.now,
  grants: Grants | null = null,
): TokenSource {
  const entries = new LRUCache<string, Entry>({ max: maxTokens })

  async function fetchToken(auth: Credentials, timing: Pick<Timing, 'timeoutMs'>, entry: Entry): Promise<TokenAnswer> {
    const parameters = parametersOf(auth, { grant_type: 'client_credentials' })
    const asked = await askForTokens(outbound, auth, parameters, timing)
    if (!asked.ok) return { ok: false, error: asked.error }
    const { accessToken, lifeMs } = asked.tokens
    entry.expiresAt = now() + Math.max(0, (lifeMs ?? ordinaryLifeMs) - marginMs)
    return { ok: true, token: accessToken }
  }

  async function byCredentials(auth: Credentials, timing: Timing): Promise<TokenAnswer> {
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
    entry.answer = fetchToken(auth, { timeoutMs: timing.timeoutMs }, entry)
    const forget = (): boolean => entries.peek(key) === entry && entries.delete(key)
    entry.answer.then(({ ok }) => ok || forget(), forget)
    entries.set(key, entry)
    return withinTime(entry.answer, auth, timing)
  }

  return {
    async token(configuration, timing) {
      if (configuration.authType === 'OAuth2 Client Credentials') {
        return byCredentials(readAuth('OAuth2 Client Credentials', configuration.auth), timing)
      }
      if (configuration.authType !== 'OAuth2 Authorization Code') return { ok: true, token: undefined }
      if (grants === null) throw new Error('This token source keeps no grants.')
      return grants.token(configuration, timing)
    },
  }
}

/** A call that others wait for too may have longer than this one has, and goes on when this one leaves. */
function withinTime(answer: Promise<TokenAnswer>, auth: Credentials, timing: Timing): Promise<TokenAnswer> {
  const { timeoutMs, signal } = timing
  const late = (): TokenAnswer => ({ ok: false, error: forToken(lateError(new URL(auth.token_url), timeoutMs)) })
  return within(timeoutMs, untilAborted(answer, signal), late)
}
