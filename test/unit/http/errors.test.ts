import type { FastifyError, FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { asFailure } from '../../../server/http/answer/errors.ts'
import { Failure } from '../../../server/failure.ts'

const request = (errored: Error | null = null) =>
  ({ routeOptions: { config: {} }, raw: { errored } }) as unknown as FastifyRequest

test('whatever is thrown becomes a failure, also what has a number for its code', () => {
  const thrown: unknown[] = [
    new DOMException('It took too long.', 'TimeoutError'),
    Object.assign(new Error('odd'), { code: 42 }),
    Object.assign(new Error('odd'), { code: null }),
    new Error('plain'),
  ]
  for (const error of thrown) {
    const failure = asFailure(error as FastifyError, request())
    expect(failure).toBeInstanceOf(Failure)
    expect(failure.code).toBe('internal_error')
  }
})

test('a connection that is reset is the caller’s when it is the caller’s, and the database’s otherwise', () => {
  const reset = Object.assign(new Error('aborted'), { code: 'ECONNRESET' }) as FastifyError
  expect(asFailure(reset, request(reset)).code).toBe('cancelled')
  expect(asFailure(reset, request()).code).toBe('overloaded')
})
