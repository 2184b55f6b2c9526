import { Failure } from '../failure.ts'
import { createFairQueue, type Holder, type Level, type Release } from './fair-queue.ts'
import { reasonOf } from './within.ts'

/**
 * One way to wait for a turn. Holders enter while there is room, wait in a bounded queue otherwise, and leave by the
 * release that they get. Names take turns, and so do the parts of a name; within a part, first come, first served.
 */
export type Gate = {
  enter(holder: Holder, options?: EnterOptions): Promise<Release>
  /** Enters at once or not at all. */
  tryEnter(holder: Holder, amount?: number): Release | undefined
  /** Enters, works and leaves. The work begins at once where there is room. */
  run<Value>(holder: Holder, work: () => Promise<Value>, options?: EnterOptions): Promise<Value>
  /** Counts an amount as held without entering: no limit applies, and no entry is counted. */
  hold(holder: Holder, amount: number): Release
  waiting(): number
}

export type EnterOptions = { amount?: number; waitMs?: number; signal?: AbortSignal | undefined }

export type GateOptions = {
  /** The amount that all may hold together: the last to enter found less than this held. */
  room: number | (() => number)
  /**
   * Fair shares of the room: no name holds more than twice what is free, and no part more than twice what its name may
   * still take. One alone gets more than half of the room, many get less each. A name that holds nothing may enter
   * until twice the room is held.
   */
  isShared?: boolean
  /** Entries of one name at once. */
  perName?: number
  /** Entries of one name that may wait. */
  queueLength?: number
  waitMs?: number
  /** Details of the failure, `overloaded`, after `waitMs`. */
  late?: Busy
  /** Details of the failure where the queue of a name is full; otherwise those of `late`. */
  full?: (name: string) => Busy
}

type Busy = { message?: string; retryAfterSeconds: number }

export function openGate(options: GateOptions): Gate {
  const { room, isShared = false, perName = Infinity, queueLength = Infinity } = options
  const { late = { retryAfterSeconds: 1 }, full = () => late } = options
  const roomNow = typeof room === 'number' ? () => room : room
  const queue = createFairQueue<(leave: Release) => void>()

  function enter(level: Level): boolean {
    if (level.depth === 1) return level.entered < perName
    if (level.depth === 2) return !isShared || hasShare(level, roomNow())
    return isShared || level.held < roomNow()
  }

  function leaving(leave: Release): Release {
    return () => {
      leave()
      for (let next = queue.take({ enter }); next !== undefined; next = queue.take({ enter })) next.item(next.leave)
    }
  }

  function tryEnter(holder: Holder, amount = 1): Release | undefined {
    const leave = queue.tryEnter(holder, amount, enter)
    return leave && leaving(leave)
  }

  function wait(holder: Holder, { amount, waitMs = options.waitMs, signal }: EnterOptions): Promise<Release> {
    if (queue.waiting(holder[0]) >= queueLength) throw new Failure('overloaded', full(holder[0]))
    return new Promise((resolve, reject) => {
      const giveUp = (error: Error): void => {
        if (!queue.remove(holder, begin)) return
        end()
        reject(error)
      }
      const abort = (): void => signal && giveUp(reasonOf(signal))
      const timer = waitMs === undefined ? undefined : setTimeout(() => giveUp(new Failure('overloaded', late)), waitMs)
      const end = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
      }
      const begin = (leave: Release): void => {
        end()
        resolve(leaving(leave))
      }
      signal?.addEventListener('abort', abort, { once: true })
      queue.push(holder, begin, amount)
    })
  }

  return {
    async enter(holder, entering = {}) {
      entering.signal?.throwIfAborted()
      return tryEnter(holder, entering.amount) ?? wait(holder, entering)
    },
    tryEnter,
    async run(holder, work, entering = {}) {
      entering.signal?.throwIfAborted()
      const leave = tryEnter(holder, entering.amount) ?? (await wait(holder, entering))
      try {
        return await work()
      } finally {
        leave()
      }
    },
    hold: (holder, amount) => leaving(queue.hold(holder, amount, 0)),
    waiting: () => queue.waiting(),
  }
}

function hasShare({ held, parent: name }: Level, room: number): boolean {
  const all = name?.parent?.held ?? 0
  if (name === null || name.held === 0) return all < 2 * room
  const most = 2 * (room - all)
  return name.held < most && held < 2 * (Math.min(most, room) - name.held)
}
