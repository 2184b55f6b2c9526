import { Failure } from '../../failure.ts'

/** Lets work in as long as what is inside is expected to be done in time; refuses the rest at once. */
export type Turnstile = <Value>(work: () => Promise<Value>) => Promise<Value>

// Before the first ones tell. Then how often one leaves, the last ones counting most.
const usualMs = 5
const newestShare = 0.1
// So few are always let in: one slow question must not shut the door behind itself.
const alwaysInside = 8

export function openTurnstile(waitMs: number, clockMs: () => number = () => performance.now()): Turnstile {
  let inside = 0
  let eachMs = usualMs
  let sinceMs = 0
  return async (work) => {
    if (inside >= alwaysInside && inside * eachMs > waitMs) throw new Failure('overloaded', { retryAfterSeconds: 1 })
    // After a rest the time without questions says nothing.
    if (inside === 0) sinceMs = clockMs()
    inside += 1
    try {
      return await work()
    } finally {
      inside -= 1
      const nowMs = clockMs()
      eachMs += newestShare * (nowMs - sinceMs - eachMs)
      sinceMs = nowMs
    }
  }
}
