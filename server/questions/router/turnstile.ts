import { Failure } from '../../failure.ts'

/** Lets questions in as long as those inside are expected to be read in time; refuses the rest at once. */
export type Turnstile = {
  /** Counts a question from its arrival until it calls back, or refuses it. */
  enter(): () => void
  /** Reads a question; how often one is done is what the next ones expect. */
  timed<Value>(work: () => Promise<Value>): Promise<Value>
}

// Before the first ones tell. Then how often one is done, the last ones counting most.
const usualMs = 5
const newestShare = 0.1
// So few are always let in: one slow question must not shut the door behind itself.
const alwaysInside = 8

export function openTurnstile(waitMs: number, clockMs: () => number = () => performance.now()): Turnstile {
  let inside = 0
  let reading = 0
  let eachMs = usualMs
  let sinceMs = 0
  return {
    enter() {
      if (inside >= alwaysInside && inside * eachMs > waitMs) throw new Failure('overloaded', { retryAfterSeconds: 1 })
      inside += 1
      let isInside = true
      return () => {
        if (isInside) inside -= 1
        isInside = false
      }
    },
    async timed(work) {
      // After a rest the time without questions says nothing.
      if (reading === 0) sinceMs = clockMs()
      reading += 1
      try {
        return await work()
      } finally {
        reading -= 1
        const nowMs = clockMs()
        eachMs += newestShare * (nowMs - sinceMs - eachMs)
        sinceMs = nowMs
      }
    },
  }
}
