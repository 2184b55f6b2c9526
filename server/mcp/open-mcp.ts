import { createMcpHandler } from '@modelcontextprotocol/server'
import { randomUUID } from 'node:crypto'
import type { KeyCaller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { createWorkTurns } from '../flow/index.ts'
import { openCancellations, type Cancellations } from './session/cancellations.ts'
import { notificationStream, openChangeStreams, type ChangeStreams } from './session/change-streams.ts'
import { scopeOf, type McpConnection } from './session/connection.ts'
import { isObject } from './tools/own-tools.ts'
import type { ResourceParts } from './resources.ts'
import type { Replicas } from '../store/index.ts'
import { createServer } from './server.ts'

/** A request as a transport hands it over: who asks is known, and its body is parsed. */
export type McpRequest = {
  request: Request
  body: unknown
  caller: KeyCaller
  refusal: Failure | null
  address: { projectId?: string | undefined; environment?: string | undefined }
  baseUrl: string
  /** Whether the key that the client came with is good now. */
  isStillGood: () => boolean
}

/** The tools of every key, over the protocol of 2026 and those before it. No session is kept. */
export type Mcp = {
  serve(input: McpRequest): Promise<Response>
  /** Whether a request waits for news, so that its answer has no end. */
  isListening(method: string, body: unknown): boolean
  /** Ends what waits for changes, so that a server can close. */
  endStreams(): void
  close(): Promise<void>
}

const sessionHeader = 'mcp-session-id'
const sessionShape = /^[\w-]{1,64}$/
const keepAliveMs = 15_000
const listening = 'subscriptions/listen'

export async function openMcp(app: ResourceParts & { replicas: Replicas }): Promise<Mcp> {
  const { limits } = app.config
  const turns = createWorkTurns({
    each: limits.mcpRequestsPerProject,
    most: Number.MAX_SAFE_INTEGER,
    queueLength: limits.mcpQueueLength,
    waitMs: limits.mcpWaitMs,
    late: busy,
    full: busy,
  })
  const streams = openChangeStreams(app, {
    most: limits.mcpStreams,
    // Each replica has its share, so that a key has no more by going round them.
    each: () => Math.max(1, Math.floor(limits.mcpStreamsPerKey / app.replicas.answering())),
  })
  const cancellations = await openCancellations(app.store)
  return {
    isListening: (method, body) => method === 'GET' || methodOf(body) === listening,
    async serve(input) {
      const { method } = input.request
      if (method === 'GET') return listen(streams, input)
      // Nothing is kept of a session, so there is nothing to end.
      if (method === 'DELETE') return new Response(null, { status: 204 })
      const work = () => answer(app, { streams, cancellations }, input)
      return takesTurn(methodOf(input.body)) ? turns.take(holderOf(input), work) : work()
    },
    endStreams: () => streams.endAll(),
    async close() {
      streams.endAll()
      cancellations.close()
    },
  }
}

/** What is asked and answered. What only tells something, or waits for news, waits for nobody. */
function takesTurn(method: string | undefined): boolean {
  return method !== undefined && method !== listening && !method.startsWith('notifications/')
}

/** A key that reaches several projects, and names none, is one of its own. */
function holderOf({ caller, address }: McpRequest): string {
  return scopeOf(caller, address).projectId ?? caller.key.id
}

function busy(): Failure {
  return new Failure('overloaded', {
    message: 'Too many requests of this project are being answered. Try again in a moment.',
    retryAfterSeconds: 1,
  })
}

type Shared = { streams: ChangeStreams; cancellations: Cancellations }

async function answer(app: ResourceParts, { streams, cancellations }: Shared, input: McpRequest): Promise<Response> {
  const { request, body, refusal, isStillGood } = input
  const method = methodOf(body)
  // A tool has an answer in which the model reads that it must wait; nothing else has.
  if (refusal !== null && method !== 'tools/call') throw refusal
  const connection = connectionOf(input)
  if (method === 'notifications/cancelled') await cancel(cancellations, connection, body)
  if (method === listening) streams.requireRoom(connection.caller)
  const end = (): void => void handler.close()
  const handler = createMcpHandler(
    ({ era }) => createServer(app, { ...connection, asksBack: era === 'modern' }, { cancellations }),
    { bus: streams.busFor({ connection, isStillGood, end }), maxSubscriptions: 1, keepAliveMs },
  )
  const response = await handler.fetch(request, { parsedBody: body })
  // A name for what the client sends from now on, by which its calls are told from those of others with the same key.
  if (method === 'initialize' && response.ok) response.headers.set(sessionHeader, randomUUID())
  return response
}

async function listen(streams: ChangeStreams, input: McpRequest): Promise<Response> {
  const { caller, refusal, request, isStillGood } = input
  if (refusal !== null) throw refusal
  if (!(request.headers.get('accept') ?? '').includes('text/event-stream')) {
    throw new Failure('invalid_query', { message: 'Listen with Accept: text/event-stream, or send a request by POST.' })
  }
  streams.requireRoom(caller)
  let endStream = (): void => undefined
  const bus = streams.busFor({ connection: connectionOf(input), isStillGood, end: () => endStream() })
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
