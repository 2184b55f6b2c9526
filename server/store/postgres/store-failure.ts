import { Failure } from '../../failure.ts'

/** The system's codes for a server that is not there, or no longer. */
const networkCodes = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED ENOENT EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN'.split(' '),
)

/** PostgreSQL's: connection exceptions (class 08), shutdown, crash, starting up, too many connections. */
const serverCodes = /^(08...|57P0[1-5]|53300)$/

/** `pg` gives these no code. */
const clientMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after)/

/** Whether the database could not be reached, as opposed to having refused what it was asked. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  // A file that is missing has ENOENT too; a socket that is missing says so of `connect`.
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect'
  return networkCodes.has(code) || serverCodes.test(code) || clientMessages.test(error.message)
}

/** Whether the statement ran past its time limit, or waited that long for a lock. */
function isStatementTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '57014' || error.code === '55P03')
}

/** PostgreSQL keeps every character in text except NUL, and in JSON no half of a surrogate pair. */
function unstorableText(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  if (error.code === '22021' || error.code === '22P05') return 'Text may not contain the NUL character.'
  const isHalf = error.code === '22P02' && 'detail' in error && /surrogate/.test(String(error.detail))
  return isHalf ? 'Text must be well-formed Unicode, without half of a surrogate pair.' : undefined
}

/** Whether the database has read the rows and will never take them: a value it cannot hold, or one that breaks a rule. */
export function isRowRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code))
}

/** Failure that a caller reads when the database is away, too slow, or cannot hold their text; else undefined. */
export function asStoreFailure(error: unknown): Failure | undefined {
  const message = unstorableText(error)
  if (message !== undefined) {
    return new Failure('invalid_request', { reason: 'invalid_field', message, cause: error })
  }
  if (!isConnectionError(error) && !isStatementTimeout(error)) return undefined
  return new Failure('overloaded', { retryAfterSeconds: 1, cause: error })
}
