type Pace = {
  leastBytesPerSecond: number
  /** Ends the connection: a reader who never asks again would never hear of it otherwise. */
  giveUp: () => void
}

/** So long nobody is slow: connections begin slowly, and stall now and then. */
const graceMs = 10_000
const lookMs = 1_000

/**
 * Hands chunks on, and gives up when whoever takes them takes longer than the slowest pace allows. Only their time
 * counts, not that in which a chunk is made: what a reader holds meanwhile, memory or an executor, others wait for.
 */
export async function* takenInTime(
  chunks: AsyncIterable<Buffer>,
  { leastBytesPerSecond, giveUp }: Pace,
): AsyncGenerator<Buffer> {
  let sentBytes = 0
  let takenMs = 0
  let handedAtMs: number | null = null
  const timer = setInterval(() => {
    const sinceMs = handedAtMs === null ? 0 : performance.now() - handedAtMs
    if (takenMs + sinceMs > graceMs + (sentBytes / leastBytesPerSecond) * 1_000) giveUp()
  }, lookMs)
  try {
    for await (const chunk of chunks) {
      handedAtMs = performance.now()
      yield chunk
      takenMs += performance.now() - handedAtMs
      handedAtMs = null
      sentBytes += chunk.length
    }
  } finally {
    clearInterval(timer)
  }
}
