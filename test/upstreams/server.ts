import { spawn, type ChildProcess } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

export type Order = { id: number; customer: string; amount: number; updated_at: string }

/** A server that somebody else wrote, with orders in a store of its own that we look into past its API. */
export type RealServer = {
  name: string
  host: string
  /** A datasource that loads all of its orders. */
  datasource: {
    config: Record<string, unknown>
    pagination: Record<string, unknown>
    /** Where it can say what is new. */
    load?: Record<string, unknown>
  }
  /** What a test of the connection recognises. */
  detected: { rows: string; pagination: Record<string, unknown> | null }
  /** What its drift does to the amounts. */
  drift: string
  start: () => Promise<void>
  kill: () => Promise<void>
  /** As its store has them. */
  orders(): Promise<Order[]>
  put(orders: Order[]): Promise<void>
  /** From now on its orders are not what they were … `at` is when a row was changed for it. */
  spoil(at: string): Promise<void>
  /** … and are again. */
  mend(at: string): Promise<void>
  close(): Promise<void>
}

/** Rows are told by their id, and what is new by when it was changed. */
export const merged = (parameter: string): Record<string, unknown> => ({
  mode: 'merge',
  primary_key: ['id'],
  cursor: { field: 'updated_at', parameter },
})

/** Where `npm test -- upstreams` has installed them. */
const installed = process.env['TEST_UPSTREAMS'] ?? ''

export const python = join(installed, 'python/bin/python')
export const datasette = join(installed, 'python/bin/datasette')
export const npmModules = join(installed, 'npm/node_modules')
export const pocketBase = join(installed, 'go/base')
export const npmProgram = (name: string): string => join(installed, 'npm/node_modules/.bin', name)

const startLimitMs = 60_000

type Command = { program: string; args: string[]; cwd: string; env?: Record<string, string> }

/** A program that is started, killed without a word, and started again on the same port. */
export function serverProcess(port: number, command: () => Command): Pick<RealServer, 'start' | 'kill'> {
  let child: ChildProcess | undefined
  return {
    async start(): Promise<void> {
      const { program, args, cwd, env } = command()
      const started = spawn(program, args, {
        cwd,
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'], LANG: 'C.UTF-8', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      child = started
      let said = ''
      started.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()))
      started.stderr.on('data', (bytes: Buffer) => (said += bytes.toString()))
      for (const deadline = Date.now() + startLimitMs; Date.now() < deadline; await wait(100)) {
        if (started.exitCode !== null) throw new Error(`${program} ended with ${started.exitCode}:\n${said}`)
        const answered = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
        await answered?.body?.cancel()
        if (answered !== undefined) return
      }
      throw new Error(`${program} does not answer:\n${said}`)
    },
    async kill(): Promise<void> {
      const running = child
      child = undefined
      if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
      const ended = new Promise((resolve) => running.once('exit', resolve))
      running.kill('SIGKILL')
      await ended
    },
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

const names = ['Ada', 'Łukasz', 'Zoë “the” O’Neill', 'Ω, Inc.', '李', '#1 Goods', 'null', '"quoted"\nand broken']

/** Orders with numbers from `from` on, a second apart, so that a cursor can tell them. */
export function makeOrders(from: number, count: number): Order[] {
  return Array.from({ length: count }, (_, index) => {
    const id = from + index
    return { id, customer: `${names[id % names.length]} ${id}`, amount: (id * 37) % 1_000, updated_at: timeOf(id) }
  })
}

/** When an order was last changed. */
export function timeOf(second: number): string {
  return new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString().replace('.000Z', 'Z')
}
