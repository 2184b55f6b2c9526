import { LRUCache } from 'lru-cache'
import type { Column } from '../../engine/index.ts'
import { openGate, untilAborted, type Gate } from '../../flow/index.ts'

/** The tables of a result, some of which were not loaded whole. */
export type IncompleteSource = { tables: Array<{ name: string; asOf: Date | null; truncated: boolean }> }

/** A whole result, as cached: `rows` is a JSON array, ready to send. */
export type Answer = {
  rows: Buffer
  columns: Column[]
  rowCount: number
  truncated: boolean
  elapsedMs: number
  version: number
  asOf: Date | null
  source: IncompleteSource | null
  /** Identifies the content, for If-None-Match. Null where the query has no cache. */
  etag: string | null
}

/** Cached answers, by version, data and slots. */
export type Answers = {
  /**
   * The memory of large answers, in bytes, while they are made and until their callers have read them. A project has
   * only so many made at a time: each keeps a processor busy, and others need one for their calls.
   */
  room: Gate
  get(key: string): Answer | undefined
  /** Makes an answer once for all calls of the same key meanwhile; stops when no call waits for it any more. */
  make(key: string, options: { ttlMs: number; signal?: AbortSignal | undefined }, work: Work): Promise<Answer>
}

type Work = (signal: AbortSignal) => Promise<Answer>
type Flight = { answer: Promise<Answer>; waiting: number; stop: AbortController }

type Options = { maxBytes: number; maxBytesInFlight: number; executors: number; now: () => number }

export function openAnswers({ maxBytes, maxBytesInFlight, executors, now }: Options): Answers {
  const cached = new LRUCache<string, { answer: Answer; madeAt: number; ttlMs: number }>({
    maxSize: maxBytes,
    // One answer may not evict all others.
    maxEntrySize: Math.max(1, Math.floor(maxBytes / 4)),
    sizeCalculation: ({ answer }, key) => answer.rows.length + key.length * 2 + 500,
  })
  const flights = new Map<string, Flight>()

  function start(key: string, ttlMs: number, work: Work): Flight {
    const stop = new AbortController()
    const answer = work(stop.signal)
      .then((made) => {
        cached.set(key, { answer: made, madeAt: now(), ttlMs })
        return made
      })
      .finally(() => {
        if (flights.get(key) === flight) flights.delete(key)
      })
    // Waiting calls get the failure; without any it is not reported.
    answer.catch(() => undefined)
    const flight: Flight = { answer, waiting: 0, stop }
    flights.set(key, flight)
    return flight
  }

  return {
    room: openGate({ room: maxBytesInFlight, isShared: true, perName: Math.max(1, Math.floor(executors / 2)) }),
    get(key) {
      const found = cached.get(key)
      if (found === undefined) return undefined
      const ageMs = now() - found.madeAt
      // A negative age: the clock was set back, and the real age is unknown.
      if (ageMs >= 0 && ageMs < found.ttlMs) return found.answer
      cached.delete(key)
      return undefined
    },
    async make(key, { ttlMs, signal }, work) {
      signal?.throwIfAborted()
      const flight = flights.get(key) ?? start(key, ttlMs, work)
      flight.waiting += 1
      try {
        return await untilAborted(flight.answer, signal)
      } finally {
        flight.waiting -= 1
        if (flight.waiting === 0 && flights.get(key) === flight) {
          flights.delete(key)
          flight.stop.abort()
        }
      }
    },
  }
}
