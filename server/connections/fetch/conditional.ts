import { createHash } from 'node:crypto'
import type { Pagination } from '../../../api/connections.ts'
import type { Validators } from '../../store/index.ts'
import type { OutboundRequest } from '../request/build-request.ts'
import type { Sent } from '../outbound/send.ts'

const notModified = 304

/** Names a request without telling what is in it: an address may hold a key. */
function hashOf({ url, headers }: OutboundRequest, rule: Pagination | null): string {
  const told = JSON.stringify([url, headers['accept'], headers['range'], rule])
  return createHash('sha256').update(told).digest('base64url')
}

/** The same request, asking for an answer only where it differs from the one that is known (RFC 9110, 13.1). */
export function conditional(
  request: OutboundRequest,
  known: Validators | null | undefined,
  rule: Pagination | null = null,
): OutboundRequest {
  if (!isMeant(request, known, rule)) return request
  const headers = {
    ...(known.etag !== undefined && { 'if-none-match': known.etag }),
    ...(known.lastModified !== undefined && { 'if-modified-since': known.lastModified }),
  }
  return { ...request, headers: { ...request.headers, ...headers } }
}

function isMeant(
  request: OutboundRequest,
  known: Validators | null | undefined,
  rule: Pagination | null,
): known is Validators {
  if (known === null || known === undefined || request.method !== 'GET') return false
  // Headers that the author set stay.
  const isOwn = 'if-none-match' in request.headers || 'if-modified-since' in request.headers
  return !isOwn && known.requestHash === hashOf(request, rule)
}

export function isUnchanged(
  { status }: Sent,
  request: OutboundRequest,
  known: Validators | null | undefined,
  rule: Pagination | null = null,
): boolean {
  return status === notModified && isMeant(request, known, rule)
}

/** By what the API can tell next time; null where it says nothing by which it could. */
export function validatorsOf(
  request: OutboundRequest,
  { status, headers }: Sent,
  rule: Pagination | null = null,
): Validators | null {
  const { etag, 'last-modified': lastModified } = headers
  if (request.method !== 'GET' || status !== 200 || (etag === undefined && lastModified === undefined)) return null
  const requestHash = hashOf(request, rule)
  return { requestHash, ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) }
}
