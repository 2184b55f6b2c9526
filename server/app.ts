import { join } from 'node:path'
import {
  openAttempts,
  openInstalledVault,
  openKeyAccess,
  type Attempts,
  type KeyAccess,
  type Vault,
} from './access/index.ts'
import type { Config } from './config.ts'
import { createTokenSource, openOutbound, runRefresh, type Outbound, type TokenSource } from './connections/index.ts'
import {
  buildDataline,
  openCatalogs,
  openEngine,
  openFiles,
  type Catalogs,
  type Engine,
  type Files,
} from './data/index.ts'
import { openJobs, type Jobs } from './jobs/index.ts'
import { openLog } from './log.ts'
import type { Observe } from './observe.ts'
import { openServing, type Serving } from './queries/index.ts'
import { openDatabase, type Database } from './store/index.ts'
import { openPrometheus, type Prometheus } from './usage/index.ts'

/** Everything that is open while the service runs. Verbs take the parts they use: `Pick<App, 'store'>`. */
export type App = KeyAccess &
  Serving & {
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
    /** The one client for everything that leaves the server. */
    outbound: Outbound
    tokens: TokenSource
    jobs: Jobs
    signInAttempts: Attempts
    authenticationAttempts: Attempts
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
    const vault = await openInstalledVault({ store, dataDir: config.dataDir, secretKey: config.secretKey })
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
    const outbound = openOutbound({
      allow: config.outboundAllow,
      connectTimeoutMs: config.limits.outboundConnectTimeoutMs,
      connectionsPerOrigin: config.limits.outboundConnectionsPerOrigin,
      backoffBaseMs: 500,
      backoffMostMs: 10_000,
      now,
    })
    closers.push(() => outbound.close())
    const jobs = await openJobs({
      store,
      observe,
      now,
      concurrency: config.limits.jobsAtOnce,
      limits: { timeoutMs: config.limits.jobTimeoutMs, graceMs: config.limits.shutdownTimeoutMs },
    })
    closers.push(() => jobs.close())
    const { answerCacheBytes } = config.limits
    const queries = await openServing({ store, answerCacheBytes, observe, now })
    closers.push(() => queries.close())
    const keyAccess = await openKeyAccess({ store, config, now, observe })
    closers.push(() => keyAccess.close())
    const app: App = {
      config,
      now,
      observe,
      prometheus,
      store,
      vault,
      files,
      catalogs,
      engine,
      outbound,
      tokens: createTokenSource(outbound, now),
      jobs,
      signInAttempts: openAttempts(config.limits.failedSignInsPerMinute, now),
      authenticationAttempts: openAttempts(config.limits.failedAuthenticationsPerMinute, now),
      ...keyAccess.access,
      ...queries.serving,
      readiness: async () => ({
        database: await checkDatabase(store),
        executors: checkExecutors(engine),
        queue: await jobs.health(),
        ...(keyAccess.isShared && { redis: checkRedis(keyAccess.isShared()) }),
      }),
      close,
    }
    registerJobs(app)
    return app
  } catch (error) {
    await close()
    throw error
  }
}

async function checkDatabase(store: Database): Promise<Readiness[string]> {
  try {
    await store.ping()
    return { ok: true }
  } catch {
    return { ok: false, message: 'PostgreSQL does not answer.' }
  }
}

function checkExecutors(engine: Engine): { ok: boolean; message?: string } {
  const { ready, executors } = engine.health()
  return ready ? { ok: true } : { ok: false, message: `None of ${executors.length} executors answers.` }
}

/** Which room does the work of which job. */
function registerJobs(app: App): void {
  app.jobs.register('refresh_datasource', (context) => runRefresh(app, context))
  app.jobs.register('build_dataline_from_connected_resource', (context) => buildDataline(app, context))
}

function checkRedis(isShared: boolean): Readiness[string] {
  if (isShared) return { ok: true, optional: true }
  return { ok: false, optional: true, message: 'Redis does not answer: each process limits the calls it gets itself.' }
}
