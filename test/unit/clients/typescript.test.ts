import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import type { z } from 'zod'
import { failures } from '../../../api/failures.ts'
import type { answer as answerSchema } from '../../../api/queries.ts'
import type { questionAnswer } from '../../../api/questions.ts'
import {
  createClient,
  QuestionRefused,
  SluiceError,
  type Answer,
  type ErrorCode,
  type QuestionAnswer,
} from '../../../clients/typescript/index.ts'

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

const key = 'slc_test_abc_def'
let handlers: Handler[] = []
const seen: Array<{ method: string; url: string; body: string; headers: IncomingMessage['headers'] }> = []
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => (body += chunk.toString()))
  request.on('end', () => {
    seen.push({ method: request.method ?? '', url: request.url ?? '', body, headers: request.headers })
    const handler = handlers.shift()
    if (handler === undefined) response.writeHead(500).end()
    else handler(request, response, body)
  })
})
let url = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())
afterEach(() => {
  handlers = []
  seen.length = 0
})

const answered: Handler = (_request, response) => json(response, 200, { data: [{ n: 1 }], row_count: 1 })
const refused =
  (status: number, body: object): Handler =>
  (_request, response) =>
    json(response, status, body)

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const open = (more: object = {}) => createClient({ url, key, project: 'prj_1', ...more })

describe('a call', () => {
  test('carries key, project and environment, and slots as its body', async () => {
    handlers = [answered]
    const answer = await open({ environment: 'staging' }).call('sales', { region: 'north' })
    expect(answer.data).toEqual([{ n: 1 }])
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: '/v1/queries/sales',
      body: '{"region":"north"}',
      headers: { authorization: `Bearer ${key}`, 'x-sluice-project': 'prj_1', 'x-sluice-environment': 'staging' },
    })
  })

  test('waits as long as it is told before it tries again', async () => {
    handlers = [refused(429, { error: 'rate_limit_exceeded', message: 'wait', retry_after: 1 }), answered]
    const startedAt = performance.now()
    await open().call('sales')
    expect(performance.now() - startedAt).toBeGreaterThan(950)
    expect(seen).toHaveLength(2)
  })

  test('does not wait longer than it may', async () => {
    handlers = [refused(429, { error: 'rate_limit_exceeded', message: 'wait', retry_after: 3600 })]
    await expect(open().call('sales')).rejects.toMatchObject({ code: 'rate_limit_exceeded', retryAfterSeconds: 3600 })
    expect(seen).toHaveLength(1)
  })

  test('gives up after as many tries as it has', async () => {
    handlers = Array.from({ length: 4 }, () => refused(503, { error: 'overloaded', message: 'busy' }))
    await expect(open({ retries: 2 }).call('sales')).rejects.toMatchObject({ status: 503 })
    expect(seen).toHaveLength(3)
  })

  test('is not tried again where that would not help', async () => {
    const body = { error: 'invalid_query', reason: 'missing_slots', message: 'no', request_id: 'req_1', details: [] }
    handlers = [refused(400, body), answered]
    const error = await open()
      .call('sales')
      .catch((each: unknown) => each)
    expect(error).toBeInstanceOf(SluiceError)
    expect(error).toMatchObject({ code: 'invalid_query', reason: 'missing_slots', status: 400, requestId: 'req_1' })
    expect(seen).toHaveLength(1)
  })

  test('that nobody answers ends by its own clock, and by its caller’s', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const there = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const client = createClient({ url: there, key, retries: 0, timeoutMs: 100 })
    await expect(client.call('sales')).rejects.toMatchObject({ code: 'timeout' })
    const signal = AbortSignal.timeout(50)
    const patient = createClient({ url: there, key })
    await expect(patient.call('sales', {}, { signal })).rejects.toMatchObject({ name: 'TimeoutError' })
    silent.closeAllConnections()
    silent.close()
  })

  test('says so where nobody is', async () => {
    const client = createClient({ url: 'http://127.0.0.1:1', key, retries: 0 })
    await expect(client.call('sales')).rejects.toMatchObject({ code: 'unreachable', status: 0 })
  })

  test('follows no redirect, which would carry the key elsewhere', async () => {
    handlers = [(_request, response) => response.writeHead(307, { location: '/elsewhere' }).end(), answered]
    await expect(open({ retries: 0 }).call('sales')).rejects.toMatchObject({ code: 'unreachable' })
    expect(seen.map((each) => each.url)).toEqual(['/v1/queries/sales'])
  })
})

describe('a stream', () => {
  const allOf = async (rows: AsyncIterable<unknown>): Promise<unknown[]> => {
    const all: unknown[] = []
    for await (const row of rows) all.push(row)
    return all
  }
  const events =
    (...lines: string[]): Handler =>
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const line of lines) response.write(line)
      response.end()
    }
  const meta = 'event: meta\ndata: {"type":"meta","query_used":"sales","columns":[]}\n\n'
  const rows = (...all: number[]) =>
    `event: rows\ndata: {"type":"rows","rows":${JSON.stringify(all.map((n) => ({ n })))}}\n\n`
  const done = 'event: done\ndata: {"type":"done","row_count":3,"truncated":false,"execution_time_ms":1}\n\n'

  test('gives its rows one by one, however the bytes come', async () => {
    const bytes = `${meta}: ping\n\n${rows(1, 2)}${rows(3)}${done}`
    handlers = [events(...bytes)]
    const stream = open().rows('sales')
    const got: unknown[] = []
    for await (const row of stream) got.push(row)
    expect(got).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
    expect(await stream.start).toMatchObject({ query_used: 'sales' })
    expect(await stream.end).toMatchObject({ row_count: 3 })
  })

  test('that breaks is never taken for whole', async () => {
    handlers = [events(meta, rows(1))]
    const stream = open().rows('sales')
    await expect(allOf(stream)).rejects.toMatchObject({ code: 'broken_answer' })
    await expect(stream.end).rejects.toThrow('ended before')
  })

  test('that fails on its way says why', async () => {
    handlers = [
      events(meta, rows(1), 'event: error\ndata: {"type":"error","error":"query_timeout","message":"late"}\n\n'),
    ]
    await expect(allOf(open().rows('sales'))).rejects.toMatchObject({ code: 'query_timeout' })
  })

  test('that nobody reads further is hung up on', async () => {
    const hungUp = new Promise<void>((resolve) => {
      handlers = [
        (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          const timer = setInterval(() => response.write(rows(1)), 5)
          response.on('close', () => {
            clearInterval(timer)
            resolve()
          })
        },
      ]
    })
    for await (const _row of open().rows('sales')) break
    await expect(hungUp).resolves.toBeUndefined()
  })
})

describe('a question', () => {
  test('that is refused says what comes near, and what is missing', async () => {
    handlers = [
      refused(422, {
        error: 'invalid_query',
        reason: 'missing_slots',
        message: 'Which region?',
        candidates: [{ name: 'sales' }],
        query_used: 'sales',
        parameters: { year: 2026 },
        schema: { required: ['region'] },
      }),
    ]
    const error = await open()
      .ask('sales')
      .catch((each: unknown) => each)
    expect(error).toBeInstanceOf(QuestionRefused)
    expect(error).toMatchObject({ queryUsed: 'sales', parameters: { year: 2026 }, missing: { required: ['region'] } })
  })

  test('needs its project', async () => {
    await expect(createClient({ url, key }).ask('sales')).rejects.toThrow('needs the project')
  })
})

describe('a key', () => {
  test('that is live is refused in a browser, and one for tests is not', () => {
    const live = 'slc_live_abc_def'
    expect(() => createClient({ url, key: live })).not.toThrow()
    const page = globalThis as { document?: unknown }
    page.document = {}
    try {
      expect(() => createClient({ url, key: live })).toThrow('must not be in a web page')
      expect(() => createClient({ url, key })).not.toThrow()
    } finally {
      delete page.document
    }
  })

  test('that is a management token is none', () => {
    expect(() => createClient({ url, key: 'slc_mgmt_abc_def' })).toThrow('API key')
  })
})

describe('types', () => {
  type Queries = {
    sales: { parameters: { region: 'north' | 'south'; year?: number | null }; row: { total: number | null } }
    all: { parameters: Record<string, never>; row: { id: string | null } }
  }

  test('know each query, its slots and its columns', () => {
    const client = createClient<Queries>({ url, key })
    expectTypeOf<Awaited<ReturnType<typeof client.call<'sales'>>>['data'][number]>().toEqualTypeOf<
      Queries['sales']['row']
    >()
    // @ts-expect-error -- there is no such query
    const unknown = (): unknown => client.call('nothing')
    // @ts-expect-error -- a slot is missing
    const missing = (): unknown => client.call('sales')
    // @ts-expect-error -- no such value
    const wrong = (): unknown => client.call('sales', { region: 'west' })
    const none = (): unknown => client.call('all')
    expect([unknown, missing, wrong, none]).toHaveLength(4)
  })

  test('are those of the wire', () => {
    expectTypeOf<z.output<typeof answerSchema>>().toExtend<Answer<Record<string, unknown>>>()
    expectTypeOf<z.output<typeof questionAnswer>>().toExtend<QuestionAnswer<Record<string, unknown>>>()
    type Wire = { [Code in keyof typeof failures]: (typeof failures)[Code] extends { wire: infer Name } ? Name : Code }
    expectTypeOf<Wire[keyof Wire]>().toEqualTypeOf<ErrorCode>()
    expect(Object.keys(failures).length).toBeGreaterThan(10)
  })
})
