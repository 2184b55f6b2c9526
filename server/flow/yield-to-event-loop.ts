import { setImmediate } from 'node:timers/promises'

const maxHoldMs = 8
// The clock of all calculations together: each waits its own few milliseconds, but work behind them waits for the sum.
let lastYieldMs = 0

/** Lets other work in when long calculations have held the event loop for a while. */
export async function yieldToEventLoop(): Promise<void> {
  if (performance.now() - lastYieldMs < maxHoldMs) return
  await setImmediate()
  lastYieldMs = performance.now()
}
