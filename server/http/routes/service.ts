import { limitsAnswer, liveness, readiness } from '../../../api/service.ts'
import type { App } from '../../app.ts'
import { limits, limitVariable, wireName } from '../../config.ts'
import { Failure } from '../../failure.ts'
import { refusals } from '../answers.ts'
import { callerOf, findCaller } from '../caller.ts'
import type { Http } from '../http.ts'

const open = { door: 'open' } as const
const loopback = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])

/** Outside `/v1`: what a load balancer and a metrics collector ask. */
export function serveHealth(http: Http, app: App): void {
  http.get(
    '/healthz',
    {
      config: open,
      schema: { tags: ['service'], summary: 'Is the process alive', security: [], response: { 200: liveness } },
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
        response: { 200: readiness, 503: readiness },
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
  http.get('/metrics', { config: open, schema: { hide: true } }, async (request, reply) => {
    if (!loopback.has(request.ip) && (await findCaller(app, request)) === null) {
      throw new Failure('authentication_failed', {
        reason: 'missing',
        message: 'From another machine, /metrics needs a management token.',
      })
    }
    const { contentType, text } = await app.prometheus.render()
    return reply.type(contentType).serializer(String).send(text)
  })
}

export function serveLimits(http: Http, app: App): void {
  http.get(
    '/v1/limits',
    {
      schema: {
        tags: ['service'],
        summary: 'Every limit as configured',
        response: { 200: limitsAnswer, ...refusals },
      },
    },
    async (request) => {
      callerOf(request)
      const data = Object.entries(limits).map(([name, limit]) => ({
        name: wireName(name),
        value: app.config.limits[name as keyof typeof limits],
        default: limit.fallback,
        variable: limitVariable(name),
        description: limit.sentence,
      }))
      return { limits: Object.fromEntries(data.map(({ name, value }) => [name, value])), data }
    },
  )
}
