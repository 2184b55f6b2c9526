import type { FastifyRequest } from 'fastify'
import type { Socket } from 'node:net'
import {
  admit,
  isGoodKey,
  keyCredential,
  type Admission,
  type KeyCaller,
  type KeyCredential,
} from '../../access/index.ts'
import type { App } from '../../app.ts'
import { Failure } from '../../failure.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on routes with the door `query`, before their handler runs. */
    keyCaller: KeyCaller | null
  }
}

/** Names under which clients put a credential into a URL, compared without case, `-` and `_`. */
const credentialNames = new Set(
  'key apikey token accesstoken auth authorization bearer secret credential password xapikey'.split(' '),
)
const credentialValue = /slc_(live|test|mgmt|link|share|browser)_/

/** The hook of every route with the door `query`: who calls, and may they call again so soon. */
export function admitQueryCall(app: App, request: FastifyRequest): void | Promise<void> {
  const pass = ({ caller, refusal }: Admission): void => {
    request.keyCaller = caller
    if (refusal !== null) throw refusal
  }
  const admission = admitKey(app, request)
  return admission instanceof Promise ? admission.then(pass) : pass(admission)
}

/** Whose call it is, and whether it is refused for coming too soon. */
export function admitKey(app: App, request: FastifyRequest): Admission | Promise<Admission> {
  return admit(app, {
    credential: () => credentialIn(request),
    takesBrowserTokens: request.routeOptions.config.browser === true,
    address: request.ip,
    requestId: request.id,
  })
}

/** For an answer that goes on: whether the key that asked for it is good still. */
export function keyWatch(app: App, request: FastifyRequest): () => boolean {
  const credential = credentialIn(request)
  return () => isGoodKey(app, credential)
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

/** The project that a call names, or the only one that its key reaches; undefined while neither says so. */
export function projectNamed(request: FastifyRequest): string | undefined {
  const named = addressOf(request).projectId
  if (named !== undefined) return named
  const [only, ...others] = request.keyCaller?.key.permissions ?? []
  return only === undefined || others.length > 0 || only.projectId === '*' ? undefined : only.projectId
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

/** The last credential of each connection: it mostly sends the same again. */
const lastSent = new WeakMap<Socket, { header: string; credential: KeyCredential }>()

function credentialIn(request: FastifyRequest): KeyCredential {
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
  const credential = keyCredential(secret)
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
