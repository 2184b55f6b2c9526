import type { ErrorEnvelope } from '../../../../api/envelope.ts'
import type { FileFormat } from '../../../parts/cells/model.ts'
import { askToSignInAgain } from '../../../client/renewal.ts'

/** An answer as it came, good or not: in the console a refusal is an answer too. */
export type Outcome = {
  status: number
  headers: Array<[string, string]>
  body: unknown
  elapsedMs: number
}

export type CallRequest = {
  path: string
  headers: Record<string, string>
  body: object
  /** An API key; without one the call is the signed-in person's. */
  key: string | null
}
type Request = CallRequest & { signal: AbortSignal }

const timeoutMs = 120_000

export async function makeCall(request: Request): Promise<Outcome> {
  const outcome = await send(request)
  if (outcome.status !== 401 || request.key !== null) return outcome
  return (await askToSignInAgain()) ? send(request) : outcome
}

/** The same call again, for a file of its rows. */
export function callForFile(request: CallRequest, format: FileFormat): Promise<Response> {
  return post({ ...request, path: `${request.path}?format=${format}`, signal: AbortSignal.timeout(timeoutMs) })
}

function post({ path, headers, body, key, signal }: Request): Promise<Response> {
  return fetch(path, {
    method: 'POST',
    // With a key the call is what any other caller's would be: without the session.
    credentials: key === null ? 'same-origin' : 'omit',
    headers: {
      'Content-Type': 'application/json',
      ...headers,
      ...(key !== null && { Authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  })
}

async function send(request: Request): Promise<Outcome> {
  const startedMs = performance.now()
  const response = await post(request)
  const text = await response.text()
  const elapsedMs = Math.round(performance.now() - startedMs)
  return { status: response.status, headers: [...response.headers], body: parse(text), elapsedMs }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function rowsOf(body: unknown): Array<Record<string, unknown>> | null {
  if (typeof body !== 'object' || body === null || !('data' in body) || !Array.isArray(body.data)) return null
  return body.data as Array<Record<string, unknown>>
}

export function refusalOf(body: unknown): ErrorEnvelope | null {
  return typeof body === 'object' && body !== null && 'error' in body && 'message' in body
    ? (body as ErrorEnvelope)
    : null
}
