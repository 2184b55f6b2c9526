import { join } from 'node:path'
import type { Config } from './config.ts'
import { fixedLimits } from '../api/limits.ts'
import type { BucketOptions, EngineOptions } from './data/index.ts'
import type { TrinoOptions } from './trino/index.ts'

/** What of the configuration each part is opened with. */

export function databaseOptions({ dataDir, databaseUrl, objectsUrl, limits }: Config) {
  const { databaseConnections: connections, databaseTimeoutMs: timeoutMs } = limits
  return { dataDir, databaseUrl, objectsUrl, connections, timeoutMs }
}

/** Null where the data files are in the data folder. */
export function bucketOptions(config: Config): BucketOptions | null {
  if (config.objectsUrl === undefined) return null
  return {
    url: config.objectsUrl,
    endpoint: config.objectsEndpoint,
    region: config.objectsRegion,
    pathStyle: config.objectsPathStyle === 'on',
    encryption: config.objectsEncryption,
    kmsKey: config.objectsKmsKey,
    timeoutMs: config.limits.objectTimeoutMs,
  }
}

/** Null where there is none. */
export function trinoOptions(config: Config): TrinoOptions | null {
  const { trinoUrl: url, trinoRulesKey: rulesKey, limits } = config
  if (url === undefined || rulesKey === undefined) return null
  return {
    url,
    user: config.trinoUser,
    password: config.trinoPassword,
    catalog: config.trinoCatalog,
    rulesKey,
    requestTimeoutMs: limits.trinoTimeoutMs,
    tableTimeoutMs: limits.trinoTableTimeoutMs,
    limits: {
      queries: limits.trinoQueries,
      queueLength: limits.queryQueueLength,
      timeoutMs: limits.queryTimeoutMs,
      inspectionTimeoutMs: limits.trinoTableTimeoutMs,
      memoryBytes: limits.trinoQueryMemoryBytes,
      scanBytes: limits.trinoScanBytes,
      maxChars: fixedLimits.sqlChars.value,
    },
  }
}

export function filesOptions(config: Config) {
  const dir = join(config.dataDir, 'files')
  return { dir, bucket: bucketOptions(config), cacheBytes: config.limits.objectCacheBytes }
}

/** A process that answers no calls needs none. */
export function lookupOptions({ dataDir, role, limits }: Config) {
  return { dir: join(dataDir, 'lookups'), maxBytes: role === 'worker' ? 0 : limits.lookupBytes }
}

/** Failures of each kind that an address may have in a minute. */
export function attemptLimits({ limits }: Config) {
  return {
    signIn: limits.failedSignInsPerMinute,
    authentication: limits.failedAuthenticationsPerMinute,
    registration: limits.oauthRegistrationsPerMinute,
  }
}

export function usageOptions({ limits }: Config) {
  return { queueLength: limits.usageQueueLength, closeTimeoutMs: limits.flushTimeoutMs }
}

export function engineOptions({ dataDir, limits }: Config): Omit<EngineOptions, 'observe' | 'now'> {
  return {
    runDir: join(dataDir, 'run'),
    executors: limits.executorProcesses,
    spareExecutors: limits.spareExecutors,
    quarantineMs: limits.quarantineSeconds * 1000,
    concurrencyPerExecutor: limits.executorConcurrency,
    memoryBytes: limits.executorMemoryBytes,
    queueLength: limits.queryQueueLength,
    timeoutMs: limits.queryTimeoutMs,
    // Many small queries at once do better than one on all cores; and one thread keeps the order of a result.
    threads: 1,
    idleCloseMs: limits.projectIdleSeconds * 1000,
    restAfterMs: limits.restAfterSeconds * 1000,
    sqlLimits: { chars: limits.sqlChars, nodes: limits.sqlNodes, levels: limits.sqlLevels },
    inspectionTimeoutMs: limits.inspectionTimeoutMs,
  }
}

export function routerOptions({ limits }: Config) {
  return {
    threads: limits.encoderThreads,
    restAfterMs: limits.restAfterSeconds * 1000,
    queueLength: limits.questionQueueLength,
    questionWaitMs: limits.questionWaitMs,
    waitMs: limits.questionIndexWaitMs,
    maxBytes: limits.questionIndexBytes,
  }
}

export function languageModelOptions({ languageModelUrl, languageModel, languageModelKey, limits }: Config) {
  return {
    url: languageModelUrl,
    model: languageModel,
    apiKey: languageModelKey,
    timeoutMs: limits.languageModelTimeoutMs,
  }
}

export function clientDocumentOptions({ limits }: Config) {
  return { maxBytes: limits.clientDocumentBytes, timeoutMs: limits.clientDocumentTimeoutMs }
}

export function outboundOptions({ outboundAllow, example, port, limits }: Config) {
  // The sample API is this server under a name of its own, by which nothing else of it can be reached.
  const sample = example === 'on' ? [`sample.localhost:${port}`] : []
  return {
    allow: [...outboundAllow, ...sample],
    connectTimeoutMs: limits.outboundConnectTimeoutMs,
    connectionsPerOrigin: limits.outboundConnectionsPerOrigin,
    backoffBaseMs: 500,
    backoffMaxMs: 10_000,
  }
}

export function alertOptions({ smtpUrl, mailFrom, limits }: Config) {
  return { smtpUrl, mailFrom, intervalMs: limits.alertIntervalSeconds * 1000, timeoutMs: limits.webhookTimeoutMs }
}

export function jobOptions({ limits }: Config) {
  return {
    concurrency: limits.jobsAtOnce,
    limits: { timeoutMs: limits.jobTimeoutMs, graceMs: limits.shutdownTimeoutMs },
  }
}
