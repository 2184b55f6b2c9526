import { isSecretName } from '../../../api/secret-names.ts'
import { basic, type OutboundRequest } from '../request/build-request.ts'
import { outboundError, type OutboundError } from '../outbound/error.ts'
import { memorySink } from '../outbound/receive.ts'
import type { Outbound } from '../outbound/send.ts'
import { hidden } from '../secrets/mask.ts'

/** Longest answer of a token endpoint; tokens are sent in a header, which holds less. */
export const tokenBytes = 65_536
/** However long a token is said to be good, it is asked about again after this. */
export const maxLifeMs = 365 * 86_400_000

/** The client that asks, and how it proves that. A public client has no secret. */
export type OAuthClient = {
  token_url: string
  client_id: string
  client_secret?: string | undefined
  client_auth?: 'basic' | 'body' | undefined
}
/** `lifeMs` is null where the endpoint does not say how long the token is good. */
export type IssuedTokens = { accessToken: string; refreshToken: string | null; lifeMs: number | null }
export type TokenReply =
  | { ok: true; tokens: IssuedTokens }
  | { ok: false; error: OutboundError; status?: number; refusal?: string }

type Timing = { timeoutMs: number; signal?: AbortSignal | undefined }
type CredentialsIn = 'header' | 'body'

export function forToken(error: OutboundError): OutboundError {
  return { ...error, message: `For the token: ${error.message}` }
}

/**
 * Asks a token endpoint. Servers must take the credentials as Basic (RFC 6749, 2.3.1); those that refuse it get them in
 * the body, unless the author said which it is to be. What is refused for another reason is not asked twice.
 */
export async function askForTokens(
  outbound: Outbound,
  client: OAuthClient,
  parameters: Record<string, string>,
  timing: Timing,
): Promise<TokenReply> {
  const started = performance.now()
  const isPublic = client.client_secret === undefined || client.client_secret === ''
  const firstPlace: CredentialsIn = isPublic || client.client_auth === 'body' ? 'body' : 'header'
  const first = await askOnce(outbound, client, parameters, { ...timing, place: firstPlace })
  const isSettled = first.ok || first.status === undefined || firstPlace === 'body' || client.client_auth === 'basic'
  if (isSettled || !isAboutTheClient(first)) return first
  const timeoutMs = Math.max(1, Math.round(timing.timeoutMs - (performance.now() - started)))
  return await askOnce(outbound, client, parameters, { ...timing, timeoutMs, place: 'body' })
}

/** Refusals that would be the same wherever the client's credentials stand (RFC 6749, 5.2; RFC 8707, 2). */
const otherRefusals = new Set(['invalid_grant', 'invalid_scope', 'unsupported_grant_type', 'invalid_target'])

function isAboutTheClient({ status = 0, refusal = '' }: { status?: number; refusal?: string }): boolean {
  return status !== 429 && status < 500 && !otherRefusals.has(refusal)
}

async function askOnce(
  outbound: Outbound,
  client: OAuthClient,
  parameters: Record<string, string>,
  { timeoutMs, signal, place }: Timing & { place: CredentialsIn },
): Promise<TokenReply> {
  const sink = memorySink()
  // A redirect would hand the credentials to another address.
  const limits = {
    maxWireBytes: tokenBytes,
    maxDecodedBytes: tokenBytes,
    beyond: 'fail',
    redirects: 0,
    retries: 0,
  } as const
  const request = tokenRequest(client, parameters, place)
  const sent = await outbound.send(request, { timeoutMs, signal, sink, ...limits })
  if (!sent.ok) return { ok: false, error: forToken(sent.error) }
  const refused = (message: string, refusal: string) =>
    ({ ok: false, error: outboundError('token_refused', message), status: sent.status, refusal }) as const
  const { host } = new URL(client.token_url)
  const text = sink.bytes().toString()
  if (sent.status >= 300) {
    const { error, words } = readRefusal(text, secretsOf(client, parameters))
    const hint = hints[error] ?? hintOf(sent.status)
    return refused(`The token endpoint ${host} answered ${sent.status}${words}. ${hint}`, error)
  }
  const tokens = readTokens(text)
  if (tokens === null) {
    return refused(`The token endpoint ${host} answered without an access_token. Check token_url.`, '')
  }
  return { ok: true, tokens }
}

function tokenRequest(client: OAuthClient, parameters: Record<string, string>, place: CredentialsIn): OutboundRequest {
  const { client_id: username, client_secret: password = '' } = client
  const body = new URLSearchParams(parameters)
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  }
  if (place === 'body') {
    // A signed token says itself who asks.
    if (username !== '') body.set('client_id', username)
    if (password !== '') body.set('client_secret', password)
  } else
    headers['authorization'] = basic({ username: encodeURIComponent(username), password: encodeURIComponent(password) })
  return {
    url: client.token_url,
    method: 'POST',
    headers,
    body: Buffer.from(body.toString()),
    hasSecretBody: true,
    secretHeaders: ['authorization'],
    secretQuery: [],
  }
}

/** Advice for the author, by the error code of RFC 6749, 5.2. */
const hints: Record<string, string> = {
  invalid_client: 'Check client_id and client_secret.',
  invalid_scope: 'Check scope.',
  invalid_grant: 'Connect again: what was granted is used up, withdrawn or has expired.',
  invalid_request: 'Check scope, and whether the endpoint needs further parameters.',
  unauthorized_client: 'This client may not do that; permit it where the client is registered.',
  unsupported_grant_type: 'The endpoint does not offer this way to a token. Check token_url and authType.',
}

function hintOf(status: number): string {
  if (status === 401 || status === 403) return 'Check client_id and client_secret.'
  if (status === 429 || status >= 500) return 'Try again later.'
  return 'Check token_url, client_id, client_secret and scope.'
}

const maxWords = 200

function secretsOf({ client_id: id, client_secret: secret = '' }: OAuthClient, sent: Record<string, string>): string[] {
  const named = Object.entries(sent).flatMap(([name, value]) =>
    isSecretName(name) || name === 'code_verifier' ? [value] : [],
  )
  const own = [secret, encodeURIComponent(secret), Buffer.from(`${id}:${secret}`).toString('base64')]
  return [...named, ...(secret === '' ? [] : own)].filter((each) => each !== '')
}

/** Why a server says it refuses, in its own words; a secret that it repeats is left out. */
function readRefusal(text: string, secrets: string[]): { error: string; words: string } {
  let said: { error?: unknown; error_description?: unknown } | null
  try {
    said = JSON.parse(text) as typeof said
  } catch {
    said = null
  }
  return refusalWords(said?.error, said?.error_description, secrets)
}

/** Also of an authorization server that sends the browser back with an error. */
export function refusalWords(
  code: unknown,
  description: unknown,
  secrets: string[] = [],
): { error: string; words: string } {
  const error = typeof code === 'string' && /^[\w.:/-]{1,60}$/.test(code) ? code : ''
  const described = typeof description === 'string' ? description : ''
  const clean = secrets
    .reduce((words, secret) => words.replaceAll(secret, hidden), described)
    .replaceAll(/[^\P{C}]+/gu, ' ')
    .slice(0, maxWords)
  return { error, words: `${error === '' ? '' : ` ${error}`}${clean === '' ? '' : ` (${clean})`}` }
}

function readTokens(text: string): IssuedTokens | null {
  try {
    const answer = JSON.parse(text) as Record<string, unknown> | null
    const accessToken = tokenIn(answer?.['access_token'])
    if (accessToken === null) return null
    const seconds = Number(answer?.['expires_in'])
    const lifeMs = seconds > 0 ? Math.min(seconds * 1000, maxLifeMs) : null
    return { accessToken, refreshToken: tokenIn(answer?.['refresh_token']), lifeMs }
  } catch {
    return null
  }
}

/** A token that a header can carry, or null. */
export function tokenIn(value: unknown): string | null {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) ? value : null
}
