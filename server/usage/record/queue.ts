import { beginBatch, joinBatch, type Batch } from '../stored/batches.ts'
import type { QueryAnswered } from '../stored/call.ts'
import type { Kind } from './kinds.ts'

/** Calls that wait to be written. */
export type CallQueue = {
  /** Queues a call; false when there is no room. */
  add(kind: Kind, event: QueryAnswered, at: number): boolean
  /** The number of batches. */
  size(): number
  /** All of them; what comes later begins batches of its own. */
  take(): Batch[]
  /** Unwritten batches wait again, the newest as far as there is room. Answers how many calls found none. */
  putBack(batches: Batch[]): number
}

export function openCallQueue(maxCalls: number): CallQueue {
  /** Batches that were taken once take no further call: they may turn out to be written. */
  let sealed: Batch[] = []
  let joinable = new Set<Batch>()
  let calls = 0
  return {
    add(kind, event, at) {
      if (calls >= maxCalls) return false
      calls += 1
      const { batch } = kind
      if (batch !== null && joinable.has(batch) && joinBatch(batch, event, at)) return true
      kind.batch = beginBatch(kind.of, event, at)
      joinable.add(kind.batch)
      return true
    },
    size: () => sealed.length + joinable.size,
    take() {
      const taken = [...sealed, ...joinable]
      sealed = []
      joinable = new Set()
      calls = 0
      return taken
    },
    putBack(older) {
      const pending = [...older, ...sealed]
      calls += callsIn(older)
      let dropped = 0
      while (calls > maxCalls) {
        const oldest = pending.shift() ?? joinable.values().next().value
        if (oldest === undefined) break
        joinable.delete(oldest)
        calls -= oldest.ids.length
        dropped += oldest.ids.length
      }
      sealed = pending
      return dropped
    },
  }
}

export function callsIn(batches: Batch[]): number {
  return batches.reduce((sum, { ids }) => sum + ids.length, 0)
}
