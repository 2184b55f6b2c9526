import { createMcpHandler } from '@modelcontextprotocol/server'
import { randomUUID } from 'node:crypto'
import type { KeyCaller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { openGate } from '../flow/index.ts'
import { openCancellations, type Cancellations } from './session/cancellations.ts'
import { notificationStream, openChangeStreams, type ChangeStreams } from './session/change-streams.ts'
import { holderOf, scopeOf, type McpConnection } from './session/connection.ts'
import { isObject } from './tools/own-tools.ts'
import type { ResourceParts } from './resources.ts'
import type { Replicas } from '../store/index.ts'
import { createServer } from './server.ts'

/** A request from a transport: authenticated, and with its body parsed. */
export type McpRequest = {
  request: Request
  body: unknown
  caller: KeyCaller
  refusal: Failure | null
  address: { projectId?: string | undefined; environment?: string | undefined }
  baseUrl: string
  /** Whether the client's key is still valid. */
  isStillGood: () => boolean
}

/** The tools of every key, over the protocol of 2026 and those before it. No session is kept. */
export type Mcp = {
  serve(input: McpRequest): Promise<Response>
  /** Whether a request subscribes, so that its response has no end. */
  isListening(method: string, body: unknown): boolean
  /** Ends all subscriptions, so that a server can close. */
  endStreams(): void
  close(): Promise<void>
}

const sessionHeader = 'mcp-session-id'
const sessionShape = /^[\w-]{1,64}$/
const keepAliveMs = 15_000
const listening = 'subscriptions/listen'
/** Requests of one project that a process works on at once, and that may wait. */
const maxRequestsPerProject = 8
const maxWaiting = 256
const maxWaitMs = 10_000
/** Clients that wait for releases in one process, of all projects together: each has a fair share of them. */
const maxStreams = 200

export async function openMcp(app: ResourceParts & { replicas: Replicas }): Promise<Mcp> {
  const { limits } = app.config
  const gate = openGate({
    room: Infinity,
    perName: maxRequestsPerProject,
    queueLength: maxWaiting,
    waitMs: maxWaitMs,
    late: {
      message: 'Too many requests of this project are being answered. Try again in a moment.',
      retryAfterSeconds: 1,
    },
  })
  const streams = openChangeStreams(app, {
    most: maxStreams,
    // Each replica has its share: a key gets no more by connecting to several.
    each: () => Math.max(1, Math.floor(limits.mcpStreamsPerKey / app.replicas.answering())),
  })
  const cancellations = await openCancellations(app.store)
  return {
    isListening: (method, body) => method === 'GET' || methodOf(body) === listening,
    async serve(input) {
      const { method } = input.request
      if (method === 'GET') return listen(streams, input)
      // Sessions have no state to delete.
      if (method === 'DELETE') return new Response(null, { status: 204 })
      const work = () => answer(app, { streams, cancellations }, input)
      const { signal } = input.request
      return takesTurn(methodOf(input.body)) ? gate.run([holderOf(connectionOf(input))], work, { signal }) : work()
    },
    endStreams: () => streams.endAll(),
    async close() {
      streams.endAll()
      cancellations.close()
    },
  }
}

/** Requests take turns; notifications and subscriptions do not. */
function takesTurn(method: string | undefined): boolean {
  return method !== undefined && method !== listening && !method.startsWith('notifications/')
}

type Shared = { streams: ChangeStreams; cancellations: Cancellations }

async function answer(app: ResourceParts, { streams, cancellations }: Shared, input: McpRequest): Promise<Response> {
  const { request, body, refusal, isStillGood } = input
  const method = methodOf(body)
  // Tool calls report the refusal in their result, where the model reads it; nothing else can.
  if (refusal !== null && method !== 'tools/call') throw refusal
  const connection = connectionOf(input)
  if (method === 'notifications/cancelled') await cancel(cancellations, connection, body)
  if (method === listening) streams.requireRoom(connection)
  const end = (): void => void handler.close()
  const handler = createMcpHandler(
    ({ era }) => createServer(app, { ...connection, asksBack: era === 'modern' }, { cancellations }),
    { bus: streams.busFor({ connection, isStillGood, end }), maxSubscriptions: 1, keepAliveMs },
  )
  const response = await handler.fetch(request, { parsedBody: body })
  // The session id tells this client's calls from those of other clients with the same key.
  if (method === 'initialize' && response.ok) response.headers.set(sessionHeader, randomUUID())
  return response
}

async function listen(streams: ChangeStreams, input: McpRequest): Promise<Response> {
  const { refusal, request, isStillGood } = input
  if (refusal !== null) throw refusal
  if (!(request.headers.get('accept') ?? '').includes('text/event-stream')) {
    throw new Failure('invalid_query', { message: 'Listen with Accept: text/event-stream, or send a request by POST.' })
  }
  const connection = connectionOf(input)
  streams.requireRoom(connection)
  let endStream = (): void => undefined
  const bus = streams.busFor({ connection, isStillGood, end: () => endStream() })
  const stream = notificationStream(bus, (end) => (endStream = end))
  return new Response(stream, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } })
}

function connectionOf({ request, caller, refusal, address, baseUrl }: McpRequest): McpConnection {
  const sessionId = request.headers.get(sessionHeader)
  return {
    caller,
    refusal,
    ...scopeOf(caller, address),
    baseUrl,
    asksBack: false,
    sessionId: sessionId !== null && sessionShape.test(sessionId) ? sessionId : null,
    signal: request.signal,
  }
}

/** One message in each request, so that each is admitted and counted by itself. */
function methodOf(body: unknown): string | undefined {
  if (Array.isArray(body)) {
    throw new Failure('invalid_query', {
      reason: 'invalid_field',
      message: 'Send one message in a request: batches are not taken.',
    })
  }
  return isObject(body) && typeof body['method'] === 'string' ? body['method'] : undefined
}

async function cancel(cancellations: Cancellations, connection: McpConnection, body: unknown): Promise<void> {
  const params = isObject(body) ? body['params'] : undefined
  const id = isObject(params) ? params['requestId'] : undefined
  if (typeof id === 'string' || typeof id === 'number') await cancellations.cancel(connection, id)
}
