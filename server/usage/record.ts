import type { Observation, Observe } from '../observe.ts'
import type { Database } from '../store/index.ts'
import { openKinds } from './kinds.ts'
import { openQueue } from './queue.ts'
import { countCall, openTally } from './tally.ts'
import { openWriter } from './writer.ts'

export type Usage = {
  /** Never waits and never throws. */
  observe(event: Observation): void
  /** Writes what has been seen so far. */
  flush(): Promise<void>
  /** Calls that were answered and not written down. */
  shed(): number
  close(): Promise<void>
}

type UsageOptions = {
  store: Pick<Database, 'pool'>
  observe: Observe
  now: () => number
  /** Calls that may wait to be written; beyond it calls are answered and not recorded. */
  queueLength: number
  flushMs?: number
}

/** Different kinds of calls in memory at once. */
const mostCounts = 20_000

/**
 * Hears of every call and writes it down in batches, off the path of requests. A crash loses what came since the last
 * write: at most a second's worth while the database keeps up.
 */
export function openUsage({ store, observe, now, queueLength, flushMs = 900 }: UsageOptions): Usage {
  const tally = openTally(mostCounts)
  const kinds = openKinds(tally, mostCounts)
  const queue = openQueue(queueLength)
  let shed = 0
  let told = 0
  const writer = openWriter({ store, queue, tally, now, onShed: (requests) => (shed += requests) })
  const flush = inTurn(() =>
    writer.write().finally(() => {
      if (shed > told) observe({ kind: 'usage-shed', requests: shed - told })
      told = shed
    }),
  )
  const fault = (error: unknown): void => observe({ kind: 'fault', where: 'usage', error })
  const timer = setInterval(() => void flush().catch(fault), flushMs).unref()

  return {
    observe(event) {
      if (event.kind !== 'query-answered' || event.projectId === null) return
      const at = now()
      const kind = kinds.find(event, at)
      if (kind === undefined) {
        shed += 1
        return
      }
      if (kind.count !== null) countCall(kind.count, event)
      if (!queue.add(kind, event, at)) shed += 1
    },
    flush,
    shed: () => shed,
    async close() {
      clearInterval(timer)
      await flush().catch(fault)
    },
  }
}

/** One at a time; whoever asks meanwhile waits for one that begins after they asked. */
function inTurn(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const run = (): Promise<void> => {
    if (running === undefined) {
      running = work().finally(() => (running = undefined))
      return running
    }
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return run()
      })
    return next
  }
  return run
}
