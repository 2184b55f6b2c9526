import type { QueryAnswered } from '../../../server/usage/stored/call.ts'

/** A call that was answered. */
export const call: QueryAnswered = {
  kind: 'query-answered',
  requestId: 'req_1',
  projectId: 'prj_1',
  environment: 'production',
  query: 'sales',
  version: 3,
  entry: 'direct',
  keyId: 'key_1',
  code: null,
  reason: null,
  totalMs: 1.5,
  queueMs: 0,
  sqlMs: 0.0001,
  rows: 12,
  bytes: 345,
  cache: 'hit',
}
