import { type OutboundErrorCode } from '../../../api/connections.ts'
import { Failure } from '../../failure.ts'
import { isGuardError } from './guard.ts'

/** Why a call had no usable answer, in words that say what failed, why, and what to change. Never with a secret. */
export type OutboundError = { code: OutboundErrorCode; message: string }

/** How far the call had come: nothing answered yet, or the body was on its way. */
type Phase = 'head' | 'body'
type Attempt = { url: URL; hop: number; phase: Phase }

const tlsCodes = /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO$|HOSTNAME_MISMATCH)/
const reachCodes: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there (connection refused)',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to its network',
  ENETDOWN: 'the network is down',
  EADDRNOTAVAIL: 'its address cannot be reached from here',
  EACCES: 'the connection is forbidden here',
}
const timeoutCodes = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])

export function outboundError(code: OutboundErrorCode, message: string): OutboundError {
  return { code, message }
}

/** The call took longer than it may. */
export function lateError(url: URL, limitMs: number): OutboundError {
  const limit = limitMs < 1000 ? `${limitMs} milliseconds` : `${Math.round(limitMs / 1000)} seconds`
  const message = `${url.host} did not finish its answer within ${limit}. Ask for less data, or raise the limit.`
  return outboundError('timeout', message)
}

/** Whether a caught value is an error of ours on its way through a stream. */
export function isOutboundError(error: unknown): error is Error & { outbound: OutboundError } {
  return error instanceof Error && 'outbound' in error
}

/** An outbound error as something that can be thrown through a stream. */
export function thrown(outbound: OutboundError): Error {
  return Object.assign(new Error(outbound.message), { outbound })
}

/** Names what went wrong from what undici, Node or the guard threw. */
export function classify(error: unknown, { url, hop, phase }: Attempt): OutboundError {
  if (isOutboundError(error)) return error.outbound
  const host = url.host
  const found = causes(error)
  const guard = found.find(isGuardError)
  if (guard?.guard === 'blocked') return blocked(url, hop, guard.address)
  if (guard?.guard === 'dns') {
    return outboundError(
      'dns_error',
      `The name ${url.hostname} does not resolve to an address. Check its spelling, or whether it is public.`,
    )
  }
  const codes = found.map((each) => ('code' in each ? String(each.code) : ''))
  if (codes.some((code) => timeoutCodes.has(code))) {
    return outboundError('timeout', `${host} did not answer in time. Try again, ask for less data, or raise the limit.`)
  }
  const tls = codes.findIndex((code) => tlsCodes.test(code))
  if (tls >= 0) {
    return outboundError(
      'tls_error',
      `The secure connection to ${host} failed (${codes[tls]}). Its certificate or TLS set-up must be mended there, or the address starts with http://.`,
    )
  }
  const reach = codes.map((code) => reachCodes[code]).find((words) => words !== undefined)
  if (reach !== undefined) {
    return outboundError('connect_error', `${host} could not be reached: ${reach}. Check host and port.`)
  }
  if (found.some((each) => each.name === 'HTTPParserError') || codes.includes('UND_ERR_HEADERS_OVERFLOW')) {
    return outboundError(
      'transfer_error',
      `${host} answered with something that is no valid HTTP. Check the port and whether it is https.`,
    )
  }
  if (phase === 'head') {
    return outboundError(
      'connect_error',
      `${host} closed the connection before it answered. Try again, or check the address.`,
    )
  }
  return outboundError(
    'transfer_error',
    `The answer of ${host} broke off before its end. Try again; if it stays so, the API sends it incomplete or wrongly encoded.`,
  )
}

function blocked(url: URL, hop: number, address: string | undefined): OutboundError {
  const where = address === undefined || address === url.hostname ? url.host : `${url.host} (${address})`
  const rule = 'only globally reachable addresses may be called, unless SLUICE_OUTBOUND_ALLOW names the host'
  if (hop === 0) return outboundError('url_not_allowed', `The address ${where} is not allowed: ${rule}.`)
  return outboundError('blocked', `A redirect leads to ${where}, which is blocked: ${rule}.`)
}

function causes(error: unknown): Error[] {
  const found: Error[] = []
  const visit = (each: unknown, depth: number) => {
    if (!(each instanceof Error) || depth > 5) return
    found.push(each)
    if (each instanceof AggregateError) for (const inner of each.errors) visit(inner, depth + 1)
    visit(each.cause, depth + 1)
  }
  visit(error, 0)
  return found
}

/** An outbound error as the failure of an operation that needed the answer. */
export function toFailure({ code, message }: OutboundError): Failure {
  if (code === 'url_not_allowed') {
    return new Failure('invalid_request', { reason: code, message, details: [{ field: 'url', message }] })
  }
  if (code === 'timeout') return new Failure('upstream_timeout', { message })
  return new Failure('upstream_error', { reason: code, message })
}
