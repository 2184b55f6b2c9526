/**
 * One request to stop arrives several times: the terminal or the service manager tells every process, and npm and the
 * launcher each pass it on. A person who asks again takes longer than this.
 */
const sameRequestMs = 200
/** The request that does not wait for calls in flight any more. */
const impatientRequest = 3

export type StopRequests = {
  /** Somebody, or something, asks for a stop. */
  ask: (by: NodeJS.Signals) => void
  /** The same, unless a stop was asked for already. */
  askOnce: (by: NodeJS.Signals) => void
  /** The stop handler, once there is something to stop: it runs at once where a stop was asked for before. */
  onStop: (stop: (by: NodeJS.Signals) => void) => void
}

/** Counts requests to stop, however many signals each of them is: the first stops, the third ends. */
export function openStopRequests({ end, nowMs }: { end: () => void; nowMs: () => number }): StopRequests {
  let count = 0
  let lastMs = -Infinity
  let first: NodeJS.Signals | undefined
  let stop: ((by: NodeJS.Signals) => void) | undefined
  const ask = (by: NodeJS.Signals): void => {
    if (nowMs() - lastMs < sameRequestMs) return
    lastMs = nowMs()
    count += 1
    first ??= by
    if (count === 1) stop?.(by)
    else if (count === impatientRequest) end()
  }
  return {
    ask,
    askOnce: (by) => {
      if (count === 0) ask(by)
    },
    onStop: (given) => {
      stop = given
      if (first !== undefined) stop(first)
    },
  }
}
