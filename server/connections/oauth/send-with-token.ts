import type { HttpConfiguration } from '../../../api/connections.ts'
import type { OutboundRequest } from '../request/build-request.ts'
import type { NotSent, Outbound, SendOptions, Sent } from '../outbound/send.ts'
import type { TokenSource } from './token-source.ts'
import type { Timing } from './token.ts'

type Parts = { outbound: Outbound; tokens: TokenSource }

const unauthorized = 401

/**
 * Sends a call with the token that is good now: a load may outlast one. Where the API takes it no longer, which nobody
 * knows before, the call is made once more with a new one.
 */
export async function sendWithToken(
  { outbound, tokens }: Parts,
  { configuration, request, timing }: { configuration: HttpConfiguration; request: OutboundRequest; timing: Timing },
  optionsOf: () => SendOptions,
): Promise<Sent | NotSent> {
  const first = await tokens.token(configuration, timing)
  if (!first.ok) return { ok: false, error: first.error, tries: 0, elapsedMs: 0 }
  const sent = await outbound.send(bearing(request, first.token), optionsOf())
  const isRejected = sent.ok && sent.status === unauthorized
  if (!isRejected || first.token === undefined || !isBearing(request)) return sent
  const second = await tokens.token(configuration, { ...timing, rejected: first.token })
  if (!second.ok) return { ok: false, error: second.error, tries: sent.tries, elapsedMs: sent.elapsedMs }
  return second.token === first.token ? sent : outbound.send(bearing(request, second.token), optionsOf())
}

/** A call that left its secrets behind on the way to another origin gets none again. */
function isBearing({ secretHeaders, tokenHeader }: OutboundRequest): boolean {
  return tokenHeader !== undefined && secretHeaders.includes(tokenHeader.name)
}

function bearing(request: OutboundRequest, token: string | undefined): OutboundRequest {
  const { tokenHeader } = request
  if (token === undefined || tokenHeader === undefined || !isBearing(request)) return request
  return { ...request, headers: { ...request.headers, [tokenHeader.name]: tokenHeader.before + token } }
}
