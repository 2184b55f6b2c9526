// Parts of both packages: the command line in a few files, the TypeScript client, and the licences of all that is bundled.
import { chmodSync, cpSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { rolldown } from 'rolldown'
import { parse } from 'yaml'
import { findNode, root, run } from './prepare.mjs'

export const { version, license, dependencies, optionalDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)
export const clientExport = {
  types: './dist/clients/typescript/index.d.ts',
  default: './dist/clients/typescript/index.js',
}

/** The command line as `dist/cli/main.mjs` or the like; `serverProgram` is the source of how it finds the service. */
export async function bundleCommandLine(output, serverProgram) {
  const made = await rolldown({
    input: join(root, 'cli/main.ts'),
    platform: 'node',
    // The engine is there where the service is installed, and asked for only then.
    external: [/^@duckdb\//],
    plugins: [{ name: 'alone', load: (id) => withoutSources(id, serverProgram) }],
    // A command brings no module of ours that it uses nothing of.
    treeshake: { moduleSideEffects: [{ test: /^(?!.*[\\/]node_modules[\\/])/, sideEffects: false }] },
    checks: { bundlerTimings: false },
    onLog: (level, log, say) => level === 'warn' && say('error', log),
  })
  const written = await made.write({
    format: 'esm',
    minify: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    ...output,
  })
  const [folder, names] = output.dir === undefined ? [output.file, ['']] : [output.dir, [output.entryFileNames]]
  for (const name of names) chmodSync(join(folder, name), 0o755)
  return written.output
}

/** Modules that look beside themselves for the rest of the sources: here they have what they need. */
function withoutSources(id, serverProgram) {
  if (id === join(root, 'cli/context/installation.ts'))
    return `${serverProgram}\nexport const packageVersion = () => ${JSON.stringify(version)}`
  if (id !== join(root, 'cli/context/catalog.ts')) return undefined
  const places = readdirSync(join(root, 'catalog')).filter((name) => name.endsWith('.yaml'))
  const entries = places.map((name) => ({
    name: basename(name, '.yaml'),
    entry: parse(readFileSync(join(root, 'catalog', name), 'utf8')),
  }))
  return `import { catalogEntry } from '../../api/catalog.ts'
// Read by who asks for it: every command loads this.
const entries = () => JSON.parse(${JSON.stringify(JSON.stringify(entries))})
export const readCatalog = async () => entries().map(({ name, entry }) => ({ name, entry: catalogEntry.parse(entry) }))`
}

/** With its types, for people's editors, and without those of Node. */
export function compileClient(dist) {
  const config = join(root, 'clients/typescript')
  run(findNode(), ['node_modules/typescript/bin/tsc', '-p', config, '--outDir', dist])
}

/** What every package has beside `dist/`. */
export function writePapers(folder, manifest, chunks) {
  for (const name of ['NOTICE', 'CHANGELOG.md']) cpSync(join(root, name), join(folder, name))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(join(folder, 'dist/licenses.md'), licencesOf(chunks))
}

/** Bundled packages are passed on, and their licences ask that the text goes with them. */
function licencesOf(chunks) {
  const modules = chunks.flatMap((chunk) => chunk.moduleIds ?? [])
  const folders = new Set(modules.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id) ?? []))
  const texts = [...folders]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((folder) => {
      const { name, version: of, license: under } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const files = readdirSync(folder).filter((each) => /^(licen[cs]e|copying|notice)/i.test(each))
      const text = files.map((each) => readFileSync(join(folder, each), 'utf8').trim()).join('\n\n')
      return `## ${name} - ${of} (${under ?? 'no licence named'})\n\n${text}\n`
    })
  if (texts.length === 0) throw new Error('Nothing of others was found in what was bundled.')
  return `# Licenses\n\nPackages that are built into this one.\n\n${texts.join('\n')}`
}

/** The part of the lockfile that these packages and theirs are in, for `npm ci` of exactly what was tried. */
export function lockOf(manifest) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const found = {}
  const take = (name) => {
    const path = `node_modules/${name}`
    const entry = packages[path]
    if (entry === undefined || found[path] !== undefined) return
    found[path] = entry
    for (const each of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) take(each)
  }
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) take(name)
  const { name, dependencies: needed, optionalDependencies: optional, engines, bin } = manifest
  const own = { name, version, license, dependencies: needed, optionalDependencies: optional, engines, bin }
  return { name, version, lockfileVersion: 3, requires: true, packages: { '': own, ...found } }
}

/** Copies the first of these that are there, so that a renamed file is noticed here and not by a user. */
export function copy(from, to, filter = () => true) {
  if (!existsSync(from)) throw new Error(`${from} is not there.`)
  cpSync(from, to, { recursive: true, filter })
}
