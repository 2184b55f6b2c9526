import { setImmediate } from 'node:timers/promises'

const longestMs = 8
// Of all calculations together: each waits its own few milliseconds, but what waits behind them waits for the sum.
let turnedMs = 0

/** Lets other work in when long calculations have held the event loop for a while. */
export async function breathe(): Promise<void> {
  if (performance.now() - turnedMs < longestMs) return
  await setImmediate()
  turnedMs = performance.now()
}
