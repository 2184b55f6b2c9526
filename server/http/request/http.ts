import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../../app.ts'

/** The server as routes see it: what a schema says is what a handler gets. */
export type Http = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** The link to a page of the web app, as the caller reaches this server. */
export function pageLink(app: Pick<App, 'config'>, request: FastifyRequest, path: string): string {
  return new URL(path, app.config.publicUrl ?? `${request.protocol}://${request.host}`).href
}

/** How a caller on the same machine names this server. */
export const loopbackHost = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i
