import { type OutboundRequest } from '../build-request.ts'

const redirectStatuses = new Set([301, 302, 303, 307, 308])
const bodyHeaders = new Set(['content-type', 'content-encoding', 'content-language', 'content-location'])

export function isRedirect(status: number, location: string | undefined): location is string {
  return redirectStatuses.has(status) && location !== undefined && location !== ''
}

/**
 * The call that a redirect asks for; `null` when it leads to no web address. As browsers do, 303 and a POST that meets
 * 301 or 302 become a GET. Secrets left behind do not come back on the way home.
 */
export function redirected(request: OutboundRequest, status: number, location: string): OutboundRequest | null {
  const from = new URL(request.url)
  if (!URL.canParse(location, from.href)) return null
  const to = new URL(location, from)
  if (to.protocol !== 'http:' && to.protocol !== 'https:') return null
  to.username = ''
  to.password = ''
  to.hash = ''
  const becomesGet =
    (status === 303 && request.method !== 'HEAD') || ((status === 301 || status === 302) && request.method === 'POST')
  const next = retargeted(request, to)
  if (!becomesGet) return next
  const { body: _body, ...rest } = next
  const headers = Object.entries(next.headers).filter(([name]) => !bodyHeaders.has(name))
  return { ...rest, method: 'GET', headers: Object.fromEntries(headers) }
}

/** The same call to another address. Secrets go along only where scheme, host and port are the same. */
export function retargeted(request: OutboundRequest, to: URL): OutboundRequest {
  if (to.origin === new URL(request.url).origin) return { ...request, url: to.href }
  const headers = Object.entries(request.headers).filter(([name]) => !request.secretHeaders.includes(name))
  return { ...request, url: to.href, headers: Object.fromEntries(headers), secretQuery: [] }
}
