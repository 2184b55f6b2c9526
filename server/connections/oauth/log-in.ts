import type { z } from 'zod'
import type { authShapes } from '../../../api/authentication.ts'
import { parsePath, valueAt } from '../../rows/index.ts'
import { outboundError } from '../outbound/error.ts'
import { memorySink } from '../outbound/receive.ts'
import type { Outbound, Sent } from '../outbound/send.ts'
import type { OutboundRequest } from '../request/build-request.ts'
import { forToken, maxLifeMs, tokenBytes, tokenIn, type TokenReply } from './token-endpoint.ts'

type LoginAuth = z.output<(typeof authShapes)['Login Request']>
type Timing = { timeoutMs: number; nowMs: number }

/** Moments are told from spans by their size: as seconds this is 2001, and as a span 31 years. */
const firstMoment = 1_000_000_000
const firstMomentMs = 1_000 * firstMoment

/**
 * Signs in to an API that has its own way to a token: a request with credentials, answered with the token in its body, a
 * header or a cookie. The token's end is read from the answer, from what its author says, or from the token itself.
 */
export async function logIn(outbound: Outbound, auth: LoginAuth, { timeoutMs, nowMs }: Timing): Promise<TokenReply> {
  const sink = memorySink()
  // A redirect would hand the credentials to another address.
  const limits = { maxWireBytes: tokenBytes, maxDecodedBytes: tokenBytes, beyond: 'fail', redirects: 0 } as const
  const sent = await outbound.send(loginRequest(auth), { timeoutMs, signal: undefined, sink, retries: 0, ...limits })
  if (!sent.ok) return { ok: false, error: forToken(sent.error) }
  const refused = (message: string) =>
    ({ ok: false, error: outboundError('token_refused', message), status: sent.status, refusal: '' }) as const
  const { host } = new URL(auth.token_url)
  if (sent.status >= 300) {
    return refused(`The login at ${host} answered ${sent.status}. ${hintOf(sent.status)}`)
  }
  const answer = parsed(sink.bytes().toString())
  const accessToken = tokenIn(tokenOf(auth, answer, sent.headers))
  if (accessToken === null) {
    const place = auth.token_from === 'body' ? 'at' : `in the ${auth.token_from}`
    return refused(
      `The answer of the login at ${host} has no token ${place} ${auth.token_path}. Check auth.token_path.`,
    )
  }
  return { ok: true, tokens: { accessToken, refreshToken: null, lifeMs: lifeOf(auth, answer, { accessToken, nowMs }) } }
}

function loginRequest({ token_url: url, body, body_type: type }: LoginAuth): OutboundRequest {
  const isForm = type === 'form'
  const text = isForm ? new URLSearchParams(formOf(body)).toString() : JSON.stringify(body)
  const contentType = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
  return {
    url,
    method: 'POST',
    headers: { accept: 'application/json', 'user-agent': 'Sluice', 'content-type': contentType },
    body: Buffer.from(text),
    hasSecretBody: true,
    secretHeaders: [],
    secretQuery: [],
  }
}

function formOf(body: Record<string, unknown>): Record<string, string> {
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, text(value)]))
}

function hintOf(status: number): string {
  if (status === 404 || status === 405) return 'Check auth.token_url.'
  if (status === 429 || status >= 500) return 'Try again later.'
  return 'Check auth.body: names and values are what the API wants for its login.'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function tokenOf({ token_from: from, token_path: path }: LoginAuth, answer: unknown, headers: Sent['headers']) {
  if (from === 'body') return found(answer, path)
  const name = path.toLowerCase()
  if (from === 'header') return Object.hasOwn(headers, name) ? headers[name]?.replace(/^Bearer /i, '') : undefined
  return cookieIn(headers['set-cookie'] ?? '', path)
}

/** Cookies that came one by one are joined with a comma, which stands in dates, too: a name follows what ends a cookie. */
function cookieIn(cookies: string, name: string): string | undefined {
  for (const cookie of cookies.split(/,\s*(?=[^;,=\s]+=)/)) {
    const [pair = ''] = cookie.split(';')
    const at = pair.indexOf('=')
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

function found(answer: unknown, path: string): unknown {
  try {
    return valueAt(answer, parsePath(path, 'auth.token_path'))
  } catch {
    return undefined
  }
}

/** For how long a token is good: null where nobody says. */
function lifeOf(
  { lifetime_seconds: seconds, expires_path: path, expires_unit: unit }: LoginAuth,
  answer: unknown,
  { accessToken, nowMs }: { accessToken: string; nowMs: number },
): number | null {
  const said = (): number | null => {
    if (seconds !== undefined) return seconds * 1_000
    if (path === undefined) return endOfJwt(accessToken, nowMs)
    return spanOf(found(answer, path), { nowMs, unitMs: unit === 'seconds' ? 1_000 : 1 })
  }
  const lifeMs = said()
  return lifeMs !== null && lifeMs > 0 ? Math.min(lifeMs, maxLifeMs) : null
}

/** A span, a moment in seconds or milliseconds, or a date. */
function spanOf(value: unknown, { nowMs, unitMs }: { nowMs: number; unitMs: number }): number | null {
  const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value)
  if (Number.isFinite(number)) {
    if (number >= firstMomentMs) return number - nowMs
    return number >= firstMoment ? number * 1_000 - nowMs : number * unitMs
  }
  const moment = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(moment) ? null : moment - nowMs
}

/** JSON web tokens say themselves when they end (RFC 7519, 4.1.4). */
function endOfJwt(token: string, nowMs: number): number | null {
  const [, claims, signature] = token.split('.')
  if (claims === undefined || signature === undefined) return null
  const said = parsed(Buffer.from(claims, 'base64url').toString())
  const end = typeof said === 'object' && said !== null && 'exp' in said ? Number(said.exp) : Number.NaN
  return Number.isFinite(end) ? end * 1_000 - nowMs : null
}
