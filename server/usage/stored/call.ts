import { failures } from '../../../api/failures.ts'
import type { Observation } from '../../observe.ts'
import type { Tables } from '../../store/index.ts'

export type QueryAnswered = Extract<Observation, { kind: 'query-answered' }>

/** Columns that calls are counted by. */
export type CallKind = Pick<
  Tables['requestBatches'],
  'projectId' | 'environment' | 'query' | 'version' | 'entry' | 'keyId' | 'status' | 'error' | 'reason' | 'cache'
>

const name = /^[a-z][a-z0-9_]{0,62}$/

/** The kind of a call; undefined for one that reached no project. */
export function callKindOf(event: QueryAnswered): CallKind | undefined {
  const { projectId, environment, query, version, code } = event
  if (projectId === null) return undefined
  const failure = code === null ? undefined : failures[code]
  return {
    projectId,
    // Names that a caller made up are not recorded as the name of something.
    environment: version !== null || isName(environment) ? environment : null,
    query: version !== null || isName(query) ? query : null,
    version,
    entry: event.entry,
    keyId: event.keyId,
    status: failure?.status ?? 200,
    error: failure === undefined ? null : 'wire' in failure ? failure.wire : code,
    reason: event.reason,
    cache: event.cache,
  }
}

/** Compares two calls of one query with one key. Every call is compared; few need `callKindOf`. */
export function isSameKind(one: QueryAnswered, other: QueryAnswered): boolean {
  return (
    one.version === other.version &&
    one.cache === other.cache &&
    one.code === other.code &&
    one.reason === other.reason &&
    one.entry === other.entry
  )
}

function isName(text: string | null): boolean {
  return text !== null && name.test(text)
}

/** `isRejected` in SQL. */
export const rejectedText = 'status in (401, 403, 429, 499)'

/** Neither a request nor an error: the caller was rejected, or left before there was an answer. */
export function isRejected(status: number): boolean {
  return status === 401 || status === 403 || status === 429 || status === 499
}
