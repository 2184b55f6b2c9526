import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
let secret: string
let port: number
beforeAll(async () => {
  t = await openTestApp({ SLUICE_QUERY_STREAM_ROWS: '5000' })
  q = await openQueryProject(t)
  const permissions = [{ project_id: q.projectId, environments: '*' }]
  const made = await t.operator.post('/v1/api-keys', { name: 'streams', plan: 'unlimited', permissions })
  secret = made.body.secret
  await q.deploy({ name: 'numbers', sql: "SELECT i AS n, 'a,\"b' AS t FROM range(10000) r(i) WHERE i < $count" })
  await q.deploy({
    name: 'breaks',
    sql: "SELECT repeat('x', 100) AS x, CASE WHEN i < 90000 THEN i ELSE CAST('x' || i AS BIGINT) END AS n FROM range(99000) r(i)",
    max_rows: 1_000_000,
  })
  await t.http.listen({ port: 0, host: '127.0.0.1' })
  port = (t.http.server.address() as AddressInfo).port
})
afterAll(() => t.close())

type Received = { status: number; headers: Record<string, unknown>; body: Buffer; complete: boolean }

/** Over a real connection, because only that shows whether an answer ended or broke off. */
async function call(name: string, accept: string, body: object = {}): Promise<Received> {
  const sent = request({
    port,
    host: '127.0.0.1',
    path: `/v1/queries/${name}`,
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, accept, 'content-type': 'application/json' },
  })
  sent.end(JSON.stringify(body))
  const [response] = await once(sent, 'response')
  const parts: Buffer[] = []
  try {
    for await (const part of response) parts.push(part)
  } catch {
    // Broken off: `complete` says so.
  }
  return {
    status: response.statusCode,
    headers: response.headers,
    body: Buffer.concat(parts),
    complete: response.complete,
  }
}

/** The events of a stream, each with its name and its data. */
function eventsOf(body: Buffer): Array<{ event: string; data: Record<string, unknown> & { rows?: unknown[] } }> {
  return body
    .toString()
    .split('\n\n')
    .filter((block) => block.startsWith('event: '))
    .map((block) => {
      const [first = '', second = ''] = block.split('\n')
      return { event: first.slice(7), data: JSON.parse(second.slice(6)) }
    })
}

describe('200', () => {
  test('server-sent events: meta, rows, done, and every data line has its type', async () => {
    const { status, headers, body, complete } = await call('numbers', 'text/event-stream', { count: 4000 })
    expect({ status, complete, type: headers['content-type'] }).toEqual({
      status: 200,
      complete: true,
      type: 'text/event-stream; charset=utf-8',
    })
    const events = eventsOf(body)
    expect(events[0]).toMatchObject({
      event: 'meta',
      data: {
        type: 'meta',
        query_used: 'numbers',
        version: 1,
        parameters: { count: 4000 },
        columns: [{ name: 'n' }, {}],
      },
    })
    for (const { event, data } of events) expect(data['type']).toBe(event)
    const rows = events.flatMap(({ data }) => data.rows ?? [])
    expect(rows).toHaveLength(4000)
    expect(rows[3999]).toEqual({ n: 3999, t: 'a,"b' })
    expect(events.at(-1)).toMatchObject({
      event: 'done',
      data: { row_count: 4000, truncated: false, execution_time_ms: expect.any(Number) },
    })
  })

  test('server-sent events of a result beyond the limit are cut and say so', async () => {
    const events = eventsOf((await call('numbers', 'text/event-stream', { count: 9000 })).body)
    expect(events.at(-1)).toMatchObject({ event: 'done', data: { row_count: 5000, truncated: true } })
  })

  test('NDJSON: one row a line', async () => {
    const { body, complete, headers } = await call('numbers', 'application/x-ndjson', { count: 3000 })
    const lines = body.toString().trimEnd().split('\n')
    expect([complete, lines.length, headers['x-sluice-version']]).toEqual([true, 3000, '1'])
    expect(JSON.parse(lines[2999] ?? '')).toEqual({ n: 2999, t: 'a,"b' })
  })

  test('CSV: a header line, and fields that need it are quoted', async () => {
    const { body, headers } = await call('numbers', 'text/csv', { count: 2 })
    expect(headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(body.toString()).toBe('n,t\r\n0,"a,""b"\r\n1,"a,""b"\r\n')
  })

  test('Parquet: one whole file', async () => {
    const { body, complete, headers } = await call('numbers', 'application/vnd.apache.parquet', { count: 100 })
    expect([complete, headers['content-type']]).toEqual([true, 'application/vnd.apache.parquet'])
    expect([body.subarray(0, 4).toString(), body.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1'])
  })

  test('Arrow: a stream of record batches that ends as it should', async () => {
    const { body, complete, headers } = await call('numbers', 'application/vnd.apache.arrow.stream', { count: 100 })
    expect([complete, headers['content-type']]).toEqual([true, 'application/vnd.apache.arrow.stream'])
    // Each message begins with a continuation mark, and the last one says that it is the last.
    expect(body.readUInt32LE(0)).toBe(0xff_ff_ff_ff)
    expect(body.subarray(-8)).toEqual(Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]))
  })

  test.each([
    ['*/*', 'application/json'],
    ['image/png', 'application/json'],
    ['text/csv;q=0.5, application/x-ndjson', 'application/x-ndjson'],
    ['text/html, text/csv;q=0.9, */*;q=0.1', 'text/csv'],
  ])('Accept: %s gives %s', async (accept, expected) => {
    expect((await call('numbers', accept, { count: 1 })).headers['content-type']).toContain(expected)
  })
})

describe('a stream that fails midway never looks complete', () => {
  test('server-sent events end with an error event and no done', async () => {
    const events = eventsOf((await call('breaks', 'text/event-stream')).body)
    expect(events.length).toBeGreaterThan(2)
    expect(events.at(-1)).toMatchObject({
      event: 'error',
      data: { type: 'error', error: expect.any(String), message: expect.any(String), request_id: expect.any(String) },
    })
    expect(events.some(({ event }) => event === 'done')).toBe(false)
  })

  test.each(['application/x-ndjson', 'text/csv'])('%s breaks the connection', async (accept) => {
    expect(await call('breaks', accept)).toMatchObject({ status: 200, complete: false })
  })

  test('NDJSON and CSV beyond the row limit break too: they have no place to say that rows are missing', async () => {
    expect((await call('numbers', 'application/x-ndjson', { count: 9000 })).complete).toBe(false)
    expect((await call('numbers', 'text/csv', { count: 9000 })).complete).toBe(false)
  })

  test('a stream that fails before its first row has its status, and JSON is never half an answer', async () => {
    expect((await call('numbers', 'text/event-stream', { count: 'x' })).status).toBe(400)
    const whole = await call('breaks', 'application/json')
    expect([whole.status, JSON.parse(whole.body.toString()).error]).toEqual([400, 'invalid_query'])
  })
})

test('a client that hangs up stops its query', async () => {
  await q.deploy({
    name: 'slow',
    sql: 'SELECT count(*) AS n FROM range(1000000) a(i), range(1000000) b(j) WHERE i * j = -1',
  })
  const busy = (): number => t.app.engine.health().executors.reduce((sum, each) => sum + each.calls, 0)
  for (const accept of ['application/json', 'text/event-stream']) {
    const sent = request({
      port,
      host: '127.0.0.1',
      path: '/v1/queries/slow',
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, accept },
    })
    sent.on('error', () => undefined)
    sent.end()
    await expect.poll(busy, { timeout: 60_000 }).toBe(1)
    sent.destroy()
    await expect.poll(busy, { timeout: 60_000 }).toBe(0)
  }
})
