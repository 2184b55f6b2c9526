import type { Observe } from '../../observe.ts'
import { openMemoryCopy, type Database } from '../../store/index.ts'
import type { Plans } from '../limits/policies.ts'
import { openPool, recordOf, type KeyRow } from './record.ts'
import { readKeys } from './rows.ts'
import { openSnapshot, type Snapshot } from './snapshot.ts'

/** The keys in memory, kept as the database has them. */
export type Keys = Pick<Snapshot, 'find' | 'get' | 'size'> & {
  /** Done when this process acts on what is committed about the key. */
  refresh(keyId: string): Promise<void>
  close(): Promise<void>
}

type Options = {
  store: Database
  plans: Plans
  resyncMs: number
  /** A change is stamped before it is committed; by this much later it certainly is. */
  overlapMs: number
  observe: Observe
}

/** The payload is the id of the key, or empty when many changed at once. */
export const keysChannel = 'sluice_api_keys'
const pageSize = 5_000
/** Beyond this many named at once, what changed lately is read instead. */
const maxNamed = 20_000

/** Loads every key, then hears of each change; a look at what changed lately makes up for notifications lost. */
export async function openKeys({ store, plans, resyncMs, overlapMs, observe }: Options): Promise<Keys> {
  const snapshot = openSnapshot()
  const pool = openPool()
  let lookedAt: Date | null = null
  /** When the keys were changed that the last look found: one whose stamp is the same was read then. */
  let stamps = new Map<string, string>()

  const apply = (rows: KeyRow[]): void => {
    for (const row of rows) snapshot.put(recordOf(row, plans, pool))
  }

  const readNamed = async (keyIds: string[]): Promise<void> => {
    for (let at = 0; at < keyIds.length; at += pageSize) {
      const page = keyIds.slice(at, at + pageSize)
      apply(await readKeys(store.db, (query) => query.where('id', 'in', page)))
    }
  }

  const readSince = async (since: Date): Promise<void> => {
    const found = await store.db
      .selectFrom('apiKeys')
      .select((builder) => ['id', builder.cast<string>('changedAt', 'text').as('stamp')])
      .where('changedAt', '>', since)
      .execute()
    await readNamed(found.filter(({ id, stamp }) => stamps.get(id) !== stamp).map(({ id }) => id))
    stamps = new Map(found.map(({ id, stamp }) => [id, stamp]))
  }

  const readChanged = async (): Promise<void> => {
    // The database's own clock stamped the changes.
    const { now } = await store.db
      .selectNoFrom(({ fn }) => fn<Date>('clock_timestamp', []).as('now'))
      .executeTakeFirstOrThrow()
    if (lookedAt === null) for await (const rows of everyKey(store)) apply(rows)
    else await readSince(new Date(lookedAt.getTime() - overlapMs))
    lookedAt = now
  }

  const copy = await openMemoryCopy<string>(store, {
    channel: keysChannel,
    readAll: readChanged,
    parts: {
      named: (keyId) => (keyId === '' ? null : keyId),
      read: readNamed,
      nameOf: (keyId) => keyId,
      most: maxNamed,
    },
    everyMs: resyncMs,
    observe,
    where: 'api-keys',
  })
  return {
    find: (hash) => snapshot.find(hash),
    get: (keyId) => snapshot.get(keyId),
    size: () => snapshot.size(),
    ...copy,
  }
}

async function* everyKey({ db }: Database): AsyncGenerator<KeyRow[]> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const from: string = after
    const rows = await readKeys(db, (query) => query.where('id', '>', from).orderBy('id').limit(pageSize))
    yield rows
    after = rows.length < pageSize ? undefined : rows.at(-1)?.id
  }
}
