import { createSerial } from './serial.ts'

/** Keeps a copy in memory as its source has it: reads again what may have changed. */
export type Rereads<Key> = {
  /** Null: all of it. Ends once a read that began after this call has taken effect. */
  ask(key: Key | null): Promise<void>
  /** As `ask`, for those who do not wait. */
  note(key: Key | null): void
  close(): Promise<void>
}

type RereadsOptions<Key> = {
  readAll: () => Promise<void>
  readSome: (keys: Key[]) => Promise<void>
  /** Equal for what is the same. */
  nameOf: (key: Key) => string
  /** Beyond this many changes at once, reading all takes fewer statements. */
  maxSome: number
  retryMs: number
  onError: (error: unknown) => void
}

/** One read at a time. What fails is told to whoever waits for it, and all of it is read again soon. */
export function openRereads<Key>(options: RereadsOptions<Key>): Rereads<Key> {
  const { readAll, readSome, nameOf, maxSome, retryMs, onError } = options
  let isAllWanted = false
  let wanted = new Map<string, Key>()
  let isClosed = false
  let retry: NodeJS.Timeout | undefined

  const serial = createSerial(async () => {
    if (isClosed) return
    const keys = [...wanted.values()]
    const isAll = isAllWanted || keys.length > maxSome
    wanted = new Map()
    isAllWanted = false
    try {
      if (isAll) await readAll()
      else if (keys.length > 0) await readSome(keys)
    } catch (error) {
      if (isClosed) return
      onError(error)
      retry ??= setTimeout(() => {
        retry = undefined
        note(null)
      }, retryMs).unref()
      throw error
    }
  })

  function ask(key: Key | null): Promise<void> {
    if (isClosed) return Promise.resolve()
    if (key === null) isAllWanted = true
    else wanted.set(nameOf(key), key)
    return serial.run()
  }
  function note(key: Key | null): void {
    ask(key).catch(() => undefined)
  }
  return {
    ask,
    note,
    async close() {
      isClosed = true
      clearTimeout(retry)
      await serial.settled()
    },
  }
}
