import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Socket } from 'node:net'
import {
  authenticateKey,
  ratePolicy,
  readKeyCredential,
  takeCall,
  type KeyCaller,
  type KeyCredential,
  type Standing,
  type Verdict,
} from '../access/index.ts'
import type { App } from '../app.ts'
import { Failure } from '../failure.ts'
import { countedFailure } from './failed-credentials.ts'
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

/**
 * The hook of every route with the door `query`: who calls, and may they call again so soon. It waits only where limits
 * are kept elsewhere: on the way of every call each wait shows.
 */
export function authenticateQueryCall(app: App, request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
  const { key } = (request.keyCaller = authenticated(app, request))
  const verdict = takeCall(app.buckets, key.id, key.policies)
  const pass = ({ waitSeconds, standings }: Verdict): void => {
    tell({ request, reply }, standings)
    if (waitSeconds > 0) throw tooMany('Too many calls with this API key.', waitSeconds)
  }
  return verdict instanceof Promise ? verdict.then(pass) : pass(verdict)
}

function authenticated(app: App, request: FastifyRequest): KeyCaller {
  try {
    return authenticateKey(app, { credential: credentialIn(app, request), requestId: request.id })
  } catch (error) {
    throw countedFailure(app, request, error)
  }
}

/** The limit that a query has of its own, for each key; its headers join those of the key. */
export async function limitQuery(app: Pick<App, 'buckets'>, run: Run, call: Call): Promise<void> {
  const { rateLimit, queryId } = run.version
  if (rateLimit === null) return
  const subject = `${keyCallerOf(call.request).key.id} ${queryId}`
  const { waitSeconds, standings } = await takeCall(app.buckets, subject, [ratePolicy(run.name, rateLimit)])
  tell(call, standings)
  if (waitSeconds > 0) throw tooMany(`Too many calls of ${run.name} with this API key.`, waitSeconds)
}

type Call = { request: FastifyRequest; reply: FastifyReply }

function tell({ request, reply }: Call, standings: Standing[]): void {
  if (standings.length === 0) return
  request.standings = [...request.standings, ...standings]
  setRateHeaders(reply, request.standings)
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
    projectId: oneOf(request, request.headers['x-sluice-project'], 'project_id'),
    environment: oneOf(request, request.headers['x-sluice-environment'], 'environment'),
  }
}

const headerOf = { project_id: 'X-Sluice-Project', environment: 'X-Sluice-Environment' }

function oneOf(
  request: FastifyRequest,
  inHeader: string | string[] | undefined,
  parameter: keyof typeof headerOf,
): string | undefined {
  const inUrl = (request.query as Record<string, unknown>)[parameter]
  if (inHeader === undefined && inUrl === undefined) return undefined
  const given = [inHeader, inUrl].flat().filter((value) => value !== undefined)
  const [first, ...others] = given.map(String)
  if (first === '' || others.some((other) => other !== first)) {
    throw new Failure('invalid_query', {
      reason: 'invalid_field',
      message: `Say once and not empty where the call goes: ${headerOf[parameter]} or ?${parameter}=.`,
      details: [{ field: parameter, message: first === '' ? 'must not be empty' : 'is given twice' }],
    })
  }
  return first
}

/** What each connection sent last: it mostly sends the same again. */
const lastSent = new WeakMap<Socket, { header: string; credential: KeyCredential }>()

function credentialIn(app: App, request: FastifyRequest): KeyCredential {
  refuseKeyInUrl(request)
  const { socket, rawHeaders } = request.raw
  const header = request.headers.authorization
  if (header === undefined) {
    throw new Failure('authentication_failed', {
      reason: 'missing',
      message: 'Send the API key as Authorization: Bearer slc_live_….',
    })
  }
  const isOnce = isSentOnce(rawHeaders)
  const last = lastSent.get(socket)
  if (isOnce && last?.header === header) return last.credential
  const secret = /^Bearer +([^\s,]+)$/i.exec(header)?.[1]
  if (secret === undefined || !isOnce) {
    throw new Failure('authentication_failed', {
      reason: 'malformed',
      message: 'Send one header Authorization: Bearer <API key>.',
    })
  }
  const credential = readKeyCredential(app, secret)
  lastSent.set(socket, { header, credential })
  return credential
}

/** Node keeps the first of two and hides the others. */
function isSentOnce(rawHeaders: string[]): boolean {
  const name = 'authorization'
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at] ?? ''
    if (sent.length === name.length && sent.toLowerCase() === name) count += 1
  }
  return count === 1
}

/** URLs end up in logs, histories and referrers. Refused even beside a good header, so that it does not become a habit. */
function refuseKeyInUrl(request: FastifyRequest): void {
  if (!request.url.includes('?')) return
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
