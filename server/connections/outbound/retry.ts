/** When to try again and after how long. Pure: time and chance come in as values. */

const retriedMethods = new Set(['GET', 'HEAD'])
const retriedErrors = new Set(['dns_error', 'connect_error', 'timeout', 'transfer_error'])

export type AttemptOutcome = { status: number } | { error: string }

/** Only what may be repeated without harm is: reads that met a busy or broken server, or no server. */
export function isRetryable(method: string, outcome: AttemptOutcome): boolean {
  if (!retriedMethods.has(method)) return false
  if ('error' in outcome) return retriedErrors.has(outcome.error)
  return outcome.status === 429 || (outcome.status >= 500 && outcome.status !== 501)
}

export type BackoffOptions = { baseMs: number; maxMs: number }

/** Exponential with full jitter: somewhere between nothing and `baseMs · 2^attempt`. `chance` is in [0, 1). */
export function backoffMs(attempt: number, chance: number, { baseMs, maxMs }: BackoffOptions): number {
  return Math.round(chance * Math.min(maxMs, baseMs * 2 ** attempt))
}

/** What `Retry-After` asks for, in seconds or as a date; `null` when it asks for nothing readable. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null
  const text = header.trim()
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const date = Date.parse(text)
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs)
}

/** How long to wait before the next try: at least what the server asks for, but not beyond the time that is left. */
export function nextTryMs(asked: number | null, backoff: number, leftMs: number): number | null {
  const wait = Math.max(asked ?? 0, backoff)
  return wait < leftMs ? wait : null
}
