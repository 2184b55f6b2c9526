import { openAttempts, openKeyAccess, type Attempts, type KeyAccess } from './access/index.ts'
import type { Config } from './config.ts'
import { openLog } from './log.ts'
import type { Observe } from './observe.ts'
import { openDatabase, type Database } from './store/index.ts'
import { openPrometheus, type Prometheus } from './usage/index.ts'

/** Everything that is open while the service runs. Verbs take the parts they use: `Pick<App, 'store'>`. */
export type App = KeyAccess & {
  config: Config
  /** Milliseconds since the epoch. Comes in as a value so that a test can move it. */
  now: () => number
  observe: Observe
  prometheus: Prometheus
  store: Database
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
    const keyAccess = await openKeyAccess({ store, config, now, observe })
    closers.push(() => keyAccess.close())
    return {
      config,
      now,
      observe,
      prometheus,
      store,
      signInAttempts: openAttempts(config.limits.failedSignInsPerMinute, now),
      authenticationAttempts: openAttempts(config.limits.failedAuthenticationsPerMinute, now),
      ...keyAccess.access,
      readiness: async () => ({
        database: await checkDatabase(store),
        ...(keyAccess.isShared && { redis: checkRedis(keyAccess.isShared()) }),
      }),
      close,
    }
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

function checkRedis(isShared: boolean): Readiness[string] {
  if (isShared) return { ok: true, optional: true }
  return { ok: false, optional: true, message: 'Redis does not answer: each process limits the calls it gets itself.' }
}
