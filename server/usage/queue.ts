import { beginBatch, joinBatch, type Batch } from './batches.ts'
import type { QueryAnswered } from './call.ts'
import type { Kind } from './kinds.ts'

/** Calls that wait to be written. */
export type Queue = {
  /** False when there is no room. */
  add(kind: Kind, event: QueryAnswered, at: number): boolean
  /** All of them; what comes later begins batches of its own. */
  take(): Batch[]
  /** They could not be written: the newest wait on as far as there is room. Answers how many calls found none. */
  putBack(batches: Batch[]): number
}

export function openQueue(mostCalls: number): Queue {
  let batches = new Set<Batch>()
  let calls = 0
  return {
    add(kind, event, at) {
      if (calls >= mostCalls) return false
      calls += 1
      const { batch } = kind
      if (batch !== null && batches.has(batch) && joinBatch(batch, event, at)) return true
      kind.batch = beginBatch(kind.of, event, at)
      batches.add(kind.batch)
      return true
    },
    take() {
      const taken = [...batches]
      batches = new Set()
      calls = 0
      return taken
    },
    putBack(older) {
      const kept = [...older, ...batches]
      calls = kept.reduce((sum, { ids }) => sum + ids.length, 0)
      let shed = 0
      while (calls > mostCalls) {
        const dropped = kept.shift()?.ids.length ?? calls
        shed += dropped
        calls -= dropped
      }
      batches = new Set(kept)
      return shed
    },
  }
}
