import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { openTrinoClient, type TrinoClient } from '../../../server/trino/client/client.ts'

type Answer = { status?: number; body?: object | string; afterMs?: number }
type Seen = { method: string; path: string; headers: IncomingMessage['headers']; body: string }

let server: Server | undefined
let client: TrinoClient | undefined
afterEach(async () => {
  await client?.close()
  server?.closeAllConnections()
  server?.close()
})

/** A server that speaks the pages of the protocol, as it is told to for each path. */
async function serve(answers: (request: Seen, url: string) => Answer): Promise<{ client: TrinoClient; seen: Seen[] }> {
  const seen: Seen[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = ''
    for await (const part of request) body += String(part)
    const one = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body }
    seen.push(one)
    const { status = 200, body: sent = '', afterMs = 0 } = answers(one, `http://127.0.0.1:${portOf(server)}`)
    setTimeout(() => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(typeof sent === 'string' ? sent : JSON.stringify(sent))
    }, afterMs)
  }
  server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  client = openTrinoClient({
    url: `http://127.0.0.1:${portOf(server)}`,
    user: 'sluice',
    password: 'secret',
    catalog: 'sluice',
    timeoutMs: 1_000,
    connections: 4,
  })
  return { client, seen }
}

const portOf = (from: Server | undefined): number => (from?.address() as AddressInfo | undefined)?.port ?? 0
const bigint = { name: 'n', type: 'bigint', typeSignature: { rawType: 'bigint', arguments: [] } }

describe('a statement', () => {
  test('is followed page by page, with its integers exact, as the user it is run as', async () => {
    const pages: Record<string, (url: string) => object> = {
      '/v1/statement': (url) => ({ id: 'q1', nextUri: `${url}/v1/statement/q1/1` }),
      '/v1/statement/q1/1': (url) => ({
        id: 'q1',
        columns: [bigint],
        data: [[1]],
        nextUri: `${url}/v1/statement/q1/2`,
      }),
      '/v1/statement/q1/2': () => ({ id: 'q1', columns: [bigint], data: [[2]] }),
    }
    const { client: trino, seen } = await serve(({ path }, url) => {
      const page = pages[path.split('?')[0] ?? '']?.(url) ?? {}
      return { body: JSON.stringify(page).replace('[[2]]', '[[9007199254740993]]') }
    })
    const result = await trino.run({
      sql: 'SELECT 1',
      user: 'prj_1',
      schema: 'prj_1_abc',
      prepared: "SELECT 'ü' ?",
      session: { query_max_memory: '1B' },
    })
    expect(result).toMatchObject({ id: 'q1', columns: [{ name: 'n' }] })
    const rows: unknown[] = []
    for await (const page of result.pages) rows.push(...page)
    expect(rows).toEqual([[1], ['9007199254740993']])
    expect(seen[0]).toMatchObject({ method: 'POST', path: '/v1/statement', body: 'SELECT 1' })
    expect(seen[0]?.headers).toMatchObject({
      'x-trino-user': 'prj_1',
      'x-trino-schema': 'prj_1_abc',
      'x-trino-session': 'query_max_memory=1B',
      'x-trino-prepared-statement': `s=${encodeURIComponent("SELECT 'ü' ?")}`,
      authorization: `Basic ${Buffer.from('sluice:secret').toString('base64')}`,
    })
    expect(seen.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET'])
  })

  test('asks for no page before the one before it was taken, and is cancelled where it stands by whoever leaves', async () => {
    const { client: trino, seen } = await serve(({ method, path }, url) => {
      if (method === 'DELETE') return { status: 204 }
      const at = Number(/\/(\d+)\?/.exec(path)?.[1] ?? 0)
      return { body: { id: 'q2', columns: [bigint], data: [[at]], nextUri: `${url}/v1/statement/q2/${at + 1}` } }
    })
    const { pages } = await trino.run({ sql: 'SELECT endless' })
    expect(seen).toHaveLength(1)
    for await (const page of pages) if (page[0]?.[0] === 2) break
    expect(seen.map(({ method, path }) => `${method} ${path.split('?')[0]}`)).toEqual([
      'POST /v1/statement',
      'GET /v1/statement/q2/1',
      'GET /v1/statement/q2/2',
      'DELETE /v1/statement/q2/3',
    ])
  })

  test('is cancelled by its signal, also before there is a row', async () => {
    const { client: trino, seen } = await serve(({ method }, url) =>
      method === 'DELETE' ? { status: 204 } : { body: { id: 'q3', nextUri: `${url}/v1/statement/q3/1` }, afterMs: 20 },
    )
    await expect(trino.run({ sql: 'SELECT 1', signal: AbortSignal.timeout(150) })).rejects.toThrow(/timeout|aborted/)
    expect(seen.at(-1)).toMatchObject({ method: 'DELETE' })
  })

  test('comes again where the coordinator is busy, and says that it is away where it stays so', async () => {
    let tries = 0
    const { client: trino } = await serve(() => {
      tries += 1
      return tries < 3 ? { status: 503 } : { body: { id: 'q4', columns: [bigint], data: [[7]] } }
    })
    expect(await trino.rows({ sql: 'SELECT 7' })).toEqual([[7]])
    await client?.close()
    const { client: other } = await serve(() => ({ status: 503, body: 'down' }))
    await expect(other.rows({ sql: 'SELECT 7' })).rejects.toMatchObject({ code: 'overloaded' })
  })

  test('follows no address but that of the server it asked', async () => {
    const { client: trino, seen } = await serve(({ path }) =>
      path === '/v1/statement'
        ? { body: { id: 'q5', nextUri: 'http://192.0.2.1:1/v1/statement/q5/1' } }
        : { body: { id: 'q5', columns: [bigint], data: [[1]] } },
    )
    expect(await trino.rows({ sql: 'SELECT 1' })).toEqual([[1]])
    expect(seen).toHaveLength(2)
  })

  test.each([
    ['USER_ERROR', 'COLUMN_NOT_FOUND', 'invalid_query'],
    ['INSUFFICIENT_RESOURCES', 'EXCEEDED_TIME_LIMIT', 'query_timeout'],
    ['INSUFFICIENT_RESOURCES', 'EXCEEDED_GLOBAL_MEMORY_LIMIT', 'result_too_large'],
    ['INSUFFICIENT_RESOURCES', 'EXCEEDED_SCAN_LIMIT', 'result_too_large'],
    ['INSUFFICIENT_RESOURCES', 'QUERY_QUEUE_FULL', 'overloaded'],
    ['INTERNAL_ERROR', 'REMOTE_TASK_ERROR', 'overloaded'],
    ['INTERNAL_ERROR', 'TOO_MANY_REQUESTS_FAILED', 'overloaded'],
    ['INTERNAL_ERROR', 'GENERIC_INTERNAL_ERROR', 'internal_error'],
    ['EXTERNAL', 'ICEBERG_BAD_DATA', 'internal_error'],
  ])('that ends with %s %s is %s', async (errorType, errorName, code) => {
    const { client: trino } = await serve(() => ({
      body: { id: 'q6', error: { errorType, errorName, message: 'line 1:2: words of Trino' } },
    }))
    await expect(trino.rows({ sql: 'SELECT 1' })).rejects.toMatchObject({ code })
  })
})
