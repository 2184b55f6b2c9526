import type { Observe } from '../observe.ts'
import type { Database } from '../store/index.ts'

/** Who called what, and when last. Noted in memory, written in batches: a call never waits for it. */
export type QueryCallers = {
  note(call: { queryId: string; environment: string; keyId: string }): void
  /** The keys that called a query in an environment since a moment, latest first. */
  since(queryId: string, environment: string, from: Date): Promise<KeyThatCalled[]>
  flush(): Promise<void>
  close(): Promise<void>
}

export type KeyThatCalled = { keyId: string; name: string | null; lastCalledAt: Date }

type Call = { queryId: string; environment: string; keyId: string; at: number }

const flushMs = 5_000
const mostRows = 1_000
/** Beyond this many different pairs between two writes the newest are not noted: it is a hint, not an account. */
const mostPairs = 50_000

export function openQueryCallers({
  store,
  observe,
  now,
}: {
  store: Pick<Database, 'db'>
  observe: Observe
  now: () => number
}): QueryCallers {
  /** By query, environment and key. */
  let noted = new Map<string, Map<string, Map<string, Call>>>()
  let pairs = 0

  async function flush(): Promise<void> {
    const batch = [...noted.values()].flatMap((byKey) => [...byKey.values()].flatMap((calls) => [...calls.values()]))
    noted = new Map()
    pairs = 0
    for (let from = 0; from < batch.length; from += mostRows) await write(batch.slice(from, from + mostRows))
  }

  async function write(calls: Call[]): Promise<void> {
    await store.db.transaction().execute(async (transaction) => {
      // A query may have been deleted since it was called.
      const there = await transaction
        .selectFrom('queries')
        .select('id')
        .where('id', 'in', [...new Set(calls.map((call) => call.queryId))])
        .forKeyShare()
        .execute()
      const known = new Set(there.map((row) => row.id))
      const rows = calls
        .filter((call) => known.has(call.queryId))
        .map(({ queryId, environment, keyId, at }) => ({
          query_id: queryId,
          environment,
          key_id: keyId,
          last_called_at: new Date(at),
        }))
      if (rows.length === 0) return
      await transaction
        .insertInto('query_callers')
        .values(rows)
        .onConflict((conflict) =>
          conflict
            .columns(['query_id', 'environment', 'key_id'])
            .doUpdateSet((set) => ({ last_called_at: set.ref('excluded.last_called_at') })),
        )
        .execute()
    })
  }

  const timer = setInterval(() => {
    flush().catch((error: unknown) => observe({ kind: 'fault', where: 'query-callers', error }))
  }, flushMs).unref()

  return {
    note({ queryId, environment, keyId }) {
      const known = noted.get(queryId)?.get(environment)?.get(keyId)
      if (known !== undefined) known.at = now()
      else if (pairs < mostPairs) {
        pairs += 1
        const environments = noted.get(queryId) ?? new Map<string, Map<string, Call>>()
        const calls = environments.get(environment) ?? new Map<string, Call>()
        calls.set(keyId, { queryId, environment, keyId, at: now() })
        noted.set(queryId, environments.set(environment, calls))
      }
    },
    async since(queryId, environment, from) {
      await flush()
      const rows = await store.db
        .selectFrom('query_callers')
        .leftJoin('api_keys', 'api_keys.id', 'query_callers.key_id')
        .select(['query_callers.key_id', 'api_keys.name', 'query_callers.last_called_at'])
        .where('query_id', '=', queryId)
        .where('environment', '=', environment)
        .where('last_called_at', '>=', from)
        .orderBy('last_called_at', 'desc')
        .limit(100)
        .execute()
      return rows.map((row) => ({ keyId: row.key_id, name: row.name, lastCalledAt: row.last_called_at }))
    },
    flush,
    async close() {
      clearInterval(timer)
      await flush().catch((error: unknown) => observe({ kind: 'fault', where: 'query-callers', error }))
    },
  }
}
