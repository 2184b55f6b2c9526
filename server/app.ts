import { join } from 'node:path'
import {
  openAttempts,
  openKeys,
  openKeyUses,
  openMemoryBuckets,
  openPlans,
  openRedisBuckets,
  openVault,
  readSecretKey,
  type Attempts,
  type Buckets,
  type Keys,
  type KeyUses,
  type Plans,
  type SharedBuckets,
  type Vault,
} from './access/index.ts'
import type { Config } from './config.ts'
import { openCatalogs, openEngine, openFiles, type Catalogs, type Engine, type Files } from './data/index.ts'
import { openLog } from './log.ts'
import type { Observe } from './observe.ts'
import {
  openAnswers,
  openDeployments,
  openQueryCallers,
  type Answers,
  type Deployments,
  type QueryCallers,
} from './queries/index.ts'
import { openDatabase, type Database } from './store/index.ts'
import { openPrometheus, type Prometheus } from './usage/index.ts'

/** Everything that is open while the service runs. Verbs take the parts they use: `Pick<App, 'store'>`. */
export type App = {
  config: Config
  /** Milliseconds since the epoch. Comes in as a value so that a test can move it. */
  now: () => number
  observe: Observe
  prometheus: Prometheus
  store: Database
  vault: Vault
  files: Files
  catalogs: Catalogs
  engine: Engine
  deployments: Deployments
  answers: Answers
  queryCallers: QueryCallers
  signInAttempts: Attempts
  authenticationAttempts: Attempts
  plans: Plans
  keys: Keys
  keyUses: KeyUses
  /** Where the calls of each key are counted. */
  buckets: Buckets
  readiness(): Promise<Readiness>
  close(): Promise<void>
}

/** What must work before calls are sent here, each by name. What is optional is missed, and calls are served. */
export type Readiness = Record<string, { ok: boolean; optional?: true; message?: string }>

/** Opens everything in order; closes in reverse, also when a later step fails. */
export async function openApp(
  config: Config,
  { now = Date.now, log = openLog(config.logLevel) }: { now?: () => number; log?: Observe } = {},
): Promise<App> {
  const closers: Array<() => Promise<void>> = []
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).toReversed()) await closer()
  }
  try {
    const prometheus = openPrometheus()
    const observe: Observe = (event) => {
      log(event)
      prometheus.observe(event)
    }
    const store = await openDatabase({
      dataDir: config.dataDir,
      databaseUrl: config.databaseUrl,
      connections: config.limits.databaseConnections,
      timeoutMs: config.limits.databaseTimeoutMs,
      observe,
    })
    closers.push(() => store.close())
    const vault = openVault(config.secretKey ?? (await readSecretKey(config.dataDir)))
    const files = await openFiles({ dir: join(config.dataDir, 'files'), now })
    const catalogs = await openCatalogs({ store, files })
    closers.push(async () => catalogs.close())
    const engine = await openEngine({
      runDir: join(config.dataDir, 'run'),
      executors: config.limits.executorProcesses,
      concurrencyPerExecutor: config.limits.executorConcurrency,
      memoryBytes: config.limits.executorMemoryBytes,
      queueLength: config.limits.queryQueueLength,
      timeoutMs: config.limits.queryTimeoutMs,
      threads: 1,
      idleCloseMs: config.limits.projectIdleSeconds * 1000,
      observe,
      now,
    })
    closers.push(() => engine.close(config.limits.shutdownTimeoutMs))
    const deployments = await openDeployments({ store, observe })
    closers.push(async () => deployments.close())
    const answers = openAnswers({ maxBytes: config.limits.answerCacheBytes, now })
    const queryCallers = openQueryCallers({ store, observe, now })
    closers.push(() => queryCallers.close())
    const plans = openPlans(config.plans, config.defaultPlan)
    const keys = await openKeys({
      store,
      plans,
      resyncMs: config.limits.keyResyncMs,
      overlapMs: config.limits.databaseTimeoutMs * 10,
      observe,
    })
    closers.push(() => keys.close())
    const keyUses = openKeyUses({ store, now, observe })
    closers.push(() => keyUses.close())
    const alone = openMemoryBuckets(now)
    const shared = await openShared(config, alone, observe)
    closers.push(async () => shared?.close())
    return {
      config,
      now,
      observe,
      prometheus,
      store,
      vault,
      files,
      catalogs,
      engine,
      deployments,
      answers,
      queryCallers,
      signInAttempts: openAttempts(config.limits.failedSignInsPerMinute, now),
      authenticationAttempts: openAttempts(config.limits.failedAuthenticationsPerMinute, now),
      plans,
      keys,
      keyUses,
      buckets: shared ?? alone,
      readiness: async () => ({
        database: await checkDatabase(store),
        executors: checkExecutors(engine),
        ...(shared && { redis: checkRedis(shared) }),
      }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function openShared(config: Config, alone: Buckets, observe: Observe): Promise<SharedBuckets | undefined> {
  if (config.redisUrl === undefined) return undefined
  return openRedisBuckets({ url: config.redisUrl, timeoutMs: config.limits.redisTimeoutMs, alone, observe })
}

function checkRedis(shared: SharedBuckets): Readiness[string] {
  if (shared.isShared()) return { ok: true, optional: true }
  return { ok: false, optional: true, message: 'Redis does not answer: each process limits the calls it gets itself.' }
}

async function checkDatabase(store: Database): Promise<Readiness[string]> {
  try {
    await store.ping()
    return { ok: true }
  } catch {
    return { ok: false, message: 'PostgreSQL does not answer.' }
  }
}

function checkExecutors(engine: Engine): Readiness[string] {
  const { ready, executors } = engine.health()
  return ready ? { ok: true } : { ok: false, message: `None of ${executors.length} executors answers.` }
}
