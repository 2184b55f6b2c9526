// Every suite of tests: which part of the work runs it, how long it takes on two quiet cores, and what it needs.
import { installOutside } from './outside-tools.mjs'
import { findObjectServer } from './object-server.mjs'
import { root } from './prepare.mjs'
import { findRedisServer } from './redis.mjs'
import { findTrino } from './trino.mjs'

const awsEnvironment = { AWS_ACCESS_KEY_ID: 'sluice-test', AWS_SECRET_ACCESS_KEY: 'secret-of-the-tests' }

/**
 * `part`: `gate` runs with `npm test`, `all` with `--all` as well, `named` by its name alone. A suite is vitest projects,
 * or a script. `prepare` says what these need by variables; it throws what is missing, and takes its own arguments.
 */
export const suites = [
  gate('unit', 1, 'one module each'),
  gate('architecture', 0.1, 'rooms, folders, names and lengths'),
  gate('docs', 0.1, 'guides, decisions, manifests'),
  gate('api', 2, 'the HTTP API on a real app'),
  gate('store', 0.2, 'migrations, leases, copies'),
  gate('worker', 1.5, 'jobs, executors, outbound calls'),
  gate('cli', 0.7, 'the command line, in a terminal', { needs: 'script(1) for its terminal' }),
  gate('web', 2, 'pages in a real browser', { needs: 'Chromium', isBrowser: true }),
  { ...gate('guides', 1, 'every snippet of the guides'), part: 'all' },
  { ...gate('accuracy', 1, 'questions of newcomers, against the golden file'), part: 'all' },
  {
    ...gate('faults', 15, 'a hundred kills, stops, full and slow disks, damage, a lost database, planted secrets'),
    part: 'all',
    needs: 'root for its disks; FAULT_ROUNDS=10 takes 4 minutes',
    projects: ['faults', 'secrets'],
    prepare: () => ({ FAULT_ROUNDS: process.env.FAULT_ROUNDS ?? '100' }),
  },
  { ...gate('secrets', 0.6, 'a secret of every kind, searched for everywhere'), part: 'all' },
  { ...gate('timing', 4, 'what is judged by the clock'), part: 'all', needs: 'a quiet machine' },
  {
    ...gate('timing-web', 1, 'the same in a browser', { isBrowser: true }),
    part: 'all',
    needs: 'Chromium, a quiet machine',
  },
  prepared('pictures', 8, 'draws every page into test/artefacts', {
    needs: 'Chromium',
    isBrowser: true,
    projects: ['web'],
    prepare: () => ({ TEST_PICTURES: 'yes' }),
  }),
  prepared('redis', 0.3, 'limits that replicas share', { needs: 'redis-server', script: 'test-redis.mjs' }),
  prepared('external', 5, 'store, api and timing on a PostgreSQL that is given', {
    needs: "Debian's postgresql",
    script: 'test-external.mjs',
  }),
  prepared('objects', 1, 'data in a bucket', {
    needs: 'Go 1.24, once',
    prepare: () => ({ TEST_OBJECTS: objectServer(), ...awsEnvironment }),
  }),
  prepared('trino', 3, 'both engines, on a cluster that loses a worker', {
    needs: 'Go 1.24, Maven, unzip, Python 3.11, Chromium, 3 GB of memory',
    isBrowser: true,
    prepare: () => {
      const trino = findTrino()
      if (trino === undefined) throw new Error('This needs Maven, unzip and Python 3.11 to fetch Trino.')
      const places = { TEST_TRINO: trino.home, TEST_JAVA_HOME: trino.javaHome }
      return { ...places, TEST_OBJECTS: objectServer(), ...awsEnvironment }
    },
  }),
  prepared('scale', 10, 'three replicas and all they share, each killed in turn (--minutes 3)', {
    needs: 'Go 1.24, redis-server',
    prepare: (args) => {
      const redis = findRedisServer()
      if (redis === undefined) throw new Error('redis-server is not installed; Debian has it as "redis-server".')
      const shared = { TEST_OBJECTS: objectServer(), TEST_REDIS_SERVER: redis, ...awsEnvironment }
      return { TEST_SCALE: takeMinutes(args, { usual: 10, least: 3 }), ...shared }
    },
  }),
  prepared('soak', 30, 'steady load with hostile calls among it (--minutes 3)', {
    needs: 'a quiet machine',
    prepare: (args) => ({ TEST_SOAK: 'yes', SOAK_MINUTES: takeMinutes(args, { usual: 30, least: 0.1 }) }),
  }),
  prepared('neighbours', 30, 'what one caller may do to another: every route, job and stream', {
    needs: 'a quiet machine',
    prepare: () => ({ TEST_NEIGHBOURS: 'yes' }),
  }),
  prepared('upstreams', 4, 'Datasette, json-server, PostGraphile, Django, SAP CAP, PocketBase and moto as sources', {
    needs: 'Python 3.11, npm, PyPI, Go, once',
    prepare: (_args, env) => ({
      TEST_UPSTREAMS: installOutside('sluice-upstreams', {
        npmPackages: [
          'json-server@0.17.4',
          'postgraphile@5.1.5',
          '@sap/cds@10.1.1',
          '@cap-js/sqlite@3.1.1',
          'express@5.3.0',
        ],
        goProgram: 'github.com/pocketbase/pocketbase/examples/base@v0.28.4',
        pythonPackages: `${root}/test/upstreams/requirements.txt`,
        env,
      }),
    }),
  }),
  prepared('catalog', 4, 'every entry of the catalog, against an API made of its contract (github,stripe for some)', {
    prepare: (args) => ({ TEST_CATALOG: 'yes', CATALOG_ENTRIES: args.splice(0).join(',') }),
  }),
  prepared('mcp', 1, "the protocol's own conformance suite, and its inspector", {
    needs: 'npm',
    prepare: (_args, env) => ({
      TEST_MCP: installOutside('sluice-mcp', {
        npmPackages: ['@modelcontextprotocol/conformance@0.1.16', '@modelcontextprotocol/inspector@2.12.0'],
        env,
      }),
    }),
  }),
  prepared('generators', 1, 'clients that generators of others make', {
    needs: 'Python 3.11, npm, PyPI',
    prepare: (_args, env) => ({
      TEST_GENERATORS: installOutside('sluice-generators', {
        npmPackages: ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3'],
        pythonPackages: `${root}/test/generators/requirements.txt`,
        env,
      }),
    }),
  }),
  script('clients', 2, 'the wheel of the Python client, with pandas and Arrow', 'Python 3.11, PyPI'),
  script('package', 3, 'packed, installed into an empty folder, started (--node /usr/bin/node)', 'npm'),
  script('cli-package', 1, 'the command line by itself, installed and as one file', 'npm'),
  script('supply', 0.5, 'what is installed, a bill of materials, advisories', 'npm'),
  script('fuzz', 20, 'what the OpenAPI document allows and what not, to every operation', 'Python 3.11, PyPI'),
  {
    ...script('fuzz-engine', 1, 'every SQL function with odd values (--seconds 600 --seed 1)', 'nothing'),
    script: '../test/fuzz/engine-functions.ts',
  },
  script('deploy', 2, 'Dockerfile, compose.yaml, chart and unit', 'Python 3.11, PyPI, Go 1.24 for Helm'),
  script('upgrade', 5, 'data folders of earlier versions', 'the history of git'),
  script('container', 3, 'the image, built and started', 'root on Debian, Buildah'),
]

/** What `--list` prints. */
export function listOfSuites() {
  const parts = { gate: 'npm test', all: 'npm test -- --all, too', named: 'by name' }
  const minutes = (each) => (each.minutes < 1 ? '< 1' : String(each.minutes)).padStart(4)
  const line = (each) =>
    `  ${each.name.padEnd(13)}${minutes(each)} min  ${each.about}${each.needs === '' ? '' : `; needs ${each.needs}`}`
  return Object.entries(parts)
    .map(([part, title]) => [title, ...suites.filter((each) => each.part === part).map(line)].join('\n'))
    .join('\n\n')
}

function gate(name, minutes, about, more = {}) {
  return { name, part: 'gate', minutes, about, needs: '', projects: [name], isBrowser: false, ...more }
}

function prepared(name, minutes, about, more) {
  return { ...gate(name, minutes, about), part: 'named', ...more }
}

function script(name, minutes, about, needs) {
  return { ...gate(name, minutes, about), part: 'named', needs, script: `test-${name}.mjs` }
}

function objectServer() {
  const binary = findObjectServer()
  if (binary === undefined)
    throw new Error('The S3 server of the tests is made of its sources: install Go 1.24 or newer.')
  return binary
}

/** Takes `--minutes 3` out of the arguments. */
function takeMinutes(args, { usual, least }) {
  const at = args.indexOf('--minutes')
  if (at === -1) return String(usual)
  const [, minutes] = args.splice(at, 2)
  if (!(Number(minutes) >= least)) throw new Error(`--minutes takes a number from ${least} on.`)
  return minutes
}
