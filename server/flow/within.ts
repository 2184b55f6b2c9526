/**
 * The result of `work`, or of `late` once the limit has passed. The work itself goes on: give it a signal where it must
 * not. `late` may throw.
 */
export async function within<Value, Late>(
  limitMs: number,
  work: Promise<Value>,
  late: () => Late,
): Promise<Value | Late> {
  const limit = Promise.withResolvers<typeof expired>()
  // Timers run before sockets are read: after a pause of this process the answer may have arrived already.
  const timer = setTimeout(() => setImmediate(limit.resolve, expired), limitMs)
  try {
    const first = await Promise.race([work, limit.promise])
    return first === expired ? late() : first
  } finally {
    clearTimeout(timer)
  }
}

const expired = Symbol('expired')

/** The result of `work`, or the signal's reason once it is aborted. The work itself goes on: others may wait for it. */
export async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return work
  const aborted = Promise.withResolvers<never>()
  const leave = (): void => aborted.reject(reasonOf(signal))
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([aborted.promise, work])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** The reason of an abort, as an error. */
export function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}
