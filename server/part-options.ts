import { join } from 'node:path'
import type { Config } from './config.ts'
import { fixedLimits } from '../api/limits.ts'
import type { BucketOptions } from './files/index.ts'
import type { EngineOptions } from './engine/index.ts'
import type { TrinoOptions } from './trino/index.ts'

/** Options of each part, taken from the configuration. */

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

/** The longest time to make a table known to Trino, or to find out what a statement reads there. */
const trinoTableMs = 60_000

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
    requestTimeoutMs: 10_000,
    tableTimeoutMs: trinoTableMs,
    limits: {
      queries: limits.trinoQueries,
      queueLength: limits.queryQueueLength,
      timeoutMs: limits.queryTimeoutMs,
      inspectionTimeoutMs: trinoTableMs,
      memoryBytes: limits.trinoQueryMemoryBytes,
      scanBytes: limits.trinoScanBytes,
      maxChars: fixedLimits.sqlChars.value,
    },
  }
}

export function engineOptions({ dataDir, limits }: Config): Omit<EngineOptions, 'observe' | 'now'> {
  return {
    runDir: join(dataDir, 'run'),
    executors: limits.executorProcesses,
    spareExecutors: limits.spareExecutors,
    quarantineMs: fixedLimits.quarantineSeconds.value * 1000,
    concurrencyPerExecutor: limits.executorConcurrency,
    memoryBytes: limits.executorMemoryBytes,
    queueLength: limits.queryQueueLength,
    timeoutMs: limits.queryTimeoutMs,
    // Many small queries at once do better than one on all cores; and one thread keeps the order of a result.
    threads: 1,
    idleCloseMs: 300_000,
    restAfterMs: limits.restAfterSeconds * 1000,
    sqlLimits: {
      chars: fixedLimits.sqlChars.value,
      nodes: fixedLimits.sqlNodes.value,
      levels: fixedLimits.sqlLevels.value,
    },
    inspectionTimeoutMs: 5_000,
  }
}

export function questionIndexesOptions({ limits }: Config) {
  return {
    threads: limits.encoderThreads,
    restAfterMs: limits.restAfterSeconds * 1000,
    queueLength: 1_000,
    questionWaitMs: limits.questionWaitMs,
    waitMs: 10_000,
    maxBytes: limits.questionIndexBytes,
  }
}
