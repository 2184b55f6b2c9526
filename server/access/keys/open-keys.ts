import type { Config } from '../../config.ts'
import type { Observe } from '../../observe.ts'
import type { Database, Replicas } from '../../store/index.ts'
import { openMemoryBuckets, type Buckets, type MemoryBuckets } from '../limits/buckets.ts'
import { openPlans, type Plans } from '../limits/policies.ts'
import type { openRedisBuckets } from '../limits/redis.ts'
import type { Vault } from '../credentials/vault.ts'
import { openKeys, type Keys } from './feed.ts'
import { openKeyUses, type KeyUses } from './uses.ts'

/** Parts that the query path needs to know a key and to count its calls. */
export type KeyAccess = {
  plans: Plans
  keys: Keys
  keyUses: KeyUses
  /** Where the calls of each key are counted. */
  buckets: Buckets
  /** Seals and opens the tokens of browsers. */
  browserTokens: Vault
}

type Options = {
  store: Database
  vault: Vault
  config: Pick<Config, 'plans' | 'defaultPlan' | 'redisUrl' | 'limits'>
  replicas: Replicas
  now: () => number
  observe: Observe
}

/** `isShared` is undefined where there is no Redis to share with. */
export async function openKeyAccess({ store, vault, config, replicas, now, observe }: Options): Promise<{
  access: KeyAccess
  isShared: (() => boolean) | undefined
  close: () => Promise<void>
}> {
  const { limits, redisUrl } = config
  const plans = openPlans(config.plans, config.defaultPlan)
  const keys = await openKeys({
    store,
    plans,
    resyncMs: limits.keyResyncMs,
    overlapMs: limits.databaseTimeoutMs * 10,
    observe,
  })
  const alone = openMemoryBuckets(now, () => replicas.answering())
  await resumeDays(store, alone, now() * 1_000)
  const keyUses = openKeyUses({
    store,
    now,
    dailyStateOf: (keyId) => alone.dailyState(keyId),
    observe,
  })
  const shared =
    redisUrl === undefined
      ? undefined
      : await openShared({ url: redisUrl, timeoutMs: limits.redisTimeoutMs, alone, observe })
  return {
    access: { plans, keys, keyUses, buckets: shared ?? alone, browserTokens: vault.forPurpose('browser tokens') },
    isShared: shared && (() => shared.isShared()),
    close: async () => {
      await shared?.close()
      await keyUses.close()
      await keys.close()
    },
  }
}

/** A restart gives nobody a new day. */
async function resumeDays(store: Database, buckets: MemoryBuckets, nowMicros: number): Promise<void> {
  const rows = await store.db
    .selectFrom('apiKeyUses')
    .select(['keyId', 'dailyState'])
    .where('dailyState', '>', nowMicros)
    .execute()
  for (const row of rows) buckets.resumeDay(row.keyId, row.dailyState ?? 0)
}

/** The client is a fifth of all modules: it is loaded where there is a Redis. */
const openShared: typeof openRedisBuckets = async (options) => {
  const redis = await import('../limits/redis.ts')
  return redis.openRedisBuckets(options)
}
