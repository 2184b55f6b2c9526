import type { FastifyRequest } from 'fastify'
import type { App } from '../app.ts'
import { Failure } from '../failure.ts'

/** Failed credentials are limited per address; a good one passes however many failed before it. */
export async function limitFailures<Result>(
  app: Pick<App, 'authenticationAttempts'>,
  request: FastifyRequest,
  authenticate: () => Promise<Result>,
): Promise<Result> {
  try {
    return await authenticate()
  } catch (error) {
    throw countedFailure(app, request, error)
  }
}

/** What to answer where a credential failed: it counts, and too many are told to wait. */
export function countedFailure(
  app: Pick<App, 'authenticationAttempts'>,
  request: FastifyRequest,
  error: unknown,
): unknown {
  if (!(error instanceof Failure) || error.code !== 'authentication_failed') return error
  // Who sends no credential guesses none.
  if (error.reason === 'missing') return error
  const waitSeconds = app.authenticationAttempts.waitSeconds(request.ip)
  app.authenticationAttempts.recordFailure(request.ip)
  if (waitSeconds === 0) return error
  return new Failure('rate_limit_exceeded', {
    message: `Too many failed credentials from this address. Wait ${waitSeconds} s.`,
    retryAfterSeconds: waitSeconds,
    cause: error,
  })
}
