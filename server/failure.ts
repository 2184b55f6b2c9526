import type { ErrorEnvelope } from '../api/envelope.ts'
import { failures, type FailureCode, type FailureReason } from '../api/failures.ts'
import { fixedLimits } from '../api/limits.ts'

/** One field of the input and what is wrong with it, in words for the caller. */
export type FailureDetail = { field: string; message: string }

type FailureOptions<Code extends FailureCode> = {
  /** Message for the caller. The table's own sentence when absent. */
  message?: string
  reason?: FailureReason<Code>
  details?: FailureDetail[]
  /** Problems that were counted and are not in `details`. */
  more?: number
  retryAfterSeconds?: number
  /** Further fields of the answer, in wire names, e.g. `candidates`. */
  fields?: Record<string, unknown>
  /** Cause for the log; the caller never sees it. */
  cause?: unknown
}

/** An expected refusal, from the closed table in `api/failures.ts`. The only class in the house. */
export class Failure<Code extends FailureCode = FailureCode> extends Error {
  readonly code: Code
  readonly reason: string | undefined
  /** The first problems; `more` counts the rest. */
  readonly details: FailureDetail[] | undefined
  readonly more: number
  readonly retryAfterSeconds: number | undefined
  readonly fields: Record<string, unknown> | undefined

  constructor(code: Code, options: FailureOptions<Code> = {}) {
    super(shortened(options.message ?? failures[code].means), { cause: options.cause })
    this.name = 'Failure'
    this.code = code
    this.reason = options.reason
    this.details = options.details?.slice(0, maxProblems).map(({ field, message }) => {
      return { field: shortField(field), message: shortened(message) }
    })
    this.more = (options.more ?? 0) + Math.max(0, (options.details?.length ?? 0) - maxProblems)
    this.retryAfterSeconds = options.retryAfterSeconds
    this.fields = options.fields
  }
}

/** A request of which one field is wrong. The message says the field and what is wrong with it, if it has no own. */
export function invalidField(
  field: string,
  message: string,
  rest: { message?: string; cause?: unknown } = {},
): Failure<'invalid_request'> {
  const details = [{ field, message }]
  return new Failure('invalid_request', { reason: 'invalid_field', message: `${field} ${message}.`, details, ...rest })
}

/** A failure as its caller reads it, whichever way the call came. */
export function envelopeOf(failure: Failure, requestId: string): ErrorEnvelope {
  const row = failures[failure.code]
  return {
    error: 'wire' in row ? row.wire : failure.code,
    message: failure.message,
    ...(failure.reason !== undefined && { reason: failure.reason }),
    ...(failure.details !== undefined && { details: failure.details }),
    ...(failure.more > 0 && { more: failure.more }),
    ...(failure.retryAfterSeconds !== undefined && { retry_after: failure.retryAfterSeconds }),
    ...failure.fields,
    request_id: requestId,
  }
}

/** Problems that one error tells. Whoever collects them describes no more than these. */
export const maxProblems = fixedLimits.errorProblems.value
const maxListed = 10
const maxMessageChars = 4_000
const maxNameChars = 100
const maxFieldChars = 500

/** Problems in one sentence, the first ones by name. */
export function listProblems(details: readonly FailureDetail[], more = 0): string {
  const listed = details.slice(0, maxListed).map(({ field, message }) => `${shortField(field)} ${message}`)
  const rest = details.length - listed.length + more
  return `${listed.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`
}

/** A name or value that somebody sent, as a message repeats it. */
export function shortName(name: string): string {
  return name.length > maxNameChars ? `${name.slice(0, maxNameChars - 1).toWellFormed()}…` : name
}

/** A path of names, each as long as a message repeats it. */
function shortField(field: string): string {
  return field.length <= maxNameChars
    ? field
    : field.slice(0, maxFieldChars).toWellFormed().split('.').map(shortName).join('.')
}

/** A message in which no name or value takes more than its share, whoever sent it. */
function shortened(message: string): string {
  if (message.length <= maxNameChars) return message
  const start = message.length > maxMessageChars ? `${message.slice(0, maxMessageChars).toWellFormed()}…` : message
  return start.replaceAll(/\S{101,}/g, shortName)
}

/** Characters in which a name may differ from the one that was meant. */
const maxEdits = 5
const maxCandidates = 2_000
/** Problems of one error that come with a nearest name. */
export const maxHints = 3

/** "; perhaps you meant …", or nothing where no name is close. */
export function perhaps(given: string, known: Iterable<string>): string {
  const near = closest(given, known)
  return near === undefined ? '' : `; perhaps you meant ${near}`
}

/** The closest of `known` to `given` by edit distance, for "perhaps you meant …". */
export function closest(given: string, known: Iterable<string>): string | undefined {
  if (given.length > maxNameChars) return undefined
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(given.length / 3)) + 1
  const lower = given.toLowerCase()
  let compared = 0
  for (const candidate of known) {
    compared += 1
    if (compared > maxCandidates) return best
    const distance = editDistance(lower, candidate, bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Two rows of the table of an edit distance, as wide as the longest name and what may be added to it. */
const rows = [new Uint8Array(maxNameChars + maxEdits + 2), new Uint8Array(maxNameChars + maxEdits + 2)] as const

/**
 * Characters to change, add or leave out between a text in lower case and another, or `limit` where they are as many.
 * Nothing is compared with more than a name's length, nor beyond a few edits: a band of the table is looked at, and no
 * row after one that is beyond the limit everywhere.
 */
export function editDistance(lower: string, candidate: string, limit: number): number {
  const bound = Math.min(limit, maxEdits + 1)
  // In lower case a text may be longer.
  const right = candidate.slice(0, maxNameChars + bound).toLowerCase()
  if (lower.length > maxNameChars || Math.abs(lower.length - right.length) >= bound) return limit
  let [previous, current] = rows
  for (let column = 0; column <= Math.min(right.length, bound); column += 1) previous[column] = column
  for (let row = 1; row <= lower.length; row += 1) {
    const from = Math.max(1, row - bound + 1)
    const to = Math.min(right.length, row + bound - 1)
    current[from - 1] = from === 1 ? Math.min(row, bound) : bound
    let least = current[from - 1] ?? bound
    for (let column = from; column <= to; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (lower[row - 1] === right[column - 1] ? 0 : 1)
      const distance = Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, bound)
      current[column] = distance
      least = Math.min(least, distance)
    }
    if (least >= bound) return limit
    current[to + 1] = bound
    ;[previous, current] = [current, previous]
  }
  const distance = previous[right.length] ?? bound
  return distance < bound ? distance : limit
}
