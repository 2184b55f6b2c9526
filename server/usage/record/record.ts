import type { Observation, Observe } from '../../observe.ts'
import type { Database } from '../../store/index.ts'
import { openKinds } from './kinds.ts'
import { openCallQueue } from './queue.ts'
import { countCall, openTally } from './tally.ts'
import type { HoldWordKeepers } from './write.ts'
import { openWriter } from './writer.ts'

export type Usage = {
  /** Records a call; never waits and never throws. */
  observe(event: Observation): void
  /** Writes what has been seen so far. */
  flush(): Promise<void>
  /** Calls that were answered and not written down. */
  dropped(): number
  close(): Promise<void>
}

type UsageOptions = {
  store: Pick<Database, 'db' | 'pool'>
  holdWordKeepers: HoldWordKeepers
  observe: Observe
  now: () => number
  /** Calls that may wait to be written; beyond it calls are answered and not recorded. */
  queueLength?: number
  closeTimeoutMs?: number | undefined
  flushMs?: number
}

/** Different kinds of calls in memory at once. */
const maxCounts = 20_000

/**
 * Records every call in batches, off the path of requests. A crash loses what came since the last
 * write: at most a second's worth while the database keeps up.
 */
export function openUsage({
  store,
  holdWordKeepers,
  observe,
  now,
  queueLength = 50_000,
  closeTimeoutMs,
  flushMs = 900,
}: UsageOptions): Usage {
  const tally = openTally(maxCounts)
  const kinds = openKinds(tally, maxCounts)
  const queue = openCallQueue(queueLength)
  const writer = openWriter({ store, holdWordKeepers, queue, tally, now, observe, flushMs, closeTimeoutMs })

  return {
    observe(event) {
      if (event.kind !== 'query-answered' || event.projectId === null) return
      const at = now()
      const kind = kinds.find(event, at)
      if (kind === undefined) {
        writer.drop(1)
        return
      }
      if (kind.count !== null) countCall(kind.count, event)
      if (!queue.add(kind, event, at)) writer.drop(1)
    },
    flush: writer.flush,
    dropped: writer.dropped,
    close: writer.close,
  }
}
