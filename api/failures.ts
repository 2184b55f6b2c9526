/**
 * The closed table of failures: every `error` code the service can answer with, its status, and the reasons that
 * narrow it. `docs/errors.md` is tested against this table in both directions.
 */
export const failures = {
  invalid_request: {
    status: 400,
    means: 'A management call or HTTP operation is malformed or invalid.',
    reasons: [
      'malformed_json',
      'too_deep',
      'invalid_field',
      'url_not_allowed',
      'body_not_accepted',
      'extractor_no_match',
      'unknown_state',
      'not_tabular',
      'type_mismatch',
      'missing_field',
      'invalid_sql',
      'ended_executor',
    ],
  },
  invalid_query: {
    status: 400,
    means: 'A call of a query endpoint is malformed, or its slots are missing, unknown or mistyped.',
    reasons: [
      'malformed_json',
      'too_deep',
      'invalid_field',
      'missing_slots',
      'unknown_slots',
      'invalid_slots',
      'ended_executor',
    ],
  },
  unanswerable: {
    status: 422,
    wire: 'invalid_query',
    means: 'A question was understood as a question, but no deployed query answers it as asked.',
    reasons: ['no_match', 'ambiguous', 'missing_slots', 'unexpressed'],
  },
  authentication_failed: {
    status: 401,
    means: 'The credential is missing or not good.',
    reasons: ['missing', 'malformed', 'unknown', 'wrong_kind', 'expired', 'revoked', 'disabled', 'wrong_password'],
  },
  permission_denied: {
    status: 403,
    means: 'The credential is good but does not reach this; the same answer whether or not the thing exists.',
    reasons: ['role_too_small', 'foreign_origin', 'other_address'],
  },
  query_not_found: { status: 404, means: 'No query of that name is deployed there.', reasons: [] },
  not_found: { status: 404, means: 'There is no such thing, or the caller may not know of it.', reasons: [] },
  method_not_allowed: { status: 405, means: 'The path exists, the method does not.', reasons: [] },
  conflict: {
    status: 409,
    means: 'The call contradicts what is already there.',
    reasons: [
      'name_taken',
      'breaking_change',
      'routing_regression',
      'ambiguous_project',
      'in_use',
      'idempotency_mismatch',
      'last_owner',
      'job_finished',
      'job_unfinished',
      'changed_meanwhile',
      'revoked',
      'quota_exceeded',
      'never_served',
      'not_recording',
      'release_running',
      'release_ended',
      'no_trino',
    ],
  },
  payload_too_large: { status: 413, means: 'The request body is larger than the limit.', reasons: [] },
  result_too_large: {
    status: 413,
    means: 'The result is larger than the limit, or needs more memory than a query may use.',
    reasons: ['memory_limit'],
  },
  unsupported_media_type: { status: 415, means: 'Bodies are JSON.', reasons: [] },
  rate_limit_exceeded: { status: 429, means: 'Too many calls; wait `retry_after` seconds.', reasons: [] },
  headers_too_large: {
    status: 431,
    means: 'The request headers are larger than the limit.',
    reasons: [],
  },
  cancelled: {
    status: 499,
    means:
      'The caller hung up before the answer was complete. Only records and metrics show it: nobody is left to read it.',
    reasons: [],
  },
  internal_error: { status: 500, means: 'Our own failure; the log has the cause under the request id.', reasons: [] },
  upstream_error: {
    status: 502,
    means: 'The external API failed or answered with something that is no table.',
    reasons: [
      'status',
      'dns_error',
      'connect_error',
      'token_refused',
      'tls_error',
      'transfer_error',
      'too_large',
      'too_many_redirects',
      'blocked',
      'not_tabular',
      'type_mismatch',
      'repeated_page',
      'missing_field',
    ],
  },
  overloaded: { status: 503, means: 'The service is busy or starting; wait `retry_after` seconds.', reasons: [] },
  upstream_timeout: { status: 504, means: 'The external API did not answer in time.', reasons: [] },
  query_timeout: { status: 504, means: 'The query ran past its limit and was cancelled.', reasons: [] },
} as const satisfies Record<string, { status: number; means: string; reasons: readonly string[]; wire?: string }>

export type FailureCode = keyof typeof failures
export type FailureReason<Code extends FailureCode> = (typeof failures)[Code]['reasons'][number]
