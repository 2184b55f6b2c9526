import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../../scripts/debian-server.mjs'

type WorkerName = 'worker-1' | 'worker-2'

/** A coordinator and two workers on loopback. The coordinator plans and hands out; the workers do the work. */
export type TrinoCluster = {
  url: string
  workers: Record<WorkerName, { kill(): Promise<void>; start(): Promise<void> }>
  /** Workers that the coordinator gives work to; 0 while it cannot be asked. */
  activeWorkers(): Promise<number>
  /** What the coordinator says of itself, for tests that look at it past the service. */
  ask(sql: string, user: string, schema?: string): Promise<{ rows: unknown[][]; error: string | null }>
  close(): Promise<void>
}

type Options = {
  port: number
  databaseUrl: string
  objectsUrl: string
  objectsEndpoint: string
  /** Where the service says who may see what. */
  rulesUrl: string
}

const startLimitMs = 900_000

export async function openTrinoCluster(options: Options): Promise<TrinoCluster> {
  const home = process.env['TEST_TRINO'] ?? ''
  if (home === '') throw new Error('Run these with `npm test -- trino`, which has Trino.')
  const folder = await mkdtemp(join(tmpdir(), 'sluice-trino-'))
  const bridge = await openBridge(options.databaseUrl)
  const url = `http://127.0.0.1:${options.port}`
  const nodes = new Map<string, ChildProcess>()
  const node = async (name: string, port: number): Promise<void> => {
    const etc = join(folder, name)
    await writeSettings(etc, { ...options, name, port, url, databasePort: bridge.port })
    const java = process.env['TEST_JAVA_HOME'] ?? ''
    const env = { PATH: `${join(java, 'bin')}:${process.env['PATH']}`, JAVA_HOME: java, HOME: folder }
    const args = ['run', '--etc-dir', etc, '--data-dir', join(folder, `${name}-data`)]
    const child = spawn(join(home, 'bin/launcher'), args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const log = createWriteStream(join(folder, `${name}.log`), { flags: 'a' })
    child.stdout.pipe(log)
    child.stderr.pipe(log)
    nodes.set(name, child)
  }
  const kill = async (name: string): Promise<void> => {
    const child = nodes.get(name)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  const workerPorts = { 'worker-1': await freePort(), 'worker-2': await freePort() }
  const startWorker = (name: WorkerName): Promise<void> => node(name, workerPorts[name])
  const close = async (): Promise<void> => {
    await Promise.all([...nodes.keys()].map(kill))
    bridge.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  const ready = async (workers: number): Promise<void> => {
    const deadline = Date.now() + startLimitMs
    while ((await workersOf(url)) < workers) {
      if (Date.now() > deadline || nodes.get('coordinator')?.exitCode !== null) {
        throw new Error(`Trino did not start:\n${readFileSync(join(folder, 'coordinator.log'), 'utf8').slice(-4_000)}`)
      }
      await wait(500)
    }
  }
  try {
    await node('coordinator', options.port)
    await startWorker('worker-1')
    await startWorker('worker-2')
    await ready(2)
  } catch (error) {
    await close()
    throw error
  }
  const worker = (name: WorkerName) => ({
    kill: () => kill(name),
    start: async () => {
      await startWorker(name)
      await ready(2)
    },
  })
  return {
    url,
    workers: { 'worker-1': worker('worker-1'), 'worker-2': worker('worker-2') },
    activeWorkers: () => workersOf(url),
    ask: (sql, user, schema) => ask(url, sql, { user, ...(schema !== undefined && { schema }) }),
    close,
  }
}

/** The embedded server listens on a socket in a folder; Java speaks TCP alone. */
async function openBridge(databaseUrl: string): Promise<{ port: number; close: () => void }> {
  const { searchParams } = new URL(databaseUrl)
  const path = join(searchParams.get('host') ?? '', `.s.PGSQL.${searchParams.get('port') ?? '5432'}`)
  const server = createServer((socket) => {
    const upstream = connect(path)
    socket.on('error', () => upstream.destroy()).on('close', () => upstream.destroy())
    upstream.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.pipe(upstream).pipe(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}

type Settings = Options & { name: string; port: number; url: string; databasePort: number }

/** As in `docs/scaling.md`, with less memory. */
async function writeSettings(etc: string, settings: Settings): Promise<void> {
  const isCoordinator = settings.name === 'coordinator'
  const database = new URL(settings.databaseUrl)
  const files = {
    'node.properties': [`node.environment=test`, `node.id=${settings.name}`],
    'config.properties': [
      `coordinator=${isCoordinator}`,
      ...(isCoordinator
        ? ['node-scheduler.include-coordinator=false', 'web-ui.authentication.type=fixed', 'web-ui.user=tests']
        : []),
      `http-server.http.port=${settings.port}`,
      `discovery.uri=${settings.url}`,
      'http-server.max-request-header-size=256kB',
      'query.remote-task.max-error-duration=10s',
      'exchange.max-error-duration=10s',
      'query.max-memory=400MB',
      'query.max-memory-per-node=300MB',
      'memory.heap-headroom-per-node=150MB',
    ],
    'jvm.config': [
      '-Xmx800M',
      '-XX:+UseSerialGC',
      // Starting costs a third of the processor time so, and no test runs long enough to miss the rest.
      '-XX:TieredStopAtLevel=1',
      '-XX:+ExitOnOutOfMemoryError',
      '-Djdk.attach.allowAttachSelf=true',
      '--enable-native-access=ALL-UNNAMED',
      '--sun-misc-unsafe-memory-access=allow',
    ],
    'log.properties': ['io.trino=WARN', 'io.airlift=WARN'],
    ...(isCoordinator && {
      'access-control.properties': [
        'access-control.name=file',
        `security.config-file=${settings.rulesUrl}`,
        'security.refresh-period=1s',
      ],
    }),
    'catalog/sluice.properties': [
      'connector.name=iceberg',
      'iceberg.catalog.type=jdbc',
      'iceberg.jdbc-catalog.catalog-name=sluice',
      'iceberg.jdbc-catalog.driver-class=org.postgresql.Driver',
      `iceberg.jdbc-catalog.connection-url=jdbc:postgresql://127.0.0.1:${settings.databasePort}${database.pathname}?currentSchema=iceberg`,
      `iceberg.jdbc-catalog.connection-user=${database.username}`,
      'iceberg.jdbc-catalog.connection-password=none',
      'iceberg.jdbc-catalog.schema-version=V1',
      `iceberg.jdbc-catalog.default-warehouse-dir=${settings.objectsUrl}/iceberg`,
      'iceberg.add-files-procedure.enabled=true',
      'fs.native-s3.enabled=true',
      `s3.endpoint=${settings.objectsEndpoint}`,
      's3.region=us-east-1',
      's3.path-style-access=true',
      `s3.aws-access-key=${process.env['AWS_ACCESS_KEY_ID']}`,
      `s3.aws-secret-key=${process.env['AWS_SECRET_ACCESS_KEY']}`,
    ],
  }
  await mkdir(join(etc, 'catalog'), { recursive: true })
  for (const [name, lines] of Object.entries(files)) await writeFile(join(etc, name), `${lines.join('\n')}\n`)
}

async function workersOf(url: string): Promise<number> {
  try {
    const answer = await fetch(`${url}/ui/api/stats`)
    return answer.ok ? ((await answer.json()) as { activeWorkers: number }).activeWorkers : 0
  } catch {
    return 0
  }
}

type Answer = { nextUri?: string; data?: unknown[][]; error?: { errorName: string; message: string } }

async function ask(url: string, sql: string, { user, schema }: { user: string; schema?: string }) {
  const headers = {
    'x-trino-user': user,
    'x-trino-catalog': 'sluice',
    ...(schema !== undefined && { 'x-trino-schema': schema }),
  }
  let answer = (await (await fetch(`${url}/v1/statement`, { method: 'POST', headers, body: sql })).json()) as Answer
  const rows: unknown[][] = []
  for (;;) {
    rows.push(...(answer.data ?? []))
    if (answer.error !== undefined) return { rows, error: `${answer.error.errorName}: ${answer.error.message}` }
    if (answer.nextUri === undefined) return { rows, error: null }
    answer = (await (await fetch(answer.nextUri, { headers })).json()) as Answer
  }
}
