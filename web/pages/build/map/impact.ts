import type { ProjectMap } from '../../../client/wire.ts'
import { builtTables, nodeId, readsOf, type MapNode } from './graph.ts'

/** Things that depend on something, by name, and things it depends on. */
export type Impact = {
  sources: Array<{ id: string; name: string }>
  tables: string[]
  /** Models that are built from it. */
  models: string[]
  queries: string[]
  endpoints: Array<{ query: string; environment: string; version: number; calls: number }>
  keys: Array<{ id: string; name: string; calls: number }>
  /** Calls of the endpoints, in a day. */
  calls: number
}

export function impactOf(map: ProjectMap, node: MapNode): Impact {
  const is = (kind: MapNode['kind'], name: string): boolean => node.id === nodeId(kind, name)
  const { under, over } = builtTables(map)
  const isTable = node.kind === 'table' || node.kind === 'source'
  const own = map.sources.find(({ id }) => is('source', id))?.table ?? node.name
  const models = isTable ? over(own).toSorted() : []
  const read = new Set(isTable ? [own, ...models] : [])
  const isRead = (tables: string[]): boolean => tables.some((table) => read.has(table))
  const calledBy = (query: string, environment: string): boolean =>
    map.calls.some((call) => call.query === query && call.environment === environment && is('caller', call.key_id))
  const endpoints = map.queries.flatMap(({ name: query, deployments }) =>
    deployments
      .filter(
        ({ environment, reads }) =>
          is('query', query) || is('environment', environment) || isRead(reads) || calledBy(query, environment),
      )
      .map(({ environment, version, calls }) => ({ query, environment, version, calls })),
  )
  const queries = map.queries.filter(
    (query) =>
      is('query', query.name) || isRead(readsOf(query)) || endpoints.some((endpoint) => endpoint.query === query.name),
  )
  const calls = map.calls.filter(
    (call) =>
      (node.kind !== 'caller' || is('caller', call.key_id)) &&
      endpoints.some(({ query, environment }) => call.query === query && call.environment === environment),
  )
  const tables = new Set(isTable ? [own] : queries.flatMap(readsOf))
  const origins = new Set([...tables].flatMap((table) => [table, ...under(table)]))
  return {
    sources: map.sources.filter(({ table }) => origins.has(table)).map(({ id, name }) => ({ id, name })),
    tables: [...tables].toSorted(),
    models,
    queries: queries.map(({ name }) => name),
    endpoints,
    keys: [...Map.groupBy(calls, ({ key_id: id }) => id)].map(([id, own]) => ({
      id,
      name: map.callers.find((caller) => caller.key_id === id)?.name ?? id,
      calls: own.reduce((sum, each) => sum + each.calls, 0),
    })),
    calls:
      node.kind === 'caller'
        ? calls.reduce((sum, each) => sum + each.calls, 0)
        : endpoints.reduce((sum, each) => sum + each.calls, 0),
  }
}

/** The same as a sentence. */
export function sayImpact(node: MapNode, { models, queries, endpoints, keys, calls }: Impact): string {
  const many = (count: number, one: string, more = `${one}s`): string =>
    count === 0 ? `no ${one}` : `${count.toLocaleString('en')} ${count === 1 ? one : more}`
  const called = `${calls.toLocaleString('en')} ${calls === 1 ? 'call' : 'calls'} in the last day`
  const by = keys.length === 0 ? 'no key has called in 30 days' : `${many(keys.length, 'key')} called in 30 days`
  switch (node.kind) {
    case 'source':
    case 'table':
      if (queries.length === 0) {
        const none = 'no caller would notice a change.'
        return models.length === 0
          ? 'No query reads it: nobody would notice a change.'
          : `${capital(many(models.length, 'model'))} ${models.length === 1 ? 'is' : 'are'} built from it, and no query reads them: ${none}`
      }
      return endpoints.length === 0
        ? `${capital(many(queries.length, 'query', 'queries'))} read it, and none of them is deployed: no caller would notice a change.`
        : `If it changes or stops, ${many(endpoints.length, 'endpoint')} of ${many(queries.length, 'query', 'queries')} would notice: ${called}, ${by}.`
    case 'query':
      return endpoints.length === 0
        ? 'It is deployed nowhere: no caller would notice a change.'
        : `It answers at ${many(endpoints.length, 'endpoint')}: ${called}, ${by}.`
    case 'environment':
      return endpoints.length === 0
        ? 'Nothing is deployed in it.'
        : `${capital(many(endpoints.length, 'endpoint'))} ${endpoints.length === 1 ? 'answers' : 'answer'} in it: ${called}, ${by}.`
    case 'caller':
      return `It called ${many(endpoints.length, 'endpoint')} in 30 days, with ${called}.`
    default:
      return ''
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
