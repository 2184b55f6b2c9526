import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'
import type { Definition } from '../../api/definition.ts'
import { expectStatus, openTestApp, type Answer, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

export type Body = Record<string, unknown>
export type Entry = {
  kind: string
  name: string
  action: string
  changes: { field: string }[]
  refused: { message: string }
}

export const pathOf = (projectId: string): string => `/v1/projects/${projectId}/definition`
export const changedOf = (plan: Entry[]): string[] =>
  plan.filter(({ action }) => action !== 'unchanged').map(({ kind, name, action }) => `${action} ${kind} ${name}`)

/** An app for all tests of a file, and an API at `source` that its projects may call. */
export function stageDefinitions() {
  let t: TestApp
  let source: string
  const upstream = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end('[{"id":1,"region":"north"}]')
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => {
      upstream.listen(0, '127.0.0.1', resolve)
    })
    source = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
    t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: '127.0.0.1' })
  })
  afterAll(async () => {
    await t.close()
    upstream.close()
  })

  return {
    parts: (): { t: TestApp; source: string } => ({ t, source }),
    read: async (projectId: string): Promise<Definition> =>
      (await expectStatus(200, t.operator.get(pathOf(projectId)))).body,
    put: (projectId: string, body: Body, search = ''): Promise<Answer> =>
      t.operator.put(`${pathOf(projectId)}${search}`, body),
    openFullProject: (): Promise<QueryProject> => openFullProject(t, source),
  }
}

/** A project with something of every kind, made by hand. */
async function openFullProject(t: TestApp, source: string): Promise<QueryProject> {
  const q = await openQueryProject(t)
  const path = `/v1/projects/${q.projectId}`
  const post = (at: string, body: Body) => expectStatus(201, t.operator.post(`${path}${at}`, body))
  await post('/environments', { name: 'preview' })
  await post('/variables', { name: 'base', value: source })
  await post('/variables', { name: 'base', value: `${source}/preview`, environment: 'preview' })
  await post('/variables', { name: 'token', value: 'top-secret-1', secret: true, origins: [source] })
  const { body: shops } = await post('/datasources', {
    name: 'Shops of ours',
    kind: 'http_api',
    config: {
      url: `${source}/shops?page=1&api_key=top-secret-2`,
      method: 'GET',
      headers: { Authorization: 'Bearer top-secret-3', 'X-Named': '{{secret:token}}' },
      parameters: { since: { value: '{{date:-7d}}' }, secret_code: { value: 'top-secret-4', required: true } },
      authType: 'API Key',
      auth: { key: 'X-Key', value: 'top-secret-5', in: 'header' },
      responsePathExtractor: 'data',
    },
    pagination: { type: 'page' },
    load: { mode: 'merge', primary_key: ['id'], cursor: { field: 'changed_at', look_back: '2h' } },
    schedule: '0 3 * * *',
    schedule_time_zone: 'Europe/Berlin',
    keep_versions: 7,
  })
  await expectStatus(
    200,
    t.operator.patch(`${path}/datasources/${shops.id}/schema`, {
      columns: [
        { source_name: 'id', type: 'BIGINT', description: 'The number of the shop' },
        { source_name: 'internal', hidden: true },
      ],
      on_mismatch: 'hold',
      checks: [{ type: 'not_null', column: 'id' }],
    }),
  )
  await post('/datasources', {
    name: 'Staff',
    kind: 'http_api',
    config: { url: `${source}/shops/{{row.id}}/staff`, method: 'GET' },
    for_each: { table: 'shops_of_ours', max_requests: 50 },
  })
  await q.deploy({
    name: 'in_region',
    description: 'Orders of a region',
    sql: 'SELECT id, amount FROM orders WHERE region = $region ORDER BY id',
    slots: {
      type: 'object',
      properties: { region: { type: 'string', description: 'Where', enum: ['north', 'south'] } },
      required: ['region'],
    },
    examples: [{ question: 'Orders of the north', parameters: { region: 'north' } }],
    cache_seconds: 60,
    rate_limit: { per_minute: 10, burst: 5 },
    chart: { type: 'bar', x: 'id', y: ['amount'], series: null, stacked: false },
  })
  await post('/queries', { name: 'only_draft', sql: 'SELECT count(*) AS n FROM orders' })
  await post('/evaluations', {
    question: 'Orders of the south',
    expected_query: 'in_region',
    expected_parameters: { region: 'south' },
  })
  await post('/evaluations', { question: 'What is the weather?', expected_query: null })
  await post('/alerts', {
    name: 'errors',
    type: 'error_rate_above',
    threshold: 0.1,
    environment: 'production',
    query: 'in_region',
    channels: [
      { type: 'webhook', url: `${source}/hook` },
      { type: 'webhook', url: `${source}/hook?key=top-secret-6` },
      { type: 'slack', url: `${source}/services/top-secret-7` },
    ],
  })
  await post('/alerts', { name: 'errors', type: 'requests_above', threshold: 5 })
  return q
}
