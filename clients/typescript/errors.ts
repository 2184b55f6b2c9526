/** Every `error` that the service answers with. Under test against its table of failures. */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_query'
  | 'authentication_failed'
  | 'permission_denied'
  | 'query_not_found'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'payload_too_large'
  | 'result_too_large'
  | 'unsupported_media_type'
  | 'rate_limit_exceeded'
  | 'headers_too_large'
  | 'cancelled'
  | 'internal_error'
  | 'upstream_error'
  | 'overloaded'
  | 'upstream_timeout'
  | 'query_timeout'

/** What this client says itself, where there was no answer to read. */
export type LocalCode = 'unreachable' | 'timeout' | 'broken_answer'

export type ErrorBody = {
  error: string
  message: string
  reason?: string
  details?: Array<{ field: string; message: string }>
  more?: number
  retry_after?: number
  request_id?: string
  [field: string]: unknown
}

export type Candidate = {
  name: string
  description: string
  score: number
  confidence: number | null
  example: string
}
export type Unexpressed = { start: number; end: number; text: string; kind: string }

/** An answer that is no success, or none at all. */
export class SluiceError extends Error {
  readonly code: ErrorCode | LocalCode
  /** 0 where no answer came. */
  readonly status: number
  readonly reason: string | undefined
  readonly details: Array<{ field: string; message: string }>
  /** How many problems there are beside those in `details`. */
  readonly more: number
  readonly retryAfterSeconds: number | undefined
  readonly requestId: string | undefined
  /** The whole answer, with the fields that only some refusals have. */
  readonly body: ErrorBody

  constructor(status: number, body: ErrorBody, cause?: unknown) {
    super(body.message, { cause })
    this.name = 'SluiceError'
    this.code = body.error as ErrorCode | LocalCode
    this.status = status
    this.reason = body.reason
    this.details = body.details ?? []
    this.more = body.more ?? 0
    this.retryAfterSeconds = body.retry_after
    this.requestId = body.request_id
    this.body = body
  }
}

/** A question that no deployed query answers as it was asked: 422. */
export class QuestionRefused extends SluiceError {
  readonly candidates: Candidate[]
  /** What it would be answered by, where only values are missing. */
  readonly queryUsed: string | undefined
  /** Values that were found; repeat the question with those that are missing added. */
  readonly parameters: Record<string, unknown>
  /** A JSON Schema of the values that are missing. */
  readonly missing: Record<string, unknown> | undefined
  readonly unexpressed: Unexpressed[]

  constructor(status: number, body: ErrorBody) {
    super(status, body)
    this.name = 'QuestionRefused'
    this.candidates = (body['candidates'] as Candidate[] | undefined) ?? []
    this.queryUsed = body['query_used'] as string | undefined
    this.parameters = (body['parameters'] as Record<string, unknown> | undefined) ?? {}
    this.missing = body['schema'] as Record<string, unknown> | undefined
    this.unexpressed = (body['unexpressed'] as Unexpressed[] | undefined) ?? []
  }
}

const refusals = new Set(['no_match', 'ambiguous', 'missing_slots', 'unexpressed', 'period_end', 'unsure'])

export function errorOf(status: number, body: ErrorBody): SluiceError {
  const isRefusal = status === 422 || (status === 0 && refusals.has(body.reason ?? ''))
  return isRefusal ? new QuestionRefused(status, body) : new SluiceError(status, body)
}
