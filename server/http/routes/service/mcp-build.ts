import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../../app.ts'
import { catalogEntries } from '../../../connections/index.ts'
import { Failure } from '../../../failure.ts'
import { untilGone } from '../../answer/gone.ts'
import { parseInPieces } from '../../request/json-pieces.ts'
import { challenge, metadataPath } from './mcp.ts'
import { admitToManagement } from '../../request/caller.ts'
import { pageLink, type Http } from '../../request/http.ts'
import { addressOf } from '../../request/query-call.ts'

const path = '/mcp/build'

/** Tools to build with, for assistants: what a management token may do, by the same operations. */
export async function serveMcpBuild(http: Http, app: App): Promise<void> {
  http.addHook('onRequest', async (request, reply) => {
    void reply.headers({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' })
    // No cookie is read here: a page of another site has no token.
    try {
      if (request.headers.authorization === undefined) {
        throw new Failure('authentication_failed', {
          reason: 'missing',
          message: 'Send a management token as Authorization: Bearer slc_mgmt_….',
        })
      }
      await admitToManagement(app, request)
    } catch (error) {
      challenge(reply, error, pageLink(app, request, `${metadataPath}${path}`))
      throw error
    }
  })
  http.post(
    path,
    {
      // The protocol describes itself.
      schema: { hide: true },
      config: { body: 'authored' },
    },
    async (request, reply) => answer(http, app, { request, reply }),
  )
}

/** No model reads more; what is parsed here is everybody's time. */
const maxAnswerBytes = 2_097_152

async function textOf(stream: Readable, enough: AbortController): Promise<string | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length
    chunks.push(chunk)
    if (bytes <= maxAnswerBytes) continue
    enough.abort()
    return null
  }
  return Buffer.concat(chunks).toString()
}

type Exchange = { request: FastifyRequest; reply: FastifyReply }

async function answer(http: Http, app: App, { request, reply }: Exchange): Promise<FastifyReply> {
  const { serveBuild } = await import('../../../mcp/index.ts')
  const signal = untilGone(reply)
  const { authorization = '' } = request.headers
  const response = await serveBuild(app, {
    request: new Request(pageLink(app, request, path), { method: 'POST', headers: headersOf(request), signal }),
    body: request.body,
    requestId: request.id,
    projectId: addressOf(request).projectId,
    catalog: catalogEntries,
    perform: async ({ method, path: url, body }) => {
      const enough = new AbortController()
      const performed = await http.inject({
        method,
        url,
        signal: AbortSignal.any([signal, enough.signal]),
        payloadAsStream: true,
        remoteAddress: request.ip,
        headers: {
          authorization,
          host: request.host,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { payload: JSON.stringify(body) }),
      })
      const isJson = performed.headers['content-type']?.toString().startsWith('application/json') === true
      const text = await textOf(performed.stream(), enough)
      if (text === null) return null
      return { status: performed.statusCode, body: isJson ? await parseInPieces(text, { parse: JSON.parse }) : null }
    },
  })
  void reply.code(response.status)
  const type = response.headers.get('content-type')
  if (type !== null) void reply.header('content-type', type)
  return response.body === null ? reply.send() : reply.send(Readable.fromWeb(response.body))
}

const read = /^(accept|content-type|mcp-.+)$/

function headersOf({ headers }: FastifyRequest): Array<[string, string]> {
  const known = Object.entries(headers).flatMap(([name, value]): Array<[string, string]> => {
    return read.test(name) && value !== '*/*' && value !== undefined ? [[name, String(value)]] : []
  })
  if ((headers.accept ?? '*/*') === '*/*') known.push(['accept', 'application/json, text/event-stream'])
  return known
}
