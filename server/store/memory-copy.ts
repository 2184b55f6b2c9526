import { openRereads } from '../flow/index.ts'
import type { Observe } from '../observe.ts'
import type { Database } from './open-database.ts'

/** Rows of some tables, in the memory of this process. */
export type MemoryCopy<Key> = {
  /** Ends once it is as the database has it now; null: all of it. */
  refresh(key: Key | null): Promise<void>
  close(): Promise<void>
}

type Copied<Key> = {
  /** Says that something changed, and with `parts` what. */
  channel: string
  readAll: () => Promise<void>
  parts?: {
    /** The part that a notification names; null: anything. */
    named: (payload: string) => Key | null
    read: (keys: Key[]) => Promise<void>
    /** Equal for what is the same. */
    nameOf: (key: Key) => string
    /** Beyond this many changes at once, reading all takes fewer statements. */
    most: number
  }
  /** Makes up for notifications that were lost. */
  everyMs?: number
  observe: Observe
  /** The name of the copy in a fault. */
  where: string
}

const retryMs = 1_000

/** Reads all of it, then again what the channel says and, after a gap in hearing, all of it. */
export async function openMemoryCopy<Key = never>(
  { listen }: Pick<Database, 'listen'>,
  { channel, readAll, parts, everyMs, observe, where }: Copied<Key>,
): Promise<MemoryCopy<Key>> {
  const rereads = openRereads<Key>({
    readAll,
    readSome: parts?.read ?? readAll,
    nameOf: parts?.nameOf ?? String,
    maxSome: parts?.most ?? 0,
    retryMs,
    onError: (error) => observe({ kind: 'fault', where, error }),
  })
  const noteAll = (): void => rereads.note(null)
  const stop = await listen(channel, (payload) => rereads.note(parts?.named(payload) ?? null), noteAll)
  await rereads.ask(null)
  const timer = everyMs === undefined ? undefined : setInterval(noteAll, everyMs).unref()
  return {
    refresh: (key) => rereads.ask(key),
    async close() {
      stop()
      clearInterval(timer)
      await rereads.close()
    },
  }
}
