import type { FastifyRequest } from 'fastify'
import { limitsAnswer, liveness, readiness } from '../../../../api/service.ts'
import type { App } from '../../../app.ts'
import { bounds, fixedLimits, limits, limitVariable, wireName } from '../../../config.ts'
import { Failure } from '../../../failure.ts'
import { headersTooLarge } from '../../answer/answers.ts'
import { findCaller } from '../../request/caller.ts'
import { loopbackHost, type Http } from '../../request/http.ts'
import { asItIs, operations } from '../operations.ts'

const open = { door: 'open' } as const
const loopback = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])
const forwarding = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/** Outside `/v1`: what a load balancer and a metrics collector ask. */
export function serveHealth(http: Http, app: App): void {
  http.get(
    '/healthz',
    {
      config: open,
      schema: {
        tags: ['service'],
        summary: 'Is the process alive',
        security: [],
        response: { 200: liveness, 431: headersTooLarge },
      },
    },
    async () => ({ status: 'ok' as const }),
  )

  http.get(
    '/readyz',
    {
      config: open,
      schema: {
        tags: ['service'],
        summary: 'May calls be sent here',
        security: [],
        response: { 200: readiness, 431: headersTooLarge, 503: readiness },
      },
    },
    async (_request, reply) => {
      const checks = await app.readiness()
      const ready = Object.values(checks).every((check) => check.ok || check.optional === true)
      return reply.code(ready ? 200 : 503).send({ ready, checks })
    },
  )
}

/** In the management scope, because from elsewhere than this machine it needs a management token. */
export function serveMetrics(http: Http, app: App): void {
  http.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    if (!isFromThisMachine(app, request) && (await findCaller(app, request)) === null) {
      throw new Failure('authentication_failed', {
        reason: 'missing',
        message: 'From another machine or through a proxy, /metrics needs a management token.',
      })
    }
    const { contentType, text } = await app.prometheus.render()
    return reply.type(contentType).serializer(String).send(text)
  })
}

/** The rules that Trino's access control reads every second. It can send a key and nothing else, so the key is checked here. */
export function serveTrinoRules(http: Http, app: App): void {
  http.get('/trino/access-rules', { config: open, schema: { hide: true } }, async (request, reply) => {
    const { key } = request.query as { key?: unknown }
    const rules = await app.trino?.accessRules(typeof key === 'string' ? key : '')
    if (rules === undefined) throw new Failure('not_found')
    return reply.type('application/json').serializer(JSON.stringify).send(rules)
  })
}

/**
 * A request through a proxy on this machine has its address too. Where a proxy is configured the address means
 * nothing; else what proxies add gives them away, and a page that was made to resolve to us names another host.
 */
function isFromThisMachine({ config }: Pick<App, 'config'>, { raw, headers }: FastifyRequest): boolean {
  if (config.publicUrl !== undefined || config.trustedProxies.length > 0) return false
  if (forwarding.some((name) => headers[name] !== undefined)) return false
  return loopback.has(raw.socket.remoteAddress ?? '') && loopbackHost.test(headers.host ?? '')
}

export function serveLimits(http: Http, app: App): void {
  operations(http, app, 'service').get(
    '/v1/limits',
    { summary: 'Every limit that a caller can meet', answer: asItIs(limitsAnswer) },
    (app) => {
      const settable = Object.entries(limits).map(([name, limit]) => ({
        name: wireName(name),
        value: app.config.limits[name as keyof typeof limits],
        default: limit.fallback,
        variable: limitVariable(name),
        description: limit.sentence,
      }))
      const fixed = Object.entries({ ...fixedLimits, ...bounds }).map(([name, { value, sentence }]) => ({
        name: wireName(name),
        value: name in bounds ? app.config.limits[name as keyof typeof bounds] : value,
        default: value,
        variable: null,
        description: sentence,
      }))
      const data = [...settable, ...fixed]
      return { limits: Object.fromEntries(data.map(({ name, value }) => [name, value])), data }
    },
  )
}
