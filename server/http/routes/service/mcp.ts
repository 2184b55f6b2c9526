import { Readable } from 'node:stream'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../../app.ts'
import { envelopeOf, Failure } from '../../../failure.ts'
import type { Mcp } from '../../../mcp/index.ts'
import { allowOrigin } from '../../request/cross-origin.ts'
import { tellEarlyRefusals } from '../../answer/early-refusals.ts'
import { sendFailure, callerFailure } from '../../answer/errors.ts'
import { untilGone } from '../../answer/gone.ts'
import { pageLink, type Http } from '../../request/http.ts'
import { addressOf, admitKey, keyCallerOf, keyWatch, projectNamed } from '../../request/query-call.ts'
import { setRateHeaders } from '../../answer/rate-headers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The key is over its limit, which a tool says in its own answer. */
    mcpRefusal: Failure | null
  }
}

const path = '/mcp'
export const metadataPath = '/.well-known/oauth-protected-resource'

/** The tools of an API key, for assistants: one address, its messages by POST, what changes by GET. */
export async function serveMcp(http: Http, app: App): Promise<void> {
  const mcp = openLater(app)
  http.addHook('preClose', async () => (await mcp.ifOpen())?.endStreams())
  http.addHook('onClose', async () => (await mcp.ifOpen())?.close())
  http.decorateRequest('mcpRefusal', null)
  http.setErrorHandler<FastifyError>((error, request, reply) =>
    sendFailure(callerFailure(app, error, request), request, reply, asMessage),
  )
  http.addHook('onRequest', async (request, reply) => {
    void reply.headers({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' })
    const { caller, refusal } = await admitted(app, request, reply)
    request.keyCaller = caller
    request.mcpRefusal = refusal
    refuseForeignOrigin(app, request)
    allowOrigin(app, request, reply, projectNamed(request))
  })
  http.route({
    method: ['GET', 'POST', 'DELETE'],
    url: path,
    config: { door: 'query', body: 'called' },
    onError: tellEarlyRefusals(app, 'tool'),
    // The protocol describes itself: what there is depends on the key.
    schema: { hide: true },
    handler: async (request, reply) => answer(app, await mcp.open(), { request, reply }),
  })
}

/** Opened by the first message, and by the next one where that fails: a start need not load the protocol's library. */
function openLater(app: App): { open: () => Promise<Mcp>; ifOpen: () => Promise<Mcp | undefined> } {
  let opening: Promise<Mcp> | undefined
  const load = async (): Promise<Mcp> => {
    const { openMcp } = await import('../../../mcp/index.ts')
    return openMcp(app)
  }
  const open = async (): Promise<Mcp> => {
    opening ??= load()
    try {
      return await opening
    } catch (error) {
      opening = undefined
      throw error
    }
  }
  return { open, ifOpen: async () => opening?.catch(() => undefined) }
}

/** A client without a good credential is told where it learns how to get one. */
async function admitted(app: App, request: FastifyRequest, reply: FastifyReply) {
  try {
    return await admitKey(app, request)
  } catch (error) {
    challenge(reply, error, pageLink(app, request, `${metadataPath}${path}`))
    throw error
  }
}

export function challenge(reply: FastifyReply, error: unknown, metadata: string): void {
  if (!(error instanceof Failure) || error.code !== 'authentication_failed') return
  const invalid = error.reason === 'missing' ? '' : ', error="invalid_token"'
  void reply.header('www-authenticate', `Bearer realm="sluice"${invalid}, resource_metadata="${metadata}"`)
}

type Exchange = { request: FastifyRequest; reply: FastifyReply }

async function answer(app: App, mcp: Mcp, { request, reply }: Exchange): Promise<FastifyReply> {
  const caller = keyCallerOf(request)
  const response = await mcp.serve({
    request: webRequest(app, { request, reply }),
    body: request.body,
    caller,
    refusal: request.mcpRefusal,
    address: addressOf(request),
    baseUrl: pageLink(app, request, '/'),
    isStillGood: keyWatch(app, request),
  })
  setRateHeaders(reply, caller.standings)
  void reply.code(response.status)
  for (const name of passedOn) {
    const value = response.headers.get(name)
    if (value !== null) void reply.header(name, value)
  }
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    void reply.header('x-accel-buffering', 'no')
    // The connection ends with a stream that waits for news: kept alive, it would hold up a server that closes.
    if (mcp.isListening(request.method, request.body)) void reply.header('connection', 'close')
  }
  const { body } = response
  return body === null ? reply.send() : reply.send(Readable.fromWeb(body))
}

/** The protocol's view of a request, and its answer. */
const read = /^(accept|content-type|last-event-id|mcp-.+)$/
const passedOn = ['content-type', 'mcp-session-id', 'allow']

function webRequest(app: App, { request, reply }: Exchange): Request {
  const headers = Object.entries(request.headers).flatMap(([name, value]): Array<[string, string]> => {
    return read.test(name) && value !== '*/*' && value !== undefined ? [[name, String(value)]] : []
  })
  const accepted = request.headers.accept ?? '*/*'
  if (accepted === '*/*') headers.push(['accept', 'application/json, text/event-stream'])
  return new Request(pageLink(app, request, path), { method: request.method, headers, signal: untilGone(reply) })
}

const codes: Record<string, number> = {
  malformed_json: -32_700,
  too_deep: -32_600,
  too_many_members: -32_600,
  invalid_field: -32_600,
}

/** A refusal before the protocol has the request is in the protocol's form as well. */
function asMessage(failure: Failure, requestId: string): unknown {
  const { message, reason = '' } = failure
  const code = codes[reason] ?? -32_000
  return { jsonrpc: '2.0', id: null, error: { code, message, data: envelopeOf(failure, requestId) } }
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * A page of another site may not speak to this server with whatever credential a browser holds for it, nor under a name
 * that was made to resolve to it. What is no browser sends no Origin.
 */
function refuseForeignOrigin(app: App, { headers: { origin } }: FastifyRequest): void {
  if (origin === undefined || app.origins.isKnown(origin)) return
  const { publicUrl, host } = app.config
  const from = URL.parse(origin)
  const isOwn =
    publicUrl === undefined
      ? from !== null && (loopback.has(from.hostname) || from.hostname === host)
      : from?.origin === new URL(publicUrl).origin
  if (isOwn) return
  throw new Failure('permission_denied', {
    reason: 'foreign_origin',
    message: 'This call came from a page of another site. A project can name the origins of its pages.',
  })
}
