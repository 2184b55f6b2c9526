import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Client, type ClientConfig } from 'pg'
import type { Observe } from '../../observe.ts'
import { syncPath } from '../../process/index.ts'
import { prepareBinaries, sweepBinaries, type Binaries } from './binaries.ts'
import { findPlaces, type Places } from './places.ts'
import { clearForeignLocks, isAlive, readPostmaster } from './postmaster.ts'
import type { Server } from './server.ts'

/** Replaying the log after a crash is part of a start. */
const startLimitMs = 60_000
const initLimitMs = 120_000
const stopLimitMs = 8_000
const withdrawLimitMs = 4_000
/** A server that runs but has lost its socket file is not worth waiting for. */
const unreachableLimitMs = 5_000
const logLimitBytes = 1_048_576

type Options = { dataDir: string; folderId: string; connections: number; observe: Observe }

/**
 * Our own PostgreSQL in the data folder. It outlives a killed parent, so a start first looks for one to adopt; and it
 * is detached, so that Ctrl-C reaches the app alone, which then closes it in order.
 */
export async function embeddedServer({ dataDir, folderId, connections, observe }: Options): Promise<Server> {
  const places = await findPlaces(dataDir, folderId)
  const binaries = prepareBinaries(places.home, places.account)
  // The folder of the socket is closed to other users, which is why the server trusts whoever comes through it.
  const connection = { host: places.sockets, port: 5432, user: 'sluice', database: 'postgres', ssl: false }
  const start = () => startPostmaster(places, binaries, connections)
  let running: Running | undefined
  const ensure = async (signal: AbortSignal) => {
    await initialise(places, binaries)
    running = await reachOrStart({ places, connection, start, signal })
    observe({ kind: 'database-started', ...running })
  }
  const sweep = async () => {
    // An adopted server may still load libraries of another version.
    if (running?.adopted === false) sweepBinaries(places.home, binaries)
    await sweepDrafts(places.home)
  }
  return { kind: 'embedded', connection, ensure, sweep, stop: () => stopPostmaster(places.cluster) }
}

/** Makes the cluster unless it is there. It appears by a rename, so that a kill at any moment leaves none or all. */
async function initialise(places: Places, binaries: Binaries): Promise<void> {
  const { cluster, home, account } = places
  const found = await clusterMajor(cluster)
  if (found === binaries.major) return
  if (found !== undefined)
    throw new Error(`${cluster} was made by PostgreSQL ${found}, and this version runs ${binaries.major}.`)
  const draft = join(home, `postgres-draft-${randomBytes(4).toString('hex')}`)
  await mkdir(draft, { mode: 0o700 })
  if (account !== undefined) await chown(draft, account.uid, account.gid)
  // PostgreSQL's own collation: sorting does not change with the machine's locales, nor need any.
  const collation = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const options = ['--pgdata', draft, '--username=sluice', '--auth=trust', '--no-instructions', ...collation]
  const log = await open(places.log, 'a', 0o600)
  try {
    const offset = (await log.stat()).size
    const child = await launch(binaries.initdb, options, places, log.fd)
    const code = await exitOf(child, initLimitMs)
    if (code !== 0 && (await clusterMajor(cluster)) === undefined)
      throw new Error(`PostgreSQL could not make its folder ${cluster}: ${await tailOf(places.log, offset)}`)
  } finally {
    await log.close()
  }
  await rename(draft, cluster).catch(async (error: unknown) => {
    await rm(draft, { recursive: true, force: true })
    // Another process may have been faster; its cluster is the one.
    if ((await clusterMajor(cluster)) === undefined) throw error
  })
  await syncPath(home)
}

async function clusterMajor(cluster: string): Promise<number | undefined> {
  try {
    return Number.parseInt(await readFile(join(cluster, 'PG_VERSION'), 'utf8'), 10)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

type Running = { pid: number; adopted: boolean }
type Started = { child: ChildProcess; logOffset: number }
type Attempt = { places: Places; connection: ClientConfig; start: () => Promise<Started>; signal: AbortSignal }

/** Connects to a server that runs, else starts one; over locks and processes that a killed one left behind. */
async function reachOrStart({ places, connection, start, signal }: Attempt): Promise<Running> {
  const begin = performance.now()
  let started: Started | undefined
  let reason = 'it does not answer'
  for (let pauseMs = 5; performance.now() - begin < startLimitMs; pauseMs = Math.min(pauseMs * 1.2, 200)) {
    const state = await reach(connection)
    const pid = await readPostmaster(places.cluster)
    if (state === 'ready') return { pid: pid ?? 0, adopted: started?.child.pid !== pid }
    if (started !== undefined && hasExited(started.child)) {
      reason = await tailOf(places.log, started.logOffset)
      if (!/lock file|shared memory block/.test(reason)) break
      started = undefined
      await clearForeignLocks(places)
    } else if (state === 'absent' && started === undefined) {
      if (pid === undefined || !(await isAlive(pid, places.cluster))) started = await start()
      else if (performance.now() - begin > unreachableLimitMs) interrupt(pid, 'SIGINT')
    }
    if (signal.aborted) await withdraw(started)
    signal.throwIfAborted()
    await wait(pauseMs)
  }
  throw new Error(`PostgreSQL in ${places.cluster} does not start: ${reason}`)
}

/** A process that has not yet written its lock file would be overlooked by whoever stops the server next. */
async function withdraw(started: Started | undefined): Promise<void> {
  if (started === undefined) return
  started.child.ref()
  started.child.kill('SIGINT')
  await exitOf(started.child, withdrawLimitMs)
}

/** `busy`: it is there, but starting, stopping or slow. */
async function reach(connection: ClientConfig): Promise<'ready' | 'busy' | 'absent'> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 5_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return 'ready'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return 'absent'
    // Out of connections is very much alive.
    return code === '53300' ? 'ready' : 'busy'
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function startPostmaster(places: Places, binaries: Binaries, connections: number): Promise<Started> {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: places.sockets,
    unix_socket_permissions: '0700',
    // Beyond the pool's: the session that holds the folder, migrations, and someone looking in.
    max_connections: connections + 20,
    shared_buffers: '64MB',
    max_wal_size: '256MB',
    io_method: 'sync',
    jit: 'off',
    // Errors name statements and the rows they met; those stay out of every log.
    log_min_messages: 'log',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = await open(places.log, 'a', 0o600)
  try {
    if ((await log.stat()).size > logLimitBytes) await log.truncate()
    const logOffset = (await log.stat()).size
    const child = await launch(binaries.postgres, ['-D', places.cluster, ...options], places, log.fd)
    child.unref()
    return { child, logOffset }
  } finally {
    await log.close()
  }
}

async function launch(program: string, options: string[], { account }: Places, log: number): Promise<ChildProcess> {
  const child = spawn(program, options, {
    ...account,
    // The server's user may not be allowed where we stand, and our variables are not its own.
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'ignore', log],
    detached: true,
  })
  // Throws where the program cannot be run at all.
  await once(child, 'spawn')
  return child
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

async function exitOf(child: ChildProcess, limitMs: number): Promise<number | null> {
  if (hasExited(child)) return child.exitCode
  try {
    await once(child, 'exit', { signal: AbortSignal.timeout(limitMs) })
  } catch {
    child.kill('SIGKILL')
  }
  return child.exitCode
}

/** Fast shutdown, and an immediate one (which replays the log at the next start) when that takes too long. */
async function stopPostmaster(cluster: string): Promise<void> {
  for (const [name, limitMs] of [
    ['SIGINT', stopLimitMs],
    ['SIGQUIT', 2_000],
  ] as const) {
    const begin = performance.now()
    const pid = await readPostmaster(cluster)
    if (pid === undefined || !(await isAlive(pid, cluster))) return
    interrupt(pid, name)
    while (performance.now() - begin < limitMs) {
      await wait(10)
      if ((await readPostmaster(cluster)) !== pid || !(await isAlive(pid, cluster))) return
    }
  }
}

function interrupt(pid: number, name: 'SIGINT' | 'SIGQUIT'): void {
  try {
    process.kill(pid, name)
  } catch {
    // It is gone already.
  }
}

/** The last lines of what PostgreSQL said, on one line. */
async function tailOf(path: string, offset: number): Promise<string> {
  const log = await readFile(path)
  const printed = log.subarray(offset).toString().trim().split('\n').slice(-5).join(' / ')
  return printed === '' ? 'it said nothing' : printed
}

/** Half-made clusters of processes that were killed. */
async function sweepDrafts(home: string): Promise<void> {
  for (const name of await readdir(home))
    if (name.startsWith('postgres-draft-')) await rm(join(home, name), { recursive: true, force: true })
}
