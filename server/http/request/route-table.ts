import type { FastifyInstance } from 'fastify'

/** Which methods a path has, so that a wrong method is told apart from a wrong path. */
export type RouteTable = { methodsOf(url: string): string[] }

/** Must be opened before the first route is registered. */
export function openRouteTable(http: Pick<FastifyInstance, 'addHook'>): RouteTable {
  const routes: Array<{ pattern: RegExp; methods: string[] }> = []
  http.addHook('onRoute', ({ url, method, config }) => {
    // A wildcard serves files and has no wrong methods to speak of; under another host a path is not there at all.
    if (url.includes('*') || config?.host !== undefined) return
    const pattern = new RegExp(`^${url.replaceAll('.', String.raw`\.`).replaceAll(/:[a-z_]+/g, '[^/]+')}/?$`)
    routes.push({ pattern, methods: [method].flat() })
  })
  return {
    methodsOf(url) {
      const path = url.split('?', 1)[0] ?? ''
      const methods = routes.filter((route) => route.pattern.test(path)).flatMap((route) => route.methods)
      return [...new Set(methods)].sort()
    },
  }
}
