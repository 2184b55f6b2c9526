/** What the benchmarks of calls over HTTP share: an app with a project, the real server in a process of its own, load. */
import { spawn } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { openApp } from '../server/app.ts'
import { readConfig } from '../server/config.ts'
import { buildHttp } from '../server/http/index.ts'
import { putTable } from '../test/harness/tables.ts'

const operator = 'operator-token-of-the-bench'
const usualConnections = 32

type Query = { name: string; sql: string; cache_seconds?: number }
type Table = { name: string; rows: Iterable<object> }

/** An app in this process with one project, one table and deployed queries. */
export async function openBenchApp({ table, queries }: { table: Table; queries: Query[] }) {
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  await chmod(dataDir, 0o711)
  const config = readConfig(environment(dataDir))
  if ('mistakes' in config) throw new Error(config.mistakes.join('\n'))
  const app = await openApp(config)
  const http = await buildHttp(app)
  await http.listen({ port: 0, host: '127.0.0.1' })
  const { port } = http.server.address() as AddressInfo

  const manage = async (path: string, body: object, method = 'POST'): Promise<{ id: string; secret: string }> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${operator}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as { id: string; secret: string }
  }
  const { id: projectId } = await manage('/v1/projects', { name: 'Bench' })
  await putTable(app, projectId, { ...table, native: true })
  const path = `/v1/projects/${projectId}/queries`
  for (const query of queries) {
    await manage(path, query)
    await manage(`${path}/${query.name}/deploy`, {})
  }
  const permissions = [{ project_id: projectId, environments: '*' }]
  const { secret } = await manage('/v1/api-keys', { name: 'bench', plan: 'unlimited', permissions })
  const close = async (): Promise<void> => {
    await http.close()
    await app.close()
  }
  return {
    app,
    dataDir,
    port,
    projectId,
    secret,
    manage,
    putTable: (id: string, given: Table) => putTable(app, id, given),
    close,
    remove: () => rm(dataDir, { recursive: true, force: true }),
  }
}

function environment(dataDir: string): Record<string, string> {
  return {
    SLUICE_DATA_DIR: dataDir,
    SLUICE_MANAGEMENT_TOKEN: operator,
    SLUICE_EXAMPLE: 'off',
    SLUICE_LOG_LEVEL: 'silent',
  }
}

/** The server as it is started in production, on a folder that is there. */
export async function startServer(dataDir: string, port: number) {
  const root = join(import.meta.dirname, '..')
  const env = { ...process.env, ...environment(dataDir), PORT: String(port) }
  const child = spawn(process.execPath, ['scripts/start.mjs'], { cwd: root, env, stdio: 'ignore' })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const deadlineMs = performance.now() + 60_000
  while ((await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status !== 200) {
    if (performance.now() > deadlineMs) throw new Error('not ready in 60 s')
    await wait(20)
  }
  const all = await descendantsOf(child.pid ?? 0)
  const api = all.find(({ command }) => command.includes('server/main')) ?? { pid: child.pid ?? 0, command: '' }
  return {
    apiPid: api.pid,
    /** Processor time so far in ms: of the API process, and of executors and database together. */
    async cpuMs(): Promise<{ api: number; others: number }> {
      const { api: own, executors, rest } = await this.cpuMsByPart()
      return { api: own, others: executors + rest }
    },
    /** `rest` is mostly the database. */
    async cpuMsByPart(): Promise<{ api: number; executors: number; rest: number }> {
      const list = await descendantsOf(child.pid ?? 0)
      const parts = { api: 0, executors: 0, rest: 0 }
      for (const { pid, command } of list) {
        const part = pid === api.pid ? 'api' : command.includes('executor/main') ? 'executors' : 'rest'
        parts[part] += await cpuMsOf(pid)
      }
      return parts
    },
    async apiMb(): Promise<number> {
      const status = await readFile(`/proc/${api.pid}/status`, 'utf8')
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
    },
    async close(): Promise<void> {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** Processor time so far in ms of this process and all below it, the load's own left out. */
export async function cpuMsHere(): Promise<number> {
  const list = (await descendantsOf(process.pid)).filter(({ command }) => !command.includes('load.ts'))
  const times = await Promise.all(list.map(({ pid }) => cpuMsOf(pid)))
  return times.reduce((total, ms) => total + ms, 0)
}

async function descendantsOf(root: number): Promise<{ pid: number; command: string }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const processes = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return { pid, parent: Number(stat.split(') ').at(-1)?.split(' ')[1]), command }
    }),
  )
  const found = new Set([root])
  for (let before = 0; before < found.size;) {
    before = found.size
    for (const { pid, parent } of processes) if (found.has(parent)) found.add(pid)
  }
  return processes.filter(({ pid }) => found.has(pid))
}

async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = stat.split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10
}

type LoadTarget = { port: number; path: string; secret: string }
type LoadOptions = { forMs: number; most?: number; connections?: number }
/** `clientMicros`: what the caller itself worked for a call. */
export type Loaded = { rate: number; p50Ms: number; p99Ms: number; clientMicros: number }

/** Answers a second of one URL over 32 connections; `most` asks for random ids below it. */
export async function load(at: LoadTarget, options: LoadOptions): Promise<number> {
  return (await loadTimed(at, options)).rate
}

/** The same with how long answers took. */
export async function loadTimed(
  at: LoadTarget,
  { forMs, most = 0, connections = usualConnections }: LoadOptions,
): Promise<Loaded> {
  const args = [String(at.port), at.path, at.secret, String(connections), String(forMs), String(most)]
  const child = spawn(process.execPath, [join(import.meta.dirname, 'load.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const part of child.stdout) text += String(part)
  return JSON.parse(text) as Loaded
}

/** Two servers in short turns, see `in-turns.ts`. */
export async function inTurns(secret: string, turns: number, targets: [Target, Target]): Promise<[Turn[], Turn[]]> {
  const args = [secret, String(turns), ...targets.map((target) => JSON.stringify(target))]
  const child = spawn(process.execPath, [join(import.meta.dirname, 'in-turns.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const part of child.stdout) text += String(part)
  return JSON.parse(text) as [Turn[], Turn[]]
}
type Target = { port: number; path: string; pid: number }
type Turn = { rate: number; micros: number }

export function median(values: number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0
}
