import type { Observe } from '../../observe.ts'
import type { Database } from '../../store/index.ts'

/** When and how much each key was used, noted in memory and written in batches, off the path of any call. */
export type KeyUses = {
  note(keyId: string): void
  /** As this process knows it: the database may be a minute behind. */
  lastUse(keyId: string): Date | undefined
  close(): Promise<void>
}

type Use = { usedMs: number; writtenMs: number }

/** A first use shows within seconds; after that a key is written at most once a minute. */
const flushMs = 2_000
const grainMs = 60_000
const pageSize = 1_000

type Options = {
  store: Database
  now: () => number
  /** What the limiter knows of the day's quota. */
  dailyStateOf: (keyId: string) => number | undefined
  observe: Observe
}

export function openKeyUses({ store, now, dailyStateOf, observe }: Options): KeyUses {
  const uses = new Map<string, Use>()
  const unwritten = new Set<string>()
  let writing: Promise<void> = Promise.resolve()

  const write = async (isLast: boolean): Promise<void> => {
    const due = [...unwritten].flatMap((keyId) => {
      const use = uses.get(keyId)
      return use !== undefined && (isLast || now() - use.writtenMs >= grainMs) ? [{ keyId, use }] : []
    })
    for (let at = 0; at < due.length; at += pageSize) {
      const page = due.slice(at, at + pageSize).map(({ keyId, use }) => ({ keyId, use, usedMs: use.usedMs }))
      await writeUses(store, page, dailyStateOf)
      for (const { keyId, use, usedMs } of page) {
        use.writtenMs = now()
        if (use.usedMs === usedMs) unwritten.delete(keyId)
      }
    }
  }
  const flush = (isLast: boolean): Promise<void> => {
    writing = writing
      .then(() => write(isLast))
      .catch((error: unknown) => observe({ kind: 'fault', where: 'api-key-uses', error }))
    return writing
  }
  const timer = setInterval(() => void flush(false), flushMs).unref()

  return {
    note(keyId) {
      const use = uses.get(keyId)
      if (use === undefined) uses.set(keyId, { usedMs: now(), writtenMs: 0 })
      else use.usedMs = now()
      unwritten.add(keyId)
    },
    lastUse: (keyId) => {
      const use = uses.get(keyId)
      return use === undefined ? undefined : new Date(use.usedMs)
    },
    close: async () => {
      clearInterval(timer)
      await flush(true)
    },
  }
}

/** Replicas write the same rows: the later use and the larger count stay. */
async function writeUses(
  store: Database,
  page: Array<{ keyId: string; usedMs: number }>,
  dailyStateOf: Options['dailyStateOf'],
): Promise<void> {
  await store.db
    .insertInto('api_key_uses')
    // In one order everywhere, so that two replicas never wait for each other's rows.
    .values(
      page
        .toSorted((left, right) => (left.keyId < right.keyId ? -1 : 1))
        .map(({ keyId, usedMs }) => ({
          key_id: keyId,
          last_used_at: new Date(usedMs),
          daily_state: dailyStateOf(keyId) ?? null,
        })),
    )
    .onConflict((conflict) =>
      conflict.column('key_id').doUpdateSet(({ fn }) => ({
        last_used_at: fn<Date>('greatest', ['api_key_uses.last_used_at', 'excluded.last_used_at']),
        daily_state: fn<number | null>('greatest', ['api_key_uses.daily_state', 'excluded.daily_state']),
      })),
    )
    .execute()
}
