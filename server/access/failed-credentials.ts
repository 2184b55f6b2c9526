import { Failure } from '../failure.ts'
import type { Attempts } from './credentials/attempts.ts'

/**
 * What to answer where a credential failed: it counts for the address it came from, and too many are told to wait.
 * A good credential passes however many failed before it.
 */
export function countedFailure(
  { authenticationAttempts }: { authenticationAttempts: Attempts },
  address: string,
  error: unknown,
): unknown {
  if (!(error instanceof Failure) || error.code !== 'authentication_failed') return error
  // Who sends no credential guesses none.
  if (error.reason === 'missing') return error
  const waitSeconds = authenticationAttempts.waitSeconds(address)
  authenticationAttempts.recordFailure(address)
  if (waitSeconds === 0) return error
  return new Failure('rate_limit_exceeded', {
    message: `Too many failed credentials from this address. Wait ${waitSeconds} s.`,
    retryAfterSeconds: waitSeconds,
    cause: error,
  })
}
