import { LRUCache } from 'lru-cache'
import { upTo } from '../../flow/index.ts'

/** Counts failures by key (an address, say) and tells how long a key must wait after too many. */
export type Attempts = {
  /** Seconds until another failure is forgiven, or 0 while there is room for one. */
  waitSeconds(key: string): number
  recordFailure(key: string): void
}

/** More keys than this and the oldest are forgotten: a flood from many addresses must not fill the memory. */
const maxKeys = 50_000
const minuteMs = 60_000

/**
 * GCRA over failures: a burst of `perMinute`, then one more every `60 / perMinute` seconds. Only a theoretical
 * arrival time is kept per key, so an entry costs a few dozen bytes whatever the rate.
 */
export function openAttempts(perMinute: number, now: () => number): Attempts {
  const arrivals = new LRUCache<string, number>(upTo(maxKeys))
  const spacingMs = minuteMs / perMinute
  /** Further away than that it is only by a clock that was set back: nobody waits for as long as it was moved. */
  const furthestMs = minuteMs + spacingMs
  const arrivalOf = (key: string): number | undefined => {
    const arrival = arrivals.peek(key)
    if (arrival === undefined || arrival <= now() + furthestMs) return arrival
    arrivals.set(key, now() + furthestMs)
    return now() + furthestMs
  }
  return {
    waitSeconds(key) {
      // Asking keeps nobody: only a failure is remembered.
      const arrival = arrivalOf(key)
      if (arrival === undefined) return 0
      return Math.max(0, Math.ceil((arrival + spacingMs - minuteMs - now()) / 1000))
    },
    recordFailure(key) {
      arrivals.set(key, Math.max(arrivalOf(key) ?? 0, now()) + spacingMs)
    },
  }
}
