import { Failure } from '../failure.ts'

/** Cached files are served all the same. */
export function bucketFailure(error: unknown, deed: 'read from' | 'write to'): Failure {
  const message = `The object storage cannot be ${deed === 'read from' ? 'read' : 'written'} now, so nothing was ${deed === 'read from' ? 'answered' : 'stored'}. Try again.`
  const cause = new Error(`The service could not ${deed} its bucket: ${wordsOf(error)}`, { cause: error })
  return new Failure('overloaded', { message, retryAfterSeconds: 2, cause })
}

/** Message of an object server, or of the way there. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const status = statusOf(error)
  return `${error.name}${error.message === '' || error.message === 'UnknownError' ? '' : `, ${error.message}`}${status === undefined ? '' : ` (${status})`}`
}

/** By its shape: whoever only tells of a failure does not load the library for it. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined
  return (error.$metadata as { httpStatusCode?: number }).httpStatusCode
}
