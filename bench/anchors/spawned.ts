import { spawn } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export type Spawned = { pid: number; port: number; close(): Promise<void> }
type Program = { command: string; args: string[]; cwd?: string; env?: Record<string, string> }

const startLimitMs = 120_000
const killAfterMs = 10_000
const keptOutput = 4_000

/** Starts a server and waits until it answers at `path` with anything but an error of its own. */
export async function startProgram(port: number, path: string, { command, args, cwd, env }: Program): Promise<Spawned> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  const hear = (part: unknown): void => void (said = (said + String(part)).slice(-keptOutput))
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const exited = new Promise((resolve) => child.once('close', resolve))
  child.once('error', hear)
  const close = async (): Promise<void> => {
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    await exited
    clearTimeout(late)
  }
  for (const deadlineMs = performance.now() + startLimitMs; performance.now() < deadlineMs; await wait(50)) {
    if (child.exitCode !== null || child.pid === undefined) throw new Error(`${command} ended: ${said}`)
    const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined)
    if (answer !== undefined && answer.status < 500) return { pid: child.pid, port, close }
  }
  await close()
  throw new Error(`${command} did not answer within ${startLimitMs / 1000} s: ${said}`)
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
