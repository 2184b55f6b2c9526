import { deployPath, paths } from '../../../browser/paths.ts'
import type { ProjectMap } from '../../../client/wire.ts'

export type Kind = 'source' | 'table' | 'query' | 'environment' | 'caller'
export type Status = ProjectMap['tables'][number]['status']

export type MapNode = {
  id: string
  kind: Kind
  name: string
  status: Status | null
  /** A few words beside the name. */
  about: string
  /** Words to search beside the name. */
  tags: string[]
  /** Its own page. */
  to: string
}

/** From a source to a caller, as far as it goes; what is not part of it is null. */
type Way = [
  source: string | null,
  table: string | null,
  query: string,
  environment: string | null,
  caller: string | null,
]

export type Graph = { columns: Array<{ kind: Kind; nodes: MapNode[] }>; ways: Way[] }

const kinds: Kind[] = ['source', 'table', 'query', 'environment', 'caller']

export function nodeId(kind: Kind, name: string): string {
  return `${kind} ${name}`
}

/** The five columns, ordered so that what belongs together stands at about one height. */
export function drawnFrom(projectId: string, map: ProjectMap): Graph {
  const at = new Map(map.tables.map(({ name }, index) => [name, index]))
  const nodes: Record<Kind, MapNode[]> = {
    source: map.sources.map(({ id, name, status, kind }) => ({
      id: nodeId('source', id),
      kind: 'source',
      name,
      status,
      about: kind === 'model' ? 'model' : kind === 'file' ? 'files' : 'API',
      tags: [],
      to: paths.connection(projectId, id),
    })),
    table: map.tables.map(({ name, status, rows, tags }) => ({
      id: nodeId('table', name),
      kind: 'table',
      name,
      status,
      about: rows === null ? 'no rows yet' : `${rows.toLocaleString('en')} rows`,
      tags,
      to: paths.table(projectId, name),
    })),
    query: map.queries
      .toSorted((one, other) => meanOf(readsOf(one), at) - meanOf(readsOf(other), at))
      .map((query) => ({
        id: nodeId('query', query.name),
        kind: 'query',
        name: query.name,
        status: query.status,
        about: query.deployments.length === 0 ? '' : sayCalls(sumOf(query.deployments)),
        tags: query.tags,
        to: paths.query(projectId, query.name),
      })),
    environment: map.environments.map(({ name, status, calls }) => ({
      id: nodeId('environment', name),
      kind: 'environment',
      name,
      status: status === 'new' ? null : status,
      about: status === 'new' ? 'nothing deployed' : sayCalls(calls),
      tags: [],
      to: deployPath(projectId, 'endpoints', name),
    })),
    caller: map.callers.map(({ key_id: keyId, name, calls }) => ({
      id: nodeId('caller', keyId),
      kind: 'caller',
      name: name ?? keyId,
      status: null,
      about: sayCalls(calls),
      tags: [],
      to: deployPath(projectId, `keys/${keyId}`),
    })),
  }
  return { columns: kinds.map((kind) => ({ kind, nodes: nodes[kind] })), ways: waysOf(map) }
}

export function readsOf(query: ProjectMap['queries'][number]): string[] {
  return [...new Set([...query.reads, ...query.deployments.flatMap(({ reads }) => reads)])]
}

export function sayCalls(calls: number): string {
  return `${calls.toLocaleString('en')} ${calls === 1 ? 'call' : 'calls'} a day`
}

function sumOf(deployments: Array<{ calls: number }>): number {
  return deployments.reduce((sum, { calls }) => sum + calls, 0)
}

function meanOf(tables: string[], at: ReadonlyMap<string, number>): number {
  const known = tables.flatMap((table) => at.get(table) ?? [])
  return known.length === 0 ? Infinity : known.reduce((sum, each) => sum + each, 0) / known.length
}

function waysOf(map: ProjectMap): Way[] {
  const sourceOf = new Map(map.sources.map(({ id, table }) => [table, nodeId('source', id)]))
  const known = new Set(map.tables.map(({ name }) => name))
  const callsOf = Map.groupBy(map.calls, ({ query, environment }) => `${query}\n${environment}`)
  return map.queries.flatMap((query) => {
    const id = nodeId('query', query.name)
    const from = (tables: string[]): Array<[string | null, string | null]> => {
      const there = tables.filter((table) => known.has(table))
      return there.length === 0
        ? [[null, null]]
        : there.map((table) => [sourceOf.get(table) ?? null, nodeId('table', table)])
    }
    const live = query.deployments.flatMap(({ environment, reads }) => {
      const keys = (callsOf.get(`${query.name}\n${environment}`) ?? []).map(({ key_id: key }) => nodeId('caller', key))
      const to: Array<[string, string | null]> = [
        [nodeId('environment', environment), null],
        ...keys.map((key): [string, string | null] => [nodeId('environment', environment), key]),
      ]
      return from(reads).flatMap(([source, table]) => to.map(([place, key]): Way => [source, table, id, place, key]))
    })
    const draft = from(query.reads).map(([source, table]): Way => [source, table, id, null, null])
    return [...live, ...draft]
  })
}

/** The tables that a table is built from (`under`), and those that are built from it, by way of others, too. */
export function builtTables({ sources }: Pick<ProjectMap, 'sources'>) {
  const reads = new Map(sources.map((source) => [source.table, source.reads]))
  const readBy = new Map<string, string[]>()
  for (const source of sources)
    for (const name of source.reads) readBy.set(name, [...(readBy.get(name) ?? []), source.table])
  const reached = (next: ReadonlyMap<string, string[]>) => (table: string) => {
    const found = new Set(next.get(table))
    for (const each of found) for (const more of next.get(each) ?? []) found.add(more)
    return [...found]
  }
  return { under: reached(reads), over: reached(readBy) }
}

/** `isBuilt`: it leads from a table back to a model that is built from it. */
export type Edge = { from: string; to: string; isBuilt?: true }

/** The lines between two columns, each once. */
export function edgesOf(map: ProjectMap, ways: Way[]): Edge[] {
  const lines = new Map<string, Edge>()
  const add = (from: string | null, to: string | null, more: Pick<Edge, 'isBuilt'> = {}): void => {
    if (from !== null && to !== null) lines.set(`${from}\n${to}`, { from, to, ...more })
  }
  for (const { id, table, reads } of map.sources) {
    for (const name of reads) add(nodeId('source', id), nodeId('table', name), { isBuilt: true })
    add(nodeId('source', id), nodeId('table', table))
  }
  for (const way of ways) for (let at = 0; at < way.length - 1; at += 1) add(way[at] ?? null, way[at + 1] ?? null)
  return [...lines.values()]
}

/** Everything up and down the stream of some nodes, they themselves included. */
export function connectedTo(map: ProjectMap, ways: Way[], ids: ReadonlySet<string>): Set<string> {
  const { under, over } = builtTables(map)
  const sourceOf = new Map(map.sources.map(({ id, table }) => [table, nodeId('source', id)]))
  const found = new Set(ids)
  const addTables = (names: string[]): void => {
    for (const name of names)
      for (const id of [nodeId('table', name), sourceOf.get(name)]) if (id !== undefined) found.add(id)
  }
  const below = new Set<string>()
  for (const { id, table } of map.sources) {
    if (!ids.has(nodeId('source', id)) && !ids.has(nodeId('table', table))) continue
    // A table that nothing reads has its source all the same.
    addTables([table, ...under(table), ...over(table)])
    for (const name of over(table)) below.add(nodeId('table', name))
  }
  const tableOf = new Map(map.tables.map(({ name }) => [nodeId('table', name), name]))
  for (const way of ways) {
    const isOn = way.some((id) => id !== null && ids.has(id))
    if (!isOn && !below.has(way[1] ?? '')) continue
    for (const id of way) if (id !== null) found.add(id)
    const table = tableOf.get(way[1] ?? '')
    if (isOn && table !== undefined) addTables(under(table))
  }
  return found
}
