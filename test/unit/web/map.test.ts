import { expect, test } from 'vitest'
import { connectedTo, drawnFrom, edgesOf } from '../../../web/pages/build/map/graph.ts'
import { impactOf, sayImpact } from '../../../web/pages/build/map/impact.ts'
import type { ProjectMap } from '../../../web/client/wire.ts'

const at = '2026-11-16T10:00:00.000Z'
const source = (id: string, table: string) => ({
  id,
  name: `${table} API`,
  kind: 'http_api' as const,
  table,
  reads: [] as string[],
  status: 'fresh' as const,
  message: null,
  next_refresh_at: null,
})
const table = (name: string) => ({ name, status: 'fresh' as const, rows: 10, as_of: at, tags: [] })
const deployed = (environment: string, reads: string[], calls = 0) => ({
  environment,
  version: 1,
  reads,
  calls,
  failed: 0,
})

const map: ProjectMap = {
  sources: [source('ds_1', 'orders'), source('ds_2', 'shops'), source('ds_3', 'unread')],
  tables: [table('orders'), table('shops'), table('unread')],
  queries: [
    {
      name: 'by_shop',
      status: 'fresh',
      tags: [],
      reads: ['orders', 'shops'],
      deployments: [deployed('production', ['orders', 'shops'], 5)],
    },
    {
      name: 'shops_only',
      status: 'fresh',
      tags: [],
      reads: ['shops'],
      deployments: [deployed('production', ['shops'], 2)],
    },
    { name: 'draft', status: 'draft', tags: [], reads: ['orders'], deployments: [] },
  ],
  environments: [{ name: 'production', status: 'fresh', calls: 7 }],
  callers: [
    { key_id: 'k1', name: 'till', last_called_at: at, calls: 5 },
    { key_id: 'k2', name: 'site', last_called_at: at, calls: 2 },
  ],
  calls: [
    { query: 'by_shop', environment: 'production', key_id: 'k1', last_called_at: at, calls: 5 },
    { query: 'shops_only', environment: 'production', key_id: 'k2', last_called_at: at, calls: 2 },
  ],
  left_out: { queries: 0, callers: 0 },
}

const graph = drawnFrom('p', map)
const node = (id: string) => {
  const found = graph.columns.flatMap(({ nodes }) => nodes).find((each) => each.id === id)
  if (found === undefined) throw new Error(`There is no ${id}.`)
  return found
}

test('what is connected is what data and calls really pass through', () => {
  const of = (id: string) => [...connectedTo(map, graph.ways, new Set([id]))].toSorted()
  // Both queries answer in production, yet nobody who reads orders is the caller of the other one.
  expect(of('table orders')).toEqual([
    'caller k1',
    'environment production',
    'query by_shop',
    'query draft',
    'source ds_1',
    'table orders',
  ])
  expect(of('caller k2')).toEqual([
    'caller k2',
    'environment production',
    'query shops_only',
    'source ds_2',
    'table shops',
  ])
  expect(of('source ds_3')).toEqual(['source ds_3', 'table unread'])
  expect(of('query draft')).toEqual(['query draft', 'source ds_1', 'table orders'])
})

test('each line is drawn once, and a table that nothing reads keeps its source', () => {
  const lines = edgesOf(map, graph.ways).map(({ from, to }) => `${from} > ${to}`)
  expect(new Set(lines).size).toBe(lines.length)
  expect(lines).toContain('source ds_3 > table unread')
  expect(lines).toContain('environment production > caller k2')
  expect(lines.filter((line) => line.includes('draft'))).toEqual(['table orders > query draft'])
})

test('a model is read as its tables are: by way of it they reach queries and callers', () => {
  const model = (name: string, reads: string[]) => ({ ...source(`ds_${name}`, name), kind: 'model' as const, reads })
  const built: ProjectMap = {
    ...map,
    sources: [
      ...map.sources,
      model('sales', ['orders', 'shops']),
      model('best', ['sales']),
      model('alone', ['unread']),
    ],
    tables: [...map.tables, table('sales'), table('best'), table('alone')],
    queries: [
      {
        name: 'top',
        status: 'fresh',
        tags: [],
        reads: ['best'],
        deployments: [deployed('production', ['best'], 3)],
      },
    ],
    calls: [{ query: 'top', environment: 'production', key_id: 'k1', last_called_at: at, calls: 3 }],
  }
  const { columns, ways } = drawnFrom('p', built)
  const nodes = columns.flatMap((column) => column.nodes)
  const impact = (id: string) => {
    const found = nodes.find((each) => each.id === id) ?? node(id)
    return { ...impactOf(built, found), says: sayImpact(found, impactOf(built, found)) }
  }
  const of = (id: string) => connectedTo(built, ways, new Set([id]))
  const orders = ['table orders', 'source ds_1']
  const models = ['source ds_sales', 'table sales', 'source ds_best', 'table best']
  const callers = ['query top', 'environment production', 'caller k1']
  expect(of('table orders')).toEqual(new Set([...orders, ...models, ...callers]))
  expect(of('query top')).toEqual(new Set([...orders, 'table shops', 'source ds_2', ...models, ...callers]))
  expect(of('table unread')).toEqual(new Set(['table unread', 'source ds_3', 'table alone', 'source ds_alone']))
  expect(edgesOf(built, ways)).toContainEqual({ from: 'source ds_sales', to: 'table orders', isBuilt: true })
  expect(impact('source ds_1')).toMatchObject({ models: ['best', 'sales'], queries: ['top'], calls: 3 })
  expect(impact('table orders').says).toContain('1 endpoint of 1 query would notice: 3 calls')
  expect(impact('query top').sources.map(({ id }) => id)).toEqual(['ds_1', 'ds_2', 'ds_sales', 'ds_best'])
  expect(impact('table unread').says).toContain('1 model is built from it')
})

test('the impact is said in words', () => {
  const say = (id: string) => sayImpact(node(id), impactOf(map, node(id)))
  expect(say('table orders')).toBe(
    'If it changes or stops, 1 endpoint of 2 queries would notice: 5 calls in the last day, 1 key called in 30 days.',
  )
  expect(say('source ds_2')).toContain('2 endpoints of 2 queries would notice: 7 calls in the last day, 2 keys')
  expect(say('table unread')).toBe('No query reads it: nobody would notice a change.')
  expect(say('query draft')).toBe('It is deployed nowhere: no caller would notice a change.')
  expect(say('environment production')).toBe(
    '2 endpoints answer in it: 7 calls in the last day, 2 keys called in 30 days.',
  )
  expect(say('caller k2')).toBe('It called 1 endpoint in 30 days, with 2 calls in the last day.')
  expect(impactOf(map, node('caller k2')).tables).toEqual(['shops'])
})

test('a project of 200 tables and 500 queries is connected in no time', () => {
  const names = Array.from({ length: 200 }, (_, index) => `table_${index}`)
  const large: ProjectMap = {
    ...map,
    sources: names.map((name) => source(`ds_${name}`, name)),
    tables: names.map(table),
    queries: Array.from({ length: 500 }, (_, index) => {
      const reads = [0, 7, 31].map((step) => `table_${(index + step) % 200}`)
      return {
        name: `query_${index}`,
        status: 'fresh',
        tags: [],
        reads,
        deployments: [deployed('production', reads, 1)],
      }
    }),
    calls: Array.from({ length: 5_000 }, (_, index) => ({
      query: `query_${index % 500}`,
      environment: 'production',
      key_id: `k${index % 50}`,
      last_called_at: at,
      calls: 1,
    })),
    callers: Array.from({ length: 50 }, (_, index) => ({
      key_id: `k${index}`,
      name: null,
      last_called_at: at,
      calls: 9,
    })),
  }
  const drawn = drawnFrom('p', large)
  expect(drawn.columns.map(({ nodes }) => nodes.length)).toEqual([200, 200, 500, 1, 50])
  expect(connectedTo(large, drawn.ways, new Set(['table table_0'])).has('query query_0')).toBe(true)
  expect(edgesOf(large, drawn.ways).length).toBe(200 + 1_500 + 500 + 50)
})
