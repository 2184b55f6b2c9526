import { createFairQueue } from '../fair-queue.ts'
import { createShares, type Holder } from '../fair-share.ts'
import { Failure } from '../failure.ts'

/**
 * The memory of large answers, while they are made and on their way to their callers. Who has much of it waits with the
 * next one until some was read; the others go on. No project has more than so many of them made at a time: each keeps a
 * processor busy, and one has to be left for the calls of others.
 */
export type AnswerRoom = {
  /** Waits for room for an answer of about this size, and counts it as being made until it is let go. */
  enter(
    holder: Holder,
    options: { expectedBytes: number; timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<() => void>
  /** Counts an answer until it is let go; doing so twice lets go once. */
  hold(holder: Holder, bytes: number): () => void
}

/** Smaller ones are nobody's burden, and never wait. */
export const largeAnswerBytes = 1_048_576

type Waiting = { holder: Holder; enter: () => void }

export function openAnswerRoom({ maxBytes, maxMade }: { maxBytes: number; maxMade: number }): AnswerRoom {
  const shares = createShares()
  const queue = createFairQueue<Waiting>()
  /** How many of each project are being made. */
  const made = new Map<string, number>()

  function admit(): void {
    const run = ({ holder }: Waiting): boolean =>
      (made.get(holder.projectId) ?? 0) < maxMade && shares.mayHoldMore(holder, maxBytes)
    for (let next = queue.take({ run }); next !== undefined; next = queue.take({ run })) next.enter()
  }

  const hold: AnswerRoom['hold'] = (holder, bytes) => {
    shares.add(holder, bytes)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      shares.add(holder, -bytes)
      admit()
    }
  }

  const make = (holder: Holder, bytes: number): (() => void) => {
    const count = (change: 1 | -1): void => {
      const next = (made.get(holder.projectId) ?? 0) + change
      if (next === 0) made.delete(holder.projectId)
      else made.set(holder.projectId, next)
    }
    count(1)
    const letGo = hold(holder, bytes)
    let isMade = false
    return () => {
      if (!isMade) count(-1)
      isMade = true
      letGo()
    }
  }

  return {
    hold,
    enter: (holder, { expectedBytes, timeoutMs, signal }) =>
      new Promise((resolve, reject) => {
        const path = [holder.projectId, holder.keyId]
        const end = (): void => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', abort)
        }
        const leave = (error: Error): void => {
          if (!queue.remove(path, waiting)) return
          end()
          reject(error)
        }
        const abort = (): void => leave(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
        const timer = setTimeout(() => leave(new Failure('overloaded', { retryAfterSeconds: 1 })), timeoutMs)
        const waiting: Waiting = {
          holder,
          enter: () => {
            end()
            resolve(make(holder, expectedBytes))
          },
        }
        queue.push(path, waiting)
        signal?.addEventListener('abort', abort, { once: true })
        if (signal?.aborted === true) abort()
        else admit()
      }),
  }
}
