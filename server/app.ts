import { join } from 'node:path'
import {
  createPasswords,
  openSharedAttempts,
  openInstalledVault,
  openKeyAccess,
  type Attempts,
  type ClientDocuments,
  type KeyAccess,
  type PasswordCost,
  type Passwords,
  type ProjectDirectory,
  type Vault,
} from './access/index.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import {
  createClientDocuments,
  createPost,
  createTokenSource,
  openDatasourceDirectory,
  openGrants,
  openOutbound,
  openUploads,
  readFreshness,
  readTablesPast,
  runCompaction,
  runDueSchedules,
  runRefresh,
  type Outbound,
  type TokenSource,
  type Uploads,
} from './connections/index.ts'
import {
  buildDataline,
  createQueryEngine,
  createTableBuilder,
  openBucket,
  openCatalogs,
  openEngine,
  openFiles,
  openLookups,
  readDrifts,
  readHeldTables,
  type Catalogs,
  type DatasourceDirectory,
  type Files,
  type Lookups,
  type QueryEngine,
  type QueryGate,
  type TableBuilder,
} from './data/index.ts'
import { createDefinitionTurns } from './definition/index.ts'
import { createEngineMoveTurns } from './engine-move/index.ts'
import type { WorkTurns } from './flow/index.ts'
import { openJobs, type Jobs } from './jobs/index.ts'
import { openLog } from './log.ts'
import type { Observe } from './observe.ts'
import { engineOf, openOrigins, openProjectDirectory, type Origins } from './projects/index.ts'
import {
  createReleaseTurns,
  hasQuery,
  keepLookups,
  openAnswers,
  openDeployments,
  readPastReads,
  openQueryCallers,
  openQueryGate,
  type Answers,
  type CallWatch,
  type Deployments,
  type QueryCallers,
  type QueryNameKeepers,
  type Rehearsal,
  type ReleaseTurns,
} from './queries/index.ts'
import {
  holdWordKeepers,
  openLanguageModel,
  openQuestionLog,
  openRouter,
  renameExpected,
  type LanguageModel,
  type QuestionLog,
  type Router,
  type RouterOptions,
} from './questions/index.ts'
import {
  alertOptions,
  bucketOptions,
  attemptLimits,
  databaseOptions,
  engineOptions,
  filesOptions,
  jobOptions,
  lookupOptions,
  languageModelOptions,
  clientDocumentOptions,
  outboundOptions,
  routerOptions,
  trinoOptions,
  usageOptions,
} from './part-options.ts'
import {
  checkDatabase,
  checkExecutors,
  checkObjects,
  checkQuestions,
  checkRedis,
  checkTrino,
  type Readiness,
} from './readiness.ts'
import {
  createRehearsal,
  openCanaries,
  openRollout,
  endReplay,
  replayJob,
  runReplay,
  type BehindCalls,
  type CallRecorder,
  type Canaries,
} from './rollout/index.ts'
import {
  openDatabase,
  openReplicas,
  soleReplica,
  type Database,
  type OpeningStore,
  type Replicas,
} from './store/index.ts'
import { openTrino, type Trino } from './trino/index.ts'
import {
  openAlerts,
  openPrometheus,
  openTraces,
  openUsage,
  renameWatched,
  type Alerts,
  type AlertSources,
  type Post,
  type Prometheus,
  type Traces,
  type Usage,
} from './usage/index.ts'

/** Everything that is open while the service runs. Verbs name the parts they use by the types of the rooms below; nothing below imports this. */
export type App = KeyAccess & {
  config: Config
  now: Clock
  observe: Observe
  prometheus: Prometheus
  usage: Usage
  alerts: Alerts
  store: Database
  /** The processes that share the database. */
  replicas: Replicas
  projects: ProjectDirectory
  /** Which web pages may read answers. */
  origins: Origins
  datasources: DatasourceDirectory
  vault: Vault
  passwords: Passwords
  files: Files
  catalogs: Catalogs
  engine: QueryEngine
  builder: TableBuilder
  /** Null where none is configured. */
  trino: Trino | null
  /** The one client for everything that leaves the server. */
  outbound: Outbound
  /** Messages to members' own addresses, through the same client. */
  post: Post
  tokens: TokenSource
  /** Receives files that people send. */
  uploads: Uploads
  jobs: Jobs
  deployments: Deployments
  /** Which deployed queries a change of data would break. */
  queryGate: QueryGate
  answers: Answers
  /** Answers that lie written in files. */
  lookups: Lookups
  queryCallers: QueryCallers
  /** What else knows a query by its name. */
  queryNames: QueryNameKeepers
  releaseTurns: ReleaseTurns
  definitionTurns: WorkTurns
  engineMoveTurns: WorkTurns
  /** Hears of answered calls, and writes down those that projects want to run again. */
  callWatch: CallWatch
  recorder: CallRecorder
  /** Runs calls on a release that is tried out, behind their answers. */
  behindCalls: BehindCalls
  /** What recorded calls say of a release before it is made. */
  rehearsal: Rehearsal
  canaries: Canaries
  router: Router
  /** Null where none is configured. */
  languageModel: LanguageModel | null
  questionLog: QuestionLog
  signInAttempts: Attempts
  authenticationAttempts: Attempts
  /** Of clients that ask to be let in, by address. */
  clientRegistrations: Attempts
  /** What clients say of themselves at an address of theirs. */
  clientDocuments: ClientDocuments
  readiness(): Promise<Readiness>
  /** Ends when what was started and not waited for runs: calls that come before wait for it. */
  started: Promise<void>
  close(): Promise<void>
}

/** What the app is opened with beside its settings. */
export type AppOptions = {
  now?: () => number
  log?: Observe
  modelDir?: string
  readerDir?: string
  /** Less than usual where people are made by the hundred. */
  passwordCost?: PasswordCost
  /** The database, where it is on its way already. */
  store?: OpeningStore
  /** Of several on one database, each with a data folder of its own: nothing of the others' data can be read. */
  sharesDatabase?: boolean
  /** A further certificate authority that outbound calls trust, in PEM. */
  outboundCa?: string
  /** How the processes for queries and for questions are started, where several apps share them. */
  openEngine?: typeof openEngine
  openEncoder?: RouterOptions['openEncoder']
}

/** Opens everything in order; closes in reverse, also when a later step fails. */
// Over 70 lines: what is opened, in order, so that it reads from top to bottom.
export async function openApp(
  config: Config,
  {
    now = Date.now,
    log = openLog(config.logLevel),
    modelDir = join(import.meta.dirname, '../models/question-encoder'),
    readerDir = join(import.meta.dirname, '../models/question-reader'),
    passwordCost,
    store: opening,
    sharesDatabase = false,
    outboundCa,
    openEngine: startEngine = openEngine,
    openEncoder,
  }: AppOptions = {},
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
  const closeTimeoutMs = limits.flushTimeoutMs
  try {
    if (config.traceEndpoint !== undefined) traces = opened(await openTraces(now), (part) => part.close())
    const claims = !sharesDatabase || config.objectsUrl !== undefined
    const store = opened(
      await (opening?.opened(observe) ?? openDatabase({ ...databaseOptions(config), claims, observe })),
      (part) => part.close(),
    )
    const { role, objectsUrl } = config
    // With the data in one folder there is this process alone.
    const replicas = opened(
      objectsUrl === undefined ? soleReplica : await openReplicas(store, { role, observe }),
      (part) => part.close(),
    )
    usage = opened(openUsage({ ...usageOptions(config), store, holdWordKeepers, observe, now }), (part) => part.close())
    const vault = await openInstalledVault({ store, dataDir, secretKey: config.secretKey })
    const { files } = opened(await openFiles({ ...filesOptions(config), store, observe, now }), (part) => part.close())
    const origins = opened(await openOrigins(store), (part) => part.close())
    const datasources = openDatasourceDirectory(store)
    const engines = { engineOf: (projectId: string) => engineOf(store, projectId) }
    const catalogs = opened(await openCatalogs({ store, files, datasources, engines, observe, now }), (part) =>
      part.close(),
    )
    const executors = opened(await startEngine({ ...engineOptions(config), observe, now }), (part) =>
      part.close(limits.shutdownTimeoutMs),
    )
    const builder = createTableBuilder(executors, files)
    const lookups = opened(openLookups({ ...lookupOptions(config), engine: executors, files, observe, now }), (part) =>
      part.close(),
    )
    const trino = await openConfiguredTrino(config, { store, files, builder, executors, now }, opened)
    const engine = createQueryEngine(executors, files, trino?.engine ?? null)
    const outbound = opened(
      openOutbound({ ...outboundOptions(config), ...(outboundCa !== undefined && { ca: outboundCa }), now }),
      (part) => part.close(),
    )
    const post = createPost(outbound)
    const jobs = opened(await openJobs({ ...jobOptions(config), store, observe }), (part) => part.close())
    const keyAccess = opened(await openKeyAccess({ store, vault, config, replicas, now, observe }), (part) =>
      part.close(),
    )
    const { attempts, ...sharing } = await openSharedAttempts(store, attemptLimits(config), now)
    opened(sharing, (part) => part.close())
    const deployments = opened(await openDeployments({ store, observe }), (part) => part.close())
    opened(await keepLookups({ store, lookups, catalogs, deployments, observe }), (part) => part.close())
    const sources = alertSources({ store, datasources, deployments })
    const alerts = opened(
      openAlerts({ ...alertOptions(config), store, vault, post, usage, sources, observe, now }),
      (part) => part.close(),
    )
    const queryCallers = opened(openQueryCallers({ store, observe, now, closeTimeoutMs }), (part) => part.close())
    const calls = { store, vault, engine, catalogs, deployments, config, observe, now }
    const rollout = opened(await openRollout(calls), (part) => part.close())
    const questionLog = opened(openQuestionLog({ store, observe, now, closeTimeoutMs }), (part) => part.close())
    const models = { modelDir, readerDir, openEncoder }
    const routing = { ...routerOptions(config), ...models, store, datasources, deployments, observe, now }
    const router = opened(await openRouter(routing), (part) => part.close())
    const judged = { store, usage, deployments, router, observe, now }
    const canaries = opened(openCanaries(judged, limits.canaryIntervalSeconds * 1000), (part) => part.close())
    const app: App = {
      config,
      now,
      observe,
      prometheus,
      usage,
      alerts,
      store,
      replicas,
      projects: openProjectDirectory(store),
      origins,
      datasources,
      vault,
      passwords: createPasswords(passwordCost),
      files,
      catalogs,
      engine,
      builder,
      trino,
      outbound,
      post,
      tokens: createTokenSource(outbound, now, openGrants({ store, vault, outbound, now })),
      uploads: openUploads({ files, maxBytes: limits.uploadBytes, most: limits.uploadsAtOnce }),
      jobs,
      ...keyAccess.access,
      deployments,
      queryGate: openQueryGate({ engine, catalogs, deployments }),
      answers: openAnswers({
        maxBytes: limits.answerCacheBytes,
        maxBytesInFlight: limits.answersInFlightBytes,
        executors: limits.executorProcesses,
        now,
      }),
      lookups,
      queryCallers,
      queryNames: { renamed: renameEverywhere },
      definitionTurns: createDefinitionTurns({
        waitMs: limits.definitionWaitMs,
        queueLength: limits.definitionQueueLength,
      }),
      engineMoveTurns: createEngineMoveTurns({
        waitMs: limits.engineMoveTimeoutMs,
        queueLength: limits.engineMoveQueueLength,
      }),
      releaseTurns: createReleaseTurns({
        store,
        waitMs: limits.releaseWaitMs,
        queueLength: limits.releaseQueueLength,
      }),
      callWatch: rollout.callWatch,
      recorder: rollout.recorder,
      behindCalls: rollout.behindCalls,
      rehearsal: createRehearsal({ ...calls, jobs, recorder: rollout.recorder }),
      canaries,
      router,
      languageModel: openLanguageModel({ ...languageModelOptions(config), outbound, observe }),
      questionLog,
      signInAttempts: attempts.signIn,
      authenticationAttempts: attempts.authentication,
      clientRegistrations: attempts.registration,
      clientDocuments: createClientDocuments({ ...clientDocumentOptions(config), outbound, now }),
      readiness: async () => ({
        database: await checkDatabase(store),
        executors: checkExecutors(engine),
        queue: await jobs.health(),
        questions: checkQuestions(router),
        ...(keyAccess.isShared && { redis: checkRedis(keyAccess.isShared()) }),
        ...(trino !== null && { trino: checkTrino(await trino.isReached()) }),
        ...(files.isReached && { objects: checkObjects(files.isReached()) }),
      }),
      started: executors.started,
      close,
    }
    registerJobs(app)
    return app
  } catch (error) {
    await close()
    throw error
  }
}

type Opened = <Part>(part: Part, closePart: (part: Part) => unknown) => Part

/** Null where none is configured. */
async function openConfiguredTrino(
  config: Config,
  parts: Omit<Parameters<typeof openTrino>[1], 'bucket'>,
  opened: Opened,
): Promise<Trino | null> {
  const [options, bucketAt] = [trinoOptions(config), bucketOptions(config)]
  if (options === null || bucketAt === null) return null
  const bucket = opened(await openBucket(bucketAt), (part) => part.close())
  return opened(openTrino(options, { ...parts, bucket }), (part) => part.close())
}

/** Who answers what alerts ask. */
function alertSources({
  store,
  datasources,
  deployments,
}: Pick<App, 'store' | 'datasources' | 'deployments'>): AlertSources {
  return {
    freshness: (projectId) => readFreshness(store, projectId),
    heldTables: (projectId) => readHeldTables({ store, datasources }, projectId),
    drifts: (projectId, span) => readDrifts({ store, datasources }, projectId, span),
    tablesRead: (projectId) => deployments.tablesRead(projectId),
    tablesPast: (projectId, span) => readTablesPast(store, projectId, span),
    readsPast: (projectId, span) => readPastReads(store, projectId, span),
    hasQuery: (query) => hasQuery(store, query),
  }
}

const renameEverywhere: QueryNameKeepers['renamed'] = async (transaction, names) => {
  await renameExpected(transaction, names)
  await renameWatched(transaction, names)
}

/** Which room does the work of which job. */
function registerJobs(app: App): void {
  const { loadTimeoutMs } = app.config.limits
  app.jobs.register('refresh_datasource', (context) => runRefresh(app, context), { timeoutMs: loadTimeoutMs + 60_000 })
  app.jobs.registerSchedules(() => runDueSchedules(app))
  app.jobs.register(replayJob, (context) => runReplay(app, context), { ended: endReplay })
  app.jobs.register('compact_table', (context) => runCompaction(app, context))
  app.jobs.register('build_dataline_from_connected_resource', (context) => buildDataline(app, context))
}
