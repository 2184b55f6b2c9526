import { spawn, type ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { bundleServerIfStale } from '../../scripts/prepare.mjs'
import { operatorToken } from './app.ts'

const root = join(import.meta.dirname, '../..')
const stopLimitMs = 30_000
/** Long, since the machine may be busy with other work: how quickly a service starts is measured in `npm run bench`. */
const startLimitMs = 120_000

export type ServiceProcess = {
  pid: number
  url: string
  /** Everything it printed so far. */
  output(): string
  exited: Promise<number | null>
  kill(signal: NodeJS.Signals): void
}

/** How Node runs the server, as `npm start` has it. */
export async function serverCommand(...flags: string[]): Promise<string[]> {
  const { program } = await bundleServerIfStale(process.execPath)
  return ['--expose-gc', program, ...flags]
}

/** The service as an operator starts it, on a data folder of its own, ready to be called. */
export async function startService(
  dataDir: string,
  environment: Record<string, string> = {},
  command?: string[],
  program = process.execPath,
  readyPath = '/readyz',
): Promise<ServiceProcess> {
  const port = await freePort()
  const child = spawn(program, command ?? (await serverCommand()), {
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PORT: String(port),
      SLUICE_DATA_DIR: dataDir,
      SLUICE_MANAGEMENT_TOKEN: operatorToken,
      SLUICE_EXAMPLE: 'off',
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/sluice'),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = collect(child)
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const service = { pid: child.pid ?? 0, url: `http://127.0.0.1:${port}`, output, exited, kill: killer(child) }
  try {
    await waitUntilReady(service, readyPath)
  } catch (error) {
    // The test that fails here has nothing to end it by.
    await endService(service)
    throw error
  }
  return service
}

/** Stops it, and ends it where it does not stop. */
export async function endService(service: Pick<ServiceProcess, 'kill' | 'exited'>): Promise<void> {
  service.kill('SIGTERM')
  const late = setTimeout(() => service.kill('SIGKILL'), stopLimitMs)
  await service.exited
  clearTimeout(late)
}

/** Everything that belongs to an installation: the service, what it started, and its database, which may be adopted. */
export function installationTree(pid: number, dataDir: string): number[] {
  return [...new Set([...processTree(pid), ...postmasterTree(dataDir)])]
}

/** The database server of a data folder and its sessions; none where it has none. */
export function postmasterTree(dataDir: string): number[] {
  try {
    const [postmaster = ''] = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')
    return processTree(Number(postmaster))
  } catch {
    return []
  }
}

/** One that has ended and waits to be collected by whoever inherited it is not. */
export function isAlive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.startsWith('Z') === false
  } catch {
    return false
  }
}

export function killAll(pids: number[], signal: NodeJS.Signals = 'SIGKILL'): void {
  for (const pid of pids.filter(isAlive)) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended since.
    }
  }
}

/** Runs until it ends by itself: for starts that must refuse. */
export async function runService(
  environment: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, await serverCommand(), {
    cwd: root,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = collect(child)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { code, output: output() }
}

/** The processes that descend from one, itself first. Reads /proc, so Linux only. */
export function processTree(pid: number): number[] {
  const parents = new Map<number, number[]>()
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const parent = Number(readFileSync(`/proc/${entry}/stat`, 'utf8').split(') ')[1]?.split(' ')[1])
      parents.set(parent, [...(parents.get(parent) ?? []), Number(entry)])
    } catch {
      // It ended while we looked.
    }
  }
  const tree = [pid]
  for (const each of tree) tree.push(...(parents.get(each) ?? []))
  return tree
}

async function waitUntilReady(service: Omit<ServiceProcess, 'kill'>, path: string): Promise<void> {
  const ended = service.exited.then((code) => ({ code }))
  for (const deadline = Date.now() + startLimitMs; Date.now() < deadline;) {
    const answer = await Promise.race([fetch(`${service.url}${path}`).catch(() => undefined), ended])
    if (answer !== undefined && 'code' in answer) throw new Error(`ended with ${answer.code}:\n${service.output()}`)
    if (answer?.status === 200) return
    await wait(25)
  }
  throw new Error(`not ready in ${startLimitMs / 1000} s:\n${service.output()}`)
}

function collect(child: ChildProcess): () => string {
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return () => text
}

function killer(child: ChildProcess): (signal: NodeJS.Signals) => void {
  return (signal) => void child.kill(signal)
}

async function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
