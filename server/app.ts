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
import { fixedLimits, type Config, type Limits } from './config.ts'
import {
  createClientDocuments,
  createPost,
  createTokenSource,
  openDatasourceDirectory,
  openGrants,
  openOutbound,
  openPaces,
  openUploads,
  readFreshness,
  readTablesPast,
  runCompaction,
  runDueSchedules,
  runRefresh,
  type Outbound,
  type Paces,
  type TokenSource,
  type Uploads,
} from './connections/index.ts'
import {
  buildDataline,
  openCatalogs,
  readDrifts,
  readHeldTables,
  type Catalogs,
  type DatasourceDirectory,
  type QueryGate,
  type TableModels,
  namedFiles,
} from './data/index.ts'
import {
  createQueryEngine,
  createTableBuilder,
  openEngine,
  type QueryEngine,
  type TableBuilder,
} from './engine/index.ts'
import { openBucket, openFiles, type Files } from './files/index.ts'
import { openLookups, type Lookups } from './lookups/index.ts'
import { definitionTurns } from './definition/index.ts'
import { engineMoveTurns } from './engine-move/index.ts'
import { openGate, type Gate } from './flow/index.ts'
import { openTableModels, readModelStatements, runRebuild, type ModelTests } from './models/index.ts'
import { openTestGate, type LastCall, type OpenReading } from './row-tests/index.ts'
import { openJobs, type Jobs } from './jobs/index.ts'
import { openLog } from './log.ts'
import type { Observe } from './observe.ts'
import { engineOf, openOrigins, openProjectDirectory, type Origins } from './projects/index.ts'
import {
  hasQuery,
  keepLookups,
  openAnswers,
  openKeptFiles,
  type KeptFiles,
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
  releaseTurns,
  type DeployGate,
  type TestGate,
} from './queries/index.ts'
import {
  holdWordKeepers,
  openLanguageModel,
  openQuestionLog,
  openQuestionIndexes,
  openReadingAmong,
  renameExpected,
  type LanguageModel,
  type QuestionLog,
  type QuestionIndexes,
  type QuestionIndexesOptions,
  questionsFor,
} from './questions/index.ts'
import { bucketOptions, databaseOptions, engineOptions, questionIndexesOptions, trinoOptions } from './part-options.ts'
import {
  checkDatabase,
  checkExample,
  checkExecutors,
  checkObjects,
  checkQuestions,
  checkRedis,
  checkTrino,
  type Readiness,
} from './readiness.ts'
import {
  createRehearsal,
  readLastCall,
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
  /** Turns that calls to one API take. */
  paces: Paces
  /** Receives files that people send. */
  uploads: Uploads
  jobs: Jobs
  deployments: Deployments
  /** Which deployed queries a change of data would break. */
  queryGate: QueryGate
  /** The models that are built from a table. */
  models: TableModels
  answers: Answers
  keptFiles: KeptFiles
  /** Answers that lie written in files. */
  lookups: Lookups
  queryCallers: QueryCallers
  /** Stored questions that one of these queries must answer. */
  storedQuestions(projectId: string, queries: string[]): Promise<string[]>
  /** Rooms that know a query by its name. */
  queryNames: QueryNameKeepers
  releaseGate: Gate
  definitionGate: Gate
  engineMoveGate: Gate
  /** Hears of answered calls, and writes down those that projects want to run again. */
  callWatch: CallWatch
  recorder: CallRecorder
  /** Runs calls on a release that is tried out, behind their answers. */
  behindCalls: BehindCalls
  /** Replays recorded calls on a release before it is made. */
  rehearsal: Rehearsal
  canaries: Canaries
  questionIndexes: QuestionIndexes
  /** The same indexes, as releases see them: which questions would move. */
  deployGate: DeployGate
  /** Tests with rows, as releases and changes of models see them. */
  testGate: TestGate & ModelTests
  /** How their questions are read. */
  openReading: OpenReading
  /** The last recorded call of a query, of which a test is made. */
  lastCall: LastCall
  /** Null where none is configured. */
  languageModel: LanguageModel | null
  questionLog: QuestionLog
  signInAttempts: Attempts
  authenticationAttempts: Attempts
  /** Registrations of clients, by address. */
  clientRegistrations: Attempts
  /** Tests of connections that name no project, by person. */
  connectionTests: Attempts
  /** Metadata documents that clients publish at an address of theirs. */
  clientDocuments: ClientDocuments
  readiness(): Promise<Readiness>
  /** Whether the example of a new installation answers; true where there is none. */
  example: { isPrepared: boolean }
  /** Ends when what was started and not waited for runs: calls that come before wait for it. */
  started: Promise<void>
  close(): Promise<void>
}

/** Options of the app beside its settings. */
export type AppOptions = {
  now?: () => number
  log?: Observe
  modelDir?: string
  readerDir?: string
  /** Less than usual where people are made by the hundred. */
  passwordCost?: PasswordCost
  /** The database, where it is on its way already. */
  store?: OpeningStore
  /** Whether several on one database have a data folder each: nothing of the others' data can be read. */
  sharesDatabase?: boolean
  /** A further certificate authority that outbound calls trust, in PEM. */
  outboundCa?: string
  /** How the processes for queries and for questions are started, where several apps share them. */
  openEngine?: typeof openEngine
  openEncoder?: QuestionIndexesOptions['openEncoder']
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
  const opened = <Part extends Closable>(part: Part): Part => {
    closers.push(() => part.close())
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
    if (config.traceEndpoint !== undefined) traces = opened(await openTraces(now))
    const claims = !sharesDatabase || config.objectsUrl !== undefined
    const store = opened(
      await (opening?.opened(observe) ?? openDatabase({ ...databaseOptions(config), claims, observe })),
    )
    const { role, objectsUrl } = config
    // With the data in one folder there is this process alone.
    const replicas = opened(objectsUrl === undefined ? soleReplica : await openReplicas(store, { role, observe }))
    usage = opened(openUsage({ store, holdWordKeepers, observe, now }))
    const vault = await openInstalledVault({ store, dataDir, secretKey: config.secretKey })
    const { files } = opened(
      await openFiles({
        dir: join(dataDir, 'files'),
        bucket: bucketOptions(config),
        cacheBytes: limits.objectCacheBytes,
        store,
        namedFiles: () => namedFiles({ client: store.pool }),
        observe,
        now,
      }),
    )
    const origins = opened(await openOrigins(store, observe))
    const datasources = openDatasourceDirectory(store)
    const engines = { engineOf: (projectId: string) => engineOf(store, projectId) }
    const catalogs = opened(await openCatalogs({ store, files, datasources, engines, observe, now }))
    const executors = await startEngine({ ...engineOptions(config), observe, now })
    opened({ close: () => executors.close(limits.shutdownTimeoutMs) })
    const builder = createTableBuilder(executors, files)
    // A process that answers no calls needs no lookups.
    const shelf = { dir: join(dataDir, 'lookups'), maxBytes: role === 'worker' ? 0 : limits.lookupBytes }
    const lookups = opened(openLookups({ ...shelf, engine: executors, files, observe, now }))
    const trino = await openConfiguredTrino(config, { store, files, builder, executors, now }, opened)
    const engine = createQueryEngine(executors, files, trino?.engine ?? null)
    // The sample API is this server under a name of its own, by which nothing else of it can be reached.
    const sample = config.example === 'on' ? [`sample.localhost:${config.port}`] : []
    const allow = [...config.outboundAllow, ...sample]
    const outbound = opened(openOutbound({ allow, ...(outboundCa !== undefined && { ca: outboundCa }), now }))
    const post = createPost(outbound)
    const jobLimits = { timeoutMs: 1_800_000, graceMs: limits.shutdownTimeoutMs }
    const jobs = opened(await openJobs({ concurrency: limits.jobsAtOnce, limits: jobLimits, store, observe }))
    const keyAccess = opened(await openKeyAccess({ store, vault, config, replicas, now, observe }))
    const { attempts } = opened(await openSharedAttempts(store, attemptsPerMinute(limits), now))
    const deployments = opened(await openDeployments({ store, observe }))
    opened(await keepLookups({ store, lookups, catalogs, deployments, observe }))
    const sources = alertSources({ store, datasources, deployments })
    const alerts = opened(openAlerts({ config, store, vault, post, usage, sources, observe, now }))
    const queryCallers = opened(openQueryCallers({ store, observe, now }))
    const calls = { store, vault, engine, catalogs, deployments, config, observe, now }
    const rollout = opened(await openRollout(calls))
    const example = { isPrepared: true }
    const questionLog = opened(openQuestionLog({ store, observe, now }))
    const models = { modelDir, readerDir, openEncoder }
    const asked = { store, datasources, deployments, catalogs, engine, observe, now }
    const routing = { ...questionIndexesOptions(config), ...models, ...asked }
    const questionIndexes = opened(await openQuestionIndexes(routing))
    const judged = { store, usage, deployments, deployGate: questionIndexes, observe, now }
    const openReading: OpenReading = (among) => openReadingAmong({ questionIndexes, now }, among)
    const canaries = opened(openCanaries(judged, limits.canaryIntervalSeconds * 1000))
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
      paces: openPaces(store),
      uploads: openUploads({ files, maxBytes: limits.uploadBytes, most: limits.uploadsAtOnce }),
      jobs,
      ...keyAccess.access,
      deployments,
      queryGate: openQueryGate({
        engine,
        catalogs,
        deployments,
        models: (projectId) => readModelStatements(store, projectId),
      }),
      models: openTableModels({ jobs, datasources }),
      answers: openAnswers({
        maxBytes: limits.answerCacheBytes,
        maxBytesInFlight: limits.answersInFlightBytes,
        executors: limits.executorProcesses,
        now,
      }),
      keptFiles: openKeptFiles({ maxBytes: limits.keptFileBytes, temporaryPath: files.temporaryPath, now }),
      lookups,
      queryCallers,
      storedQuestions: (projectId, queries) => questionsFor(store, { projectId, queries }),
      queryNames: { renamed: renameEverywhere },
      definitionGate: openGate(definitionTurns),
      engineMoveGate: openGate(engineMoveTurns),
      releaseGate: openGate(releaseTurns),
      callWatch: rollout.callWatch,
      recorder: rollout.recorder,
      behindCalls: rollout.behindCalls,
      rehearsal: createRehearsal({ ...calls, jobs, recorder: rollout.recorder }),
      canaries,
      questionIndexes,
      deployGate: questionIndexes,
      testGate: openTestGate({ store, catalogs, engine, builder, files, config, deployments, openReading }),
      openReading,
      lastCall: (place) => readLastCall({ ...calls, recorder: rollout.recorder }, place),
      languageModel: openLanguageModel({ config, outbound, observe }),
      questionLog,
      signInAttempts: attempts.signIn,
      authenticationAttempts: attempts.authentication,
      clientRegistrations: attempts.registration,
      connectionTests: attempts.connectionTest,
      clientDocuments: createClientDocuments({ config, outbound, now }),
      example,
      readiness: async () => ({
        database: await checkDatabase(store),
        executors: checkExecutors(engine),
        queue: await jobs.health(),
        questions: checkQuestions(questionIndexes),
        example: checkExample(example),
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

type Closable = { close(): unknown }
type Opened = <Part extends Closable>(part: Part) => Part

/** Null where none is configured. */
async function openConfiguredTrino(
  config: Config,
  parts: Omit<Parameters<typeof openTrino>[1], 'bucket'>,
  opened: Opened,
): Promise<Trino | null> {
  const [options, bucketAt] = [trinoOptions(config), bucketOptions(config)]
  if (options === null || bucketAt === null) return null
  const bucket = opened(await openBucket(bucketAt))
  return opened(openTrino(options, { ...parts, bucket }))
}

/** Failures of each kind that an address may have in a minute. */
function attemptsPerMinute(limits: Limits) {
  return {
    signIn: limits.failedSignInsPerMinute,
    authentication: limits.failedAuthenticationsPerMinute,
    registration: limits.oauthRegistrationsPerMinute,
    connectionTest: fixedLimits.connectionTests.value,
  }
}

/** Sources of the figures that alerts ask for. */
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
  app.jobs.register('rebuild_model', (context) => runRebuild(app, context), {
    timeoutMs: app.config.limits.modelTimeoutMs + 600_000,
    // Models that waited for it, whichever way it ended.
    ended: (transaction, { projectId, sourceId: datasourceId }) =>
      app.models.sourceChanged(transaction, { projectId, datasourceId }),
  })
  app.jobs.registerSchedules(() => runDueSchedules(app))
  app.jobs.register(replayJob, (context) => runReplay(app, context), { ended: endReplay })
  app.jobs.register('compact_table', (context) => runCompaction(app, context))
  app.jobs.register('build_dataline_from_connected_resource', (context) => buildDataline(app, context))
}
