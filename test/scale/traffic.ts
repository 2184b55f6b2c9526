import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { operatorToken, type Answer } from '../harness/app.ts'
import { inRegion } from '../harness/questions.ts'
import type { Source } from '../harness/source.ts'
import type { Cluster } from './cluster.ts'
import { openCounter, type Ledger, type Operation } from './ledger.ts'

type Call = { method?: string; path: string; body?: unknown; secret?: string; headers?: Record<string, string> }

const callLimitMs = 20_000
export const orderCount = 300
const ticksPerVersion = 20
const regions = ['north', 'south', 'east']

/** Over a connection of its own, so that no caller stays with a replica. A broken one has its port as the error's cause. */
export function sender(url: string) {
  return ({ method = 'POST', path, body, secret = operatorToken, headers = {} }: Call): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const payload = body === undefined ? undefined : JSON.stringify(body)
      const sent = request(new URL(path, url), {
        method,
        agent: false,
        signal: AbortSignal.timeout(callLimitMs),
        headers: {
          authorization: `Bearer ${secret}`,
          ...(payload !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
      })
      let port: number | undefined
      sent.once('socket', (socket) => socket.once('connect', () => (port = socket.localPort)))
      const fail = (cause: Error): void => reject(new Error(cause.message, { cause: { port } }))
      sent.on('error', fail)
      sent.on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', fail)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          if (!response.complete) fail(new Error('the answer was cut off'))
          else resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed(text) })
        })
      })
      sent.end(payload)
    })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function portOf(error: unknown): number | undefined {
  return error instanceof Error ? (error.cause as { port?: number } | undefined)?.port : undefined
}

export type Send = ReturnType<typeof sender>

export type Stage = { send: Send; source: Source; projectId: string; secret: string; meteredSecret: string }

/** A project with data, queries that are deployed, and keys. */
export async function prepare(send: Send, source: Source): Promise<Stage> {
  const made = async (call: Call): Promise<Record<string, string>> => {
    const { status, body } = await send(call)
    if (status >= 300) throw new Error(`${call.path} answered ${status}: ${JSON.stringify(body)}`)
    return body
  }
  const { id: projectId = '' } = await made({ path: '/v1/projects', body: { name: 'Scale' } })
  const orders = Array.from({ length: orderCount }, (_, at) => ({
    id: at + 1,
    region: regions[at % 3],
    amount: at * 10,
  }))
  source.answer(orders)
  await made({ path: '/v1/http/execute-request', body: executeBody(projectId, 'orders', source.url) })
  source.answer(ticks(0))
  await made({ path: '/v1/http/execute-request', body: executeBody(projectId, 'ticks', source.url) })
  const id = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
  const queries = [
    { name: 'order_by_id', sql: 'SELECT id, region, amount FROM orders WHERE id = $id', slots: id },
    { name: 'ticks', sql: 'SELECT v, place FROM ticks ORDER BY place' },
    { name: 'current', sql: 'SELECT 0 AS k' },
    inRegion,
  ]
  for (const query of queries) {
    await made({ path: `/v1/projects/${projectId}/queries`, body: query })
    const path = `/v1/projects/${projectId}/queries/${query.name}/deploy`
    await made({ path, body: { environment: 'production', force: true } })
  }
  const key = (plan: string) =>
    made({
      path: '/v1/api-keys',
      body: { name: plan, plan, permissions: [{ project_id: projectId, environments: '*' }] },
    })
  const [{ secret = '' }, { secret: meteredSecret = '' }] = [await key('unlimited'), await key('metered')]
  return { send, source, projectId, secret, meteredSecret }
}

function executeBody(projectId: string, datasourceId: string, url: string): object {
  const connect_spec = { name: datasourceId, id: 'http_api', config: { url, method: 'GET' } }
  return { project_id: projectId, datasource_id: datasourceId, connect_spec, url, method: 'GET' }
}

function ticks(v: number): object[] {
  return Array.from({ length: ticksPerVersion }, (_, place) => ({ v, place }))
}

type Check = (answer: Answer) => string | undefined

/** Every caller, until the signal; each ends its last call. */
// Over 70 lines: a list of callers, each a few lines.
export function startTraffic(
  stage: Stage,
  ledger: Ledger,
  { now, signal, killedWith }: { now: () => number; signal: AbortSignal } & Pick<Cluster, 'killedWith'>,
) {
  const { send, source, projectId, secret } = stage
  const heardMs = () => ledger.heardMs()
  const [loads, releases] = [openCounter(now, heardMs), openCounter(now, heardMs)]

  /** One call: counted, and what came of it looked at. */
  async function attempt(operation: Operation, call: Call, check: Check): Promise<Answer | undefined> {
    const startedMs = now()
    try {
      const answer = await send(call)
      if (answer.status >= 200 && answer.status < 300) {
        const complaint = check(answer)
        if (complaint === undefined) ledger.ok(operation)
        else ledger.wrong(operation, complaint)
        return answer
      }
      const detail = JSON.stringify(answer.body).slice(0, 300)
      ledger.failed({ operation, startedMs, endedMs: now(), outcome: answer.status, detail })
    } catch (error) {
      const killed = killedWith(portOf(error))
      ledger.failed({ operation, startedMs, endedMs: now(), outcome: 'network', detail: String(error), killed })
    }
    return undefined
  }

  async function lane(pauseMs: number, work: () => Promise<unknown>): Promise<void> {
    while (!signal.aborted) {
      await work()
      await wait(pauseMs)
    }
  }

  const query = (name: string, body: object = {}): Call => ({ path: `/v1/queries/${name}`, body, secret })
  const direct = () => {
    const id = 1 + Math.floor(Math.random() * orderCount)
    const wanted = JSON.stringify([{ id, region: regions[(id - 1) % 3], amount: (id - 1) * 10 }])
    return attempt('direct', query('order_by_id', { id }), ({ body }) =>
      JSON.stringify(body.data) === wanted ? undefined : `${JSON.stringify(body.data)} instead of ${wanted}`,
    )
  }
  const readTicks = () => {
    const { least, most } = loads.bounds()
    return attempt('ticks', query('ticks'), ({ body }) => {
      const values = (body.data as Array<{ v: number }>).map(({ v }) => v)
      if (values.length !== ticksPerVersion || new Set(values).size !== 1) return `mixed rows: ${values.join()}`
      return outside(values[0] ?? -1, least, most())
    })
  }
  const readCurrent = () => {
    const { least, most } = releases.bounds()
    return attempt('current', query('current'), ({ body }) => outside(Number(body.data[0]?.k), least, most()))
  }
  const ask = () => {
    const call = {
      path: '/v1/query',
      body: { query: 'Which orders came from the north?', project_id: projectId },
      secret,
    }
    return attempt('question', call, ({ body }) =>
      body.data?.length === orderCount / 3 ? undefined : `answered ${JSON.stringify(body).slice(0, 200)}`,
    )
  }
  const callTool = () => {
    const params = { name: 'order_by_id', arguments: { id: 7 } }
    const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' }
    const call = { path: '/mcp', body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, secret, headers }
    return attempt('mcp', call, ({ body }) =>
      JSON.stringify(body).includes('north') ? undefined : `answered ${JSON.stringify(body).slice(0, 300)}`,
    )
  }
  const load = async () => {
    const v = loads.next()
    source.answer(ticks(v))
    const call = { path: '/v1/http/execute-request', body: executeBody(projectId, 'ticks', source.url) }
    if ((await attempt('execute', call, () => undefined)) !== undefined) loads.acknowledge(v)
  }
  const release = async () => {
    const k = releases.next()
    const path = `/v1/projects/${projectId}/queries/current`
    const saved = await attempt('release', { method: 'PUT', path, body: { sql: `SELECT ${k} AS k` } }, () => undefined)
    if (saved === undefined) return
    const call = { path: `${path}/deploy`, body: { environment: 'production', force: true } }
    if ((await attempt('release', call, () => undefined)) !== undefined) releases.acknowledge(k)
  }
  /** A key that is made is good, and one that is revoked is not, everywhere, a second later. */
  const changeKeys = async () => {
    const permissions = [{ project_id: projectId, environments: '*' }]
    const body = { name: 'passing', plan: 'unlimited', permissions }
    const made = await attempt('keys', { path: '/v1/api-keys', body }, () => undefined)
    if (made === undefined) return
    await wait(1_000)
    const use = (): Call => ({ ...query('order_by_id', { id: 1 }), secret: String(made.body.secret) })
    await attempt('keys', use(), () => undefined)
    const revoke = { method: 'DELETE', path: `/v1/api-keys/${made.body.id}` }
    if ((await attempt('keys', revoke, () => undefined)) === undefined) return
    const revokedMs = now()
    await wait(1_000)
    for (let round = 0; round < 3; round += 1) {
      const { status } = await send(use()).catch(() => ({ status: 0 }))
      if (status >= 200 && status < 300 && revokedMs <= ledger.heardMs())
        ledger.wrong('keys', 'a key was good a second after it was revoked')
    }
  }
  const lanes = [
    ...Array.from({ length: 3 }, () => lane(30, direct)),
    ...Array.from({ length: 2 }, () => lane(60, readTicks)),
    lane(100, readCurrent),
    lane(300, ask),
    lane(300, callTool),
    lane(1_500, load),
    lane(3_000, release),
    lane(4_000, changeKeys),
  ]
  return { loads, releases, ended: Promise.all(lanes) }
}

function outside(value: number, least: number, most: number): string | undefined {
  if (value >= least && value <= most) return undefined
  return `${value}, where ${least} to ${most} was acknowledged or asked for`
}

/** As fast as a caller can: how many calls of a key are let through in a span, against how many may be. */
export async function meter(
  { send, meteredSecret }: Stage,
  seconds: number,
): Promise<{ passed: number; sent: number }> {
  const untilMs = performance.now() + seconds * 1000
  let [passed, sent] = [0, 0]
  const caller = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const call = { path: '/v1/queries/order_by_id', body: { id: 1 }, secret: meteredSecret }
      const { status } = await send(call)
      if (status !== 200 && status !== 429) throw new Error(`a metered call answered ${status}`)
      sent += 1
      if (status === 200) passed += 1
      await wait(20)
    }
  }
  await Promise.all(Array.from({ length: 3 }, caller))
  return { passed, sent }
}
