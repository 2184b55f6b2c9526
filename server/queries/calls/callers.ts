import { keyNames } from '../../access/index.ts'
import type { BoundedQueue } from '../../flow/index.ts'
import { openRowWriter, type Database, type RowWriterParts } from '../../store/index.ts'

/** The keys that called each query, and when last. Noted in memory, written in batches: a call never waits for it. */
export type QueryCallers = {
  note(call: { queryId: string; environment: string; keyId: string }): void
  /** The keys that called queries in an environment since a moment, of each query the latest first. */
  since(queryIds: string[], environment: string, from: Date): Promise<Map<string, KeyThatCalled[]>>
  flush(): Promise<void>
  close(): Promise<void>
}

export type KeyThatCalled = { keyId: string; name: string | null; lastCalledAt: Date }

type Call = { queryId: string; environment: string; keyId: string; at: number }

const flushMs = 5_000
const maxRows = 1_000
/** Beyond this many different pairs between two writes the newest are not noted: it is a hint, not an account. */
const maxPairs = 50_000

export function openQueryCallers(parts: RowWriterParts): QueryCallers {
  const { store, now } = parts
  const backlog = openCallers()
  const writer = openRowWriter(parts, {
    where: 'query-callers',
    backlog,
    write: (calls) => write(store, calls),
    maxItems: maxRows,
    flushMs,
  })
  return {
    note({ queryId, environment, keyId }) {
      if (!backlog.add({ queryId, environment, keyId, at: now() })) writer.drop(1)
    },
    async since(queryIds, environment, from) {
      await writer.flush()
      const rows = await latest(store, { queryIds, environment, from })
      const names = await keyNames(store, [...new Set(rows.map(({ keyId }) => keyId))])
      const found = new Map<string, KeyThatCalled[]>()
      for (const { queryId, keyId, lastCalledAt } of rows) {
        const keys = found.get(queryId) ?? []
        keys.push({ keyId, name: names.get(keyId) ?? null, lastCalledAt })
        found.set(queryId, keys)
      }
      return found
    },
    flush: writer.flush,
    close: writer.close,
  }
}

const maxKeys = 100

/** The newest calls of each query, for as many keys as anybody reads. */
function latest(
  store: Pick<Database, 'db'>,
  { queryIds, environment, from }: { queryIds: string[]; environment: string; from: Date },
): Promise<Array<{ queryId: string; keyId: string; lastCalledAt: Date }>> {
  return store.db
    .selectFrom((rows) =>
      rows
        .selectFrom('queryCallers')
        .select((row) => [
          'queryId',
          'keyId',
          'lastCalledAt',
          row.fn
            .agg<number>('row_number')
            .over((over) => over.partitionBy('queryId').orderBy('lastCalledAt', 'desc'))
            .as('place'),
        ])
        .where('queryId', '=', (is) => is.fn.any(is.val(queryIds)))
        .where('environment', '=', environment)
        .where('lastCalledAt', '>=', from)
        .as('callers'),
    )
    .select(['queryId', 'keyId', 'lastCalledAt'])
    .where('place', '<=', maxKeys)
    .orderBy('queryId')
    .orderBy('place')
    .execute()
}

/** The latest call of each query, environment and key. Nested, because a key made of three texts costs every call. */
function openCallers(): BoundedQueue<Call> {
  const byQuery = new Map<string, Map<string, Map<string, Call>>>()
  let pairs = 0
  const add = (call: Call): boolean => {
    const { queryId, environment, keyId, at } = call
    const known = byQuery.get(queryId)?.get(environment)?.get(keyId)
    if (known !== undefined) {
      known.at = Math.max(known.at, at)
      return true
    }
    if (pairs >= maxPairs) return false
    pairs += 1
    const environments = byQuery.get(queryId) ?? new Map<string, Map<string, Call>>()
    const calls = environments.get(environment) ?? new Map<string, Call>()
    calls.set(keyId, call)
    byQuery.set(queryId, environments.set(environment, calls))
    return true
  }
  return {
    size: () => pairs,
    add,
    take(maxItems) {
      const taken: Call[] = []
      for (const [queryId, environments] of byQuery) {
        for (const [environment, calls] of environments) {
          for (const [keyId, call] of calls) {
            if (taken.length >= maxItems) break
            taken.push(call)
            calls.delete(keyId)
          }
          if (calls.size === 0) environments.delete(environment)
        }
        if (environments.size === 0) byQuery.delete(queryId)
        if (taken.length >= maxItems) break
      }
      pairs -= taken.length
      return taken
    },
    putBack: (calls) => calls.filter((call) => !add(call)).length,
  }
}

async function write(store: Pick<Database, 'db'>, calls: Call[]): Promise<void> {
  await store.db.transaction().execute(async (transaction) => {
    // A query may have been deleted since it was called.
    const there = await transaction
      .selectFrom('queries')
      .select('id')
      .where('id', 'in', [...new Set(calls.map((call) => call.queryId))])
      .orderBy('id')
      .forKeyShare()
      .execute()
    const known = new Set(there.map((row) => row.id))
    const rows = calls
      .filter((call) => known.has(call.queryId))
      // In one order everywhere, so that two replicas never wait for each other's rows.
      .toSorted((left, right) => (orderOf(left) < orderOf(right) ? -1 : 1))
      .map(({ queryId, environment, keyId, at }) => ({
        queryId,
        environment,
        keyId,
        lastCalledAt: new Date(at),
      }))
    if (rows.length === 0) return
    await transaction
      .insertInto('queryCallers')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['queryId', 'environment', 'keyId']).doUpdateSet(({ fn }) => ({
          lastCalledAt: fn<Date>('greatest', ['queryCallers.lastCalledAt', 'excluded.lastCalledAt']),
        })),
      )
      .execute()
  })
}

function orderOf({ queryId, environment, keyId }: Call): string {
  return `${queryId} ${environment} ${keyId}`
}
