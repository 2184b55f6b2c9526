import { join } from 'node:path'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { seedOfCommit } from './scripts/seed.mjs'
import { reportTo } from './test/harness/reporter.ts'
import { BuiltLast } from './test/harness/sequencer.ts'

/** Set by `npm test`, which reads it. */
const report = process.env['TEST_REPORT'] ?? ''
/** Each of these folders is a project, to be run by itself. */
const folders = ['unit', 'architecture', 'docs', 'api', 'store', 'cli', 'worker', 'web']
/** Set by `npm test`: the folders that it runs as one, whose files share processes from one folder to the next. */
const together = (process.env['TEST_TOGETHER'] ?? '').split(',').filter((folder) => folder !== '')

const snippets = 'test/docs/snippets.test.ts'
/** Every page, one after the other, only to be looked at: `npm test` leaves them to `--all`. */
const galleries = ['test/web/pages.test.ts', 'test/web/build-pages.test.ts', 'test/web/deploy-pages.test.ts']
const left = process.env['TEST_LOOKS'] === 'none' ? [snippets, ...galleries] : [snippets]

type Settings = NonNullable<TestProjectInlineConfiguration['test']>

const project = (name: string, settings: Settings = {}): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...settings },
})
const sharing = (name: string, names: string[]) =>
  project(name, { include: names.map((folder) => `test/${folder}/**/*.test.ts`), exclude: left })
const alone = (groupOrder: number): Settings => ({ maxWorkers: 1, sequence: { groupOrder } })
/** Where `npm test -- <name>` has prepared what the suite needs, and said so by this variable. */
const prepared = (name: string, variable: string, settings?: Settings) =>
  (process.env[variable] ?? '') === '' ? [] : [project(name, settings)]

export default defineConfig({
  test: {
    // One PostgreSQL for all projects; it starts only where one of those that run needs it.
    globalSetup: 'test/harness/database-server.ts',
    setupFiles: 'test/harness/setup.ts',
    // Real servers start in these tests; a hung one must fail, not stall the run. The longest takes 20 s on two cores, and
    // minutes where others use them too.
    testTimeout: 300_000,
    hookTimeout: 180_000,
    teardownTimeout: 60_000,
    // A page that loads on a busy machine takes longer than the second that is waited otherwise.
    expect: { poll: { timeout: 60_000 } },
    chaiConfig: { truncateThreshold: 0 },
    reporters: report === '' ? ['default'] : [process.stdout.isTTY ? 'dot' : 'minimal', reportTo(report)],
    pool: 'forks',
    // One more than the two cores of the smallest machine: tests wait for servers and pages a third of their time.
    maxWorkers: 3,
    // The files of a project share a process: the server's modules load once, not once per file. Modules keep no state
    // of their own, so no file can see what another did.
    isolate: false,
    sequence: { sequencer: BuiltLast },
    env: {
      // Executors, encoders and services that tests start load what an earlier one has compiled, as with `npm start`.
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/sluice'),
      TEST_SEED: String(seedOfCommit()),
    },
    projects: [
      ...(together.length === 0 ? folders.map((name) => sharing(name, [name])) : [sharing('gate', together)]),
      // Every snippet of the guides, against a service: a minute, so it comes after the gate.
      project('guides', { include: [snippets] }),
      project('accuracy'),
      ...prepared('redis', 'TEST_REDIS_URL'),
      ...prepared('neighbours', 'TEST_NEIGHBOURS', alone(1)),
      ...prepared('objects', 'TEST_OBJECTS'),
      // Loads of Java start, and a coordinator takes its time to notice that a worker is gone.
      ...prepared('trino', 'TEST_TRINO', { testTimeout: 900_000, hookTimeout: 1_000_000 }),
      ...prepared('scale', 'TEST_SCALE', { ...alone(1), disableConsoleIntercept: true }),
      ...prepared('soak', 'TEST_SOAK'),
      ...prepared('clients', 'TEST_CLIENTS'),
      ...prepared('upstreams', 'TEST_UPSTREAMS'),
      ...prepared('catalog', 'TEST_CATALOG'),
      ...prepared('mcp', 'TEST_MCP'),
      ...prepared('generators', 'TEST_GENERATORS'),
      project('faults'),
      project('secrets'),
      // What is measured by the clock runs when nothing else does, one file after the other.
      project('timing', alone(1)),
      project('timing-web', alone(2)),
    ],
  },
})
