import { type BucketState, dailyName, type Policy, shifted, spend, waitMicros } from './policies.ts'

/** Result of a call: the clock it was judged by, and for each policy how long to wait and what it left behind. */
export type Taken = { nowMicros: number; waits: number[]; states: BucketState[] }

/** Where the states of buckets are kept: in this process, or in Redis for all. */
export type Buckets = {
  /** Spends one call in every bucket, or in none when one of them is empty. */
  take(keyId: string, policies: readonly Policy[]): Taken | Promise<Taken>
}

const minBeforeSweep = 1_024

export type MemoryBuckets = {
  take(keyId: string, policies: readonly Policy[]): Taken
  /** Takes over what was decided elsewhere, so that it can go on from there when elsewhere is away. */
  follow(keyId: string, policies: readonly Policy[], taken: Taken): void
  /** The day's quota outlives the process: this is what is kept of it, and taken up again. */
  dailyState(keyId: string): BucketState | undefined
  resumeDay(keyId: string, state: BucketState): void
}

/** `processes`: how many count alone like this one, so that together they let through what one would. */
export function openMemoryBuckets(now: () => number, processes: () => number = () => 1): MemoryBuckets {
  const buckets = new Map<string, BucketState>()
  let sweepAtSize = minBeforeSweep
  let lastMicros = 0

  /** The time; where it is earlier than it was, every bucket goes along. */
  const tellMicros = (): number => {
    const nowMicros = now() * 1_000
    if (nowMicros < lastMicros) {
      const move = { from: lastMicros, to: nowMicros }
      for (const [name, state] of buckets) {
        buckets.set(name, shifted(name.endsWith(`:${dailyName}`) ? 'day' : 'rate', state, move))
      }
    }
    lastMicros = nowMicros
    return nowMicros
  }

  /** Buckets whose time is past say nothing. Looked for only when there are twice as many as the last time. */
  const sweep = (nowMicros: number): void => {
    for (const [name, state] of buckets) if (state <= nowMicros) buckets.delete(name)
    sweepAtSize = Math.max(minBeforeSweep, buckets.size * 2)
  }

  const keep = (name: string, state: BucketState, nowMicros: number): void => {
    buckets.set(name, state)
    if (buckets.size > sweepAtSize) sweep(nowMicros)
  }

  return {
    take(keyId, policies) {
      const nowMicros = tellMicros()
      const names = policies.map((policy) => `${keyId}:${policy.name}`)
      const states = names.map((name) => buckets.get(name) ?? 0)
      const weight = processes()
      const waits = policies.map((policy, at) => waitMicros(policy, states[at] ?? 0, nowMicros, weight))
      if (waits.some((wait) => wait > 0)) return { nowMicros, waits, states }
      const spent = policies.map((policy, at) => spend(policy, states[at] ?? 0, nowMicros, weight))
      for (const [at, name] of names.entries()) keep(name, spent[at] ?? 0, nowMicros)
      return { nowMicros, waits, states: spent }
    },
    dailyState: (keyId) => buckets.get(`${keyId}:${dailyName}`),
    resumeDay: (keyId, state) => keep(`${keyId}:${dailyName}`, state, tellMicros()),
    follow(keyId, policies, taken) {
      const nowMicros = tellMicros()
      // Another clock decided. Days begin together; the moments within them are told by ours.
      for (const [at, { kind, name }] of policies.entries()) {
        const state = taken.states[at] ?? 0
        keep(`${keyId}:${name}`, kind === 'day' ? state : state - taken.nowMicros + nowMicros, nowMicros)
      }
    },
  }
}
