import { setTimeout as wait } from 'node:timers/promises'
import { openPool } from '../../harness/database.ts'
import type { MeasuredStage } from '../measured-stage.ts'
import { fatProject } from './given.ts'
import type { Load } from './load.ts'

/** Short requests that stand for long work or a long answer, and lists of few entries that are each as long as may be. */

const project = '/v1/projects/:project_id'
const times = <Item>(length: number, item: (at: number) => Item): Item[] => Array.from({ length }, (_, at) => item(at))
const nested = times(24, (at) => at).reduce<unknown>((inside) => [inside], [])

const imported = (name: string, document: object, more: Partial<Load> = {}): Load => ({
  name: `import of ${name}`,
  kind: 'hostile',
  route: 'POST /v1/http/import',
  body: () => ({ text: JSON.stringify(document) }),
  status: 'answered',
  ...more,
})
const openapi = (paths: object, more: object = {}) => ({
  openapi: '3.1.0',
  info: { title: 'x' },
  servers: [{ url: 'https://api.example' }],
  paths,
  ...more,
})
const longExample = { content: { 'application/json': { schema: {}, example: { a: times(3_000_000, () => 1) } } } }

const imports: Load[] = [
  imported(
    '2,000 paths that share one long summary',
    openapi(Object.fromEntries(times(2_000, (at) => [`/t/${at}`, { $ref: '#/x' }])), {
      x: { get: { summary: 's'.repeat(100_000) } },
    }),
  ),
  imported('2,000 requests whose address is one long variable', {
    item: times(2_000, (at) => ({ name: `n${at}`, request: '{{v}}' })),
    variable: [{ key: 'v', value: 'v'.repeat(100_000) }],
  }),
  imported('an operation with a body of 3 million numbers', openapi({ '/a': { post: { requestBody: longExample } } }), {
    body: () => ({
      text: JSON.stringify(openapi({ '/a': { post: { requestBody: longExample } } })),
      operation: 'POST /a',
    }),
  }),
]

/** A model whose rows hold lists of as many numbers as an answer of an API has. */
async function longCells({ installation: { manage }, project: { projectId }, ids }: MeasuredStage): Promise<void> {
  const path = `/v1/projects/${projectId}/models`
  await manage('POST', path, { name: 'long_cells', sql: cellsSql(1) })
  ids['model_name'] = 'long_cells'
  while ((await manage('GET', `${path}/long_cells`))['row_count'] === null) await wait(100)
}
const cellsSql = (more: number): string =>
  `SELECT id, [x + id + ${more} FOR x IN range(60000)] AS n FROM (SELECT range AS id FROM range(20), (SELECT 1 FROM orders LIMIT 1))`

/** Connections and APIs that are as many bytes together as they may be, and cases that are each. */
const longPart = 'r"'.repeat(200_000)
const [manyConnections, manyApis, manyCases] = [12, 11, 200]
async function longParts({ installation: { manage, project: make }, ids }: MeasuredStage): Promise<void> {
  const { projectId } = await make({ which: { sql: 'SELECT id FROM orders' } })
  ids['long_id'] = projectId
  const path = `/v1/projects/${projectId}`
  await manage('POST', `${path}/apis`, { name: 'shared', config: { url: 'https://shared.example' } })
  for (let at = 0; at < manyConnections; at += 1) {
    await manage('POST', `${path}/datasources`, {
      name: `long ${at}`,
      kind: 'http_api',
      config: { api: 'shared', url: `/x/${at}`, method: 'POST', body: { type: 'raw', content: longPart } },
    })
  }
  for (let at = 0; at < manyApis; at += 1) {
    await manage('POST', `${path}/apis`, {
      name: `long_${at}`,
      config: {
        url: 'https://api.example',
        headers: Object.fromEntries(times(100, (nr) => [`x-${nr}`, 'h'.repeat(8_000)])),
      },
    })
  }
  for (let at = 0; at < manyCases; at += 1) {
    await manage('POST', `${path}/evaluations`, {
      question: `which ${at}`,
      expected_query: 'which',
      expected_parameters: { id: 'i'.repeat(8_000) },
    })
  }
}
/** Questions that nobody could answer, each of its own words, nearest to a query of 500 long examples. */
async function manyUnanswered(stage: MeasuredStage): Promise<void> {
  await stage.once(fatProject)
  const id = stage.ids['fat_id']
  const path = `/v1/projects/${id}`
  await stage.installation.manage('POST', `${path}/releases`, {
    environment: 'production',
    queries: [{ name: 'fat_1' }],
    force: true,
  })
  const pool = openPool(stage.database)
  try {
    await pool.query(
      `insert into questions (id, project_id, environment, at, text, outcome, query)
       select 'qst_' || lpad(at::text, 26, '0'), $1, 'production', now(),
         'how many ' || md5(at::text) || ' ' || md5((at * 7)::text) || ' are there of ' || md5((at * 13)::text), 'no_match', 'fat_1'
       from generate_series(1, 500) at`,
      [id],
    )
  } finally {
    await pool.end()
  }
}

/** A tool to build with: it calls operations whose answers are as long as somebody made what they show. */
const building = (name: string, tool: string, given: object, more: Partial<Load> = {}): Load => ({
  name,
  kind: 'hostile',
  route: 'POST /mcp/build',
  search: ({ fat_id: id }) => `?project_id=${id}`,
  given: [fatProject],
  headers: { accept: 'application/json, text/event-stream' },
  body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: given } },
  ...more,
})

const buildTools: Load[] = [
  building('a list of tables beside 30 MB of drafts, for a model', 'list_tables', {}, { words: 'too large' }),
  building(
    'a draft of 500 long examples, previewed for a model',
    'preview_query',
    { name: 'fat_1' },
    { words: 'fat_' },
  ),
  building(
    'rows of 60 MB, for a model',
    'look_at_rows',
    { sql: "SELECT repeat('x', 1000000) || range AS a FROM range(50)", rows: 50 },
    { words: 'too large for a model' },
  ),
]

const long = (name: string, route: string, more: Partial<Load> = {}): Load => ({
  name,
  kind: 'ordinary',
  route: route.replace(':project_id', ':long_id'),
  given: [longParts],
  ...more,
})

export const amplifiedLoads: Load[] = [
  ...imports,
  ...buildTools,
  {
    name: 'a test that expects lists of 25 levels',
    kind: 'hostile',
    route: `POST ${project}/tests/run`,
    body: { tests: [{ name: 'nested', query: 'order_count', expect: [{ orders: nested }] }] },
    words: '"failed":1',
  },
  {
    name: 'a model of lists of 60,000 numbers, compared',
    kind: 'hostile',
    route: `POST ${project}/models/:model_name/compare`,
    given: [longCells],
    body: { sql: cellsSql(2), key: ['id'] },
    words: '"changed":20',
  },
  {
    name: '500 unanswered questions near a query of 500 long examples',
    kind: 'hostile',
    route: 'GET /v1/projects/:fat_id/questions/unanswered',
    given: [manyUnanswered],
    search: '?limit=200',
    bytes: 10_000,
  },
  long('12 connections of 600 kB, a page of them', `GET ${project}/datasources`, { search: '?limit=200' }),
  long('11 APIs of 800 kB, a page of them', `GET ${project}/apis`, { search: '?limit=200' }),
  long('an API that is one too many beside these', `POST ${project}/apis`, {
    status: 409,
    words: 'bytes together',
    body: { name: 'last', config: { url: 'https://api.example', headers: { 'x-long': 'h'.repeat(900_000) } } },
  }),
  long('200 cases of 8 kB, a page of them', `GET ${project}/evaluations`, { search: '?limit=200' }),
  long('the definition of parts of 600 kB, as many as may be', `GET ${project}/definition`),
  long('a variable, deleted beside 12 connections of 600 kB', `DELETE ${project}/variables/:variable_id`, {
    before: async ({ installation: { manage }, ids }) => {
      const path = `/v1/projects/${ids['long_id']}/variables`
      ids['variable_id'] = String((await manage('POST', path, { name: 'unused', value: 'x' }))['id'])
    },
    status: 204,
  }),
  long('an API of 12 connections of 600 kB, which goes elsewhere', `PATCH ${project}/apis/:api_id`, {
    status: 'answered',
    body: { config: { url: 'https://other.example' } },
    before: async ({ installation: { manage }, ids }) => {
      const { data } = (await manage('GET', `/v1/projects/${ids['long_id']}/apis?limit=200`)) as {
        data: Array<{ id: string; name: string }>
      }
      ids['api_id'] = data.find(({ name }) => name === 'shared')?.id ?? 'none'
    },
  }),
]
