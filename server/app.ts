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
  type EngineOptions,
  type Files,
} from './data/index.ts'
import { openJobs, type Jobs } from './jobs/index.ts'
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
import {
  openLanguageModel,
  openQuestionLog,
  openRouter,
  type LanguageModel,
  type QuestionLog,
  type Router,
} from './questions/index.ts'
import { openDatabase, type Database } from './store/index.ts'
import {
  openAlerts,
  openPrometheus,
  openTraces,
  openUsage,
  type Alerts,
  type Prometheus,
  type Traces,
  type Usage,
} from './usage/index.ts'

/** Everything that is open while the service runs. Verbs take the parts they use: `Pick<App, 'store'>`. */
export type App = KeyAccess & {
  config: Config
  /** Milliseconds since the epoch. Comes in as a value so that a test can move it. */
  now: () => number
  observe: Observe
  prometheus: Prometheus
  usage: Usage
  alerts: Alerts
  store: Database
  vault: Vault
  files: Files
  catalogs: Catalogs
  engine: Engine
  /** The one client for everything that leaves the server. */
  outbound: Outbound
  tokens: TokenSource
  jobs: Jobs
  deployments: Deployments
  answers: Answers
  queryCallers: QueryCallers
  router: Router
  /** Null where none is configured. */
  languageModel: LanguageModel | null
  questionLog: QuestionLog
  signInAttempts: Attempts
  authenticationAttempts: Attempts
  readiness(): Promise<Readiness>
  close(): Promise<void>
}

/** What must work before calls are sent here, each by name. What is optional may fail and the service is ready still. */
export type Readiness = Record<string, { ok: boolean; optional?: true; message?: string }>

/** Opens everything in order; closes in reverse, also when a later step fails. */
export async function openApp(
  config: Config,
  {
    now = Date.now,
    log = openLog(config.logLevel),
    modelDir = join(import.meta.dirname, '../models/question-encoder'),
  }: { now?: () => number; log?: Observe; modelDir?: string } = {},
): Promise<App> {
  const closers: Array<() => unknown> = []
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).toReversed()) await closer()
  }
  /** Remembers how to close what has just been opened. */
  const opened = <Part>(part: Part, closePart: (part: Part) => unknown): Part => {
    closers.push(() => closePart(part))
    return part
  }
  const prometheus = openPrometheus()
  let usage: Usage | undefined
  let traces: Traces | undefined
  const observe: Observe = (event) => {
    log(event)
    prometheus.observe(event)
    usage?.observe(event)
    traces?.observe(event)
  }
  const { dataDir, limits } = config
  try {
    if (config.traceEndpoint !== undefined) traces = opened(await openTraces(now), (part) => part.close())
    const store = opened(await openDatabase({ ...databaseOptions(config), observe }), (part) => part.close())
    usage = opened(openUsage({ store, observe, now, queueLength: limits.usageQueueLength }), (part) => part.close())
    const vault = await openInstalledVault({ store, dataDir, secretKey: config.secretKey })
    const files = await openFiles({ dir: join(dataDir, 'files'), now })
    const catalogs = opened(await openCatalogs({ store, files }), (part) => part.close())
    const engine = opened(await openEngine({ ...engineOptions(config), observe, now }), (part) =>
      part.close(limits.shutdownTimeoutMs),
    )
    const outbound = opened(openOutbound({ ...outboundOptions(config), now }), (part) => part.close())
    const alerts = opened(
      openAlerts({ ...alertOptions(config), store, vault, outbound, usage, observe, now }),
      (part) => part.close(),
    )
    const jobs = opened(await openJobs({ ...jobOptions(config), store, observe, now }), (part) => part.close())
    const keyAccess = opened(await openKeyAccess({ store, config, now, observe }), (part) => part.close())
    const deployments = opened(await openDeployments({ store, observe }), (part) => part.close())
    const queryCallers = opened(openQueryCallers({ store, observe, now }), (part) => part.close())
    const questionLog = opened(openQuestionLog({ store, observe, now }), (part) => part.close())
    const routing = { ...routerOptions(config), modelDir, store, deployments, observe, now }
    const router = opened(await openRouter(routing), (part) => part.close())
    const app: App = {
      config,
      now,
      observe,
      prometheus,
      usage,
      alerts,
      store,
      vault,
      files,
      catalogs,
      engine,
      outbound,
      tokens: createTokenSource(outbound, now),
      jobs,
      ...keyAccess.access,
      deployments,
      answers: openAnswers({ maxBytes: limits.answerCacheBytes, now }),
      queryCallers,
      router,
      languageModel: openLanguageModel({ ...languageModelOptions(config), outbound, observe }),
      questionLog,
      signInAttempts: openAttempts(limits.failedSignInsPerMinute, now),
      authenticationAttempts: openAttempts(limits.failedAuthenticationsPerMinute, now),
      readiness: async () => ({
        database: await checkDatabase(store),
        executors: checkExecutors(engine),
        queue: await jobs.health(),
        questions: checkQuestions(router),
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

/** Which room does the work of which job. */
function registerJobs(app: App): void {
  app.jobs.register('refresh_datasource', (context) => runRefresh(app, context))
  app.jobs.register('build_dataline_from_connected_resource', (context) => buildDataline(app, context))
}

function databaseOptions({ dataDir, databaseUrl, limits }: Config) {
  return { dataDir, databaseUrl, connections: limits.databaseConnections, timeoutMs: limits.databaseTimeoutMs }
}

function engineOptions({ dataDir, limits }: Config): Omit<EngineOptions, 'observe' | 'now'> {
  return {
    runDir: join(dataDir, 'run'),
    executors: limits.executorProcesses,
    concurrencyPerExecutor: limits.executorConcurrency,
    memoryBytes: limits.executorMemoryBytes,
    queueLength: limits.queryQueueLength,
    timeoutMs: limits.queryTimeoutMs,
    // Many small queries at once do better than one on all cores; and one thread keeps the order of a result.
    threads: 1,
    idleCloseMs: limits.projectIdleSeconds * 1000,
  }
}

function routerOptions({ limits }: Config) {
  return {
    threads: limits.encoderThreads,
    queueLength: limits.questionQueueLength,
    questionWaitMs: limits.questionWaitMs,
    waitMs: limits.questionIndexWaitMs,
    maxBytes: limits.questionIndexBytes,
  }
}

function languageModelOptions({ languageModelUrl, languageModel, languageModelKey, limits }: Config) {
  return {
    url: languageModelUrl,
    model: languageModel,
    apiKey: languageModelKey,
    timeoutMs: limits.languageModelTimeoutMs,
  }
}

function outboundOptions({ outboundAllow, example, port, limits }: Config) {
  // The sample API is this server under a name of its own, by which nothing else of it can be reached.
  const sample = example === 'on' ? [`sample.localhost:${port}`] : []
  return {
    allow: [...outboundAllow, ...sample],
    connectTimeoutMs: limits.outboundConnectTimeoutMs,
    connectionsPerOrigin: limits.outboundConnectionsPerOrigin,
    backoffBaseMs: 500,
    backoffMostMs: 10_000,
  }
}

function alertOptions({ smtpUrl, mailFrom, limits }: Config) {
  return { smtpUrl, mailFrom, intervalMs: limits.alertIntervalSeconds * 1000, timeoutMs: limits.webhookTimeoutMs }
}

function jobOptions({ limits }: Config) {
  return {
    concurrency: limits.jobsAtOnce,
    limits: { timeoutMs: limits.jobTimeoutMs, graceMs: limits.shutdownTimeoutMs },
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

function checkExecutors(engine: Engine): Readiness[string] {
  const { ready, executors } = engine.health()
  return ready ? { ok: true } : { ok: false, message: `None of ${executors.length} executors answers.` }
}

/** Direct calls do without it, so it is optional. */
function checkQuestions(router: Router): Readiness[string] {
  const { encoder } = router.health()
  if (encoder !== 'failed') return { ok: true, optional: true }
  return { ok: false, optional: true, message: 'The question encoder does not open; the log says why.' }
}

function checkRedis(isShared: boolean): Readiness[string] {
  if (isShared) return { ok: true, optional: true }
  return { ok: false, optional: true, message: 'Redis does not answer: each process limits the calls it gets itself.' }
}
