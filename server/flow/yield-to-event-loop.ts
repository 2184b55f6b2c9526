import { setImmediate } from 'node:timers/promises'

const maxHoldMs = 8
// Of all calculations together: each waits its own few milliseconds, but what waits behind them waits for the sum.
let lastYieldMs = 0

/** Lets other work in when long calculations have held the event loop for a while. */
export async function yieldToEventLoop(): Promise<void> {
  if (performance.now() - lastYieldMs < maxHoldMs) return
  await setImmediate()
  lastYieldMs = performance.now()
}
