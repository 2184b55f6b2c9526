import type { Server } from 'node:http'
import { setImmediate } from 'node:timers/promises'

// However many arrive, those who are in get their turn: where the loop is busy, a turn of it is long, and who opens
// connections without end would hold up everybody's questions.
const maxTurns = 256
const maxWaitMs = 100

/**
 * Waits until nobody new arrives. The event loop takes one connection a turn from the kernel: whoever begins to work at
 * once never learns how many wait outside, and cannot refuse them in time.
 */
export function watchArrivals(
  server: Pick<Server, 'on'>,
  clockMs: () => number = () => performance.now(),
): () => Promise<void> {
  let arrivals = 0
  server.on('connection', () => {
    arrivals += 1
  })
  return async () => {
    let seen = -1
    const deadlineMs = clockMs() + maxWaitMs
    // The first wait ends this turn; only the next one sees connections again.
    await setImmediate()
    for (let turn = 0; turn < maxTurns && seen !== arrivals && clockMs() < deadlineMs; turn += 1) {
      seen = arrivals
      await setImmediate()
    }
  }
}
