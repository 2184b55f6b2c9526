import { Failure } from '../../failure.ts'
import { within } from '../../flow/index.ts'
import { underNamedLock, type Database } from '../../store/index.ts'

type Place = { projectId: string; environment: string }

/**
 * Releases to an environment come one after the other, in every process: each is judged against what the one before it
 * left, and none has to start again because of another.
 */
export type ReleaseTurns = { take<Value>(place: Place, work: () => Promise<Value>): Promise<Value> }

/** Each that is at work holds a connection while its questions are asked. */
const atOnce = 3

export function createReleaseTurns({
  store,
  waitMs,
  queueLength,
}: {
  store: Pick<Database, 'pool'>
  waitMs: number
  queueLength: number
}): ReleaseTurns {
  const places = new Map<string, { last: Promise<unknown>; length: number }>()
  const working = new Set<Promise<unknown>>()

  /** Waits until fewer than `atOnce` are at work. */
  async function room(): Promise<void> {
    while (working.size >= atOnce) await Promise.race(working)
  }

  async function lock<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
    const done = Promise.withResolvers<void>()
    await within(waitMs, room(), () => late())
    working.add(done.promise)
    try {
      const worked = await underNamedLock(store, { name, waitMs }, work)
      return worked === undefined ? late() : worked.result
    } finally {
      working.delete(done.promise)
      done.resolve()
    }
  }

  return {
    async take({ projectId, environment }, work) {
      const name = `release ${projectId} ${environment}`
      const queue = places.get(name) ?? { last: Promise.resolve(), length: 0 }
      if (queue.length >= queueLength) throw full(environment)
      places.set(name, queue)
      queue.length += 1
      const done = Promise.withResolvers<void>()
      const before = queue.last
      queue.last = before.then(() => done.promise)
      try {
        await within(waitMs, before, () => late())
        return await lock(name, work)
      } finally {
        done.resolve()
        queue.length -= 1
        if (queue.length === 0) places.delete(name)
      }
    },
  }
}

function late(): never {
  throw new Failure('overloaded', {
    message: 'Other releases to this environment are still being judged. Try again in a moment.',
    retryAfterSeconds: 5,
  })
}

function full(environment: string): Failure {
  return new Failure('overloaded', {
    message: `Too many releases wait for ${environment} already. Put what belongs together into one release.`,
    retryAfterSeconds: 5,
  })
}
