import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type HttpConfiguration } from '../../api/connections.ts'
import { untilAborted, within } from '../flow/index.ts'
import { basic, parseUrl, readAuth, type OutboundRequest } from './build-request.ts'
import { lateError, outboundError, type OutboundError } from './outbound/error.ts'
import { memorySink } from './outbound/receive.ts'
import { type Outbound } from './outbound/send.ts'
import { hidden } from './secrets/mask.ts'

const maxTokens = 1000
const tokenBytes = 65_536
/** A token is given up this long before it expires, so that it does not expire on the way. */
const marginMs = 30_000
const ordinaryLifeMs = 300_000

export type TokenSource = {
  /** The token a configuration needs: none, one from memory, or a new one. */
  token: (configuration: HttpConfiguration, timing: Timing) => Promise<TokenAnswer>
}
type TokenAnswer = { ok: true; token: string | undefined } | { ok: false; error: OutboundError }
type Timing = { timeoutMs: number; signal?: AbortSignal | undefined }
type Entry = {
  askedAt: number
  expiresAt: number
  answer: Promise<TokenAnswer>
}
type Credentials = { token_url: string; client_id: string; client_secret: string; scope?: string | undefined }

/** Client-credentials tokens, kept in memory until they expire. Callers that ask at the same time share one call. */
export function createTokenSource(outbound: Outbound, now: () => number = Date.now): TokenSource {
  const entries = new LRUCache<string, Entry>({ max: maxTokens })

  async function fetchToken(auth: Credentials, timing: Pick<Timing, 'timeoutMs'>, entry: Entry): Promise<TokenAnswer> {
    const asked = await ask(outbound, auth, timing)
    if (!asked.ok) return asked
    entry.expiresAt = now() + Math.max(0, asked.lifeMs - marginMs)
    return { ok: true, token: asked.token }
  }

  return {
    async token(configuration, timing) {
      if (configuration.authType !== 'OAuth2 Client Credentials') return { ok: true, token: undefined }
      const auth = readAuth('OAuth2 Client Credentials', configuration.auth)
      parseUrl(auth.token_url, 'auth.token_url')
      // The key is a hash, so that the secrets are held once, in the call alone.
      const key = createHash('sha256').update(JSON.stringify(auth)).digest('base64')
      const known = entries.get(key)
      // Asked for later than now: the clock was set back, and nobody knows how long the token is good.
      if (known !== undefined && known.askedAt <= now() && known.expiresAt > now())
        return withinTime(known.answer, auth, timing)
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
    },
  }
}

/** A call that others wait for too may have longer than this one has, and goes on when this one leaves. */
function withinTime(answer: Promise<TokenAnswer>, auth: Credentials, timing: Timing): Promise<TokenAnswer> {
  const { timeoutMs, signal } = timing
  const late = (): TokenAnswer => ({ ok: false, error: forToken(lateError(new URL(auth.token_url), timeoutMs)) })
  return within(timeoutMs, untilAborted(answer, signal), late)
}

function forToken(error: OutboundError): OutboundError {
  return { ...error, message: `For the token: ${error.message}` }
}

type Asked = { ok: true; token: string; lifeMs: number } | { ok: false; error: OutboundError }

/** Servers must take the credentials as Basic (RFC 6749, 2.3.1); those that refuse it get them in the body. */
async function ask(outbound: Outbound, auth: Credentials, timing: Pick<Timing, 'timeoutMs'>): Promise<Asked> {
  const started = performance.now()
  const first = await askOnce(outbound, auth, { ...timing, place: 'header' })
  if (first.ok || first.status === undefined) return first
  const timeoutMs = Math.max(1, Math.round(timing.timeoutMs - (performance.now() - started)))
  return await askOnce(outbound, auth, { timeoutMs, place: 'body' })
}

async function askOnce(
  outbound: Outbound,
  auth: Credentials,
  { timeoutMs, place }: Pick<Timing, 'timeoutMs'> & { place: 'header' | 'body' },
): Promise<Asked & { status?: number }> {
  const { client_id: username, client_secret: password } = auth
  const body = new URLSearchParams({ grant_type: 'client_credentials' })
  if (auth.scope !== undefined && auth.scope !== '') body.set('scope', auth.scope)
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  }
  if (place === 'body') {
    body.set('client_id', username)
    body.set('client_secret', password)
  } else
    headers['authorization'] = basic({ username: encodeURIComponent(username), password: encodeURIComponent(password) })
  const request: OutboundRequest = {
    url: auth.token_url,
    method: 'POST',
    headers,
    body: Buffer.from(body.toString()),
    hasSecretBody: true,
    secretHeaders: ['authorization'],
    secretQuery: [],
  }
  const sink = memorySink()
  // A redirect would hand the credentials to another address.
  const limits = {
    maxWireBytes: tokenBytes,
    maxDecodedBytes: tokenBytes,
    beyond: 'fail',
    redirects: 0,
    retries: 0,
  } as const
  const sent = await outbound.send(request, { timeoutMs, sink, ...limits })
  if (!sent.ok) return { ok: false, error: forToken(sent.error) }
  const refused = (message: string) =>
    ({ ok: false, error: outboundError('token_refused', message), status: sent.status }) as const
  const { host } = new URL(auth.token_url)
  const text = sink.bytes().toString()
  if (sent.status >= 300) {
    const { error, words } = readRefusal(text, auth)
    return refused(`The token endpoint ${host} answered ${sent.status}${words}. ${hints[error] ?? hintOf(sent.status)}`)
  }
  const answer = readAnswer(text)
  if (answer === null) return refused(`The token endpoint ${host} answered without an access_token. Check token_url.`)
  return { ok: true, ...answer }
}

/** What to look at, by the error code of RFC 6749, 5.2. */
const hints: Record<string, string> = {
  invalid_client: 'Check client_id and client_secret.',
  invalid_scope: 'Check scope.',
  invalid_request: 'Check scope, and whether the endpoint needs more than client credentials.',
  unauthorized_client: 'This client may not use client credentials; permit that where the client is registered.',
  unsupported_grant_type: 'The endpoint does not offer client credentials. Check token_url.',
}

function hintOf(status: number): string {
  if (status === 401 || status === 403) return 'Check client_id and client_secret.'
  if (status === 429 || status >= 500) return 'Try again later.'
  return 'Check token_url, client_id, client_secret and scope.'
}

const maxWords = 200

/** Why the endpoint says it refuses, in its own words; a secret that it repeats is left out. */
function readRefusal(text: string, auth: Credentials): { error: string; words: string } {
  let said: { error?: unknown; error_description?: unknown } | null
  try {
    said = JSON.parse(text) as typeof said
  } catch {
    said = null
  }
  const error = typeof said?.error === 'string' && /^[\w.:/-]{1,60}$/.test(said.error) ? said.error : ''
  const described = typeof said?.error_description === 'string' ? said.error_description : ''
  const { client_id: id, client_secret: secret } = auth
  const credentials = [secret, encodeURIComponent(secret), Buffer.from(`${id}:${secret}`).toString('base64')]
  const clean = credentials
    .reduce((words, credential) => words.replaceAll(credential, hidden), described)
    .replaceAll(/[^\P{C}]+/gu, ' ')
    .slice(0, maxWords)
  return { error, words: `${error === '' ? '' : ` ${error}`}${clean === '' ? '' : ` (${clean})`}` }
}

function readAnswer(text: string): { token: string; lifeMs: number } | null {
  try {
    const answer = JSON.parse(text) as { access_token?: unknown; expires_in?: unknown } | null
    if (typeof answer?.access_token !== 'string' || !/^[\x21-\x7e]+$/.test(answer.access_token)) return null
    const seconds = Number(answer.expires_in)
    return { token: answer.access_token, lifeMs: seconds > 0 ? seconds * 1000 : ordinaryLifeMs }
  } catch {
    return null
  }
}
