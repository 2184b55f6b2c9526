import type { Config } from '../config.ts'
import type { Http } from './http.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is a file, which may be large and takes its time. */
    takesFiles?: true
  }
}

type Limits = Pick<Config['limits'], 'requestTimeoutMs' | 'uploadTimeoutMs'>

/** For the server as a whole: Node knows one limit for all requests. */
export function maxRequestMs({ requestTimeoutMs, uploadTimeoutMs }: Limits): number {
  return Math.max(requestTimeoutMs, uploadTimeoutMs)
}

/**
 * Ends requests whose body does not arrive in time, as the server itself does: only files may take as long as it lets
 * them. What has no body has arrived when it is seen.
 */
export function limitRequestTime(http: Http, { requestTimeoutMs, uploadTimeoutMs }: Limits): void {
  http.addHook('onRequest', (request, _reply, done) => {
    const { raw } = request
    const hasBody = raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length'] ?? 0) > 0
    if (hasBody && !raw.complete) {
      const limitMs = request.routeOptions.config.takesFiles === true ? uploadTimeoutMs : requestTimeoutMs
      const timer = setTimeout(() => {
        if (!raw.complete) http.server.emit('clientError', late(), raw.socket)
      }, limitMs)
      raw.once('close', () => clearTimeout(timer))
      raw.once('end', () => clearTimeout(timer))
    }
    done()
  })
  // Whoever has been refused need not be listened to until the end.
  http.addHook('onResponse', ({ raw }, _reply, done) => {
    if (!raw.complete && !raw.destroyed) setTimeout(() => raw.complete || raw.destroy(), restMs).unref()
    done()
  })
}

const restMs = 5_000

function late(): Error {
  return Object.assign(new Error('The request did not arrive in time.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
}
