import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../../app.ts'
import { ordersUntil, products, shops } from '../../../example/index.ts'
import { Failure } from '../../../failure.ts'
import type { Http } from '../../request/http.ts'

/** The sample API has a name of its own: whoever may call it may call nothing else of this server by it. */
const sampleHost = /^sample\.localhost(:\d+)?$/
const open = { config: { door: 'open', host: 'sample' }, onRequest: refuseElsewhere } as const

/**
 * Must be registered before any route: under the sample's name everything else answers as if it were not there. A hook
 * and not the router's own constraint, which every call of a query would pay for.
 */
export function separateSample(http: Http): void {
  http.addHook('onRequest', (request, _reply, done) => {
    if (!isUnderItsName(request) || request.routeOptions.config.host === 'sample') return done()
    done(new Failure('not_found', { message: 'Only the sample API is here: /sample/shops, /products, /orders.' }))
  })
}

/** Under any other name the sample answers as if it were not there. */
async function refuseElsewhere(request: FastifyRequest): Promise<void> {
  if (isUnderItsName(request)) return
  const message = `There is nothing at ${request.method} ${request.url.split('?', 1)[0]}.`
  throw new Failure('not_found', { message })
}

/** By the header itself: a configuration may send any X-Forwarded-Host along when it makes this server call itself. */
function isUnderItsName({ headers: { host = '' } }: FastifyRequest): boolean {
  return host.startsWith('sample.') && sampleHost.test(host)
}

/** A small shop chain for the example project to connect to: a list, an object with a list, and pages with links. */
export function serveSample(http: Http, app: App): void {
  http.get('/sample/shops', { ...open, schema: { hide: true } }, async () => shops)

  http.get('/sample/products', { ...open, schema: { hide: true } }, async () => ({
    count: products.length,
    items: products,
  }))

  const page = z.strictObject({
    page: z.coerce.number().int().min(1).max(1000).default(1),
    per_page: z.coerce.number().int().min(1).max(1000).default(1000),
  })
  http.get('/sample/orders', { ...open, schema: { hide: true, querystring: page } }, async (request) => {
    const { page: number, per_page: size } = request.query
    const all = ordersUntil(new Date(app.now()))
    const more = number * size < all.length
    return {
      data: all.slice((number - 1) * size, number * size),
      total: all.length,
      next: more ? `http://${request.host}/sample/orders?page=${number + 1}&per_page=${size}` : null,
    }
  })
}
