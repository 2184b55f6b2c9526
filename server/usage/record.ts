import type { Observation, Observe } from '../observe.ts'
import type { Database } from '../store/index.ts'
import type { Batch } from './batches.ts'
import { openEnvironments } from './environments.ts'
import { openKinds } from './kinds.ts'
import { openPartitions } from './partitions.ts'
import { openQueue } from './queue.ts'
import { countCall, openTally, type TakenCount } from './tally.ts'
import { isWritten, writeUsage, type Unsure } from './write.ts'

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
  const kinds = openKinds(tally, mostCounts)
  const queue = openQueue(queueLength)
  let shed = 0
  let told = 0
  let writing: Promise<void> | undefined
  let next: Promise<void> | undefined

  /** Calls of a write whose end was not heard. Written again they could be in the log twice. */
  let unheard: (Unsure & { batches: Batch[] }) | undefined

  const settle = async (): Promise<void> => {
    if (unheard === undefined) return
    const isDone = await isWritten(store, unheard)
    if (!isDone) shed += queue.putBack(unheard.batches)
    unheard = undefined
  }
  const write = async (): Promise<void> => {
    await settle()
    const batches = queue.take()
    const counts = tally.take()
    if (batches.length === 0 && counts.length === 0) return
    try {
      await environments.know([...batches.map(({ kind }) => kind), ...counts.map(({ count }) => count.of)])
      const at = now()
      await partitions.ensure({
        // Tomorrow's too: at midnight nobody waits for a table.
        requests: [at, at + dayMs, ...batches.map(({ start }) => start)],
        rollups: [at, at + dayMs, ...counts.map(({ count }) => count.start)],
      })
      const rows = { batches: batches.flatMap(placedBatch), counts: counts.flatMap(placedRow) }
      const unsure = await writeUsage(store, rows)
      if (unsure !== null) {
        unheard = { ...unsure, batches }
        throw unsure.error
      }
      tally.forget(now() - 2 * minuteMs)
    } catch (error) {
      if (unheard === undefined) shed += queue.putBack(batches)
      tally.putBack(counts)
      throw error
    } finally {
      if (shed > told) observe({ kind: 'usage-shed', requests: shed - told })
      told = shed
    }
  }
  const placedBatch = (batch: Batch): Batch[] => {
    const kind = environments.placed(batch.kind)
    return kind === undefined ? [] : [kind === batch.kind ? batch : { ...batch, kind }]
  }
  const placedRow = ({ count, row }: TakenCount): Array<Record<string, unknown>> => {
    const kind = environments.placed(count.of)
    return kind === undefined ? [] : [{ ...row, environment: kind.environment ?? '' }]
  }
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
