import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { reportTo } from './test/harness/reporter.ts'

/** Set by `npm run test:redis`, which has started one. */
const hasRedis = (process.env['TEST_REDIS_URL'] ?? '') !== ''
/** Set by `npm run test:neighbours`: minutes of load, whose figures mean something on a quiet machine alone. */
const withNeighbours = process.env['TEST_NEIGHBOURS'] === 'yes'
/** Set by `npm run test:soak`: half an hour of load. */
const withSoak = process.env['TEST_SOAK'] === 'yes'
/** Set by `npm run test:upstreams`: where it has installed the servers of others. */
const withUpstreams = (process.env['TEST_UPSTREAMS'] ?? '') !== ''
/** Set by `npm run test:clients`: the Python that has what the client can use. */
const withClients = (process.env['TEST_CLIENTS'] ?? '') !== ''
/** Set by `npm run test:mcp`: where it has installed the conformance suite and the inspector. */
const withMcpSuite = (process.env['TEST_MCP'] ?? '') !== ''
/** Set by `npm run test:generators`: where it has installed them. */
const withGenerators = (process.env['TEST_GENERATORS'] ?? '') !== ''
/** Set by `npm run test:objects`: the S3 server. */
const withObjects = (process.env['TEST_OBJECTS'] ?? '') !== ''
/** Set by `npm run test:trino`: where Trino is. */
const withTrino = (process.env['TEST_TRINO'] ?? '') !== ''
/** Set by `npm run test:scale`: for how many minutes. */
const withScale = (process.env['TEST_SCALE'] ?? '') !== ''
/** Set by `npm test`, which reads it. */
const report = process.env['TEST_REPORT'] ?? ''

/** Each of these folders is a project, to be run by itself. */
const folders = ['unit', 'architecture', 'docs', 'api', 'store', 'cli', 'worker', 'web']
/** Set by `npm test`: the folders that it runs as one, whose files share processes from one folder to the next. */
const together = (process.env['TEST_TOGETHER'] ?? '').split(',').filter((folder) => folder !== '')

const snippets = 'test/docs/snippets.test.ts'

const sharing = (name: string, names: string[]) => ({
  extends: true as const,
  test: { name, include: names.map((folder) => `test/${folder}/**/*.test.ts`), exclude: [snippets] },
})
const alone = (groupOrder: number) => ({ maxWorkers: 1, sequence: { groupOrder } })

export default defineConfig({
  test: {
    // One PostgreSQL for all projects; it starts only where one of those that run needs it.
    globalSetup: 'test/harness/database-server.ts',
    // Real servers start in these tests; a hung one must fail, not stall the run. The longest takes 20 s on two cores, and
    // minutes where others use them too.
    testTimeout: 300_000,
    hookTimeout: 180_000,
    teardownTimeout: 60_000,
    // A page that loads on a busy machine takes longer than the second that is waited otherwise.
    expect: { poll: { timeout: 60_000 } },
    reporters: report === '' ? ['default'] : ['dot', reportTo(report)],
    pool: 'forks',
    // One more than the two cores of the smallest machine: tests wait for servers and pages a third of their time.
    maxWorkers: 3,
    // The files of a project share a process: the server's modules load once, not once per file. Modules keep no state
    // of their own, so no file can see what another did.
    isolate: false,
    // Executors, encoders and services that tests start load what an earlier one has compiled, as with `npm start`.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/sluice') },
    projects: [
      ...(together.length === 0 ? folders.map((name) => sharing(name, [name])) : [sharing('gate', together)]),
      // Every snippet of the guides, against a service: a minute, so it comes after the gate.
      { extends: true, test: { name: 'guides', include: [snippets], testTimeout: 300_000 } },
      ...(hasRedis ? [{ extends: true as const, test: { name: 'redis', include: ['test/redis/**/*.test.ts'] } }] : []),
      ...(withNeighbours
        ? [
            {
              extends: true as const,
              test: { name: 'neighbours', include: ['test/neighbours/**/*.test.ts'], ...alone(1) },
            },
          ]
        : []),
      ...(withObjects
        ? [{ extends: true as const, test: { name: 'objects', include: ['test/objects/**/*.test.ts'] } }]
        : []),
      ...(withTrino
        ? [
            {
              extends: true as const,
              test: { name: 'trino', include: ['test/trino/**/*.test.ts'], testTimeout: 300_000, hookTimeout: 400_000 },
            },
          ]
        : []),
      ...(withScale
        ? [{ extends: true as const, test: { name: 'scale', include: ['test/scale/**/*.test.ts'], ...alone(1) } }]
        : []),
      ...(withSoak ? [{ extends: true as const, test: { name: 'soak', include: ['test/soak/**/*.test.ts'] } }] : []),
      ...(withClients
        ? [{ extends: true as const, test: { name: 'clients', include: ['test/clients/**/*.test.ts'] } }]
        : []),
      ...(withUpstreams
        ? [
            {
              extends: true as const,
              test: { name: 'upstreams', include: ['test/upstreams/**/*.test.ts'], testTimeout: 300_000 },
            },
          ]
        : []),
      ...(withMcpSuite
        ? [{ extends: true as const, test: { name: 'mcp', include: ['test/mcp/**/*.test.ts'], testTimeout: 300_000 } }]
        : []),
      ...(withGenerators
        ? [
            {
              extends: true as const,
              test: { name: 'generators', include: ['test/generators/**/*.test.ts'], testTimeout: 300_000 },
            },
          ]
        : []),
      { extends: true, test: { name: 'faults', include: ['test/faults/**/*.test.ts'], testTimeout: 300_000 } },
      { extends: true, test: { name: 'secrets', include: ['test/secrets/**/*.test.ts'] } },
      // What is measured by the clock runs when nothing else does, one file after the other.
      { extends: true, test: { name: 'timing', include: ['test/timing/**/*.test.ts'], ...alone(1) } },
      {
        extends: true,
        test: { name: 'timing-web', include: ['test/timing-web/**/*.test.ts'], ...alone(2) },
      },
    ],
  },
})
