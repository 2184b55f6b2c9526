import { createFairQueue } from '../fair-queue.ts'
import type { Failure } from '../failure.ts'

/**
 * Work that holds something everybody needs, such as a connection to the database: of one name only so much at once, and
 * of all names together. Names take turns, so a crowd of one delays another by one.
 */
export type WorkTurns = { take<Value>(name: string, work: () => Promise<Value>): Promise<Value> }

type TurnOptions = {
  /** At once, of one name. */
  each: number
  /** At once, of all names. */
  most: number
  /** How many of one name may wait. */
  queueLength: number
  waitMs: number
  /** What whoever waits too long, or finds too many waiting, is told. */
  late: () => Failure
  full: (name: string) => Failure
}

type Waiting = { name: string; begin: () => void }

export function createWorkTurns({ each, most, queueLength, waitMs, late, full }: TurnOptions): WorkTurns {
  const queue = createFairQueue<Waiting>()
  const waiting = new Map<string, number>()
  const working = new Map<string, number>()
  let all = 0

  function isFree(name: string): boolean {
    return all < most && (working.get(name) ?? 0) < each
  }

  function begin(name: string): void {
    all += 1
    addTo(working, name, 1)
  }

  function end(name: string): void {
    all -= 1
    addTo(working, name, -1)
    const enter = ([branch = '']: readonly string[]): boolean => isFree(branch)
    for (let next = queue.take({ enter }); next !== undefined; next = queue.take({ enter })) next.begin()
  }

  function wait(name: string): Promise<void> {
    if ((waiting.get(name) ?? 0) >= queueLength) throw full(name)
    return new Promise((resolve, reject) => {
      const own: Waiting = {
        name,
        begin: () => {
          clearTimeout(timer)
          addTo(waiting, name, -1)
          begin(name)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        if (!queue.remove([name], own)) return
        addTo(waiting, name, -1)
        reject(late())
      }, waitMs)
      addTo(waiting, name, 1)
      queue.push([name], own)
    })
  }

  return {
    async take(name, work) {
      // Who comes while others of its name wait goes behind them.
      if (isFree(name) && !waiting.has(name)) begin(name)
      else await wait(name)
      try {
        return await work()
      } finally {
        end(name)
      }
    },
  }
}

/** Nothing is kept of a name that has nothing left. */
function addTo(counts: Map<string, number>, name: string, amount: number): void {
  const count = (counts.get(name) ?? 0) + amount
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
