import { Failure } from '../../../failure.ts'
import { isRefusedBySystem } from '../socket/out-of-memory.ts'
import type { FailedHead } from '../socket/protocol.ts'
import { bindFailure, type KnownTable } from './sql-failure.ts'

/** Most errors begin with their kind; one from a statement that was already running is JSON. */
const kindPattern = /^(?:([A-Za-z ]+?) Error: |\{"exception_type":"([A-Za-z ]+)")/

/**
 * User SQL is to blame for every error of the engine, but those of its own making, of the machine, and of
 * what we set up around it. Some of these name files, so a caller never reads them.
 */
const oursKinds = new Set([
  'internal',
  'fatal',
  'io',
  'hardware',
  'null pointer',
  'permission',
  'connection',
  'transaction',
  'transactioncontext',
  'settings',
  'invalid configuration',
  'missing extension',
  'autoload',
  'dependency',
  'serialization',
  'network',
  'http',
])

/** Whether a thrown error says that memory ran out: DuckDB's limit, or the operating system's. */
export function isOutOfMemory(error: unknown): boolean {
  const cause = error instanceof Error ? error.message : String(error)
  return kindOf(cause) === 'out of memory' || isRefusedBySystem(cause)
}

function kindOf(cause: string): string | undefined {
  const [, named, typed] = kindPattern.exec(cause) ?? []
  return (named ?? typed)?.toLowerCase()
}

type FailedCall = { sql: string; hasSlots: boolean; tables: KnownTable[] }

/** The wire form of a thrown error. `input` is the call whose SQL or slots may be at fault. */
export function failedHead(error: unknown, input: FailedCall | null): FailedHead {
  if (error instanceof Failure) {
    const { code, reason, message, details, more, fields } = error
    return {
      code: code as FailedHead['code'],
      message,
      cause: error.cause instanceof Error ? error.cause.message : message,
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      ...(more === 0 ? {} : { more }),
      ...(fields === undefined ? {} : { fields }),
    }
  }
  const cause = error instanceof Error ? error.message : String(error)
  const kind = kindOf(cause)
  if (kind === 'interrupt') return { code: 'query_timeout', cause }
  if (isOutOfMemory(error)) {
    const what = input === null ? 'Making a table of this data' : 'The query'
    const message = `${what} needs more memory than it may use.`
    return { code: 'result_too_large', reason: 'memory_limit', message, cause }
  }
  if (input === null && kind === 'invalid input') {
    // Our own SQL on someone's file: what does not parse is the file.
    const message = 'The data cannot be read as rows.'
    return { code: 'upstream_error', reason: 'not_tabular', message, cause }
  }
  if (input === null) return { code: 'internal_error', cause }
  if (kind === 'binder' || kind === 'parser' || kind === 'catalog' || kind === 'syntax') {
    return failedHead(bindFailure(input, new Error(cause)), null)
  }
  if (kind === undefined || oursKinds.has(kind)) return { code: 'internal_error', cause }
  const message = sentenceOf(cause)
  return { code: 'invalid_query', message, cause, ...(input.hasSlots ? { reason: 'invalid_slots' } : {}) }
}

/** The first line of what the engine says, without the kind of error before it. */
function sentenceOf(cause: string): string {
  const text = cause.startsWith('{') ? cause.replace(/^.*"exception_message":"((?:[^"\\]|\\.)*)".*$/s, '$1') : cause
  const [first = ''] = text.replace(kindPattern, '').split(/\n|\\n/)
  return first
}
