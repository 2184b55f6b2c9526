import type { ErrorEnvelope } from '../api/envelope.ts'
import { failures, type FailureCode, type FailureReason } from '../api/failures.ts'

/** One field of the input and what is wrong with it, in words for the caller. */
export type FailureDetail = { field: string; message: string }

type FailureOptions<Code extends FailureCode> = {
  /** What the caller reads. The table's own sentence when absent. */
  message?: string
  reason?: FailureReason<Code>
  details?: FailureDetail[]
  retryAfterSeconds?: number
  /** Further fields of the answer, in wire names, e.g. `candidates`. */
  fields?: Record<string, unknown>
  /** What the log reads and the caller never sees. */
  cause?: unknown
}

/** An expected refusal, from the closed table in `api/failures.ts`. The only class in the house. */
export class Failure<Code extends FailureCode = FailureCode> extends Error {
  readonly code: Code
  readonly reason: string | undefined
  readonly details: FailureDetail[] | undefined
  readonly retryAfterSeconds: number | undefined
  readonly fields: Record<string, unknown> | undefined

  constructor(code: Code, options: FailureOptions<Code> = {}) {
    super(options.message ?? failures[code].means, { cause: options.cause })
    this.name = 'Failure'
    this.code = code
    this.reason = options.reason
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
    this.fields = options.fields
  }
}

/** A failure as its caller reads it, whichever way the call came. */
export function envelopeOf(failure: Failure, requestId: string): ErrorEnvelope {
  const row = failures[failure.code]
  return {
    error: 'wire' in row ? row.wire : failure.code,
    message: failure.message,
    ...(failure.reason !== undefined && { reason: failure.reason }),
    ...(failure.details !== undefined && { details: failure.details }),
    ...(failure.retryAfterSeconds !== undefined && { retry_after: failure.retryAfterSeconds }),
    ...failure.fields,
    request_id: requestId,
  }
}

/** The closest of `known` to `given` by edit distance, for "perhaps you meant …". */
export function closest(given: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(given.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(given.toLowerCase(), candidate.toLowerCase(), bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) >= limit) return limit
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1)
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[right.length] ?? limit
}
