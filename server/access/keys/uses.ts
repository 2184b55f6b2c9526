import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { openBatchWriter } from '../../flow/index.ts'
import type { Observe } from '../../observe.ts'
import { isRowRefused, type Database } from '../../store/index.ts'

/** When and how much each key was used, noted in memory and written in batches, off the path of any call. */
export type KeyUses = {
  /** `address`: where the call came from; null where that is a visitor of a page rather than who holds the key. */
  note(keyId: string, address: string | null): void
  /** As this process knows it: the database may be a minute behind. */
  lastUse(keyId: string): Date | undefined
  /** Calls that the database does not count yet. */
  unwrittenCalls(keyId: string): number
  /** Where it was used from, as this process knows it. */
  addresses(keyId: string): ReadonlyMap<string, number>
  close(): Promise<void>
}

type Use = { keyId: string; usedMs: number; writtenMs: number; calls: number; addresses: Map<string, number> }

/** A first use shows within seconds; after that a key is written at most once a minute. */
const flushMs = 2_000
const grainMs = 60_000
const pageSize = 1_000
/** Addresses remembered for each key. */
export const maxAddresses = 10
const noAddresses: ReadonlyMap<string, number> = new Map()

type Options = {
  store: Database
  now: () => number
  /** The limiter's state of the day's quota. */
  dailyStateOf: (keyId: string) => number | undefined
  closeTimeoutMs?: number | undefined
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
      const writtenMs = now()
      const counted = page.map((use) => ({ use, calls: use.calls }))
      await writeUses(store, counted, dailyStateOf)
      // Calls that came meanwhile are counted by the next batch.
      for (const { use, calls } of counted) use.calls -= calls
      await writeAddresses(store, page)
      for (const use of page) use.writtenMs = writtenMs
    },
    isRefused: isRowRefused,
    maxItems: pageSize,
    flushMs,
    closeTimeoutMs,
    observe,
  })

  return {
    note(keyId, address) {
      let use = uses.get(keyId)
      if (use === undefined) {
        use = { keyId, usedMs: 0, writtenMs: 0, calls: 0, addresses: new Map() }
        uses.set(keyId, use)
      }
      use.usedMs = now()
      use.calls += 1
      if (address !== null) noteAddress(use, address)
      unwritten.add(use)
    },
    lastUse: (keyId) => {
      const use = uses.get(keyId)
      return use === undefined ? undefined : new Date(use.usedMs)
    },
    unwrittenCalls: (keyId) => uses.get(keyId)?.calls ?? 0,
    addresses: (keyId) => uses.get(keyId)?.addresses ?? noAddresses,
    close: writer.close,
  }
}

/** One more than are known takes the place of the one that was longest unheard of. */
function noteAddress({ addresses, usedMs }: Use, address: string): void {
  if (addresses.size >= maxAddresses && !addresses.has(address)) {
    const oldest = [...addresses].reduce((least, each) => (each[1] < least[1] ? each : least))
    addresses.delete(oldest[0])
  }
  addresses.set(address, usedMs)
}

/** Replicas write the same rows: the later use and the larger quota stay, and calls add up. */
async function writeUses(
  store: Database,
  page: Array<{ use: Use; calls: number }>,
  dailyStateOf: Options['dailyStateOf'],
): Promise<void> {
  await store.db
    .insertInto('apiKeyUses')
    // In one order everywhere, so that two replicas never wait for each other's rows.
    .values(
      page
        .toSorted((left, right) => (left.use.keyId < right.use.keyId ? -1 : 1))
        .map(({ use: { keyId, usedMs }, calls }) => ({
          keyId,
          lastUsedAt: new Date(usedMs),
          dailyState: dailyStateOf(keyId) ?? null,
          calls,
        })),
    )
    .onConflict((conflict) =>
      conflict.column('keyId').doUpdateSet((row) => ({
        calls: row(row.ref('apiKeyUses.calls'), '+', row.ref('excluded.calls')),
        lastUsedAt: row.fn<Date>('greatest', ['apiKeyUses.lastUsedAt', 'excluded.lastUsedAt']),
        dailyState: row.fn<number | null>('greatest', ['apiKeyUses.dailyState', 'excluded.dailyState']),
      })),
    )
    .execute()
}

/** The last few of each key stay, whichever replica saw them. */
async function writeAddresses({ pool }: Database, page: Use[]): Promise<void> {
  const seen = page
    .flatMap(({ keyId, addresses }) => [...addresses].map(([address, usedMs]) => ({ keyId, address, usedMs })))
    // In one order everywhere, as above.
    .toSorted((left, right) => (`${left.keyId} ${left.address}` < `${right.keyId} ${right.address}` ? -1 : 1))
  if (seen.length === 0) return
  await pool.query(
    `insert into api_key_addresses (key_id, address, last_used_at)
     select * from unnest($1::text[], $2::text[], $3::timestamptz[])
     on conflict (key_id, address) do update
       set last_used_at = greatest(api_key_addresses.last_used_at, excluded.last_used_at)`,
    [seen.map(({ keyId }) => keyId), seen.map(({ address }) => address), seen.map(({ usedMs }) => new Date(usedMs))],
  )
  await pool.query(
    `delete from api_key_addresses using (
       select key_id, address, row_number() over (partition by key_id order by last_used_at desc, address) as place
         from api_key_addresses where key_id = any($1)
     ) as ranked
     where api_key_addresses.key_id = ranked.key_id and api_key_addresses.address = ranked.address
       and ranked.place > ${maxAddresses}`,
    [[...new Set(seen.map(({ keyId }) => keyId))]],
  )
}

/** Where a key was used from is known for as long as its calls are. */
export async function forgetOldAddresses(app: { store: Database; now: Clock; config: Config }): Promise<void> {
  const before = new Date(app.now() - app.config.limits.requestRetentionDays * 86_400_000)
  await app.store.db.deleteFrom('apiKeyAddresses').where('lastUsedAt', '<', before).execute()
}
