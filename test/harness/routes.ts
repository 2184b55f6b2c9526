import type { Http } from '../../server/http/index.ts'

/** Every route of a server as `METHOD /path/:parameter`, read from its router. What answers HEAD answers GET. */
export function routesOf(http: Pick<Http, 'printRoutes'>): string[] {
  const routes: string[] = []
  const trail: string[] = []
  for (const line of http.printRoutes({ commonPrefix: false }).split('\n')) {
    const found = /^((?:[│ ] {3})*)[├└]── (.*?)(?: \(([A-Z, ]+)\))?$/.exec(line)
    if (found === null) continue
    const [, indent = '', segment = '', methods = ''] = found
    const depth = indent.length / 4
    trail.splice(depth, Infinity, segment)
    for (const method of methods.split(', ').filter((each) => each !== '' && each !== 'HEAD')) {
      routes.push(`${method} ${trail.join('')}`)
    }
  }
  return routes.toSorted()
}
