import type { ErrorEnvelope } from '../../api/envelope.ts'
import { askToSignInAgain } from './renewal.ts'
import type { Page } from './wire.ts'

/** An answer that is no success, as the server worded it. */
export type Refusal = Error & { status: number; envelope: ErrorEnvelope }

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type CallOptions = {
  body?: object
  signal?: AbortSignal
  headers?: Record<string, string>
  /** For what the server itself does not finish sooner. */
  timeoutMs?: number
  /**
   * For calls that are about signing in, and those a page makes by itself while someone types: a 401 is their answer,
   * not a reason to sign in again.
   */
  open?: boolean
}

const usualTimeoutMs = 30_000

/**
 * Calls the API. When the session has ended the person is asked to sign in over the page, and the call is made again:
 * whoever waits for it never notices.
 */
export async function call<Answer>(method: Method, path: string, options: CallOptions = {}): Promise<Answer> {
  let response = await send(method, path, options)
  if (response.status === 401 && options.open !== true && (await askToSignInAgain())) {
    response = await send(method, path, options)
  }
  if (!response.ok) throw await readRefusal(response)
  return (response.status === 204 ? undefined : await response.json()) as Answer
}

/** The page size of the API, and a limit beyond any list that people keep. */
const pageSize = 200
const maxPages = 100

/** A whole list, page by page: what is chosen from and counted must not end at a page. */
export async function callAll<Item>(path: string, signal: AbortSignal, open = false): Promise<Item[]> {
  const found: Item[] = []
  let cursor: string | null = null
  for (let pages = 0; pages < maxPages; pages += 1) {
    const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const asked = `${path}${path.includes('?') ? '&' : '?'}limit=${pageSize}${more}`
    const page: Page<Item> = await call<Page<Item>>('GET', asked, { signal, open })
    found.push(...page.data)
    cursor = page.next_cursor
    if (cursor === null) return found
  }
  throw new Error(`There are more than ${maxPages * pageSize} of them, which is more than this page can show.`)
}

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && 'envelope' in error
}

async function send(method: Method, path: string, options: CallOptions): Promise<Response> {
  const { body, signal, headers, timeoutMs = usualTimeoutMs } = options
  const deadline = AbortSignal.timeout(timeoutMs)
  return fetch(path, {
    method,
    credentials: 'same-origin',
    signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

export async function readRefusal(response: Response): Promise<Refusal> {
  const body = await response.json().then(
    (read: unknown) => read,
    () => null,
  )
  return refusalOf(body, { status: response.status, requestId: response.headers.get('x-request-id') ?? '' })
}

/** The error in an unsuccessful answer, however it was read. */
export function refusalOf(body: unknown, received: { status: number; requestId: string }): Refusal {
  const envelope = isEnvelope(body) ? body : unworded(received)
  return Object.assign(new Error(envelope.message), { status: received.status, envelope })
}

function isEnvelope(body: unknown): body is ErrorEnvelope {
  return typeof body === 'object' && body !== null && 'error' in body && 'message' in body
}

/** An answer of a proxy in between. */
function unworded({ status, requestId }: { status: number; requestId: string }): ErrorEnvelope {
  return {
    error: 'internal_error',
    message: `The server answered with status ${status} and no explanation. Try again in a moment.`,
    request_id: requestId,
  }
}
