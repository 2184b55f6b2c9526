import type { FastifyRequest } from 'fastify'
import { authenticateManagement, findSession, requireRole, type Caller, type UserCaller } from '../../access/index.ts'
import type { App } from '../../app.ts'
import { Failure } from '../../failure.ts'
import { admitQueryCall } from './query-call.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on open routes when nobody is signed in. */
    caller: Caller | null
  }
  interface FastifyContextConfig {
    /**
     * `open`: no credential needed, and a bearer credential is not looked at. `person`: somebody who is signed in.
     * `query`: an API key, and errors are `invalid_query`. `either`: an API key or a management credential. Else:
     * management.
     */
    door?: 'open' | 'person' | 'query' | 'link' | 'either'
    /** Also opened by a browser token of a key; for routes that take an API key. */
    browser?: true
    /** A path that is there under another name of this server only. */
    host?: 'sample'
  }
}

/** Which of two kinds a credential is meant as; whether it is good is another question. */
const isApiKey = /^Bearer +slc_(live|test)_/i
const stateless = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The caller of a management route that needs one. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) {
    throw new Failure('authentication_failed', {
      reason: 'missing',
      message: 'Sign in, or send Authorization: Bearer slc_mgmt_….',
    })
  }
  return request.caller
}

/** The person of a route that is only for people. */
export function personCallerOf(request: FastifyRequest): UserCaller {
  const caller = callerOf(request)
  if (caller.kind !== 'user') {
    throw new Failure('authentication_failed', {
      reason: 'wrong_kind',
      message: 'This is for people who are signed in, not for tokens.',
    })
  }
  return caller
}

/** Before the body is read: what a stranger sends is refused for its credential, whatever it says. */
export async function admitToManagement(app: App, request: FastifyRequest): Promise<void> {
  const { door } = request.routeOptions.config
  if (door === 'either' && isApiKey.test(request.headers.authorization ?? '')) return admitQueryCall(app, request)
  request.caller = door === 'open' ? signedIn(app, request) : await findCaller(app, request)
  if (door === 'person') personCallerOf(request)
  else if (door !== 'open') callerOf(request)
}

/** For an answer that goes on: whoever asked for it has still a good credential and a role in the project. */
export async function requireStill(app: App, request: FastifyRequest, projectId: string): Promise<void> {
  const { authorization } = request.headers
  const caller = authorization === undefined ? await storedCaller(app, request) : await findCaller(app, request)
  if (caller === null) throw new Failure('authentication_failed', { reason: 'expired' })
  await requireRole(app, caller, projectId, 'viewer')
}

async function storedCaller(app: App, request: FastifyRequest): Promise<UserCaller | null> {
  const found = await findSession(app, request.session.sessionId)
  if (found === undefined) return null
  const { userId, label, administrator } = found
  return { kind: 'user', userId, label, administrator, requestId: request.id }
}

/** A bearer credential wins over a cookie. */
export async function findCaller(app: App, request: FastifyRequest): Promise<Caller | null> {
  const secret = bearerOf(request)
  if (secret !== undefined) {
    return authenticateManagement(app, { secret, address: request.ip, requestId: request.id })
  }
  return signedIn(app, request)
}

function signedIn(app: App, request: FastifyRequest): UserCaller | null {
  const { person } = request.session
  if (person === undefined) return null
  if (!stateless.has(request.method)) requireOwnOrigin(app, request)
  return { kind: 'user', ...person, requestId: request.id }
}

function bearerOf(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization
  if (header === undefined) return undefined
  const match = /^Bearer ([^\s,]+)$/i.exec(header)
  if (match?.[1] === undefined) {
    throw new Failure('authentication_failed', {
      reason: 'malformed',
      message: 'Send one header Authorization: Bearer <token>.',
    })
  }
  return match[1]
}

/**
 * A cookie travels with requests that other sites cause, so a state change made with one must come from our own pages.
 * Browsers send Origin with every such request; what sends none is no browser and has no stolen cookie to ride on.
 */
export function requireOwnOrigin(app: Pick<App, 'config'>, request: FastifyRequest): void {
  const { origin } = request.headers
  const site = request.headers['sec-fetch-site']
  if (origin === undefined && (site === undefined || site === 'same-origin' || site === 'none')) return
  const own = new Set([`${request.protocol}://${request.host}`])
  if (app.config.publicUrl !== undefined) own.add(new URL(app.config.publicUrl).origin)
  if (origin !== undefined && own.has(origin)) return
  throw new Failure('permission_denied', {
    reason: 'foreign_origin',
    message: 'This call came from a page of another site.',
  })
}
