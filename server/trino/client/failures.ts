import { Failure } from '../../failure.ts'

/** How a statement ended, as Trino tells it. */
export type TrinoError = {
  message: string
  errorName: string
  errorType: 'USER_ERROR' | 'INTERNAL_ERROR' | 'INSUFFICIENT_RESOURCES' | 'EXTERNAL'
  errorLocation?: { lineNumber: number; columnNumber: number }
}

/** The cause of a failure that its statement is to blame for: whoever knows the statement says where. */
export type StatementFault = Error & { fault: TrinoError }

const lateNames = new Set(['EXCEEDED_TIME_LIMIT', 'EXCEEDED_CPU_LIMIT'])
const largeNames = new Set([
  'EXCEEDED_GLOBAL_MEMORY_LIMIT',
  'EXCEEDED_LOCAL_MEMORY_LIMIT',
  'EXCEEDED_SPILL_LIMIT',
  'EXCEEDED_SCAN_LIMIT',
  'EXCEEDED_WRITE_LIMIT',
])
/** A part of the cluster is away or full: the next try may find another. */
const passingNames = new Set([
  'SERVER_STARTING_UP',
  'SERVER_SHUTTING_DOWN',
  'NO_NODES_AVAILABLE',
  'REMOTE_TASK_ERROR',
  'REMOTE_TASK_MISMATCH',
  'REMOTE_HOST_GONE',
  'TOO_MANY_REQUESTS_FAILED',
  'PAGE_TRANSPORT_ERROR',
  'PAGE_TRANSPORT_TIMEOUT',
  'ABANDONED_TASK',
  'ABANDONED_QUERY',
  'QUERY_QUEUE_FULL',
  'CLUSTER_OUT_OF_MEMORY',
  'CLUSTER_HAS_TOO_MANY_RUNNING_TASKS',
  'ADMINISTRATIVELY_KILLED',
  'ADMINISTRATIVELY_PREEMPTED',
])

/** Words for a worker that is gone in the middle of an exchange, which has no error name of its own. */
const lostWords = /worker node|connect|closed|refused|reset|EOF|timed out|unexpected response|expected response/i

/** Failure that the caller sees for an error of Trino. */
export function trinoFailure(error: TrinoError): Failure {
  const { errorName: name, errorType: type, message } = error
  const cause = Object.assign(new Error(`Trino: ${name}: ${message}`), { fault: error })
  if (lateNames.has(name)) return new Failure('query_timeout', { cause })
  if (largeNames.has(name)) {
    const what = name === 'EXCEEDED_SCAN_LIMIT' ? 'reads more data' : 'needs more memory'
    return new Failure('result_too_large', {
      reason: 'memory_limit',
      message: `The query ${what} than it may on Trino.`,
      cause,
    })
  }
  if (name === 'USER_CANCELED') return new Failure('cancelled', { cause })
  const isLost = type === 'INTERNAL_ERROR' && lostWords.test(message)
  if (passingNames.has(name) || isLost || type === 'INSUFFICIENT_RESOURCES') {
    const message = 'A part of Trino was lost or is busy, and the query with it. Try again.'
    return new Failure('overloaded', { message, retryAfterSeconds: 2, cause })
  }
  if (type === 'USER_ERROR') return new Failure('invalid_query', { message: sentenceOf(error), cause })
  return new Failure('internal_error', { cause })
}

export function tableTooLarge(limit: string): Failure {
  return new Failure('result_too_large', {
    message: `The table would have more than ${limit}, which is all that a model may have.`,
  })
}

/** Trino cannot be asked. */
export function trinoAway(error: unknown): Failure {
  if (error instanceof Failure) return error
  const message = 'Trino does not answer now, so nothing was read. Try again.'
  return new Failure('overloaded', { message, retryAfterSeconds: 2, cause: error })
}

/** Without the place, which is one in a text that nobody wrote, and without names that are ours. */
export function sentenceOf({ errorName, message }: TrinoError): string {
  if (errorName === 'PERMISSION_DENIED') return 'A query reads the tables of its project and nothing else.'
  const [first = ''] = message.replace(/^line \d+:\d+: /, '').split('\n')
  const table = /^Table '[^']*\.([^'.]+)' does not exist/.exec(first)?.[1]
  return table === undefined ? `${first.replace(/[.!]$/, '')}.` : `There is no table ${table}.`
}

export function faultOf(error: unknown): TrinoError | undefined {
  const cause = error instanceof Failure ? error.cause : undefined
  return cause instanceof Error && 'fault' in cause ? (cause as StatementFault).fault : undefined
}
