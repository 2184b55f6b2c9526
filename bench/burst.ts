import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'

const connections = 64
const burstMs = 10_000
/** Keeps the callers from taking the processor that the servers need. */
const pauseMs = 100
const startLimitMs = 60_000
const token = 'operator-token-of-the-bench'

type Options = { folder: string; databaseUrl: string; replicas: number; redisUrl: string | undefined }

/** Calls with one 600-a-minute key over many connections, and compares what came through with what GCRA allows. */
export async function measureBurst({ folder, databaseUrl, replicas, redisUrl }: Options): Promise<void> {
  const servers: Array<{ child: ChildProcess; address: string }> = []
  try {
    for (let at = 0; at < replicas; at += 1) {
      const env = {
        PATH: process.env['PATH'],
        PORT: '0',
        SLUICE_DATA_DIR: join(folder, `replica-${replicas}-${at}`),
        SLUICE_DATABASE_URL: databaseUrl,
        SLUICE_MANAGEMENT_TOKEN: token,
        SLUICE_EXAMPLE: 'off',
        ...(redisUrl !== undefined && { SLUICE_REDIS_URL: redisUrl }),
      }
      servers.push(await startServer(env))
    }
    const addresses = servers.map(({ address }) => address)
    const secret = await makeKey(addresses[0] ?? '')
    const { passed, asked, elapsedMs, p99Ms } = await callAll(addresses, secret)
    const allowed = 100 + Math.floor(elapsedMs / 100)
    const off = ((passed - allowed) / allowed) * 100
    console.log(
      `${replicas} ${replicas === 1 ? 'process' : 'replicas through Redis'}: ${passed} of ${asked} calls came through in ${(elapsedMs / 1_000).toFixed(2)} s, GCRA allows ${allowed} (${off.toFixed(2)} %), p99 ${p99Ms.toFixed(1)} ms`,
    )
  } finally {
    await Promise.all(servers.map(({ child }) => stop(child)))
  }
}

async function callAll(
  addresses: string[],
  secret: string,
): Promise<{ passed: number; asked: number; elapsedMs: number; p99Ms: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const startedAt = performance.now()
  const passedAt: number[] = []
  const times: number[] = []
  const caller = async (address: string): Promise<void> => {
    while (performance.now() - startedAt < burstMs) {
      const begin = performance.now()
      const status = await statusOf(`${address}/v1/key`, secret, agent)
      times.push(performance.now() - begin)
      if (status === 200) passedAt.push(performance.now())
      else if (status !== 429) throw new Error(`unexpected status ${status}`)
      await wait(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, at) => caller(addresses[at % addresses.length] ?? '')))
  agent.destroy()
  times.sort((left, right) => left - right)
  return {
    passed: passedAt.length,
    asked: times.length,
    elapsedMs: (passedAt.at(-1) ?? 0) - (passedAt[0] ?? 0),
    p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
  }
}

function statusOf(url: string, secret: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { authorization: `Bearer ${secret}` }, timeout: 10_000 }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    }).on('error', reject)
  })
}

async function makeKey(address: string): Promise<string> {
  const call = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(`${address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await answer.json()) as Record<string, string>
  }
  const project = await call('/v1/projects', { name: 'Bench' })
  const permissions = [{ project_id: project['id'], environments: '*' }]
  const key = await call('/v1/api-keys', { name: 'Bench', permissions, plan: 'pro' })
  return key['secret'] ?? ''
}

async function startServer(env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; address: string }> {
  const child = spawn(process.execPath, ['server/main.ts'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const late = setTimeout(() => child.kill('SIGKILL'), startLimitMs)
  for await (const line of lines) {
    const started = line.startsWith('{') ? (JSON.parse(line) as { kind?: string; address?: string }) : {}
    if (started.kind !== 'app-started') continue
    clearTimeout(late)
    child.stdout.resume()
    return { child, address: started.address ?? '' }
  }
  throw new Error('The server did not start.')
}

async function stop(child: ChildProcess): Promise<void> {
  const stopped = once(child, 'exit')
  child.kill('SIGTERM')
  await stopped
}
