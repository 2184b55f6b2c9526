import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../app.ts'
import type { Http } from './http.ts'

/** Headers of an answer that a script may read. */
const exposed = [
  'ETag',
  'Mcp-Session-Id',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Cache',
  'X-Request-Id',
  'X-Sluice-As-Of',
  'X-Sluice-Query',
  'X-Sluice-Truncated-Source',
  'X-Sluice-Unexpressed',
  'X-Sluice-Version',
  'X-Sluice-Warnings',
].join(', ')
const allowedHeaders =
  'Authorization, Content-Type, Cache-Control, If-None-Match, X-Sluice-Environment, X-Sluice-Project, X-Sluice-Version'
const preflights: Record<string, { methods: string; headers: string }> = {
  '/v1/queries/:query_name': { methods: 'GET, POST', headers: allowedHeaders },
  '/v1/query': { methods: 'GET, POST', headers: allowedHeaders },
  '/mcp': {
    methods: 'GET, POST, DELETE',
    headers: `${allowedHeaders}, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id`,
  },
}
const preflightSeconds = 600

/** Lets a web page read the answer where the project names its origin. Calls carry a key and never a cookie. */
export function allowOrigin(
  app: Pick<App, 'origins'>,
  request: FastifyRequest,
  reply: FastifyReply,
  projectId: string | undefined,
): void {
  const { origin } = request.headers
  if (origin === undefined || reply.sent) return
  void reply.header('vary', 'origin, accept')
  if (projectId === undefined || !app.origins.allows(projectId, origin)) return
  void reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed })
}

/** Whose call it is is not known, so a page of any project may read that its credential is not good. */
export function allowRefusal(
  app: Pick<App, 'origins'>,
  { headers: { origin } }: FastifyRequest,
  reply: FastifyReply,
): void {
  if (origin === undefined) return
  void reply.header('vary', 'origin, accept')
  if (!app.origins.isKnown(origin)) return
  void reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed })
}

/** The preflight request of browsers. It has no key, so all that counts is whether any project knows the origin. */
export function servePreflights(http: Http, app: App): void {
  for (const [path, { methods, headers }] of Object.entries(preflights)) {
    http.options(path, { config: { door: 'open' }, schema: { hide: true } }, async (request, reply) => {
      const { origin } = request.headers
      void reply.headers({ vary: 'origin', 'x-content-type-options': 'nosniff' })
      if (origin !== undefined && app.origins.isKnown(origin)) {
        void reply.headers({
          'access-control-allow-origin': origin,
          'access-control-allow-methods': methods,
          'access-control-allow-headers': headers,
          'access-control-max-age': preflightSeconds,
        })
      }
      return reply.code(204).send()
    })
  }
}
