import type { Buckets, Taken } from './buckets.ts'
import { type Policy, standingOf } from './policies.ts'

/** Where a key stands with one policy, as the headers tell it. */
export type Standing = { policy: Policy; remaining: number; resetSeconds: number }

export type LimitVerdict = {
  /** 0: the call is let through. Else a caller who waits that long and is alone with the key gets through. */
  waitSeconds: number
  standings: Standing[]
}

const unlimited: LimitVerdict = { waitSeconds: 0, standings: [] }

/** Counts one call of a key against its policies: the call passes all of them or is counted by none. */
export function takeCall(
  buckets: Buckets,
  keyId: string,
  policies: readonly Policy[],
): LimitVerdict | Promise<LimitVerdict> {
  if (policies.length === 0) return unlimited
  const taken = buckets.take(keyId, policies)
  return taken instanceof Promise ? taken.then((answered) => verdictOf(policies, answered)) : verdictOf(policies, taken)
}

export function verdictOf(policies: readonly Policy[], { nowMicros, waits, states }: Taken): LimitVerdict {
  return {
    waitSeconds: seconds(Math.max(...waits)),
    standings: policies.map((policy, at) => {
      const { remaining, resetMicros } = standingOf(policy, states[at] ?? 0, nowMicros)
      return { policy, remaining, resetSeconds: seconds(resetMicros) }
    }),
  }
}

/** Rounded up: rounded down would send the caller back too early. */
function seconds(micros: number): number {
  return Math.ceil(micros / 1_000_000)
}
