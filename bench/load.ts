/** Calls servers from a process of its own, see `bench/client.ts`. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'

/** `{id}` in path and body becomes a number below `most`; `pid` is the process whose processor time is told. */
export type Target = {
  port: number
  method?: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
  most?: number
  pid?: number
}
export type Order = { targets: Target[]; turns: number; turnMs: number; warmMs: number; connections: number }
/** Answers a second, processor time of one, of the process that answers and of the caller, and how long they took. */
export type Turn = { rate: number; micros: number; clientMicros: number; p50Ms: number; p99Ms: number }
export type Taken = { turns: Turn[] }

export const usualConnections = 32
const warmMs = 1_000

/** Calls the targets in turn, each for `turnMs`, as often as `turns` says. What the first second gives is not counted. */
export async function callInTurns(targets: Target[], options: Partial<Omit<Order, 'targets'>> = {}): Promise<Taken[]> {
  const order: Order = { targets, turns: 1, turnMs: 2_000, warmMs, connections: usualConnections, ...options }
  const child = spawn(process.execPath, [join(import.meta.dirname, 'client.ts'), JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const part of child.stdout) text += String(part)
  if (text === '') throw new Error('The caller gave up; it said why.')
  return JSON.parse(text) as Taken[]
}

/** A call of a deployed query. */
export function queryTarget(at: { port: number; secret: string }, name: string, slots = '{}'): Target {
  return {
    port: at.port,
    path: `/v1/queries/${name}`,
    headers: { authorization: `Bearer ${at.secret}`, 'content-type': 'application/json' },
    body: slots,
  }
}
