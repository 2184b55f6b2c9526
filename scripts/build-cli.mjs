// The command line by itself: `node scripts/build-cli.mjs dist-cli` writes a package with it and the TypeScript client,
// which `npm pack ./dist-cli` packs, and the same command line as one file, `sluice.mjs`. Neither needs another package.
import { chmodSync, cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { parse } from 'yaml'
import { findNode, installMissing, root, run } from './prepare.mjs'

const folder = resolve(process.argv[2] ?? join(root, 'dist-cli'))
const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

installMissing()
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
await bundle({ dir: join(folder, 'dist'), entryFileNames: 'main.mjs', chunkFileNames: '[name].mjs' })
await bundle({ file: join(folder, 'dist/sluice.mjs'), codeSplitting: false })
for (const name of ['main.mjs', 'sluice.mjs']) chmodSync(join(folder, 'dist', name), 0o755)
const config = join(root, 'clients/typescript')
run(findNode(), ['node_modules/typescript/bin/tsc', '-p', config, '--outDir', join(folder, 'dist')])
for (const name of ['NOTICE', 'CHANGELOG.md']) cpSync(join(root, name), join(folder, name))
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)

async function bundle(output) {
  const made = await rolldown({
    input: join(root, 'cli/main.ts'),
    platform: 'node',
    // The engine is there where the service is installed, and asked for only then.
    external: [/^@duckdb\//],
    plugins: [{ name: 'alone', load: (id) => alone(id) }],
    checks: { bundlerTimings: false },
    onLog: (level, log, say) => level === 'warn' && say('error', log),
  })
  await made.write({
    format: 'esm',
    minify: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    ...output,
  })
}

/** Modules that look beside themselves for the rest of the service: here they have what they need, or say what is missing. */
function alone(id) {
  if (id === join(root, 'cli/context/installation.ts')) {
    const message = 'This is the command line alone: the package of the service has what that needs.'
    return `import { CommandFailure } from '../terminal/exit.ts'
export const packageVersion = () => ${JSON.stringify(version)}
export const serverProgram = () => { throw new CommandFailure('usage', ${JSON.stringify(message)}, { hint: 'npm install sluice' }) }`
  }
  if (id !== join(root, 'cli/context/catalog.ts')) return undefined
  const places = readdirSync(join(root, 'catalog')).filter((name) => name.endsWith('.yaml'))
  const entries = places.map((name) => ({
    name: basename(name, '.yaml'),
    entry: parse(readFileSync(join(root, 'catalog', name), 'utf8')),
  }))
  return `import { catalogEntry } from '../../api/catalog.ts'
const entries = JSON.parse(${JSON.stringify(JSON.stringify(entries))})
export const readCatalog = async () => entries.map(({ name, entry }) => ({ name, entry: catalogEntry.parse(entry) }))`
}

function manifest() {
  return {
    name: 'sluice-cli',
    version,
    private: true,
    description: 'The command line and the TypeScript client of Sluice.',
    license,
    type: 'module',
    bin: { sluice: 'dist/main.mjs' },
    files: ['dist', 'CHANGELOG.md', 'NOTICE'],
    exports: {
      './client': { types: './dist/clients/typescript/index.d.ts', default: './dist/clients/typescript/index.js' },
      './package.json': './package.json',
    },
    engines: { node: '>=20' },
  }
}
