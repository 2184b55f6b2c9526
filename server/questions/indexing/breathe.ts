import { setImmediate } from 'node:timers/promises'

const longestMs = 8

/** Lets other work in when a long calculation has held the event loop for a while. */
export function breather(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < longestMs) return
    await setImmediate()
    since = performance.now()
  }
}
