/** Counts failures by key (an address, say) and tells how long a key must wait after too many. */
export type Attempts = {
  /** Seconds until another failure is forgiven, or 0 while there is room for one. */
  waitSeconds(key: string): number
  recordFailure(key: string): void
}

/** More keys than this and the oldest are forgotten: a flood from many addresses must not fill the memory. */
const mostKeys = 50_000
const minuteMs = 60_000

/**
 * GCRA over failures: a burst of `perMinute`, then one more every `60 / perMinute` seconds. Only a theoretical
 * arrival time is kept per key, so an entry costs a few dozen bytes whatever the rate.
 */
export function openAttempts(perMinute: number, now: () => number): Attempts {
  const arrivals = new Map<string, number>()
  const spacingMs = minuteMs / perMinute
  return {
    waitSeconds(key) {
      const arrival = arrivals.get(key)
      if (arrival === undefined) return 0
      return Math.max(0, Math.ceil((arrival + spacingMs - minuteMs - now()) / 1000))
    },
    recordFailure(key) {
      const arrival = Math.max(arrivals.get(key) ?? 0, now()) + spacingMs
      // Set anew so that the map's order is the order of last failure.
      arrivals.delete(key)
      arrivals.set(key, arrival)
      const [oldest] = arrivals.keys()
      if (arrivals.size > mostKeys && oldest !== undefined) arrivals.delete(oldest)
    },
  }
}
