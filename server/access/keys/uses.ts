import { openBatchWriter } from '../../flow/index.ts'
import type { Observe } from '../../observe.ts'
import { isRowRefused, type Database } from '../../store/index.ts'

/** When and how much each key was used, noted in memory and written in batches, off the path of any call. */
export type KeyUses = {
  note(keyId: string): void
  /** As this process knows it: the database may be a minute behind. */
  lastUse(keyId: string): Date | undefined
  close(): Promise<void>
}

type Use = { keyId: string; usedMs: number; writtenMs: number }

/** A first use shows within seconds; after that a key is written at most once a minute. */
const flushMs = 2_000
const grainMs = 60_000
const pageSize = 1_000

type Options = {
  store: Database
  now: () => number
  /** What the limiter knows of the day's quota. */
  dailyStateOf: (keyId: string) => number | undefined
  closeTimeoutMs: number
  observe: Observe
}

export function openKeyUses({ store, now, dailyStateOf, closeTimeoutMs, observe }: Options): KeyUses {
  const uses = new Map<string, Use>()
  // No longer than there are keys.
  const unwritten = new Set<Use>()
  const writer = openBatchWriter<Use>({
    where: 'api-key-uses',
    backlog: {
      size: () => unwritten.size,
      take(maxItems, isLast) {
        const due: Use[] = []
        for (const use of unwritten) {
          if (due.length >= maxItems) break
          if (isLast || now() - use.writtenMs >= grainMs) due.push(use)
        }
        for (const use of due) unwritten.delete(use)
        return due
      },
      putBack(back) {
        for (const use of back) unwritten.add(use)
        return 0
      },
    },
    async write(page) {
      await writeUses(store, page, dailyStateOf)
      for (const use of page) use.writtenMs = now()
    },
    isRefused: isRowRefused,
    maxItems: pageSize,
    flushMs,
    closeTimeoutMs,
    observe,
  })

  return {
    note(keyId) {
      let use = uses.get(keyId)
      if (use === undefined) {
        use = { keyId, usedMs: 0, writtenMs: 0 }
        uses.set(keyId, use)
      }
      use.usedMs = now()
      unwritten.add(use)
    },
    lastUse: (keyId) => {
      const use = uses.get(keyId)
      return use === undefined ? undefined : new Date(use.usedMs)
    },
    close: writer.close,
  }
}

/** Replicas write the same rows: the later use and the larger count stay. */
async function writeUses(store: Database, page: Use[], dailyStateOf: Options['dailyStateOf']): Promise<void> {
  await store.db
    .insertInto('apiKeyUses')
    // In one order everywhere, so that two replicas never wait for each other's rows.
    .values(
      page
        .toSorted((left, right) => (left.keyId < right.keyId ? -1 : 1))
        .map(({ keyId, usedMs }) => ({
          keyId,
          lastUsedAt: new Date(usedMs),
          dailyState: dailyStateOf(keyId) ?? null,
        })),
    )
    .onConflict((conflict) =>
      conflict.column('keyId').doUpdateSet(({ fn }) => ({
        lastUsedAt: fn<Date>('greatest', ['apiKeyUses.lastUsedAt', 'excluded.lastUsedAt']),
        dailyState: fn<number | null>('greatest', ['apiKeyUses.dailyState', 'excluded.dailyState']),
      })),
    )
    .execute()
}
