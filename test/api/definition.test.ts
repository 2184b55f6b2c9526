import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { definition as definitionSchema, type Definition } from '../../api/definition.ts'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { putTable } from '../harness/tables.ts'
import { definitions } from './random-definitions.ts'

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

const pathOf = (projectId: string): string => `/v1/projects/${projectId}/definition`
const read = async (projectId: string): Promise<Definition> =>
  (await expectStatus(200, t.operator.get(pathOf(projectId)))).body
type Body = Record<string, unknown>
const put = (projectId: string, body: Body, search = '') => t.operator.put(`${pathOf(projectId)}${search}`, body)

type Entry = { kind: string; name: string; action: string; changes: { field: string }[]; refused: { message: string } }
const changedOf = (plan: Entry[]): string[] =>
  plan.filter(({ action }) => action !== 'unchanged').map(({ kind, name, action }) => `${action} ${kind} ${name}`)

/** A project with something of every kind, made by hand. */
async function openFullProject(): Promise<QueryProject> {
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

describe('the definition of a project', () => {
  test('says all of it by name, fits its schema, and holds no secret', async () => {
    const q = await openFullProject()
    const found = await read(q.projectId)
    expect(definitionSchema.parse(found)).toEqual(found)
    expect(found.environments).toEqual(['development', 'staging', 'production', 'preview'])
    expect(found.connections?.map((each) => each.table_name)).toEqual(['orders', 'shops_of_ours', 'staff'])
    expect(found.queries).toMatchObject([{ name: 'in_region', deployed: { production: 1 } }, { name: 'only_draft' }])
    expect(found.alerts?.[0]?.channels).toMatchObject([
      { type: 'webhook', url: `${source}/hook`, secret: '***' },
      { type: 'webhook', url: '***', target: `${source}/hook`, secret: '***' },
      { type: 'slack', url: '***' },
    ])
    const text = JSON.stringify(found)
    expect(text).not.toContain('top-secret')
    expect(text).not.toContain('whsec_')
    expect(text).not.toMatch(/"(ds|qry|alr|chn|cas|var)_/)
  })

  test('put back as it was read it is all unchanged, and nothing changes', async () => {
    const q = await openFullProject()
    const found = await read(q.projectId)
    for (const search of ['?check=true', '']) {
      const { body } = await expectStatus(200, put(q.projectId, found, search))
      expect(changedOf(body.plan)).toEqual([])
      expect(body.plan).toHaveLength(
        4 + 3 + 3 + 3 + 2 + 2 + 2, // environments, settings, variables, connections, queries, evaluations, alerts
      )
      expect(body).toMatchObject({ applied: search === '', jobs: [], secrets: [], routing: null })
    }
    expect(await read(q.projectId)).toEqual(found)
    // Its secrets are still those.
    const { body } = await t.operator.get(`/v1/projects/${q.projectId}/datasources`)
    expect(body.data).toHaveLength(3)
  })

  test('put into an empty project it makes the same, once its secrets are given', async () => {
    const q = await openFullProject()
    const found = await read(q.projectId)
    const empty = await t.project()
    const checked = await expectStatus(200, put(empty, found, '?check=true'))
    const refused = checked.body.plan.filter((entry: Entry) => entry.refused !== null)
    expect(refused.map(({ kind, name }: Entry) => `${kind} ${name}`)).toEqual([
      'variable token',
      'connection shops_of_ours',
      'alert errors',
    ])
    const bare = await put(empty, found)
    expect(bare).toMatchObject({ status: 400, body: { reason: 'invalid_field' } })
    expect(await read(empty)).toMatchObject({ connections: [], queries: [], variables: [] })
    const given = withSecrets(found)
    const { body } = await expectStatus(200, put(empty, given))
    expect(body.applied).toBe(true)
    expect(body.jobs.map((job: { table_name: string }) => job.table_name)).toEqual(['shops_of_ours'])
    expect(body.secrets).toEqual([])
    const notes = body.plan.find((entry: Entry) => entry.name === 'in_region').notes
    expect(notes).toEqual(['It reads orders, which has no data yet: it is looked at when it is released.'])
    const undeployed = found.queries?.map((query) => Object.assign({}, query, { deployed: {} }))
    expect(await read(empty)).toEqual({ ...found, queries: undeployed })
    // With the same values again nothing changes; another one is a change.
    expect(changedOf((await expectStatus(200, put(empty, given))).body.plan)).toEqual([])
    const other = JSON.parse(JSON.stringify(given).replaceAll('top-secret-5', 'top-secret-9')) as Definition
    const planned = (await expectStatus(200, put(empty, other, '?check=true'))).body.plan
    expect(changedOf(planned)).toEqual(['update connection shops_of_ours'])
    expect(JSON.stringify(planned)).not.toContain('top-secret')
  })

  test('a plan says what is made, changed and deleted, by field, and what releasing the queries would do', async () => {
    const q = await openFullProject()
    const found = await read(q.projectId)
    const key = await t.operator.get(`/v1/projects/${q.projectId}/queries/in_region`)
    t.app.queryCallers.note({ queryId: key.body.id, environment: 'production', keyId: 'key_of_a_caller' })
    const next = structuredClone(found)
    const [first, second] = next.queries ?? []
    if (first === undefined || second === undefined) throw new Error('no queries')
    first.sql = 'SELECT id FROM orders WHERE region = $region ORDER BY id'
    next.queries = [first, { ...second, name: 'renamed', deployed: {} }]
    next.evaluations = next.evaluations?.slice(0, 1) ?? []
    const { body } = await expectStatus(200, put(q.projectId, next, '?check=true'))
    expect(changedOf(body.plan).toSorted()).toEqual([
      'create query renamed',
      'delete evaluation What is the weather?',
      'delete query only_draft',
      'update query in_region',
    ])
    const entry = body.plan.find((each: Entry) => each.name === 'in_region')
    expect(entry.changes).toEqual([{ field: 'sql', before: expect.stringContaining('amount'), after: first.sql }])
    expect(entry.release).toMatchObject({
      environment: 'production',
      version: 1,
      compatibility: 'breaking',
      changes: [{ level: 'breaking', message: 'column amount is gone' }],
      callers: [{ key_id: 'key_of_a_caller' }],
    })
    expect(body.routing).toMatchObject({ environment: 'production', checked: expect.any(Number) })
    expect(body.applied).toBe(false)
    expect(await read(q.projectId)).toEqual(found)
    const applied = await expectStatus(200, put(q.projectId, next))
    expect(applied.body.applied).toBe(true)
    expect((await read(q.projectId)).queries).toMatchObject([
      { name: 'in_region', sql: first.sql, deployed: { production: 1 } },
      { name: 'renamed', deployed: {} },
    ])
  })

  test('prune=false deletes nothing; a section that is left out is left alone', async () => {
    const q = await openFullProject()
    const found = await read(q.projectId)
    const kept = await expectStatus(200, put(q.projectId, { definition: 1, queries: [], alerts: [] }, '?prune=false'))
    expect(changedOf(kept.body.plan)).toEqual([])
    const alone = await expectStatus(200, put(q.projectId, { definition: 1, alerts: [] }))
    expect(changedOf(alone.body.plan)).toEqual(['delete alert errors', 'delete alert errors'])
    expect(await read(q.projectId)).toEqual({ ...found, alerts: [] })
  })

  test('409 and 400 keep everything as it was, and name what is at fault', async () => {
    const q = await openFullProject()
    const found = await read(q.projectId)
    const without = { ...found, queries: found.queries?.filter(({ name }) => name !== 'in_region') ?? [] }
    const inUse = await put(q.projectId, { ...without, evaluations: [], alerts: [] })
    expect(inUse).toMatchObject({ status: 409, body: { reason: 'in_use' } })
    expect(inUse.body.message).toContain('The query in_region: in_region is deployed in production')
    const broken = structuredClone(found)
    for (const query of broken.queries ?? []) if (query.name === 'only_draft') query.sql = 'SELECT nope FROM orders'
    broken.variables?.push({ name: 'added', environment: null, secret: false, value: 'x', origins: [] })
    const answer = await put(q.projectId, broken)
    expect(answer).toMatchObject({ status: 400, body: { reason: 'invalid_sql' } })
    expect(answer.body.message).toContain('Nothing was applied. The query only_draft')
    const twice = await put(q.projectId, { ...found, queries: [...(found.queries ?? []), ...(found.queries ?? [])] })
    expect(twice).toMatchObject({ status: 400, body: { reason: 'invalid_field' } })
    expect((await put(q.projectId, { ...found, surprise: 1 })).status).toBe(400)
    expect((await put(q.projectId, { ...found, definition: 2 })).status).toBe(400)
    expect(await read(q.projectId)).toEqual(found)
  })

  test('checks that are new are tried on the data that serves', async () => {
    const q = await openQueryProject(t)
    await putTable(t.app, q.projectId, { name: 'gaps', rows: [{ a: 1 }, { a: null }, { a: 3 }] })
    const found = await read(q.projectId)
    const next = structuredClone(found)
    for (const connection of next.connections ?? []) {
      if (connection.table_name === 'gaps') connection.schema.checks = [{ type: 'not_null', column: 'a' }]
    }
    const { body } = await expectStatus(200, put(q.projectId, next, '?check=true'))
    const entry = body.plan.find((each: Entry) => each.name === 'gaps')
    expect(entry).toMatchObject({
      action: 'update',
      failed_checks: [{ type: 'not_null', message: expect.any(String) }],
    })
  })

  test('403: environments are changed by owners only; a viewer reads and does not put', async () => {
    const q = await openFullProject()
    const found = await read(q.projectId)
    const editor = await t.member(q.projectId, 'editor')
    const viewer = await t.member(q.projectId, 'viewer')
    expect((await viewer.get(pathOf(q.projectId))).status).toBe(200)
    expect((await viewer.put(pathOf(q.projectId), found)).status).toBe(403)
    expect((await editor.put(pathOf(q.projectId), found)).status).toBe(200)
    const more = { ...found, environments: [...(found.environments ?? []), 'another'] }
    expect((await editor.put(pathOf(q.projectId), more)).status).toBe(403)
    expect(await read(q.projectId)).toEqual(found)
    expect((await t.operator.put(pathOf(q.projectId), more)).status).toBe(200)
  })

  test('random projects: put into an empty one, read and put back, all is the same and unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(definitions(source), async (given) => {
        const projectId = await t.project()
        await putTable(t.app, projectId, { name: 'things', rows: [{ id: 1, name: 'one', at: '2026-01-01' }] })
        const made = await expectStatus(200, put(projectId, given, '?prune=false'))
        expect(made.body.applied).toBe(true)
        const found = await read(projectId)
        const again = await expectStatus(200, put(projectId, found))
        expect(changedOf(again.body.plan)).toEqual([])
        expect(await read(projectId)).toEqual(found)
        // What was written by hand and what was read mean the same.
        expect(changedOf((await expectStatus(200, put(projectId, given, '?prune=false'))).body.plan)).toEqual([])
        const other = await t.project()
        await putTable(t.app, other, { name: 'things', rows: [{ id: 1, name: 'one', at: '2026-01-01' }] })
        await expectStatus(200, put(other, found))
        expect(await read(other)).toEqual(found)
      }),
      { numRuns: 15 },
    )
  }, 240_000)
})

/** What a person would fill in for `***`. */
function withSecrets(found: Definition): Definition {
  const given = structuredClone(found)
  for (const variable of given.variables ?? []) if (variable.secret) variable.value = 'top-secret-1'
  for (const connection of given.connections ?? []) {
    if (connection.table_name !== 'shops_of_ours' || connection.config === null) continue
    connection.config.url = `${source}/shops?page=1&api_key=top-secret-2`
    connection.config.headers = { Authorization: 'Bearer top-secret-3', 'X-Named': '{{secret:token}}' }
    connection.config.parameters = {
      since: { value: '{{date:-7d}}', required: false },
      secret_code: { value: 'top-secret-4', required: true },
    }
    connection.config.auth = { key: 'X-Key', value: 'top-secret-5', in: 'header' }
  }
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  for (const alert of given.alerts ?? []) {
    if (alert.channels.length === 0) continue
    alert.channels = [
      { type: 'webhook', url: `${source}/hook`, secret },
      { type: 'webhook', url: `${source}/hook?key=top-secret-6`, secret },
      { type: 'slack', url: `${source}/services/top-secret-7` },
    ]
  }
  return given
}

test('the order in which a slot was described changes nothing; the order of slots is that of forms', async () => {
  const q = await openQueryProject(t)
  const slots = {
    required: ['region'],
    additionalProperties: false as const,
    properties: {
      region: { description: 'Where', enum: ['north'], type: 'string' as const },
      least: { default: 1, type: 'integer' as const },
    },
    type: 'object' as const,
  }
  await q.deploy({
    name: 'stored',
    description: 'Stored',
    sql: 'SELECT 1 WHERE $region IS NOT NULL AND $least > 0',
    slots,
  })
  // As whoever made it without this API has stored it.
  await t.app.store.db
    .updateTable('queries')
    .set({ slots: JSON.stringify(slots) })
    .where('name', '=', 'stored')
    .where('projectId', '=', q.projectId)
    .execute()
  const found = await read(q.projectId)
  expect(changedOf((await expectStatus(200, put(q.projectId, found as Body))).body.plan)).toEqual([])
  const { region, least } = slots.properties
  const moved = found.queries?.map((query) => ({ ...query, slots: { ...slots, properties: { least, region } } }))
  const planned = await expectStatus(200, put(q.projectId, { ...found, queries: moved }, '?check=true'))
  expect(changedOf(planned.body.plan)).toEqual(['update query stored'])
})

test('settings are part of it: what is left out stays, owners alone change them, and origins hold at once', async () => {
  const projectId = await t.project()
  expect((await read(projectId)).settings).toEqual({
    allowed_origins: [],
    questions: { log: 'full', retention_days: expect.any(Number), min_confidence: 0 },
    replay: { recording: false, max_calls: 1000, days: 7, redacted_slots: [] },
  })
  const settings = {
    allowed_origins: ['https://shop.example'],
    questions: { min_confidence: 0.8 },
    replay: { recording: true, redacted_slots: ['customer'] },
  }
  const body = { definition: 1, settings }
  const planned = await expectStatus(200, put(projectId, body, '?check=true'))
  expect(changedOf(planned.body.plan)).toEqual([
    'update settings allowed_origins',
    'update settings questions',
    'update settings replay',
  ])
  expect(planned.body.plan[1].changes).toEqual([{ field: 'min_confidence', before: 0, after: 0.8 }])
  expect(t.app.origins.allows(projectId, 'https://shop.example')).toBe(false)

  const editor = await t.member(projectId, 'editor')
  expect(await editor.put(pathOf(projectId), body)).toMatchObject({ status: 403 })
  await expectStatus(200, put(projectId, body))
  expect(t.app.origins.allows(projectId, 'https://shop.example')).toBe(true)
  const found = await read(projectId)
  expect(found.settings).toMatchObject({
    allowed_origins: ['https://shop.example'],
    questions: { log: 'full', min_confidence: 0.8 },
    replay: { recording: true, max_calls: 1000, redacted_slots: ['customer'] },
  })
  // What is as it should be an editor may put, too.
  expect(changedOf((await expectStatus(200, editor.put(pathOf(projectId), found))).body.plan)).toEqual([])
  expect(await put(projectId, { definition: 1, settings: { allowed_origins: ['shop.example'] } })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('must be an origin such as https://app.example') as string },
  })
})

test('a table for files is defined with its rules, and stays one', async () => {
  const projectId = await t.project()
  const targets = { table_name: 'targets', kind: 'file', load: { mode: 'merge', primary_key: ['id'] } }
  const made = await expectStatus(200, put(projectId, { definition: 1, connections: [targets] }))
  expect(changedOf(made.body.plan)).toEqual(['create connection targets'])
  const { body } = await expectStatus(200, t.operator.get(`/v1/projects/${projectId}/datasources`))
  expect(body.data).toMatchObject([{ kind: 'file', table_name: 'targets', config: null, load: { mode: 'merge' } }])
  const shown = await read(projectId)
  expect(changedOf((await expectStatus(200, put(projectId, shown as Body))).body.plan)).toEqual([])
  const moved = { ...targets, kind: 'http_api' }
  expect(await put(projectId, { definition: 1, connections: [moved] })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('stays so') as string },
  })
})
