import { defineConfig } from 'vitest/config'

/** Set by `npm run test:redis`, which has started one. */
const hasRedis = (process.env['TEST_REDIS_URL'] ?? '') !== ''
const onDatabase = { globalSetup: 'test/harness/database-server.ts' }

export default defineConfig({
  test: {
    // Real servers start in these tests; a hung one must fail, not stall the run.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A page that loads on a busy machine takes longer than the second that is waited otherwise.
    expect: { poll: { timeout: 10_000 } },
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      { extends: true, test: { name: 'architecture', include: ['test/architecture/**/*.test.ts'] } },
      { extends: true, test: { name: 'docs', include: ['test/docs/**/*.test.ts'] } },
      { extends: true, test: { name: 'api', include: ['test/api/**/*.test.ts'], ...onDatabase } },
      { extends: true, test: { name: 'store', include: ['test/store/**/*.test.ts'], ...onDatabase } },
      { extends: true, test: { name: 'worker', include: ['test/worker/**/*.test.ts'], ...onDatabase } },
      ...(hasRedis
        ? [{ extends: true as const, test: { name: 'redis', include: ['test/redis/**/*.test.ts'], ...onDatabase } }]
        : []),
      { extends: true, test: { name: 'faults', include: ['test/faults/**/*.test.ts'], testTimeout: 120_000 } },
      {
        extends: true,
        test: {
          name: 'web',
          include: ['test/web/**/*.test.ts'],
          testTimeout: 60_000,
          // A browser on a machine that others use misses a beat now and then; twice in a row is a defect.
          retry: 1,
          ...onDatabase,
        },
      },
    ],
  },
})
