import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { percentile, type Installation } from '../harness/installation.ts'
import type { Calls } from './callers.ts'

const attackMs = 10_000
const betweenMs = 40
const maxMs = 1_000

type Figures = { calls: number; failed: number; p50: number; p99: number }

/** Calls again and again for as long as the attack goes on, and says how long each took. */
async function callMeanwhile(call: () => Promise<Response>, until: AbortSignal): Promise<Figures> {
  const times: number[] = []
  let failed = 0
  while (!until.aborted) {
    const startedMs = performance.now()
    const answer = await call()
    await answer.text()
    times.push(performance.now() - startedMs)
    if (answer.status !== 200) failed += 1
    await wait(betweenMs)
  }
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)].map(Math.round)
  return { calls: times.length, failed, p50: p50 ?? 0, p99: p99 ?? 0 }
}

/** How long the service's own thread has waited for a processor so far: what others on the machine cost it. */
function queuedMs({ service: { pid } }: Installation): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1_000_000
}

export type Attack = (over: AbortSignal) => Array<Promise<unknown>>

/**
 * Runs an attack for a while, and meanwhile each of the calls of those who have nothing to do with it. Answers what was
 * wrong with these.
 */
export async function attacked(
  stage: Installation,
  name: string,
  attack: Attack,
  calls: Record<string, () => Promise<Response>>,
): Promise<string[]> {
  const over = new AbortController()
  const attacks = attack(over.signal).map((each) => each.catch(() => undefined))
  await wait(500)
  const measuring = Object.entries(calls).map(
    async ([who, call]) => [who, await callMeanwhile(call, over.signal)] as const,
  )
  const before = queuedMs(stage)
  await wait(attackMs)
  const queued = Math.round(((queuedMs(stage) - before) / attackMs) * 100)
  over.abort()
  const figures = await Promise.all(measuring)
  await Promise.all(attacks)
  for (const [who, { calls: made, failed, p50, p99 }] of figures) {
    process.stdout.write(`${name}: ${who}: p50 ${p50} ms, p99 ${p99} ms, ${failed} of ${made} failed\n`)
  }
  process.stdout.write(`${name}: the service was ready and waited for a processor ${queued} % of the time\n`)
  return figures.flatMap(([who, { failed, p99 }]) => [
    ...(failed > 0 ? [`${who}: ${failed} failed`] : []),
    ...(p99 >= maxMs ? [`${who}: p99 ${p99} ms`] : []),
  ])
}

/** So many who each do it again as soon as it is done. */
export function crowd(size: number, over: AbortSignal, act: (at: number) => Promise<unknown>): Array<Promise<unknown>> {
  return Array.from({ length: size }, async (_, at) => {
    while (!over.aborted) await act(at).catch(() => undefined)
  })
}

/** A program of this folder that attacks until it is over, with what it reads from its standard input. */
export function programmed(program: string, args: string[], input = ''): Attack {
  return (over) => [
    new Promise((resolve) => {
      const path = join(import.meta.dirname, program)
      const child = spawn(process.execPath, ['--no-warnings', path, ...args], { stdio: ['pipe', 'inherit', 'inherit'] })
      child.stdin.write(input)
      child.once('exit', resolve)
      over.addEventListener('abort', () => child.kill('SIGKILL'))
    }),
  ]
}

/** Callers in a process of their own who each call again as soon as they are answered. */
export function callers(calls: Calls): Attack {
  return programmed('callers.ts', [], `${JSON.stringify(calls)}\n`)
}
