import type { Observation, Observe } from '../observe.ts'
import type { Database } from '../store/index.ts'
import { callOf, type CallRow } from './call.ts'
import { findSilent, openEnvironments } from './environments.ts'
import { openPartitions } from './partitions.ts'
import { openTally, type TakenCount } from './tally.ts'
import { writeUsage } from './write.ts'

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

const minuteMs = 60_000
const dayMs = 86_400_000
/** Different kinds of calls in memory at once. */
const mostCounts = 20_000

/**
 * Hears of every call and writes it down in batches, off the path of requests. A crash loses what came since the last
 * write: at most a second's worth while the database keeps up.
 */
export function openUsage({ store, observe, now, queueLength, flushMs = 900 }: UsageOptions): Usage {
  const partitions = openPartitions(store)
  const environments = openEnvironments(store)
  const tally = openTally(mostCounts)
  let queue: CallRow[] = []
  let shed = 0
  let told = 0
  let writing: Promise<void> | undefined
  let next: Promise<void> | undefined

  const write = async (): Promise<void> => {
    const calls = queue
    const counts = tally.take()
    queue = []
    if (calls.length === 0 && counts.length === 0) return
    try {
      await environments.know([...calls, ...counts.map(({ count }) => count.of)])
      const silent = await findSilent(store, calls)
      for (const call of calls) if (silent.has(call.project_id)) call.question = null
      const at = now()
      await partitions.ensure({
        // Tomorrow's too: at midnight nobody waits for a table.
        requests: [at, at + dayMs, ...calls.map((call) => call.at)],
        rollups: [at, at + dayMs, ...counts.map(({ count }) => count.start)],
      })
      await writeUsage(store, {
        calls: calls.flatMap((call) => environments.placed(call)),
        counts: counts.filter(({ count }) => environments.placed(count.of).length > 0).map((each) => placedRow(each)),
      })
      tally.forget(now() - 2 * minuteMs)
    } catch (error) {
      // The newest wait for better times as far as there is room.
      const kept = [...calls, ...queue].slice(-queueLength)
      shed += calls.length + queue.length - kept.length
      queue = kept
      tally.putBack(counts)
      throw error
    } finally {
      if (shed > told) observe({ kind: 'usage-shed', requests: shed - told })
      told = shed
    }
  }
  const placedRow = ({ count, row }: TakenCount): Record<string, unknown> => ({
    ...row,
    environment: environments.placed(count.of)[0]?.environment ?? '',
  })
  /** One write at a time; whoever asks meanwhile waits for one that begins after they asked. */
  const flush = (): Promise<void> => {
    if (writing === undefined) {
      writing = write().finally(() => (writing = undefined))
      return writing
    }
    next ??= writing
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return flush()
      })
    return next
  }
  const fault = (error: unknown): void => observe({ kind: 'fault', where: 'usage', error })
  const timer = setInterval(() => void flush().catch(fault), flushMs).unref()

  return {
    observe(event) {
      if (event.kind !== 'query-answered') return
      const call = callOf(event, now())
      if (call === undefined) return
      // A preview is its author's, not a call of an endpoint: it is in the log and in no figure.
      if (call.entry !== 'preview' && !tally.add(call)) shed += 1
      if (queue.length < queueLength) queue.push(call)
      else shed += 1
    },
    flush,
    shed: () => shed,
    async close() {
      clearInterval(timer)
      await flush().catch(fault)
    },
  }
}
