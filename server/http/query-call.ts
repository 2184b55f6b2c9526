import type { FastifyReply, FastifyRequest } from 'fastify'
import { authenticateKey, takeCall, type KeyCaller, type Policy, type Standing } from '../access/index.ts'
import type { App } from '../app.ts'
import { Failure } from '../failure.ts'
import { limitFailures } from './failed-credentials.ts'
import { setRateHeaders } from './rate-headers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on routes with the door `query`, before their handler runs. */
    keyCaller: KeyCaller | null
    /** What the rate headers of the answer say so far. */
    standings: Standing[]
  }
}

/** Names under which clients put a credential into a URL, compared without case, `-` and `_`. */
const credentialNames = new Set(
  'key apikey token accesstoken auth authorization bearer secret credential password xapikey'.split(' '),
)
const credentialValue = /slc_(live|test|mgmt|link)_/

/** The hook of every route with the door `query`: who calls, and may they call again so soon. */
export async function authenticateQueryCall(app: App, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const caller = await limitFailures(app, request, () =>
    authenticateKey(app, { secret: keyOf(request), requestId: request.id }),
  )
  request.keyCaller = caller
  await limitCall(app, request, reply, caller.key.policies)
}

/** Counts the call against further policies, a query's own for example; its headers join those that are there. */
export async function limitCall(
  app: Pick<App, 'buckets'>,
  request: FastifyRequest,
  reply: FastifyReply,
  policies: readonly Policy[],
): Promise<void> {
  const { waitSeconds, standings } = await takeCall(app.buckets, keyCallerOf(request).key.id, policies)
  request.standings = [...request.standings, ...standings]
  setRateHeaders(reply, request.standings)
  if (waitSeconds === 0) return
  throw new Failure('rate_limit_exceeded', {
    message: `Too many calls with this API key. Wait ${waitSeconds} s.`,
    retryAfterSeconds: waitSeconds,
  })
}

export function keyCallerOf(request: FastifyRequest): KeyCaller {
  if (request.keyCaller === null) throw new Failure('internal_error')
  return request.keyCaller
}

/** Where a call says it goes: by header or in the URL, and not to two places at once. */
export function addressOf(request: FastifyRequest): { projectId: string | undefined; environment: string | undefined } {
  return {
    projectId: oneOf(request, 'X-Sluice-Project', 'project_id'),
    environment: oneOf(request, 'X-Sluice-Environment', 'environment'),
  }
}

function oneOf(request: FastifyRequest, header: string, parameter: string): string | undefined {
  const query = request.query as Record<string, unknown>
  const [inHeader, inUrl] = [request.headers[header.toLowerCase()], query[parameter]]
  if (inHeader === undefined && inUrl === undefined) return undefined
  const given = [inHeader, inUrl].flat().filter((value) => value !== undefined)
  const [first, ...others] = given.map(String)
  if (first === '' || others.some((other) => other !== first)) {
    throw new Failure('invalid_query', {
      reason: 'invalid_field',
      message: `Say once and not empty where the call goes: ${header} or ?${parameter}=.`,
      details: [{ field: parameter, message: first === '' ? 'must not be empty' : 'is given twice' }],
    })
  }
  return first
}

function keyOf(request: FastifyRequest): string {
  refuseKeyInUrl(request)
  // Node keeps the first of two and hides the others.
  const sent = request.raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'authorization')
  const header = request.headers.authorization
  if (header === undefined) {
    throw new Failure('authentication_failed', {
      reason: 'missing',
      message: 'Send the API key as Authorization: Bearer slc_live_….',
    })
  }
  const secret = /^Bearer +([^\s,]+)$/i.exec(header)?.[1]
  if (secret === undefined || sent.length > 1) {
    throw new Failure('authentication_failed', {
      reason: 'malformed',
      message: 'Send one header Authorization: Bearer <API key>.',
    })
  }
  return secret
}

/** URLs end up in logs, histories and referrers. Refused even beside a good header, so that it does not become a habit. */
function refuseKeyInUrl(request: FastifyRequest): void {
  const query = request.query as Record<string, unknown>
  const found = Object.entries(query).some(
    ([name, value]) =>
      credentialNames.has(name.toLowerCase().replaceAll(/[-_]/g, '')) || credentialValue.test(String(value)),
  )
  if (!found) return
  throw new Failure('authentication_failed', {
    reason: 'malformed',
    message: 'An API key in the URL is refused: send it as a header, and rotate it if it was a real one.',
  })
}
