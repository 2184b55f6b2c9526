import { LRUCache } from 'lru-cache'
import type { Column } from '../../data/index.ts'
import { openAnswerRoom, type AnswerRoom } from '../answer-room.ts'
import { untilAborted } from '../../flow/index.ts'

/** Tables that a result rests on, some of which were not loaded whole. */
export type IncompleteSource = { tables: Array<{ name: string; asOf: Date | null; truncated: boolean }> }

/** A whole result as it is kept: `rows` is a JSON array, ready to send. */
export type Answer = {
  rows: Buffer
  columns: Column[]
  rowCount: number
  truncated: boolean
  elapsedMs: number
  version: number
  asOf: Date | null
  source: IncompleteSource | null
  /** Names the content, for If-None-Match. Null where the query keeps no answers. */
  etag: string | null
}

/** Answers that may be given again, by what makes two calls the same: version, data and slots. */
export type Answers = {
  room: AnswerRoom
  get(key: string): Answer | undefined
  /** Makes an answer once for all who ask for the same meanwhile; stops when nobody waits for it any more. */
  make(key: string, options: { ttlMs: number; signal?: AbortSignal | undefined }, work: Work): Promise<Answer>
}

type Work = (signal: AbortSignal) => Promise<Answer>
type Flight = { answer: Promise<Answer>; waiting: number; stop: AbortController }

type Options = { maxBytes: number; maxBytesInFlight: number; executors: number; now: () => number }

export function openAnswers({ maxBytes, maxBytesInFlight, executors, now }: Options): Answers {
  const kept = new LRUCache<string, { answer: Answer; madeAt: number; ttlMs: number }>({
    maxSize: maxBytes,
    // One answer may not push all others out.
    maxEntrySize: Math.max(1, Math.floor(maxBytes / 4)),
    sizeCalculation: ({ answer }, key) => answer.rows.length + key.length * 2 + 500,
  })
  const flights = new Map<string, Flight>()

  function start(key: string, ttlMs: number, work: Work): Flight {
    const stop = new AbortController()
    const answer = work(stop.signal)
      .then((made) => {
        kept.set(key, { answer: made, madeAt: now(), ttlMs })
        return made
      })
      .finally(() => {
        if (flights.get(key) === flight) flights.delete(key)
      })
    // Whoever waits hears of it; with nobody left it is nobody's failure.
    answer.catch(() => undefined)
    const flight: Flight = { answer, waiting: 0, stop }
    flights.set(key, flight)
    return flight
  }

  return {
    room: openAnswerRoom({ maxBytes: maxBytesInFlight, maxMade: Math.max(1, Math.floor(executors / 2)) }),
    get(key) {
      const found = kept.get(key)
      if (found === undefined) return undefined
      const ageMs = now() - found.madeAt
      // Younger than new: the clock was set back, and nobody knows how old it is.
      if (ageMs >= 0 && ageMs < found.ttlMs) return found.answer
      kept.delete(key)
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
