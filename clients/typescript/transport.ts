import { errorOf, SluiceError, type ErrorBody } from './errors.ts'
import { readEvents, type ServerEvent } from './events.ts'

export type TransportOptions = {
  /** Where the service is: `https://sluice.example`. */
  url: string
  /** An API key for calls and questions, a management token for everything else. */
  secret: string
  headers?: Record<string, string>
  /** How often a call is tried again that the service was too busy for, or that may be repeated safely; 3 unless given. */
  retries?: number
  /** Longest wait for an answer, each try by itself; 60 seconds unless given. */
  timeoutMs?: number
  /** Longest pause before a further try: a longer `retry_after` fails at once instead. 30 seconds unless given. */
  maxPauseMs?: number
  /** Instead of the platform's own. */
  fetch?: typeof fetch
}

export type Sending = {
  method?: string
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** Whether sending it twice does what sending it once does: reads and calls of queries. */
  repeatable?: boolean
}

export type Transport = {
  /** The parsed answer, taken to be what the path answers with; rejects with a `SluiceError` where it is no success. */
  json<Answer>(path: string, sending?: Sending): Promise<Answer>
  /** Server-sent events, as they come. */
  events(path: string, sending?: Sending): AsyncGenerator<ServerEvent>
  /** The answer itself, whose status is a success. */
  response(path: string, sending?: Sending): Promise<Response>
}

const firstPauseMs = 250

export function openTransport(options: TransportOptions): Transport {
  const { retries = 3, timeoutMs = 60_000, maxPauseMs = 30_000 } = options
  const base = options.url.replace(/\/+$/, '')
  const send = options.fetch ?? fetch

  const once = async (path: string, sending: Sending): Promise<Response> => {
    const { method = 'GET', body, headers, signal } = sending
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), timeoutMs)
    try {
      const answer = await send(base + path, {
        method,
        headers: {
          authorization: `Bearer ${options.secret}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...options.headers,
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'error',
        // The caller's own reaches the body, too, which is read after the wait is over.
        signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
      })
      if (!answer.ok) throw errorOf(answer.status, await envelopeOf(answer))
      return answer
    } catch (error) {
      if (error instanceof SluiceError) throw error
      if (signal?.aborted === true) throw signal.reason
      if (late.signal.aborted) throw localError('timeout', `No answer from ${base} in ${timeoutMs} ms.`, error)
      throw localError('unreachable', `${base} cannot be reached: ${reasonOf(error)}`, error)
    } finally {
      clearTimeout(timer)
    }
  }

  const response = async (path: string, sending: Sending = {}): Promise<Response> => {
    const isRepeatable = sending.repeatable ?? ['GET', 'HEAD'].includes(sending.method ?? 'GET')
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await once(path, sending)
      } catch (error) {
        const pauseMs = pauseBefore(error, attempt, isRepeatable)
        if (pauseMs === undefined || pauseMs > maxPauseMs || attempt >= retries) throw error
        await pause(pauseMs, sending.signal)
      }
    }
  }

  return {
    response,
    async json<Answer>(path: string, sending: Sending = {}) {
      const answer = await response(path, sending)
      const text = await answer.text()
      try {
        return (text === '' ? undefined : JSON.parse(text)) as Answer
      } catch (error) {
        throw localError('broken_answer', `${base} answered with something that is no JSON.`, error)
      }
    },
    async *events(path, sending = {}) {
      const answer = await response(path, { ...sending, headers: { ...sending.headers, accept: 'text/event-stream' } })
      if (answer.body === null) throw localError('broken_answer', `${base} answered without a body.`)
      yield* readEvents(answer.body)
    },
  }
}

/** How long to wait before the next try; undefined: there is to be none. */
function pauseBefore(error: unknown, attempt: number, isRepeatable: boolean): number | undefined {
  if (!(error instanceof SluiceError)) return undefined
  // These two say that nothing was done.
  const isRefused = error.code === 'rate_limit_exceeded' || error.code === 'overloaded'
  if (isRefused && error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1_000
  const isPassing = ['unreachable', 'timeout'].includes(error.code) || [502, 503, 504].includes(error.status)
  const mayTry = isRefused || (isRepeatable && isPassing && error.code !== 'query_timeout')
  // Callers that failed together do not come back together.
  return mayTry ? firstPauseMs * 2 ** attempt * (1 + Math.random()) : undefined
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted === true) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}

async function envelopeOf(answer: Response): Promise<ErrorBody> {
  const text = await answer.text().catch(() => '')
  try {
    const body = JSON.parse(text) as unknown
    if (typeof body === 'object' && body !== null && 'error' in body && 'message' in body) return body as ErrorBody
  } catch {
    // A proxy between us and the service, or another program at that address.
  }
  const message = `Answered with ${answer.status} and something that is not of Sluice.`
  return { error: answer.status === 503 ? 'overloaded' : 'broken_answer', message }
}

function localError(code: 'unreachable' | 'timeout' | 'broken_answer', message: string, cause?: unknown): SluiceError {
  return new SluiceError(0, { error: code, message }, cause)
}

/** `fetch` keeps the reason one level down. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (cause instanceof Error) return (cause as { code?: string }).code ?? cause.message
  return String(cause)
}
