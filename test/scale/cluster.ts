import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'vitest'
import { freePort, waitForPort } from '../../scripts/debian-server.mjs'
import { embeddedServer } from '../../server/store/postgres/embedded.ts'
import { readFolderId } from '../../server/store/postgres/places.ts'
import { makePassableFolder } from '../harness/data-dir.ts'
import { databaseUrl } from '../harness/database.ts'
import { openObjectServer } from '../harness/object-server.ts'
import { endService, isAlive, killAll, postmasterTree, startService, type ServiceProcess } from '../harness/process.ts'

/** Something that can be killed without a word, and come back. */
export type Part = { name: string; kill(): Promise<void>; start(): Promise<void> }

export type Cluster = {
  /** Where callers call: the balancer. */
  url: string
  parts: Part[]
  /** The replica that had the call from this port of the caller's, where it was killed. */
  killedWith(callerPort: number | undefined): string | undefined
  /** What each process printed, for a run that failed. */
  outputs(): string
  close(): Promise<void>
}

const maxConnections = 100
const startLimitMs = 20_000

/** Three replicas that answer, two that work, and what they share; on loopback, behind a balancer that knows no HTTP. */
export async function openCluster(environment: Record<string, string>): Promise<Cluster> {
  const folder = await makePassableFolder()
  const database = await openPostgres(join(folder, 'database'))
  const redis = await openRedis(folder)
  const objects = await openObjectServer()
  const shared = {
    SLUICE_DATABASE_URL: database.url,
    SLUICE_REDIS_URL: redis.url,
    ...objects.environment,
    // As the AWS SDK finds them.
    AWS_ACCESS_KEY_ID: process.env['AWS_ACCESS_KEY_ID'] ?? '',
    AWS_SECRET_ACCESS_KEY: process.env['AWS_SECRET_ACCESS_KEY'] ?? '',
    SLUICE_LOG_LEVEL: 'warn',
    SLUICE_SECRET_KEY: 'the vault key of every replica here',
    SLUICE_DATABASE_CONNECTIONS: '6',
    SLUICE_EXECUTOR_PROCESSES: '1',
    SLUICE_SPARE_EXECUTORS: '1',
    SLUICE_ENCODER_THREADS: '1',
    ...environment,
  }
  const balancer = await openBalancer()
  const replica = async (name: string, role: 'api' | 'worker') => {
    const dataDir = join(folder, name)
    await mkdir(dataDir)
    return openReplica({ name, dataDir, environment: { ...shared, SLUICE_ROLE: role }, balancer })
  }
  const replicas: Array<Awaited<ReturnType<typeof replica>>> = []
  // The first one makes the tables; the others find them.
  for (const name of ['api-1', 'api-2', 'api-3']) replicas.push(await replica(name, 'api'))
  for (const name of ['worker-1', 'worker-2']) replicas.push(await replica(name, 'worker'))
  return {
    url: balancer.url,
    killedWith(callerPort) {
      const target = balancer.targetOf(callerPort)
      return target === undefined ? undefined : replicas.find(({ killedAt }) => killedAt.has(target))?.name
    },
    parts: [
      ...replicas,
      redis,
      { name: 'S3 server', kill: () => objects.kill(), start: () => objects.start() },
      database,
    ],
    outputs: () => replicas.map((each) => `== ${each.name}\n${each.output()}`).join('\n'),
    async close() {
      await Promise.all(replicas.map((each) => each.end()))
      balancer.close()
      await redis.kill()
      await objects.close()
      await database.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

type Balancer = {
  url: string
  add(url: string): void
  remove(url: string): void
  /** Where the last connection from this port of a caller's was taken. */
  targetOf(callerPort: number | undefined): string | undefined
  close(): void
}

type ReplicaOptions = { name: string; dataDir: string; environment: Record<string, string>; balancer: Balancer }

async function openReplica({ name, dataDir, environment, balancer }: ReplicaOptions) {
  const isApi = environment['SLUICE_ROLE'] === 'api'
  const outputs: string[] = []
  /** Where it listened when it was killed; each life has a port of its own. */
  const killedAt = new Set<string>()
  let service: ServiceProcess | undefined
  const start = async (): Promise<void> => {
    service = await startService(dataDir, environment)
    if (isApi) balancer.add(service.url)
  }
  await start()
  return {
    name,
    start,
    killedAt,
    async kill() {
      if (service === undefined) return
      outputs.push(service.output())
      killedAt.add(new URL(service.url).origin)
      // Its own children end with it.
      service.kill('SIGKILL')
      await service.exited
      // A balancer notices by itself: until then it tries the next one.
      if (isApi) setTimeout((url: string) => balancer.remove(url), 1_000, service.url)
    },
    output: () => [...outputs, service?.output() ?? ''].join('\n-- killed --\n'),
    async end() {
      if (service !== undefined) await endService(service)
    },
  }
}

/** Takes a connection to the next replica in turn, or the one after it where that does not answer. */
async function openBalancer(): Promise<Balancer> {
  const targets: URL[] = []
  const taken = new Map<number | undefined, string>()
  let turn = 0
  const server = createServer({ pauseOnConnect: true }, (client) => {
    client.on('error', () => client.destroy())
    const tryNext = (triesLeft: number): void => {
      const target = targets[(turn += 1) % Math.max(1, targets.length)]
      if (target === undefined || triesLeft === 0) return void client.destroy()
      const upstream = connect(Number(target.port), target.hostname)
      upstream.once('connect', () => {
        taken.set(client.remotePort, target.origin)
        upstream.on('error', () => client.destroy())
        upstream.on('close', () => client.destroy())
        client.on('close', () => upstream.destroy())
        client.pipe(upstream).pipe(client)
        client.resume()
      })
      upstream.once('error', () => upstream.readyState === 'open' || tryNext(triesLeft - 1))
    }
    tryNext(4)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (url) => void targets.push(new URL(url)),
    remove: (url) => {
      const at = targets.findIndex(({ origin }) => origin === new URL(url).origin)
      if (at !== -1) targets.splice(at, 1)
    },
    targetOf: (callerPort) => taken.get(callerPort),
    close: () => server.close(),
  }
}

async function openRedis(folder: string): Promise<Part & { url: string }> {
  const port = await freePort()
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
  let child: ChildProcess | undefined
  const start = async (): Promise<void> => {
    child = spawn(process.env['TEST_REDIS_SERVER'] ?? 'redis-server', options, { stdio: 'ignore' })
    await waitForPort(port, startLimitMs)
  }
  await start()
  return {
    name: 'Redis',
    url: `redis://127.0.0.1:${port}`,
    start,
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function openPostgres(dataDir: string): Promise<Part & { url: string; stop(): Promise<void> }> {
  const folderId = await readFolderId(dataDir)
  const observe = (): void => undefined
  const server = await embeddedServer({ dataDir, folderId, connections: maxConnections, observe })
  const start = () => server.ensure(AbortSignal.timeout(startLimitMs))
  await start()
  return {
    name: 'PostgreSQL',
    url: databaseUrl(server.connection),
    start,
    async kill() {
      const tree = postmasterTree(dataDir)
      if (tree.length === 0) throw new Error('There is no PostgreSQL to kill.')
      killAll(tree)
      await expect.poll(() => tree.some(isAlive)).toBe(false)
    },
    stop: () => server.stop(),
  }
}
