import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { fixedLimits, type Config } from '../../config.ts'
import type { Http } from './http.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is a file, which may be large and takes its time. */
    takesFiles?: true
  }
}

type Limits = Pick<Config['limits'], 'requestTimeoutMs'>

const uploadTimeoutMs = fixedLimits.uploadTimeoutMs.value

/** For the server as a whole: Node knows one limit for all requests. */
export function maxRequestMs({ requestTimeoutMs }: Limits): number {
  return Math.max(requestTimeoutMs, uploadTimeoutMs)
}

/**
 * Ends requests whose body does not arrive in time, as the server itself does: only files may take as long as it lets
 * them. What has no body has arrived when it is seen. Looked at every now and then: a timer for each request is work for
 * every call, and nearly all bodies arrive with their headers.
 */
export function limitRequestTime(http: Http, { requestTimeoutMs }: Limits): void {
  const arriving = new Map<Socket, Arriving>()
  http.addHook('onRequest', (request, _reply, done) => {
    const { raw } = request
    const hasBody = raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length'] ?? 0) > 0
    if (hasBody && !raw.complete) {
      const limitMs = request.routeOptions.config.takesFiles === true ? uploadTimeoutMs : requestTimeoutMs
      arriving.set(raw.socket, { raw, untilMs: performance.now() + limitMs })
    }
    done()
  })
  const look = (): void => {
    for (const [socket, { raw, untilMs }] of arriving) {
      const isOver = raw.complete || raw.destroyed
      if (!isOver && performance.now() < untilMs) continue
      arriving.delete(socket)
      if (!isOver) http.server.emit('clientError', late(), socket)
    }
  }
  const looking = setInterval(look, Math.min(lookMs, requestTimeoutMs / 4)).unref()
  http.addHook('onClose', (_instance, done) => {
    clearInterval(looking)
    done()
  })
  // A refused request need not be read to its end.
  http.addHook('onResponse', ({ raw }, _reply, done) => {
    if (!raw.complete && !raw.destroyed) setTimeout(() => raw.complete || raw.destroy(), restMs).unref()
    done()
  })
}

const restMs = 5_000
const lookMs = 1_000

/** The request that a connection sends at present, or the last one it sent. */
type Arriving = { raw: IncomingMessage; untilMs: number }

function late(): Error {
  return Object.assign(new Error('The request did not arrive in time.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
}
