import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, operatorToken, type TestApp } from '../harness/app.ts'
import { openSource, type Source } from '../harness/source.ts'
import { workbook } from '../harness/xlsx.ts'

let t: TestApp
let origin: string
let source: Source
let projectId: string
beforeAll(async () => {
  source = await openSource()
  t = await openTestApp({
    SLUICE_OUTBOUND_ALLOW: '127.0.0.1',
    SLUICE_UPLOAD_BYTES: '2000000',
    SLUICE_LOAD_RESPONSE_BYTES: '20000000',
    SLUICE_UPLOADS_AT_ONCE: '2',
  })
  await t.app.jobs.start()
  origin = await t.listen()
})
afterAll(async () => {
  await t.close()
  await source.close()
})
beforeEach(async () => {
  projectId = await t.project()
})

type Row = Record<string, unknown>
type Body = string | Buffer | ReadableStream
const path = () => `/v1/projects/${projectId}/datasources`
const make = async (more: Row = {}): Promise<string> =>
  (await expectStatus(201, t.operator.post(path(), { name: 'Orders', kind: 'file', ...more }))).body.id
const bearer = { authorization: `Bearer ${operatorToken}` }
async function send(
  id: string,
  body: Body,
  { type, search = '', headers = {} }: { type?: string; search?: string; headers?: Record<string, string> } = {},
) {
  const answer = await fetch(`${origin}${path()}/${id}/files${search}`, {
    method: 'POST',
    headers: { ...bearer, ...(type !== undefined && { 'content-type': type }), ...headers },
    body,
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, any> } // oxlint-disable-line typescript/no-explicit-any -- whatever came back
}
const rows = async (objectId: string): Promise<Row[]> =>
  (await expectStatus(200, t.operator.get(`/v1/projects/${projectId}/data-objects/${objectId}/rows?limit=100`))).body
    .data
const byId = (list: Row[]) => list.toSorted((left, right) => Number(left['id']) - Number(right['id']))
/** Copies for speed are made in the background, and are none of an upload's. */
const unfinished = async () =>
  (await readdir(join(t.app.config.dataDir, 'files', 'unfinished'))).filter((name) => !name.includes('.duckdb'))
const two = [
  { id: 1, name: 'Ada' },
  { id: 2, name: 'Łukasz' },
]
const csv = 'id,name\n1,Ada\n2,Łukasz\n'

describe('a file becomes a version of a table', () => {
  const xml = '<list><row><id>1</id><name>Ada</name></row><row><id>2</id><name>Łukasz</name></row></list>'
  const ndjson = two.map((row) => JSON.stringify(row)).join('\n')
  const kinds: Array<[string, Body, { type?: string; search?: string }]> = [
    ['CSV', csv, { type: 'text/csv' }],
    [
      'CSV by its name, as curl sends it',
      csv,
      { type: 'application/x-www-form-urlencoded', search: '?filename=a.csv' },
    ],
    ['JSON', JSON.stringify(two), { type: 'application/json' }],
    [
      'JSON with the rows inside',
      JSON.stringify({ data: { items: two } }),
      { type: 'application/json', search: '?extractor=data.items' },
    ],
    ['NDJSON by its name', ndjson, { search: '?filename=a.jsonl', type: 'application/octet-stream' }],
    ['XML', `<?xml version="1.0"?>${xml}`, { type: 'application/xml' }],
    ['CSV in gzip', gzipSync(csv), { search: '?filename=a.csv.gz', type: 'application/gzip' }],
    ['JSON in zstd', zstdCompressSync(JSON.stringify(two)), { type: 'application/zstd' }],
    [
      'Excel',
      workbook({
        Orders: [
          ['id', 'name'],
          [1, 'Ada'],
          [2, 'Łukasz'],
        ],
      }),
      { type: 'application/octet-stream' },
    ],
  ]
  test.each(kinds)('%s', async (_kind, body, options) => {
    const id = await make()
    const sent = await send(id, body, options)
    expect(sent).toMatchObject({ status: 201, body: { jobs: [{ source_event_type: 'file' }] } })
    const found = byId(await rows(sent.body['data_object_id']))
    expect(found.map((row) => ({ id: Number(row['id']), name: row['name'] }))).toEqual(two)
    await expect.poll(unfinished).toEqual([])
  })

  test('Parquet, as this service gives it away', async () => {
    const id = await make()
    const first = await send(id, csv, { type: 'text/csv' })
    const given = await fetch(
      `${origin}/v1/projects/${projectId}/data-objects/${first.body['data_object_id']}/download`,
      { headers: bearer },
    )
    const other = await make({ name: 'Copy' })
    const sent = await send(other, Buffer.from(await given.arrayBuffer()))
    expect(byId(await rows(sent.body['data_object_id']))).toEqual(two)
  })

  test('append and merge join what is there, a full one takes its place, and every version stays', async () => {
    const id = await make({ load: { mode: 'merge', primary_key: ['id'] } })
    await send(id, csv, { type: 'text/csv' })
    const merged = await send(id, 'id,name\n2,Grace\n3,Eve\n', { type: 'text/csv' })
    expect(byId(await rows(merged.body['data_object_id']))).toEqual([
      { id: 1, name: 'Ada' },
      { id: 2, name: 'Grace' },
      { id: 3, name: 'Eve' },
    ])
    const versions = async () => (await t.operator.get(`${path()}/${id}/versions`)).body.data
    expect(await versions()).toMatchObject([
      { version: 2, row_count: 3, new_rows: 2, loads: [1, 2] },
      { version: 1, row_count: 2 },
    ])
    const again = await send(id, 'id,name\n3,Eve\n', { type: 'text/csv' })
    expect(again).toMatchObject({ status: 201, body: { jobs: [] } })
    await send(id, 'id,name\n9,Zoe\n', { type: 'text/csv', search: '?full=true' })
    expect((await versions())[0]).toMatchObject({ version: 3, row_count: 1 })
  })

  test('its contract, checks and holds are those of the table', async () => {
    const id = await make()
    await send(id, csv, { type: 'text/csv' })
    await expectStatus(
      200,
      t.operator.patch(`${path()}/${id}/schema`, { checks: [{ type: 'unique', columns: ['id'] }] }),
    )
    const held = await send(id, 'id,name\n1,a\n1,b\n', { type: 'text/csv' })
    expect(held).toMatchObject({ status: 201, body: { held_because: { reason: 'check_failed' } } })
    expect((await t.operator.get(`${path()}/${id}`)).body).toMatchObject({ status: 'held', kind: 'file' })
    const types = { columns: [{ source_name: 'id', type: 'BIGINT' }], checks: [], on_mismatch: 'refuse' }
    await expectStatus(200, t.operator.patch(`${path()}/${id}/schema`, types))
    const refused = await send(id, 'id,name\nx,a\n', { type: 'text/csv' })
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_request', reason: 'type_mismatch' } })
  })

  test('beside an API it joins the rows, and the API goes on where it was', async () => {
    const since: Array<string | null> = []
    source.handle((request, response) => {
      since.push(new URL(request.url ?? '', 'http://x').searchParams.get('since'))
      response.writeHead(200, { 'content-type': 'application/json' }).end('[{"id":1,"at":5}]')
    })
    const config = { url: source.url, method: 'GET', parameters: { since: { value: '{{last_value}}' } } }
    const load = { mode: 'merge', primary_key: ['id'], cursor: { field: 'at' } }
    const id = await make({ kind: 'http_api', config, load })
    const refreshed = async () => {
      const { body: job } = await expectStatus(201, t.operator.post(`${path()}/${id}/refresh`))
      await expect
        .poll(async () => (await t.operator.get(`/v1/jobs/${job.id}`)).body.status, { timeout: 15_000 })
        .toBe('succeeded')
    }
    await refreshed()
    const joined = await send(id, '[{"id":7,"at":900}]', { type: 'application/json' })
    expect(byId(await rows(joined.body['data_object_id']))).toEqual([
      { id: 1, at: 5 },
      { id: 7, at: 900 },
    ])
    source.handle((request, response) => {
      since.push(new URL(request.url ?? '', 'http://x').searchParams.get('since'))
      response.writeHead(200, { 'content-type': 'application/json' }).end('[{"id":2,"at":6}]')
    })
    await refreshed()
    expect(since).toEqual([null, '5'])
    const { body: versions } = await t.operator.get(`${path()}/${id}/versions`)
    expect(versions.data[0]).toMatchObject({ version: 3, row_count: 3, last_value: '6' })
  })

  test('the same key and file are stored once; the same key with another file is 409', async () => {
    const id = await make({ load: { mode: 'append' } })
    const headers = { 'idempotency-key': 'upload-1' }
    const first = await send(id, csv, { type: 'text/csv', headers })
    expect(await send(id, csv, { type: 'text/csv', headers })).toEqual(first)
    const other = await send(id, `${csv}3,Eve\n`, { type: 'text/csv', headers })
    expect(other).toMatchObject({ status: 409, body: { reason: 'idempotency_mismatch' } })
    expect((await t.operator.get(`${path()}/${id}/versions`)).body.data).toMatchObject([{ row_count: 2 }])
  })

  test('the act is in the audit with the file’s name', async () => {
    const id = await make()
    await send(id, csv, { search: '?filename=orders.csv' })
    const { body } = await expectStatus(200, t.operator.get(`/v1/audit?project_id=${projectId}`))
    expect(body.data[0]).toMatchObject({
      action: 'datasource.refreshed',
      details: {
        name: expect.any(String),
        file: 'orders.csv',
        file_bytes: csv.length + 1,
        row_count: expect.any(Number),
      },
    })
  })
})

describe('a datasource for files', () => {
  test('400 for what only an API has, and for a refresh or an execute of it', async () => {
    const config = { url: source.url, method: 'GET' }
    expect(await t.operator.post(path(), { name: 'x', kind: 'file', config })).toMatchObject({
      status: 400,
      body: { details: [{ field: 'config' }] },
    })
    const id = await make()
    expect(await t.operator.patch(`${path()}/${id}`, { schedule: '0 * * * *' })).toMatchObject({ status: 400 })
    expect(await t.operator.post(`${path()}/${id}/refresh`)).toMatchObject({ status: 400 })
    const execute = { project_id: projectId, datasource_id: id, connect_spec: { name: 'x', id: 'http_api' }, ...config }
    expect(await t.operator.post('/v1/http/execute-request', execute)).toMatchObject({ status: 400 })
    await expectStatus(200, t.operator.patch(`${path()}/${id}`, { name: 'Renamed', keep_versions: 3 }))
  })
})

describe('hostile files store nothing and leave nothing', () => {
  const nothing = async (id: string) => {
    expect((await t.operator.get(`${path()}/${id}/versions`)).body.data).toEqual([])
    await expect.poll(unfinished).toEqual([])
  }
  const refusals: Array<[string, Body, { type?: string; search?: string }, Row]> = [
    ['0 bytes', '', { type: 'text/csv' }, { status: 400, reason: 'not_tabular' }],
    ['a bomb of gzip', gzipSync(Buffer.alloc(50_000_000, 0x20)), {}, { status: 400, reason: 'not_tabular' }],
    ['a bomb of zstd', zstdCompressSync(Buffer.alloc(50_000_000, 0x20)), {}, { status: 400, reason: 'not_tabular' }],
    [
      'a picture',
      Buffer.from('89504e470d0a1a0a0000000d', 'hex'),
      { type: 'image/png' },
      { status: 400, reason: 'not_tabular' },
    ],
    ['HTML', '<!doctype html><title>x</title>', { type: 'text/html' }, { status: 400, reason: 'not_tabular' }],
    ['a cut zip', workbook({ Orders: [['id'], [1]] }).subarray(0, 60), {}, { status: 400, reason: 'not_tabular' }],
    ['a cut gzip', gzipSync(csv.repeat(50)).subarray(0, 40), {}, { status: 400, reason: 'not_tabular' }],
    [
      'Parquet that is none',
      Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(200), Buffer.from('PAR1')]),
      {},
      { status: 400, reason: 'not_tabular' },
    ],
    ['JSON that breaks off', '[{"id":1},{"id":', { type: 'application/json' }, { status: 400, reason: 'not_tabular' }],
    [
      'deep JSON',
      '['.repeat(5_000) + ']'.repeat(5_000),
      { type: 'application/json' },
      { status: 400, reason: 'not_tabular' },
    ],
    ['a form', 'x', { type: 'multipart/form-data; boundary=x' }, { status: 415 }],
    [
      'rows where there are none',
      '{"a":1}',
      { type: 'application/json', search: '?extractor=data.items' },
      { status: 400, reason: 'extractor_no_match' },
    ],
  ]
  test.each(refusals)('%s', async (_name, body, options, { status, reason }) => {
    const id = await make()
    const sent = await send(id, body, options)
    expect({ status: sent.status, reason: sent.body['reason'] }).toEqual({ status, reason })
    expect(sent.body['message']).not.toMatch(/external API|\/files\/|unfinished/)
    await nothing(id)
  })

  test('413 for a file that is too large, announced or not', async () => {
    const id = await make()
    const large = Buffer.alloc(2_000_001, 0x61)
    expect(await send(id, large, { type: 'text/csv' })).toMatchObject({
      status: 413,
      body: { error: 'payload_too_large' },
    })
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(0x61)),
    })
    const sent = await send(id, stream, { type: 'text/csv' }).catch((error: unknown) => String(error))
    // A client that goes on sending may see the end of the connection before it reads why.
    if (typeof sent !== 'string') expect(sent.status).toBe(413)
    await nothing(id)
  })

  test('a sender who hangs up in the middle', async () => {
    const id = await make()
    const { port, hostname } = new URL(origin)
    const socket = connect(Number(port), hostname)
    const head = `POST ${path()}/${id}/files HTTP/1.1\r\nhost: x\r\nauthorization: ${bearer.authorization}\r\ncontent-type: text/csv\r\ncontent-length: 100000\r\n\r\n`
    socket.write(`${head}id,name\n1,Ada\n`)
    await expect.poll(async () => (await unfinished()).length).toBe(1)
    socket.destroy()
    await nothing(id)
    const faults = t.observations.filter(({ kind }) => kind === 'request-failed')
    expect(faults).toEqual([])
  })

  test('503 for more files of a project at once than may be; those before them and those of others are taken', async () => {
    const id = await make()
    const waiting = Promise.withResolvers<void>()
    const slow = () =>
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('id\n')),
        async pull(controller) {
          await waiting.promise
          controller.enqueue(new TextEncoder().encode('1\n'))
          controller.close()
        },
      })
    const first = [send(id, slow(), { type: 'text/csv' }), send(id, slow(), { type: 'text/csv' })]
    await expect.poll(async () => (await unfinished()).length).toBe(2)
    expect(await send(id, csv, { type: 'text/csv' })).toMatchObject({ status: 503 })
    projectId = await t.project()
    expect(await send(await make(), csv, { type: 'text/csv' })).toMatchObject({ status: 201 })
    waiting.resolve()
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([201, 201])
  })

  test('404 for a datasource of another project, before anything is read', async () => {
    const id = await make()
    projectId = await t.project()
    expect(await send(id, csv, { type: 'text/csv' })).toMatchObject({ status: 404 })
  })
})

test('only a file may take long to arrive: any other body ends with the time of requests', async () => {
  const app = await openTestApp({ SLUICE_REQUEST_TIMEOUT_MS: '1000' })
  try {
    const { port, hostname } = new URL(await app.listen())
    const slowly = async (target: string): Promise<string> => {
      const socket = connect(Number(port), hostname)
      socket.write(
        `POST ${target} HTTP/1.1\r\nhost: x\r\nauthorization: ${bearer.authorization}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`,
      )
      const pieces: Buffer[] = []
      socket.on('data', (piece) => pieces.push(piece))
      await once(socket, 'close')
      return Buffer.concat(pieces).toString()
    }
    const project = await app.project()
    const { body } = await app.operator.post(`/v1/projects/${project}/datasources`, { name: 'x', kind: 'file' })
    let hasFileEnded = false
    const file = slowly(`/v1/projects/${project}/datasources/${body.id}/files`).finally(() => (hasFileEnded = true))
    // The file came first, and both of these have had their time.
    for (let calls = 0; calls < 2; calls += 1) {
      expect(await slowly('/v1/projects')).toContain('did not arrive in time')
    }
    expect(hasFileEnded).toBe(false)
    app.http.server.closeAllConnections()
    await file
  } finally {
    await app.close()
  }
})
