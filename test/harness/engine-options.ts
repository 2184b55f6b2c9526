import type { ExecutorSettings } from '../../server/engine/executor/socket/protocol.ts'
import type { EngineOptions } from '../../server/engine/index.ts'

/** A small engine, for tests and benches to change where they need more. */
export const engineOptions = {
  executors: 1,
  spareExecutors: 0,
  quarantineMs: 60_000,
  concurrencyPerExecutor: 4,
  memoryBytes: 512 * 1024 * 1024,
  queueLength: 200,
  timeoutMs: 25_000,
  threads: 1,
  idleCloseMs: 60_000,
  restAfterMs: 0,
  sqlLimits: { chars: 100_000, nodes: 30_000, levels: 200 },
  inspectionTimeoutMs: 25_000,
  observe: () => undefined,
  now: () => performance.now(),
} satisfies Omit<EngineOptions, 'runDir'>

/** For tests of what an executor does, in the process of the test. */
export function executorSettings(tempDir: string): ExecutorSettings {
  const { sqlLimits } = engineOptions
  return { tempDir, threads: 1, concurrency: 4, memoryBytes: 1e8, idleCloseMs: 60_000, sqlLimits }
}
