import { AsyncLocalStorage } from 'node:async_hooks'
import { callbackify } from 'node:util'
import type { Pool, PoolClient } from 'pg'
import { openGate, type Holder } from '../../flow/index.ts'

/** Work of a project and a caller: a transaction that waits for a lock of its project keeps its connection meanwhile. */
type Work = { holder: Holder; connections: number }

const current = new AsyncLocalStorage<Work>()

/** Counts the connections that some work takes as those of a holder. */
export function onBehalfOf<Result>(holder: Holder, work: () => Result): Result {
  return current.run({ holder, connections: 0 }, work)
}

/**
 * Shares of the connections for each project. Work of no project, such as jobs, and work that has a connection already
 * wait for the pool only: the first is bounded where it comes from, and the second would wait for its own kind.
 */
export function shareConnections(pool: Pool, { most, waitMs }: { most: number; waitMs: number }): void {
  const late = { message: 'Much is being written in this project. Try again in a moment.', retryAfterSeconds: 5 }
  const gate = openGate({ room: most, isShared: true, waitMs, late })
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>

  async function take(): Promise<PoolClient> {
    const work = current.getStore()
    if (work === undefined || work.connections > 0) return connect()
    const entered = gate.tryEnter(work.holder) ?? (await gate.enter(work.holder))
    work.connections += 1
    const leave = (): void => {
      work.connections -= 1
      entered()
    }
    try {
      const client = await connect()
      const release = client.release.bind(client)
      // The pool gives a client another `release` each time.
      client.release = (error) => {
        leave()
        release(error)
      }
      return client
    } catch (error) {
      leave()
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
