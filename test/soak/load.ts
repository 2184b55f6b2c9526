import { Agent, request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { percentile, type Installation, type Project } from '../harness/installation.ts'

/** What came of one call. `status` 0: the connection ended without an answer. */
export type Outcome = { status: number; elapsedMs: number; isHostile: boolean }

export type Caller = { good: () => Promise<Outcome>; hostile: () => Promise<Outcome>; close: () => void }

const callLimitMs = 20_000

/** Calls of every kind over kept connections, so that what is measured is the service and not the making of sockets. */
// Over 70 lines: the list of what is called, each in a line or two.
export function openCaller({ url, operator }: Installation, { projectId, secret }: Project): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: 128 })
  const { port } = new URL(url)
  let count = 0

  function send(path: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          agent,
          port,
          host: '127.0.0.1',
          method: 'POST',
          path,
          timeout: callLimitMs,
          headers: {
            authorization: `Bearer ${secret}`,
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
            ...headers,
          },
        },
        resolve,
      )
      sent.on('error', reject).on('timeout', () => sent.destroy(new Error('no answer in time')))
      sent.end(body)
    })
  }

  async function statusOf(path: string, body: string | Buffer, headers?: Record<string, string>): Promise<number> {
    try {
      const answer = await send(path, body, headers)
      for await (const chunk of answer) void chunk
      return answer.statusCode ?? 0
    } catch {
      return 0
    }
  }

  /** Sends some bytes of a request, or reads none of an answer, and leaves. */
  function hangUp(bytes: string): Promise<number> {
    return new Promise((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes))
      socket.on('error', () => undefined).on('close', () => resolve(0))
      setTimeout(() => socket.destroy(), 200)
    })
  }

  const head = `POST /v1/queries/large HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\n`
  const good: Array<() => Promise<number>> = [
    () => statusOf('/v1/queries/one', JSON.stringify({ id: count % 5_000 })),
    () => statusOf('/v1/queries/one', JSON.stringify({ id: (count * 7) % 5_000 })),
    () => statusOf('/v1/queries/by_region', JSON.stringify({ region: count % 2 === 0 ? 'north' : 'south' })),
    () => statusOf('/v1/queries/kept', '{}'),
    () => statusOf('/v1/queries/page', JSON.stringify({ from: count % 4_000 })),
    () => statusOf('/v1/query', JSON.stringify({ query: 'how many orders are there', project_id: projectId })),
  ]
  const deep = '['.repeat(20_000) + ']'.repeat(20_000)
  const hostile: Array<() => Promise<number>> = [
    () => statusOf('/v1/queries/one', '{"id":'),
    () => statusOf('/v1/queries/one', `{"id":${deep}}`),
    () => statusOf('/v1/queries/one', JSON.stringify({ id: "1'; drop table orders; --" })),
    () => statusOf('/v1/queries/nowhere', '{}'),
    () => statusOf('/v1/queries/one', '{"id":1}', { authorization: `Bearer ${secret.slice(0, -2)}xx` }),
    () => statusOf('/v1/queries/one', Buffer.alloc(1_100_000, 0x20)),
    () => statusOf('/v1/queries/endless', '{}'),
    () => statusOf('/v1/query', JSON.stringify({ query: 'x '.repeat(900), project_id: projectId })),
    () => statusOf('/v1/http/test-connection', '{"url":"http://169.254.169.254/","method":"GET"}', bearer(operator)),
    () =>
      statusOf(
        `/v1/projects/${projectId}/queries/inspect`,
        JSON.stringify({ sql: 'select * from duckdb_settings()' }),
        bearer(operator),
      ),
    () => hangUp(`${head}content-length: 1000\r\n\r\n{"half`),
    () => hangUp(`${head}content-length: 2\r\n\r\n{}`),
    () => hangUp('GET / HTTP/1.1\r\n'),
  ]

  const timed = async (acts: Array<() => Promise<number>>, isHostile: boolean): Promise<Outcome> => {
    count += 1
    const startedMs = performance.now()
    const status = (await acts[count % acts.length]?.()) ?? 0
    return { status, elapsedMs: performance.now() - startedMs, isHostile }
  }
  return {
    good: () => timed(good, false),
    hostile: () => timed(hostile, true),
    close: () => agent.destroy(),
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/**
 * Calls a second that so many callers get through who each call again at once. Hostile calls are among them as they are
 * later: what they cost is part of what the service can do.
 */
export async function measureCapacity(
  { good, hostile }: Caller,
  { callers, ms, hostileShare }: { callers: number; ms: number; hostileShare: number },
): Promise<number> {
  const endMs = performance.now() + ms
  let answered = 0
  let hostileDue = 0
  const one = async (): Promise<void> => {
    while (performance.now() < endMs) {
      hostileDue += hostileShare
      const isHostile = hostileDue >= 1
      if (isHostile) hostileDue -= 1
      const { status } = await (isHostile ? hostile() : good())
      if (isHostile || status === 200) answered += 1
    }
  }
  await Promise.all(Array.from({ length: callers }, one))
  return answered / (ms / 1000)
}

export type Interval = {
  calls: number
  failed: number
  skipped: number
  p50: number
  p99: number
  statuses: Record<string, number>
}

/** Calls at a steady rate for a while, whether or not answers come; more than so many at once are left out and counted. */
export async function callSteadily(
  caller: Caller,
  {
    perSecond,
    ms,
    hostileShare,
    maxAtOnce,
  }: { perSecond: number; ms: number; hostileShare: number; maxAtOnce: number },
): Promise<Interval> {
  const outcomes: Outcome[] = []
  const running = new Set<Promise<unknown>>()
  const startMs = performance.now()
  let due = 0
  let skipped = 0
  let hostileDue = 0
  while (performance.now() - startMs < ms) {
    const wanted = Math.floor(((performance.now() - startMs) / 1000) * perSecond)
    for (; due < wanted; due += 1) {
      hostileDue += hostileShare
      const isHostile = hostileDue >= 1
      if (isHostile) hostileDue -= 1
      if (running.size >= maxAtOnce) {
        skipped += 1
        continue
      }
      const call = (isHostile ? caller.hostile() : caller.good()).then((outcome) => outcomes.push(outcome))
      running.add(call)
      void call.finally(() => running.delete(call))
    }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await Promise.all(running)
  const good = outcomes.filter(({ isHostile }) => !isHostile)
  const times = good.map(({ elapsedMs }) => elapsedMs)
  const statuses: Record<string, number> = {}
  for (const { status, isHostile } of outcomes) {
    const name = `${isHostile ? 'hostile ' : ''}${status}`
    statuses[name] = (statuses[name] ?? 0) + 1
  }
  return {
    calls: good.length,
    failed: good.filter(({ status }) => status !== 200).length,
    skipped,
    p50: Math.round(percentile(times, 0.5)),
    p99: Math.round(percentile(times, 0.99)),
    statuses,
  }
}
