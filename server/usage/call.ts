import { failures } from '../../api/failures.ts'
import { newId } from '../ids.ts'
import type { Observation } from '../observe.ts'

export type QueryAnswered = Extract<Observation, { kind: 'query-answered' }>

/** One call as it is kept, in the columns of `requests`. */
export type CallRow = {
  at: number
  id: string
  project_id: string
  environment: string | null
  query: string | null
  version: number | null
  entry: string
  key_id: string | null
  status: number
  error: string | null
  reason: string | null
  total_ms: number
  route_ms: number | null
  queue_ms: number
  sql_ms: number
  rows: number
  bytes: number
  cache: string | null
  question: string | null
  confidence: number | null
}

const name = /^[a-z][a-z0-9_]{0,62}$/
const longestQuestion = 2_000

/** Undefined where it is nobody's: a call that reached no project. */
export function callOf(event: QueryAnswered, at: number): CallRow | undefined {
  const { projectId, environment, query, code, question } = event
  if (projectId === null) return undefined
  const failure = code === null ? undefined : failures[code]
  return {
    at,
    id: event.requestId ?? newId('request', at),
    project_id: projectId,
    // What a caller made up is not written down as if it were the name of something.
    environment: event.version !== null || isName(environment) ? environment : null,
    query: event.version !== null || isName(query) ? query : null,
    version: event.version,
    entry: event.entry,
    key_id: event.keyId,
    status: failure?.status ?? 200,
    error: failure === undefined ? null : 'wire' in failure ? failure.wire : code,
    reason: event.reason,
    total_ms: event.totalMs,
    route_ms: event.routeMs ?? null,
    queue_ms: event.queueMs,
    sql_ms: event.sqlMs,
    rows: event.rows,
    bytes: event.bytes,
    cache: event.cache,
    question: question === undefined ? null : storable(question.text.slice(0, longestQuestion)),
    confidence: question?.confidence ?? null,
  }
}

function isName(text: string | null): boolean {
  return text !== null && name.test(text)
}

/** PostgreSQL keeps no NUL and no half of a surrogate pair. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', ' ')
}

/** `isRejected` in SQL. */
export const rejectedText = 'status in (401, 403, 429)'

/** Neither a request nor an error: the caller was turned away. */
export function isRejected(status: number): boolean {
  return status === 401 || status === 403 || status === 429
}
