import type { Metrics } from '../deploy/shared/usage-wire.ts'

type Failure = Pick<Metrics['errors'][number], 'error' | 'reason'>

const reasons: Record<string, string> = {
  malformed_json: 'The body of the call was no JSON.',
  invalid_field: 'A field of the call was not as expected.',
  missing_slots: 'A required slot had no value.',
  unknown_slots: 'A slot was named that the query does not have.',
  invalid_slots: 'A slot had a value that it does not take.',
  no_match: 'No deployed query answers the question.',
  ambiguous: 'Several queries could answer the question.',
  unexpressed: 'A part of the question could not be applied.',
  period_end: 'The nearest query would lose a part of the period.',
  unsure: 'The nearest query was not sure enough to answer.',
  memory_limit: 'The query needed more memory than it may use.',
}

const errors: Record<string, string> = {
  authentication_failed: 'The key was missing or not good.',
  permission_denied: 'The key does not reach this query.',
  query_not_found: 'No query of that name was deployed.',
  payload_too_large: 'The body was larger than the limit.',
  result_too_large: 'The answer was larger than the limit.',
  rate_limit_exceeded: 'The key made more calls than its limit.',
  query_timeout: 'The query ran past its time limit.',
  overloaded: 'The service was busy.',
  internal_error: 'The service failed.',
  invalid_query: 'The call was not as the query expects.',
}

/** Why calls failed, in one sentence; the code itself where there is none. */
export function sayFailure({ error, reason }: Failure): string {
  return reasons[reason ?? ''] ?? errors[error] ?? reason ?? error
}
