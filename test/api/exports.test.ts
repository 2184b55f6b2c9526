import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { makeTable } from '../harness/incremental.ts'
import { openSource, type Source } from '../harness/source.ts'

let t: TestApp
/** The API, and the host on which it puts its files. */
let api: Source
let files: Source
let projectId: string
beforeAll(async () => {
  ;[api, files] = [await openSource(), await openSource()]
  t = await openTestApp(
    { SLUICE_OUTBOUND_ALLOW: '127.0.0.1', SLUICE_EXECUTE_TIMEOUT_MS: '3000' },
    { bounds: { outboundTries: 1 } },
  )
  await t.app.jobs.start()
})
afterAll(async () => {
  await t.close()
  await Promise.all([api.close(), files.close()])
})

const rows = [
  { id: 1, name: 'a' },
  { id: 2, name: 'b' },
]
type Sent = { method: string; path: string; authorization: string | undefined; body: string }
let sent: Sent[]
/** What is answered, by method and path: a status with a body and headers, or null for 404. */
let answers: (request: Sent) => { status?: number; body?: unknown; headers?: Record<string, string> } | null
/** How often an export is asked about before it is ready. */
let working: number
beforeEach(async () => {
  projectId = await t.project()
  sent = []
  working = 1
  answers = ({ method, path }) => {
    if (method === 'POST' && path === '/v1/exports') return { status: 202, body: { id: 'ex 1', status: 'queued' } }
    if (path === '/v1/exports/ex%201') {
      working -= 1
      const url = `http://${files.host}/files/orders.json?signature=abc`
      return { body: working >= 0 ? { status: 'running' } : { status: 'done', result: { url } } }
    }
    if (path.startsWith('/files/orders.json')) return { body: { orders: rows } }
    return null
  }
  for (const source of [api, files]) {
    source.requests.length = 0
    source.handle((request, response) => void answer(request, response))
  }
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const { method = '', url: path = '', headers } = request
  const one = { method, path, authorization: headers.authorization, body }
  sent.push(one)
  const { status = 200, body: given = {}, headers: more = {} } = answers(one) ?? { status: 404 }
  response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(given))
}

const status = { path: 'status', is: ['done'], fails: ['failed', 'expired'], every_seconds: 1 }
const poll = { url: '/v1/exports/{{start:id}}', until: status }
const download = { url: '{{answer:result.url}}' }
const configOf = (more: object = {}) => ({
  url: `http://${api.host}/v1/exports`,
  method: 'POST',
  body: { type: 'json', content: { table: 'orders' } },
  authType: 'Bearer Token',
  auth: { token: 'the-token' },
  responsePathExtractor: 'orders',
  steps: [poll, download],
  ...more,
})
const table = (config: object, more: object = {}) => makeTable(t, projectId, { config, ...more })
const paths = () => sent.map(({ method, path }) => `${method} ${path.split('?')[0]}`)

describe('an export', () => {
  test('is started, waited for and downloaded; the credentials stay with the API', async () => {
    const orders = await table(configOf())
    expect(await orders.refresh()).toMatchObject({ status: 'succeeded' })
    expect(await orders.rows()).toEqual(rows)
    expect(paths()).toEqual([
      'POST /v1/exports',
      'GET /v1/exports/ex%201',
      'GET /v1/exports/ex%201',
      'GET /files/orders.json',
    ])
    expect(sent.map(({ authorization }) => authorization)).toEqual([
      'Bearer the-token',
      'Bearer the-token',
      'Bearer the-token',
      undefined,
    ])
    expect(sent.map(({ body }) => body)).toEqual(['{"table":"orders"}', '', '', ''])
  })

  test('that fails fails the load, in the words of the API; the next attempt starts another', async () => {
    answers = ({ method }) => (method === 'POST' ? { body: { id: 'ex 1' } } : { body: { status: 'expired' } })
    const job = await (await table(configOf())).refresh()
    expect(job).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('status is expired') } })
    const { attempt } = job as unknown as { attempt: number }
    expect(paths().filter((path) => path === 'POST /v1/exports')).toHaveLength(attempt)
  })

  test('sends a secret of a step to the origins that it names, and to no other', async () => {
    const secret = { name: 'files', value: 'for-files', secret: true, origins: [`http://${files.host}`] }
    await expectStatus(201, t.operator.post(`/v1/projects/${projectId}/variables`, secret))
    const headers = { 'X-Api-Key': '{{secret:files}}' }
    const orders = await table(configOf({ steps: [poll, { ...download, headers }] }))
    expect(await orders.refresh()).toMatchObject({ status: 'succeeded' })
    expect(files.requests.map((request) => request.headers['x-api-key'])).toEqual(['for-files'])
    const wrong = configOf({ steps: [{ ...poll, headers }, download] })
    const body = { name: 'Wrong', kind: 'http_api', config: wrong }
    const { body: refused } = await expectStatus(400, t.operator.post(`/v1/projects/${projectId}/datasources`, body))
    expect(refused.details[0]).toMatchObject({ field: 'steps[0].headers.X-Api-Key' })
  })

  test('is found by a header, waited for while it is 202, and has pages', async () => {
    const pages: Record<string, unknown> = {
      '/jobs/7/rows': { orders: rows.slice(0, 1), next: '/jobs/7/rows?page=2' },
      '/jobs/7/rows?page=2': { orders: rows.slice(1), next: null },
    }
    answers = ({ method, path }) => {
      if (method === 'POST') return { status: 202, headers: { Location: `http://${api.host}/jobs/7` } }
      if (path === '/jobs/7')
        return (working -= 1) >= 0 ? { status: 202, headers: { 'retry-after': '1' } } : { body: {} }
      return { body: pages[path] }
    }
    const steps = [
      { url: '{{start_header:Location}}', until: { every_seconds: 1 } },
      { url: '{{start_header:location}}/rows' },
    ]
    const orders = await table(configOf({ steps }), { pagination: { type: 'next_link', path: 'next' } })
    expect(await orders.refresh()).toMatchObject({ status: 'succeeded', details: { pages: 2, rows: 2 } })
    expect(await orders.rows()).toEqual(rows)
    expect(paths()).toEqual(['POST /v1/exports', 'GET /jobs/7', 'GET /jobs/7', 'GET /jobs/7/rows', 'GET /jobs/7/rows'])
  })

  test('goes behind the address of its API, with bodies and headers of each step', async () => {
    const url = `http://${api.host}/services/data`
    const shared = { name: 'crm', config: { url, authType: 'Bearer Token', auth: { token: 'of-the-api' } } }
    await expectStatus(201, t.operator.post(`/v1/projects/${projectId}/apis`, shared))
    const heads: unknown[] = []
    answers = ({ path, body }) => {
      heads.push(api.requests.at(-1)?.headers['x-target'])
      if (path.endsWith('/start')) return { body: { id: 5 } }
      if (path.endsWith('/state')) return { body: JSON.parse(body) as { job: string } }
      return { body: { orders: rows } }
    }
    const steps = [
      {
        url: '/state',
        method: 'POST',
        headers: { 'X-Target': 'state' },
        body: { job: '{{start:id}}' },
        until: { path: 'job' },
      },
      { url: '/jobs/{{start:id}}/{{answer:job}}', headers: { 'X-Target': 'rows' } },
    ]
    const { authType: _, auth: _own, ...config } = configOf({ api: 'crm', url: '/start', steps })
    const orders = await table(config)
    expect(await orders.refresh()).toMatchObject({ status: 'succeeded' })
    expect(paths()).toEqual(['POST /services/data/start', 'POST /services/data/state', 'GET /services/data/jobs/5/5'])
    expect(sent.map(({ authorization }) => authorization)).toEqual(Array(3).fill('Bearer of-the-api'))
    expect(heads).toEqual([undefined, 'state', 'rows'])
  })
})

describe('a load that breaks off', () => {
  test('goes on with the export that was started', async () => {
    const usual = answers
    let failures = 0
    answers = (request) => (request.path.startsWith('/files') && ++failures === 1 ? { status: 500 } : usual(request))
    const orders = await table(configOf())
    expect(await orders.refresh()).toMatchObject({ status: 'succeeded', attempt: 2 })
    expect(await orders.rows()).toEqual(rows)
    expect(paths().filter((path) => path === 'POST /v1/exports')).toHaveLength(1)
    const left = await t.app.store.db
      .selectFrom('loadCheckpoints')
      .selectAll()
      .where('datasourceId', '=', orders.id)
      .execute()
    expect(left).toEqual([])
  })

  test('starts another one where the file is there no longer', async () => {
    const usual = answers
    let failures = 0
    answers = (request) => (request.path.startsWith('/files') && ++failures === 1 ? { status: 403 } : usual(request))
    const orders = await table(configOf())
    expect(await orders.refresh()).toMatchObject({ status: 'succeeded', attempt: 2 })
    expect(paths().filter((path) => path === 'POST /v1/exports')).toHaveLength(2)
  })

  test('starts another one where the API has forgotten it while it was waited for', async () => {
    const usual = answers
    let polls = 0
    answers = (request) => {
      if (!request.path.startsWith('/v1/exports/')) return usual(request)
      polls += 1
      return polls === 1 ? { status: 500 } : polls === 2 ? { status: 404 } : usual(request)
    }
    const orders = await table(configOf())
    expect(await orders.refresh()).toMatchObject({ status: 'succeeded', attempt: 2 })
    expect(paths().filter((path) => path === 'POST /v1/exports')).toHaveLength(2)
  })
})

describe('a test of the connection', () => {
  const tried = async (config: object) => {
    const body = { project_id: projectId, ...config }
    return (await expectStatus(200, t.operator.post('/v1/http/test-connection', body))).body
  }

  test('shows the rows of the last step', async () => {
    expect(await tried(configOf())).toMatchObject({ success: true, status: 200, data: rows })
  })

  test('shows how far an export is that takes longer, and why one failed', async () => {
    working = 1_000
    const slow = { ...poll, until: { ...status, every_seconds: 3_600 } }
    expect(await tried(configOf({ steps: [slow, download] }))).toMatchObject({
      success: false,
      data: { status: 'running' },
      problem: { code: 'not_ready', message: expect.stringContaining('status is running') },
    })
    answers = ({ method }) => (method === 'POST' ? { body: { id: 1 } } : { body: { status: 'failed' } })
    expect(await tried(configOf())).toMatchObject({ success: false, problem: { code: 'upstream_errors' } })
    answers = () => ({ status: 401 })
    expect(await tried(configOf())).toMatchObject({ success: false, problem: { code: 'unauthorized' } })
  })

  test('names the value that an answer does not have', async () => {
    answers = () => ({ body: { status: 'done' } })
    const body = { project_id: projectId, ...configOf() }
    const refused = await expectStatus(400, t.operator.post('/v1/http/test-connection', body))
    expect(refused.body.details).toEqual([
      { field: 'steps[0].url', message: 'holds {{start:id}}, and the answer has no such value' },
    ])
  })
})

test.each([
  [{ steps: [poll] }, 'steps', 'end with a request that waits'],
  [{ steps: [] }, 'steps', ''],
  [{ steps: [{ url: '/x', headers: { Authorization: 'Bearer abc' } }] }, 'steps[0].headers.Authorization', 'secret'],
  [{ steps: [{ url: '/x?api_key=abc' }] }, 'steps[0].url', 'secret'],
  [{ steps: [{ url: '/x/{{begin:id}}' }] }, 'steps[0].url', 'no variable'],
  [{ steps: [{ url: '/x/{{start:a[}}' }] }, 'steps[0].url', ''],
  [{ url: 'http://api.example/{{start:id}}' }, 'url', 'only the steps'],
])('what cannot be meant is refused when it is saved: %j', async (more, field, words) => {
  const body = { name: 'Orders', kind: 'http_api', config: configOf(more) }
  const { body: refused } = await expectStatus(400, t.operator.post(`/v1/projects/${projectId}/datasources`, body))
  const [detail] = refused.details as Array<{ field: string; message: string }>
  expect(detail?.field).toContain(field)
  expect(detail?.message).toContain(words)
})

test('is part of the definition', async () => {
  await table(configOf())
  const path = `/v1/projects/${projectId}/definition`
  const { body } = await expectStatus(200, t.operator.get(path))
  const [connection] = body.connections
  expect(connection.config.steps).toEqual([
    { ...poll, method: 'GET' },
    { ...download, method: 'GET' },
  ])
  const put = await expectStatus(200, t.operator.put(`${path}?check=true`, body))
  expect(put.body.plan.filter(({ action }: { action: string }) => action !== 'unchanged')).toEqual([])
})
