/** The service as it is started in production, and what it uses of the machine. */
import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isAlive } from '../test/harness/process.ts'
import { residentMb, sharedMemoryMb } from './processes.ts'

const operator = 'operator-token-of-the-bench'
const readyLimitMs = 120_000
const settleLimitMs = 400_000
const stopLimitMs = 30_000
/** Less than this much work in a second is none: timers, and what a database does by itself. */
const idleShare = 0.04

export type RunningServer = Awaited<ReturnType<typeof startServer>>

export function benchSettings(dataDir: string): Record<string, string> {
  return {
    SLUICE_DATA_DIR: dataDir,
    SLUICE_MANAGEMENT_TOKEN: operator,
    SLUICE_EXAMPLE: 'off',
    SLUICE_LOG_LEVEL: 'silent',
  }
}

type Managed = { id: string; secret: string; data: Array<Record<string, unknown>> }

/** Calls the management API of a service of the bench, and throws what it refuses. */
export function manageAt(port: number) {
  return async (path: string, body?: object, method = body === undefined ? 'GET' : 'POST'): Promise<Managed> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${operator}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Managed
  }
}

type StartOptions = { settings?: Record<string, string>; command?: [program: string, ...args: string[]] }

/** On a data folder that is there or is made, ready to be called. */
export async function startServer(dataDir: string, port: number, { settings, command }: StartOptions = {}) {
  const root = join(import.meta.dirname, '..')
  const env = { ...process.env, ...benchSettings(dataDir), ...settings, PORT: String(port) }
  const [program, ...args] = command ?? [process.execPath, 'scripts/start.mjs']
  const startedMs = performance.now()
  const child = spawn(program, args, { cwd: root, env, stdio: 'ignore' })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  await ready(port, startedMs + readyLimitMs)
  const readyMs = performance.now() - startedMs
  const pid = child.pid ?? 0
  const api = (await descendantsOf(pid)).find(({ command: line }) => line.includes('server/main'))
  const apiPid = api?.pid ?? pid

  /** Processor time so far; `rest` is mostly the database. */
  const cpuMsByPart = async (): Promise<{ api: number; executors: number; rest: number }> => {
    const parts = { api: 0, executors: 0, rest: 0 }
    for (const { pid: each, command: line } of await descendantsOf(pid)) {
      const part = each === apiPid ? 'api' : line.includes('executor/main') ? 'executors' : 'rest'
      parts[part] += await cpuMsOf(each)
    }
    return parts
  }
  return {
    apiPid,
    readyMs,
    cpuMsByPart,
    apiMb: () => residentMb(apiPid),
    /** Of all its processes and its database. */
    allMb: () => sharedMemoryMb(pid, dataDir),
    /** Waits until it has nothing left to do in the background. */
    async settled(): Promise<void> {
      const times = async (): Promise<Map<number, number>> =>
        new Map(
          await Promise.all(
            (await descendantsOf(pid)).map(async (each) => [each.pid, await cpuMsOf(each.pid)] as const),
          ),
        )
      for (const deadlineMs = performance.now() + settleLimitMs; performance.now() < deadlineMs;) {
        const before = await times()
        await wait(1_000)
        // Each by itself: with a process that ends, all that it ever took would be taken off.
        const busy = [...(await times())].map(([each, ms]) => Math.max(0, ms - (before.get(each) ?? 0)))
        if (busy.reduce((sum, ms) => sum + ms, 0) < idleShare * 1_000) return
      }
      throw new Error('The service does not come to rest.')
    },
    async close(): Promise<void> {
      child.kill('SIGTERM')
      await exited
      // Of `npm start` the command ends at once, and the service when it has closed its database.
      for (const deadlineMs = performance.now() + stopLimitMs; isAlive(apiPid) && performance.now() < deadlineMs;)
        await wait(20)
    },
  }
}

async function ready(port: number, deadlineMs: number): Promise<void> {
  while (!(await answersCalls(port))) {
    if (performance.now() > deadlineMs) throw new Error(`not ready in ${readyLimitMs / 1000} s`)
    await wait(5)
  }
}

/** The example project of a new installation is made through calls: what is measured is when those are answered. */
async function answersCalls(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
  if (answer === undefined) return false
  const { checks } = (await answer.json()) as { checks: Record<string, { ok: boolean; optional?: true }> }
  return Object.entries(checks).every(([name, { ok, optional }]) => ok || optional === true || name === 'example')
}

/** Processor time so far in ms of this process and all below it, the caller's own left out. */
export async function cpuMsHere(): Promise<number> {
  const list = (await descendantsOf(process.pid)).filter(({ command }) => !command.includes('bench/client.ts'))
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
