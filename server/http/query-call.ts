import type { FastifyReply, FastifyRequest } from 'fastify'
import { authenticateKey, ratePolicy, takeCall, type KeyCaller, type Policy, type Standing } from '../access/index.ts'
import type { App } from '../app.ts'
import { Failure } from '../failure.ts'
import { limitFailures } from './failed-credentials.ts'
import type { Run } from '../queries/index.ts'
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
  const { waitSeconds } = await count(app, { request, reply }, caller.key.id, caller.key.policies)
  if (waitSeconds > 0) throw tooMany('Too many calls with this API key.', waitSeconds)
}

/** The limit that a query has of its own, for each key; its headers join those of the key. */
export async function limitQuery(app: Pick<App, 'buckets'>, run: Run, call: Call): Promise<void> {
  const { rateLimit, queryId } = run.version
  if (rateLimit === null) return
  const subject = `${keyCallerOf(call.request).key.id} ${queryId}`
  const { waitSeconds } = await count(app, call, subject, [ratePolicy(run.name, rateLimit)])
  if (waitSeconds > 0) throw tooMany(`Too many calls of ${run.name} with this API key.`, waitSeconds)
}

type Call = { request: FastifyRequest; reply: FastifyReply }

async function count(
  app: Pick<App, 'buckets'>,
  { request, reply }: Call,
  subject: string,
  policies: readonly Policy[],
): Promise<{ waitSeconds: number }> {
  const { waitSeconds, standings } = await takeCall(app.buckets, subject, policies)
  request.standings = [...request.standings, ...standings]
  setRateHeaders(reply, request.standings)
  return { waitSeconds }
}

function tooMany(what: string, waitSeconds: number): Failure {
  return new Failure('rate_limit_exceeded', {
    message: `${what} Wait ${waitSeconds} s.`,
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
