import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OutboundRequest } from '../../server/connections/request/build-request.ts'
import { type Resolver } from '../../server/connections/outbound/guard.ts'
import { fileSink, memorySink } from '../../server/connections/outbound/receive.ts'
import {
  openOutbound,
  type Outbound,
  type OutboundOptions,
  type SendOptions,
} from '../../server/connections/outbound/send.ts'
import { certificate } from '../harness/tls.ts'
import { openRawUpstream, openUpstream, rowsText, type Upstream } from '../harness/upstream.ts'

let upstream: Upstream
let other: Upstream
let secure: Upstream
let folder: string
const opened: Outbound[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-outbound-'))
  upstream = await openUpstream()
  other = await openUpstream()
  secure = await openUpstream({}, { tls: true })
})
afterAll(async () => {
  await Promise.all(opened.map((each) => each.close()))
  await Promise.all([upstream, other, secure].map((each) => each.close()))
  await rm(folder, { recursive: true })
})

function outbound(options: Partial<OutboundOptions> = {}): Outbound {
  const made = openOutbound({
    allow: [upstream.host, other.host, secure.host],
    connectTimeoutMs: 5000,
    connectionsPerOrigin: 8,
    backoffBaseMs: 1,
    backoffMaxMs: 5,
    ...options,
  })
  opened.push(made)
  return made
}

const request = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url,
  method: 'GET',
  headers: {},
  secretHeaders: [],
  secretQuery: [],
  ...more,
})

async function call(made: Outbound, sent: OutboundRequest, options: Partial<SendOptions> = {}) {
  const sink = memorySink()
  const answer = await made.send(sent, {
    timeoutMs: 5000,
    maxWireBytes: 1_000_000,
    maxDecodedBytes: 1_000_000,
    beyond: 'fail',
    redirects: 5,
    retries: 0,
    sink,
    ...options,
  })
  return { answer, text: sink.bytes().toString() }
}

/** The code of a call that must have none. */
async function failed(made: Outbound, sent: OutboundRequest, options: Partial<SendOptions> = {}) {
  const { answer } = await call(made, sent, options)
  if (answer.ok) throw new Error(`answered ${answer.status}`)
  return answer.error
}

describe('answers', () => {
  test.each(['/rows', '/gzip', '/x-gzip', '/deflate', '/deflate-raw', '/br', '/zstd'])('%s', async (path) => {
    const { answer, text } = await call(outbound(), request(upstream.origin + path))
    expect(answer).toMatchObject({ ok: true, status: 200, decodedBytes: Buffer.byteLength(rowsText), tries: 1 })
    expect(text).toBe(rowsText)
  })

  test('to a file', async () => {
    const path = join(folder, 'body')
    await call(outbound(), request(`${upstream.origin}/gzip`), { sink: fileSink(path) })
    expect(await readFile(path, 'utf8')).toBe(rowsText)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  test('HEAD of an encoded answer, and one without content', async () => {
    const head = await call(outbound(), request(`${upstream.origin}/gzip`, { method: 'HEAD' }))
    expect(head.answer).toMatchObject({ ok: true, status: 200, decodedBytes: 0 })
    const empty = await call(outbound(), request(`${upstream.origin}/empty`))
    expect(empty.answer).toMatchObject({ ok: true, status: 204, decodedBytes: 0 })
  })

  test('over TLS that is trusted', async () => {
    const made = outbound({ ca: certificate })
    const { text } = await call(made, request(`${secure.origin}/rows`))
    expect(text).toBe(rowsText)
  })
})

describe('hostile answers end with a code and words', () => {
  test.each([
    ['/slow-headers', 'timeout', { timeoutMs: 150 }],
    ['/drip', 'timeout', { timeoutMs: 150 }],
    ['/endless', 'too_large', {}],
    ['/bomb', 'too_large', {}],
    ['/short-body', 'transfer_error', {}],
    ['/stacked', 'transfer_error', {}],
    ['/unknown-encoding', 'transfer_error', {}],
    ['/cut-gzip', 'transfer_error', {}],
    ['/not-gzip', 'transfer_error', {}],
    ['/close', 'connect_error', {}],
    ['/loop', 'too_many_redirects', {}],
    ['/redirect?to=ftp://example.org/', 'blocked', {}],
    ['/redirect?to=http%3A%2F%2Fa%2520b%2F', 'blocked', {}],
  ] as const)('%s: %s', async (path, code, options) => {
    const error = await failed(outbound(), request(upstream.origin + path), options)
    expect(error.code).toBe(code)
    expect(error.message).toMatch(/^[A-Z0-9].{30,}\.$/)
  })

  test('a preview is cut instead', async () => {
    const limits = { beyond: 'cut', maxDecodedBytes: 1000, maxWireBytes: 10_000_000 } as const
    for (const path of ['/bomb', '/endless']) {
      const { answer, text } = await call(outbound(), request(upstream.origin + path), limits)
      expect(answer).toMatchObject({ ok: true, truncated: true, decodedBytes: 1000 })
      expect(text).toHaveLength(1000)
    }
  })

  test('no HTTP at all', async () => {
    const raw = await openRawUpstream((socket) => void socket.once('data', () => socket.end('SSH-2.0-OpenSSH\r\n')))
    expect(await failed(outbound({ allow: [raw.host] }), request(raw.origin))).toMatchObject({ code: 'transfer_error' })
    await raw.close()
  })

  test('nobody listens', async () => {
    const gone = await openUpstream()
    await gone.close()
    const error = await failed(outbound({ allow: [gone.host] }), request(gone.origin))
    expect(error).toMatchObject({ code: 'connect_error', message: expect.stringContaining('refused') as string })
  })

  test('a certificate nobody vouches for', async () => {
    const error = await failed(outbound(), request(secure.origin))
    expect(error).toMatchObject({ code: 'tls_error', message: expect.stringContaining('certificate') as string })
  })

  test('a name that does not exist', async () => {
    const resolver: Resolver = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
    const error = await failed(outbound({ resolver }), request('http://nowhere.example/'))
    expect(error).toMatchObject({ code: 'dns_error', message: expect.stringContaining('nowhere.example') as string })
  })

  test('a name server that never answers', async () => {
    const resolver: Resolver = () => new Promise(() => {})
    const error = await failed(outbound({ resolver }), request('http://slow.example/'), { timeoutMs: 100 })
    expect(error.code).toBe('timeout')
  })

  test('others are served meanwhile, and a caller can give up', async () => {
    const made = outbound()
    const cancel = new AbortController()
    const slow = call(made, request(`${upstream.origin}/slow-headers`), { signal: cancel.signal })
    expect((await call(made, request(`${upstream.origin}/rows`))).text).toBe(rowsText)
    cancel.abort(new Error('gave up'))
    await expect(slow).rejects.toThrow('gave up')
  })
})

describe('redirects', () => {
  const secret = {
    headers: { 'x-api-key': 's3cret', authorization: 'Bearer s3cret', accept: '*/*' },
    secretHeaders: ['x-api-key', 'authorization'],
  }
  type Echo = { method: string; headers: Record<string, string>; body: string }
  const echo = async (path: string, more: Partial<OutboundRequest> = {}) => {
    const { text } = await call(outbound(), request(upstream.origin + path, { ...secret, ...more }))
    return JSON.parse(text) as Echo
  }

  test('keep secrets within the origin and drop them beyond it', async () => {
    expect((await echo('/redirect?to=/echo')).headers).toMatchObject({ 'x-api-key': 's3cret' })
    const beyond = await echo(`/redirect?to=${encodeURIComponent(`${other.origin}/echo`)}`)
    expect(beyond.headers).toMatchObject({ accept: '*/*', host: other.host })
    expect(JSON.stringify(beyond)).not.toContain('s3cret')
    const back = `${other.origin}/redirect?to=${encodeURIComponent(`${upstream.origin}/echo`)}`
    expect(JSON.stringify(await echo(`/redirect?to=${encodeURIComponent(back)}`))).not.toContain('s3cret')
  })

  test.each([
    ['POST', 303, 'GET'],
    ['POST', 302, 'GET'],
    ['POST', 301, 'GET'],
    ['POST', 307, 'POST'],
    ['PUT', 302, 'PUT'],
    ['PUT', 303, 'GET'],
    ['PATCH', 308, 'PATCH'],
  ])('%s with %s becomes %s', async (method, status, becomes) => {
    const body = Buffer.from('{"a":1}')
    const headers = { 'content-type': 'application/json' }
    const seen = await echo(`/redirect?status=${status}&to=/echo`, { method, body, headers })
    expect(seen).toMatchObject({ method: becomes, body: becomes === 'GET' ? '' : '{"a":1}' })
    expect(seen.headers['content-type']).toBe(becomes === 'GET' ? undefined : 'application/json')
  })

  test('five are followed, six are not', async () => {
    const chain = (count: number): string =>
      count === 0 ? '/rows' : `/redirect?to=${encodeURIComponent(chain(count - 1))}`
    expect((await call(outbound(), request(upstream.origin + chain(5)))).answer).toMatchObject({
      ok: true,
      redirects: 5,
    })
    expect(await failed(outbound(), request(upstream.origin + chain(6)))).toMatchObject({ code: 'too_many_redirects' })
  })

  test('into a blocked range are refused before a connection', async () => {
    const hidden = await openUpstream()
    for (const to of [
      hidden.origin,
      `http://localhost:${hidden.port}/`,
      'http://169.254.169.254/latest/',
      'http://[::1]/',
    ]) {
      const error = await failed(outbound(), request(`${upstream.origin}/redirect?to=${encodeURIComponent(to)}`))
      expect(error.code).toBe('blocked')
    }
    expect(hidden.connections()).toBe(0)
    await hidden.close()
  })
})

describe('tries', () => {
  test('reads are tried again after 429, 5xx and broken answers, with the waits that are asked for', async () => {
    const waits: number[] = []
    const made = outbound({
      chance: () => 0.5,
      now: () => 0,
      wait: async (ms) => void waits.push(ms),
      backoffBaseMs: 100,
      backoffMaxMs: 150,
    })
    const cases = ['/status?code=503', '/status?code=429&after=2', '/close'].map(async (path) =>
      call(made, request(upstream.origin + path), { retries: 2 }),
    )
    expect((await Promise.all(cases)).map(({ answer }) => answer.tries)).toEqual([3, 3, 3])
    expect(waits.toSorted((a, b) => a - b)).toEqual([50, 50, 75, 75, 2000, 2000])
  })

  test('a wait beyond the time that is left is not begun', async () => {
    const { answer } = await call(outbound(), request(`${upstream.origin}/status?code=429&after=3600`), { retries: 2 })
    expect(answer).toMatchObject({ ok: true, status: 429, tries: 1 })
  })

  test('writes and refusals are not tried again', async () => {
    const post = await call(outbound(), request(`${upstream.origin}/status?code=503`, { method: 'POST' }), {
      retries: 2,
    })
    expect(post.answer).toMatchObject({ status: 503, tries: 1 })
    const denied = await call(outbound(), request(`${upstream.origin}/status?code=403`), { retries: 2 })
    expect(denied.answer).toMatchObject({ status: 403, tries: 1 })
    const blocked = await call(outbound(), request('http://127.0.0.1:9/'), { retries: 2 })
    expect(blocked.answer).toMatchObject({ ok: false, tries: 1 })
  })

  test('each try has its own time, and a later one can succeed', async () => {
    let calls = 0
    const flaky = await openUpstream({
      '/flaky': (_request, response) => {
        calls += 1
        if (calls === 2) response.end('ok')
      },
    })
    const made = outbound({ allow: [flaky.host] })
    const { answer, text } = await call(made, request(`${flaky.origin}/flaky`), { retries: 2, tryTimeoutMs: 100 })
    expect({ tries: answer.tries, text }).toEqual({ tries: 2, text: 'ok' })
    await flaky.close()
  })
})
