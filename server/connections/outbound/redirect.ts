import { type OutboundRequest } from '../request/build-request.ts'

export const maxRedirects = 5
const redirectStatuses = new Set([301, 302, 303, 307, 308])
const bodyHeaders = new Set(['content-type', 'content-encoding', 'content-language', 'content-location'])

/** Headers that another origin may see: how an answer should look and what a body is, never who asks. */
const harmlessHeaders = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-type',
  'user-agent',
])

export function isRedirect(status: number, location: string | undefined): location is string {
  return redirectStatuses.has(status) && location !== undefined && location !== ''
}

/** `address`: it leads to no web address. `body`: the body holds secrets and the address is of another origin. */
type Redirected = { request: OutboundRequest } | { refused: 'address' | 'body' }

/**
 * The call that a redirect asks for. As browsers do, 303 and a POST that meets 301 or 302 become a GET. Secrets left
 * behind do not come back on the way home.
 */
export function redirected(request: OutboundRequest, status: number, location: string): Redirected {
  const from = new URL(request.url)
  if (!URL.canParse(location, from.href)) return { refused: 'address' }
  const to = new URL(location, from)
  if (to.protocol !== 'http:' && to.protocol !== 'https:') return { refused: 'address' }
  to.username = ''
  to.password = ''
  to.hash = ''
  const becomesGet =
    (status === 303 && request.method !== 'HEAD') || ((status === 301 || status === 302) && request.method === 'POST')
  const next = retargeted(becomesGet ? asGet(request) : request, to)
  return next === null ? { refused: 'body' } : { request: next }
}

function asGet({ body: _body, ...request }: OutboundRequest): OutboundRequest {
  const headers = Object.entries(request.headers).filter(([name]) => !bodyHeaders.has(name))
  return { ...request, method: 'GET', headers: Object.fromEntries(headers), hasSecretBody: false }
}

/**
 * The same call to another address. Where scheme, host or port differ, only harmless headers go along, and a call whose
 * body holds secrets is not made at all: `null`.
 */
export function retargeted(request: OutboundRequest, to: URL): OutboundRequest | null {
  if (to.origin === new URL(request.url).origin) return { ...request, url: to.href }
  if (request.hasSecretBody === true && request.body !== undefined) return null
  const { signer: _signer, certificate: _certificate, ...unsigned } = request
  const mayGo = (name: string) => harmlessHeaders.has(name) && !request.secretHeaders.includes(name)
  const headers = Object.entries(request.headers).filter(([name]) => mayGo(name))
  return { ...unsigned, url: to.href, headers: Object.fromEntries(headers), secretHeaders: [], secretQuery: [] }
}
