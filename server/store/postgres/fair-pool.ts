import { AsyncLocalStorage } from 'node:async_hooks'
import { callbackify } from 'node:util'
import type { Pool, PoolClient } from 'pg'
import { createFairQueue } from '../../fair-queue.ts'
import { createShares, type Holder } from '../../fair-share.ts'
import { Failure } from '../../failure.ts'

/** Work for somebody: what waits in its transaction for a lock of its project waits with a connection. */
type Work = Holder & { connections: number }
type Waiting = { work: Work; enter: () => void }

const current = new AsyncLocalStorage<Work>()

/** Does some work in the name of whoever it is for; the connections that it takes are theirs. */
export function onBehalfOf<Result>(holder: Holder, work: () => Result): Result {
  return current.run({ ...holder, connections: 0 }, work)
}

/**
 * No project takes every connection: who has many waits for one of its own, and another finds some. Work for nobody,
 * such as jobs, and work that has a connection already wait for none but the pool: the first is bounded where it comes
 * from, and the second must not wait for its like.
 */
export function shareConnections(pool: Pool, { most, waitMs }: { most: number; waitMs: number }): void {
  const shares = createShares()
  const queue = createFairQueue<Waiting>()
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>

  function admit(): void {
    const run = ({ work }: Waiting): boolean => shares.mayHoldMore(work, most)
    for (let next = queue.take({ run }); next !== undefined; next = queue.take({ run })) next.enter()
  }

  function enter(work: Work): Promise<void> {
    return new Promise((resolve, reject) => {
      const path = [work.projectId, work.keyId]
      const timer = setTimeout(() => queue.remove(path, waiting) && reject(tooMany()), waitMs)
      const waiting: Waiting = {
        work,
        enter: () => {
          clearTimeout(timer)
          shares.add(work, 1)
          work.connections += 1
          resolve()
        },
      }
      queue.push(path, waiting)
      admit()
    })
  }

  function leave(work: Work): void {
    shares.add(work, -1)
    work.connections -= 1
    admit()
  }

  async function take(): Promise<PoolClient> {
    const work = current.getStore()
    if (work === undefined || work.connections > 0) return connect()
    await enter(work)
    try {
      const client = await connect()
      const release = client.release.bind(client)
      // The pool gives a client another `release` each time.
      client.release = (error) => {
        leave(work)
        release(error)
      }
      return client
    } catch (error) {
      leave(work)
      throw error
    }
  }

  type Callback = (error: Error | undefined, client: PoolClient | undefined, done: (release?: unknown) => void) => void
  const takeAndCall = callbackify(take)
  const taken = (callback?: Callback): Promise<PoolClient> | void => {
    if (callback === undefined) return take()
    takeAndCall((error, client: PoolClient | undefined) => {
      callback(error ?? undefined, client, (broken) => client?.release(broken as Error))
    })
  }
  pool.connect = taken as Pool['connect']
}

function tooMany(): Failure {
  return new Failure('overloaded', {
    message: 'Much is being written in this project. Try again in a moment.',
    retryAfterSeconds: 5,
  })
}
