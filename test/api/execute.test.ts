import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemCaller } from '../../server/access/index.ts'
import { executeRequest } from '../../server/connections/index.ts'
import { Failure } from '../../server/failure.ts'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { execute, openAppWithSource, rowsOf, type Source } from '../harness/source.ts'

let t: TestApp
let source: Source
let projectId: string
let count = 0
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource())
})
afterAll(() => t.close())
beforeEach(async () => {
  projectId = await t.project()
})

function run(config: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
  count += 1
  return execute(t.operator, { projectId, datasourceId: `ds_${count}`, url: source.url, config }, headers)
}

async function stored(body: unknown, headers?: Record<string, string>, config?: Record<string, unknown>) {
  source.answer(body, headers)
  const { body: answer } = await expectStatus(200, run(config))
  return rowsOf(t.operator, projectId, answer.data_object_id)
}

describe('200', () => {
  test('answers the jobs and the data object exactly as specified', async () => {
    source.answer([{ id: 1 }, { id: 2 }])
    const { body } = await expectStatus(200, run())
    expect(body).toEqual({
      jobs: [
        {
          id: expect.stringMatching(/^job_/),
          job_type: 'build_dataline_from_connected_resource',
          status: 'queued',
          project_id: projectId,
          source: 'datasource',
          source_id: `ds_${count}`,
          source_event_type: 'http_api',
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        },
      ],
      data_object_id: expect.stringMatching(/^obj_/),
    })
    const object = await t.operator.get(`/v1/projects/${projectId}/data-objects/${body.data_object_id}`)
    expect(object.body).toMatchObject({
      kind: 'response_data',
      format: 'parquet',
      version: 1,
      row_count: 2,
      drift: null,
    })
    const lineage = await t.operator.get(`/v1/projects/${projectId}/data-objects/${body.data_object_id}/lineage`)
    const kinds = new Map(lineage.body.nodes.map((node: { id: string; kind: string }) => [node.id, node.kind]))
    const edges = lineage.body.edges.map(({ from, to }: { from: string; to: string }) => [
      kinds.get(from),
      kinds.get(to),
    ])
    expect(edges).toEqual(
      expect.arrayContaining([
        ['datasource', 'request_config'],
        ['request_config', 'response_data'],
      ]),
    )
  })

  test('stores every shape of rows', async () => {
    expect(await stored([{ a: 1 }, { a: 2, b: 'x' }])).toEqual([
      { a: 1, b: null },
      { a: 2, b: 'x' },
    ])
    expect(await stored({ a: 1, b: [1, 2] })).toEqual([{ a: 1, b: [1, 2] }])
    expect(await stored({ a: [1, 2], b: ['x', 'y'] })).toEqual([
      { a: 1, b: 'x' },
      { a: 2, b: 'y' },
    ])
    expect(await stored([1, 2])).toEqual([{ value: 1 }, { value: 2 }])
    expect(await stored([])).toEqual([])
    expect(await stored('{"a":1}\n{"a":2}\n', { 'content-type': 'application/x-ndjson' })).toEqual([{ a: 1 }, { a: 2 }])
    expect(await stored('a,b\n1,x\n2,y\n', { 'content-type': 'text/csv' })).toEqual([
      { a: 1, b: 'x' },
      { a: 2, b: 'y' },
    ])
    const zipped = gzipSync(JSON.stringify([{ a: 1 }]))
    expect(await stored(zipped, { 'content-type': 'application/json', 'content-encoding': 'gzip' })).toEqual([{ a: 1 }])
  })

  test('keeps every value', async () => {
    const text = `[{"big":9007199254740993,"huge":170141183460469231731687303715884105727,"price":10.10,
      "nested":{"list":[1,{"x":null}]},"mixed":1,"when":"2025-01-01","note":"2025-01-01","__proto__":"p","Key":"A","key":"b","text":"Łódź 🚀"},
      {"big":1,"huge":2,"price":0.3,"nested":null,"mixed":"two","when":"2025-02-01","note":"later","__proto__":"q","Key":"C","key":"d","text":""}]`
    const [first, second] = (await stored(text)) as Array<Record<string, unknown>>
    expect(first).toMatchObject({
      big: '9007199254740993',
      huge: '170141183460469231731687303715884105727',
      price: 10.1,
      nested: { list: expect.any(Array) },
      when: '2025-01-01',
      note: '2025-01-01',
      text: 'Łódź 🚀',
    })
    expect(Object.keys(first ?? {})).toEqual(expect.arrayContaining(['__proto__', 'Key', 'key_1']))
    expect([first?.['mixed'], second?.['mixed']].map(String)).toEqual(['1', 'two'])
    expect(second).toMatchObject({ note: 'later', nested: null })
  })

  test('uses the data under the extractor, also when it is stringified JSON', async () => {
    expect(await stored({ data: { items: [{ a: 1 }] } }, undefined, { responsePathExtractor: 'data.items' })).toEqual([
      { a: 1 },
    ])
    expect(await stored({ payload: '[{"a":2}]' }, undefined, { responsePathExtractor: 'payload' })).toEqual([{ a: 2 }])
  })

  test('reads a charset that the API does not name as the one the request accepts', async () => {
    const body = Buffer.from('id;name\n1;K\xe4se \x80\n', 'latin1')
    const config = { headers: { 'accept-charset': 'windows-1252, utf-8;q=0.5' } }
    expect(await stored(body, { 'content-type': 'text/csv' }, config)).toEqual([{ id: 1, name: 'Käse €' }])
  })

  test('connect_spec.config wins field by field; the top level fills in the rest', async () => {
    source.answer([{ a: 1 }])
    await expectStatus(
      200,
      t.operator.post('/v1/http/execute-request', {
        project_id: projectId,
        datasource_id: 'ds_fields',
        connect_spec: { name: 'x', id: 'http_api', config: { headers: { 'x-from': 'config' } } },
        url: source.url,
        method: 'GET',
        headers: { 'x-from': 'top' },
        parameters: { page: { value: '7', required: true } },
      }),
    )
    const last = source.requests.at(-1)
    expect([last?.headers['x-from'], last?.url]).toEqual(['config', '/data?page=7'])
  })

  test('a second execute adds a version that is read from then on, and reports drift', async () => {
    const again = () => execute(t.operator, { projectId, datasourceId: 'ds_drift', url: source.url })
    source.answer([{ a: 1, gone: true }])
    await expectStatus(200, again())
    source.answer([{ a: 'now text', added: 2 }])
    const { body } = await expectStatus(200, again())
    const object = await t.operator.get(`/v1/projects/${projectId}/data-objects/${body.data_object_id}`)
    expect(object.body.version).toBe(2)
    expect(object.body.drift).toMatchObject({ added: ['added'], removed: ['gone'], changed: [{ name: 'a' }] })
    const catalog = await t.app.catalogs.get(projectId)
    expect(catalog.tables.map((table) => table.columns.map((column) => column.name))).toEqual([
      expect.arrayContaining(['a', 'added']),
    ])
  })
})

describe('Idempotency-Key', () => {
  test('the same key and body call the API once, also at the same time', async () => {
    source.answer([{ a: 1 }])
    const before = source.requests.length
    const call = () =>
      execute(t.operator, { projectId, datasourceId: 'ds_once', url: source.url }, { 'idempotency-key': 'k1' })
    const answers = await Promise.all([call(), call(), call()])
    answers.push(await call())
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
    expect(source.requests.length - before).toBe(1)
  })

  test('409 for another body, and a failed call may be repeated', async () => {
    source.answer({}, {}, 500)
    const key = { 'idempotency-key': 'k2' }
    const input = { projectId, datasourceId: 'ds_k2', url: source.url, config: { method: 'POST' } }
    expect((await execute(t.operator, input, key)).status).toBe(502)
    source.answer([{ a: 1 }])
    await expectStatus(200, execute(t.operator, input, key))
    const other = await execute(t.operator, { ...input, name: 'other' }, key)
    expect(other).toMatchObject({ status: 409, body: { reason: 'idempotency_mismatch' } })
  })

  test('a first call that died on the way holds its key no longer than its lease', async () => {
    source.answer([{ a: 1 }])
    const { pool } = t.app.store
    await pool.query("insert into idempotent_calls (project_id, key, body_hash) values ($1, 'k3', 'other')", [
      projectId,
    ])
    await pool.query("insert into leases values ($1, 'dead', now() - interval '1 second')", [
      `idempotency/${projectId}/k3`,
    ])
    const input = { projectId, datasourceId: 'ds_k3', url: source.url }
    await expectStatus(200, execute(t.operator, input, { 'idempotency-key': 'k3' }))
    expect((await pool.query("select from leases where name like 'idempotency/%'")).rowCount).toBe(0)
  })
})

describe('refusals leave nothing behind', () => {
  const json = { 'content-type': 'application/json' }
  const table: Array<[string, unknown, Record<string, string>, number, string, string]> = [
    ['truncated JSON', '[{"a":1},{"a":', json, 502, 'upstream_error', 'transfer_error'],
    ['HTML', '<!doctype html><p>x', json, 502, 'upstream_error', 'not_tabular'],
    ['text', 'hello', { 'content-type': 'text/plain' }, 502, 'upstream_error', 'not_tabular'],
    ['nothing', '', json, 502, 'upstream_error', 'not_tabular'],
    [
      'an image',
      Buffer.from('89504e470d0a1a0a', 'hex'),
      { 'content-type': 'image/png' },
      502,
      'upstream_error',
      'not_tabular',
    ],
  ]
  test.each(table)('%s', async (_name, body, headers, status, error, reason) => {
    source.answer(body, headers)
    expect(await run()).toMatchObject({ status, body: { error, reason } })
    const list = await t.operator.get(`/v1/projects/${projectId}/data-objects`)
    const sources = await t.operator.get(`/v1/projects/${projectId}/datasources`)
    expect([list.body.data, sources.body.data]).toEqual([[], []])
    expect(await readdir(dirname(t.app.files.temporaryPath('any')))).toEqual([])
  })

  test('504 when making the table takes longer than what is left of an execute', async () => {
    source.answer([{ a: 1 }])
    const { builder, config } = t.app
    const given: Array<number | undefined> = []
    // Stands in for rows that take minutes: it says how long it may take, and then that it took longer.
    const convert: typeof builder.convert = (_scope, _call, limits) => {
      given.push(limits?.timeoutMs)
      return Promise.reject(new Failure('query_timeout'))
    }
    const app = { ...t.app, builder: { ...builder, convert } }
    const connect_spec = { name: 'Slow', id: 'http_api' as const, config: { url: source.url, method: 'GET' as const } }
    const request = { project_id: projectId, datasource_id: 'ds_slow', connect_spec, ...connect_spec.config }
    await expect(executeRequest(app, systemCaller, { request })).rejects.toMatchObject({
      code: 'query_timeout',
      message: expect.stringContaining('took longer than an execute may take') as string,
    })
    expect(given).toHaveLength(1)
    expect(given[0]).toBeGreaterThan(0)
    expect(given[0]).toBeLessThan(config.limits.executeTimeoutMs)
    expect(await readdir(dirname(t.app.files.temporaryPath('any')))).toEqual([])
  })

  test('502 with the status of the API; a failed refresh leaves the last good version serving', async () => {
    const again = () => execute(t.operator, { projectId, datasourceId: 'ds_keep', url: source.url })
    source.answer([{ a: 1 }])
    const good = await expectStatus(200, again())
    source.answer({}, json, 404)
    expect(await again()).toMatchObject({ status: 502, body: { reason: 'status', upstream_status: 404 } })
    expect(await rowsOf(t.operator, projectId, good.body.data_object_id)).toEqual([{ a: 1 }])
    const datasource = await t.operator.get(`/v1/projects/${projectId}/datasources/ds_keep`)
    expect(datasource.body).toMatchObject({ status: 'failed', last_error: { code: 'status' } })
  })

  test('400 for a body, a blocked address, an extractor without a match, an incomplete auth', async () => {
    source.answer({ rows: [] })
    const bad: Array<[Record<string, unknown>, string]> = [
      [{ body: { type: 'json', content: { a: 1 } } }, 'body_not_accepted'],
      [{ url: 'http://127.0.0.1:1/' }, 'url_not_allowed'],
      [{ url: 'http://[::ffff:10.0.0.1]/' }, 'url_not_allowed'],
      [{ responsePathExtractor: 'items' }, 'extractor_no_match'],
      [{ authType: 'Bearer Token', auth: {} }, 'invalid_field'],
      [{ headers: { 'x-a': 'b\r\nx-c: d' } }, 'invalid_field'],
      [{ method: 'HEAD' }, 'invalid_field'],
    ]
    for (const [config, reason] of bad) {
      expect(await run(config), reason).toMatchObject({ status: 400, body: { error: 'invalid_request', reason } })
    }
    // What refuses a body names the way that takes one.
    expect((await run({ body: { type: 'json', content: { a: 1 } } })).body.message).toMatch(/datasource.*refresh/)
    const named = await run({ responsePathExtractor: 'items' })
    expect(named.body.message).toContain('rows')
  })

  test("403 for a viewer, 404 for an outsider, 409 for another project's datasource", async () => {
    source.answer([{ a: 1 }])
    await expectStatus(200, execute(t.operator, { projectId, datasourceId: 'ds_owned', url: source.url }))
    const viewer = await t.member(projectId, 'viewer')
    const outsider = await t.member(await t.project(), 'owner')
    const input = { projectId, datasourceId: 'ds_owned', url: source.url }
    expect((await execute(viewer, input)).status).toBe(403)
    expect((await execute(outsider, input)).status).toBe(404)
    const other = await t.project()
    expect((await execute(t.operator, { ...input, projectId: other })).status).toBe(409)
  })
})
