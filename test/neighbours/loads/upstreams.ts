import type { Installation } from '../../harness/installation.ts'
import { longText, repeated, type Load } from './load.ts'

/** External APIs that answer as much as is read of them, documents that are imported, files that are sent. */

const ordinary = (bytes: number): string =>
  repeated('{"id":1234,"name":"Ada Lovelace","city":"London","at":"2026-01-01T00:00:00Z","price":12.345678}', bytes)
const wideObject = (keys: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: keys }, (_, at) => [`key_${at}`, at])))
const stars = (count: number): string => Array.from({ length: count }, () => '*').join('.')

/** A test of a connection that names no project. */
const tested = (name: string, answer: () => string, config: object, kind: Load['kind'] = 'hostile'): Load => ({
  name: `test-connection, ${name}`,
  kind,
  route: 'POST /v1/http/test-connection',
  before: ({ installation: { source } }) => source.answer(answer()),
  body: ({ url }) => ({ url, method: 'GET', ...config }),
  words: '"data"',
})

/** An execute whose jobs are awaited. */
const executed = (name: string, answer: () => string, config: object, more: object = {}): Load => ({
  name: `execute-request, ${name}`,
  kind: 'ordinary',
  route: 'POST /v1/http/execute-request',
  before: ({ installation: { source } }) => source.answer(answer()),
  body: ({ url, project_id }) => {
    const table = name
      .replaceAll(/[^a-z]+/gi, '_')
      .slice(0, 40)
      .toLowerCase()
    const request = { url, method: 'GET', ...config }
    const spec = { name: table, id: 'http_api', config: request }
    return { project_id, datasource_id: `ds_${project_id}_${table}`, connect_spec: spec, ...request, ...more }
  },
  after: async ({ installation }, text) => {
    const { jobs } = JSON.parse(text) as { jobs: Array<{ id: string }> }
    for (const { id } of jobs) await jobDone(installation, id)
  },
})

export async function jobDone({ manage }: Installation, id: string): Promise<void> {
  for (;;) {
    const { status } = await manage('GET', `/v1/jobs/${id}`)
    if (['succeeded', 'failed', 'cancelled'].includes(String(status))) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const imported = (name: string, text: () => string, status: Load['status'] = 200): Load => ({
  name: `import of ${name}`,
  kind: status === 200 ? 'ordinary' : 'hostile',
  route: 'POST /v1/http/import',
  body: () => ({ text: text() }),
  status,
})
const paths = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `/things/${at}`,
      { get: { operationId: `get_${at}`, parameters: [{ name: 'page', in: 'query', schema: { type: 'integer' } }] } },
    ]),
  )
const openapi = (more: object) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'x' },
    servers: [{ url: 'https://api.example' }],
    paths: paths(1_000),
    ...more,
  })
const curl = (name: string, command: string, status: Load['status'] = 200): Load => ({
  name: `import of a cURL command of ${name}`,
  kind: 'hostile',
  route: 'POST /v1/http/import-curl',
  body: { command },
  status,
})

export const upstreamLoads: Load[] = [
  tested('3 MB of numbers, *.*', () => repeated('1', 3_000_000), { responsePathExtractor: '*.*' }),
  tested('9 MB of 1e400, 500 stars, detect', () => repeated('1e400', 9_000_000), {
    responsePathExtractor: stars(500),
    detect: true,
  }),
  tested('9 MB of ordinary rows, detect', () => ordinary(9_000_000), { detect: true }, 'ordinary'),
  tested('6 MB of 20,000 keys', () => repeated(wideObject(20_000), 6_000_000), { detect: true }),
  tested('9 MB of {}', () => repeated('{}', 9_000_000), { detect: true }),
  tested('9 MB of one text', () => JSON.stringify(['x'.repeat(9_000_000)]), { detect: true }),
  tested('250 kB of numbers, *.*', () => repeated('1', 250_000), { responsePathExtractor: '*.*' }),
  {
    ...tested('15,000 blanks in its Link header', () => '[]', { detect: true }),
    before: ({ installation: { source } }) => {
      const link = `<https://a.example/2>; rel=${' '.repeat(15_000)}""x`
      source.answer('[{"id":1}]', { 'content-type': 'application/json', link })
    },
  },
  {
    ...tested('a media type of 900,000 letters', () => '[]', {}),
    body: ({ url }) => ({
      url,
      method: 'POST',
      body: { type: 'raw', content: 'x', content_type: `text/${'a'.repeat(900_000)}\n` },
    }),
    status: 400,
    words: 'media type',
  },
  tested('60 kB of {}, 500 stars, detect', () => repeated('{}', 60_000), {
    responsePathExtractor: stars(500),
    detect: true,
  }),
  executed(
    'a page of 9 MB with a cursor',
    () => `{"items":${ordinary(9_000_000)},"next":null}`,
    { responsePathExtractor: 'items' },
    {
      pagination: { type: 'cursor', path: 'next', parameter: 'after' },
    },
  ),
  executed('100,000 rows and their table', () => ordinary(9_500_000), {}),
  executed('200 rows of 5,000 columns', () => repeated(wideObject(5_000), 12_000_000), {}),
  imported('an OpenAPI document of 1,000 operations', () => openapi({})),
  imported('an OpenAPI document of 9 MB', () => openapi({ 'x-more': 'a'.repeat(9_000_000) })),
  imported('9 MB of {}', () => openapi({ 'x-more': Array.from({ length: 3_000_000 }, () => ({})) })),
  imported('YAML of 9 MB', () => longText(9_000_000, (at) => `- a: ${at}\n`), 'refused'),
  curl('100,000 letters', `curl https://api.example ${"-H 'a: b' ".repeat(9_900)}`),
  curl('48,000 backslashes', `curl "https://api.example/${'\\\\'.repeat(24_000)}"`, 400),
  {
    name: 'a file of 30 MB, sent',
    kind: 'ordinary',
    route: 'POST /v1/projects/:project_id/datasources/:file_source_id/files',
    before: async ({ installation: { manage }, project: { projectId }, ids }) => {
      const made = await manage('POST', `/v1/projects/${projectId}/datasources`, {
        name: `file ${Date.now()}`,
        kind: 'file',
      })
      ids['file_source_id'] = String(made['id'])
    },
    headers: { 'content-type': 'text/csv' },
    body: () => `id,name\n${longText(30_000_000, (at) => `${at},${'x'.repeat(90)}\n`)}`,
    status: 201,
  },
]
