import type { FastifyRequest } from 'fastify'
import { authenticateManagement, type Caller, type UserCaller } from '../access/index.ts'
import type { App } from '../app.ts'
import { Failure } from '../failure.ts'
import { limitFailures } from './failed-credentials.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on open routes when no credential was sent. */
    caller: Caller | null
  }
  interface FastifyContextConfig {
    /** `open`: no credential needed. `query`: an API key, and errors are `invalid_query`. Else: management. */
    door?: 'open' | 'query'
    /** A path that is there under another name of this server only. */
    host?: 'sample'
  }
}

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

/** Finds out who calls, before the body is read. A bearer credential wins over a cookie. */
export async function findCaller(app: App, request: FastifyRequest): Promise<Caller | null> {
  const secret = bearerOf(request)
  if (secret !== undefined) {
    return limitFailures(app, request, () => authenticateManagement(app, { secret, requestId: request.id }))
  }
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
