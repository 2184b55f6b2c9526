import type { Place } from './deployment-index.ts'

type Batch = { all: boolean; places: Map<string, Place>; done: Promise<void>; settle: (error?: Error) => void }

/** Beyond this many changes at once, comparing all of it takes fewer statements. */
const mostPlaces = 20
const retryMs = 1_000

/**
 * Reads again what may have changed, one read at a time, so that what is read later is never overwritten by what was
 * read before. What fails is told to whoever waits for it, and all of it is read again soon.
 */
export function openRereads({
  readAll,
  readPlaces,
  failed,
}: {
  readAll: () => Promise<void>
  readPlaces: (places: Place[]) => Promise<void>
  failed: (error: unknown) => void
}) {
  let wanted = newBatch()
  let draining = false
  let closed = false
  let retry: NodeJS.Timeout | undefined

  async function drain(): Promise<void> {
    if (draining) return
    draining = true
    while (wanted.all || wanted.places.size > 0) {
      const batch = wanted
      wanted = newBatch()
      try {
        await (batch.all || batch.places.size > mostPlaces ? readAll() : readPlaces([...batch.places.values()]))
        batch.settle()
      } catch (error) {
        giveUp(batch, error)
      }
    }
    draining = false
  }

  /** Whoever asked meanwhile waits no longer than those who asked before. */
  function giveUp(batch: Batch, error: unknown): void {
    const told = new Error('the deployments could not be read', { cause: error })
    batch.settle(told)
    wanted.settle(told)
    wanted = newBatch()
    if (closed) return
    failed(error)
    retry ??= setTimeout(() => {
      retry = undefined
      void ask(null).catch(() => undefined)
    }, retryMs)
  }

  /** Null: all of it. Resolves once a read that began after this has taken effect. */
  function ask(place: Place | null): Promise<void> {
    if (closed) return Promise.resolve()
    if (place === null) wanted.all = true
    else wanted.places.set(JSON.stringify(place), place)
    const { done } = wanted
    void drain()
    return done
  }

  return {
    ask,
    close() {
      closed = true
      clearTimeout(retry)
      wanted.settle(new Error('closed'))
    },
  }
}

function newBatch(): Batch {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  promise.catch(() => undefined)
  const settle = (error?: Error): void => {
    if (error === undefined) resolve()
    else reject(error)
  }
  return { all: false, places: new Map(), done: promise, settle }
}
