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

/** An API that has been asked too much says so with 429, or with another refusal and nothing left. */
export function statusMeant({ status, headers }: Answer, nowMs: number): number {
  return status === 403 && exhaustedMs(headers, nowMs) !== null ? 429 : status
}

type Answer = { status: number; headers: Record<string, string> }

/** How long an API takes no calls, by its own word; null where it says nothing of the kind. */
export function closedMs(answer: Answer, nowMs: number): number | null {
  const isBusy = [429, 503].includes(statusMeant(answer, nowMs))
  const asked = isBusy ? retryAfterMs(answer.headers['retry-after'], nowMs) : null
  const exhausted = exhaustedMs(answer.headers, nowMs)
  return asked === null && exhausted === null ? null : Math.max(asked ?? 0, exhausted ?? 0)
}

/** Names under which APIs say what is left of a quota and when there is a new one. */
const quotaPrefixes = ['ratelimit-', 'x-ratelimit-', 'x-rate-limit-']
/** Spans are told from moments by their size: as a span this is 31 years. */
const firstMoment = 1_000_000_000

/** The wait for a new quota where nothing of one is left (draft-ietf-httpapi-ratelimit-headers, and those before it). */
function exhaustedMs(headers: Record<string, string>, nowMs: number): number | null {
  const waits = [
    // A limit of none is what APIs without one say.
    ...quotaPrefixes
      .filter((prefix) => headers[`${prefix}limit`] !== '0')
      .map((prefix) => [headers[`${prefix}remaining`], headers[`${prefix}reset`]] as const),
    ...quotasIn(headers['ratelimit']),
  ].flatMap(([remaining, reset]) => {
    const wait = remaining !== undefined && Number(remaining) <= 0 ? resetMs(reset, nowMs) : null
    return wait === null ? [] : [wait]
  })
  return waits.length === 0 ? null : Math.max(...waits)
}

/** `"burst";r=0;t=5, "day";r=10;t=600`, or as older drafts wrote it `limit=10, remaining=0, reset=5`. */
function quotasIn(header: string | undefined): Array<readonly [string | undefined, string | undefined]> {
  if (header === undefined) return []
  const of = (text: string, name: string) => new RegExp(`(?:^|[;,\\s])${name}\\s*=\\s*"?(\\d+)`).exec(text)?.[1]
  if (/remaining\s*=/.test(header)) return [[of(header, 'remaining'), of(header, 'reset')]]
  return header.split(',').map((quota) => [of(quota, 'r'), of(quota, 't')] as const)
}

/** Seconds until then, a moment in seconds or milliseconds, or a date. */
function resetMs(text: string | undefined, nowMs: number): number | null {
  if (text === undefined || text.trim() === '') return null
  const number = Number(text)
  if (Number.isNaN(number)) return Number.isNaN(Date.parse(text)) ? null : Math.max(0, Date.parse(text) - nowMs)
  if (number < firstMoment) return Math.max(0, number * 1000)
  return Math.max(0, (number < 1000 * firstMoment ? number * 1000 : number) - nowMs)
}

export type BackoffOptions = { baseMs: number; maxMs: number }

/** Exponential with full jitter: somewhere between nothing and `baseMs · 2^attempt`. `chance` is in [0, 1). */
export function backoffMs(attempt: number, chance: number, { baseMs, maxMs }: BackoffOptions): number {
  return Math.round(chance * Math.min(maxMs, baseMs * 2 ** attempt))
}

/** The wait that `Retry-After` asks for, in seconds or as a date; `null` when it cannot be read. */
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
