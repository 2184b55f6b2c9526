// The contracts of the catalog, out of the documents of the vendors: `node scripts/catalog.mjs contracts` takes them again
// and says what has changed, `-- --check` changes nothing, `show <entry>` lists what a document offers, and `page` writes
// docs/catalog.md. Names behind a command choose entries. `--from <folder>` reads the repositories
// that are in `<folder>/<owner>/<name>` in place of GitHub.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { changesBetween } from './catalog/changes.mjs'
import { contractOf, operationsOf } from './catalog/contract.mjs'
import { listOf } from './catalog/page.mjs'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'catalog')
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { from: { type: 'string' }, check: { type: 'boolean', default: false } },
})
const [command, ...chosen] = positionals
const scratch = mkdtempSync(join(tmpdir(), 'sluice-catalog-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

/** What was brought of each repository and package. */
const copies = new Map()

const commands = { contracts, show, page }
if (!Object.hasOwn(commands, command ?? '')) {
  console.error('Say contracts, show <entry> or page.')
  process.exit(2)
}
commands[command]()

function contracts() {
  const all = entries()
  const told = { changed: 0, unread: 0 }
  for (const { name, entry } of all) {
    const path = join(folder, 'contracts', `${name}.json`)
    const fresh = freshContract(entry)
    if (fresh.missing.length > 0) {
      told.unread += 1
      console.log(
        [`${name}: cannot be taken, and stays as it is`, ...fresh.missing.map((each) => `  ${each}`)].join('\n'),
      )
      continue
    }
    const changes = changesBetween(readJson(path), fresh.contract)
    if (changes.length === 0) continue
    told.changed += 1
    console.log([`${name}:`, ...changes.map((each) => `  ${each}`)].join('\n'))
    if (!options.check) writeFileSync(path, `${writeContract(fresh.contract)}\n`)
  }
  console.log(`${all.length} contracts, ${told.changed} changed, ${told.unread} that cannot be taken.`)
  if (told.unread > 0 || (options.check && told.changed > 0)) process.exitCode = 1
}

/** The contract of an entry, or what its documents no longer have: one entry holds up none of the others. */
function freshContract(entry) {
  try {
    const taken = contractOfEntry(entry)
    const missing = taken.flatMap(({ missing: gone, path }) => gone.map((each) => `${each} is not in ${path}`))
    return { contract: { documents: taken.map(({ document }) => document) }, missing }
  } catch (error) {
    return { missing: [String(error.message).trim().split('\n')[0]] }
  }
}

function show() {
  for (const { entry } of entries()) {
    for (const [path] of documentsOf(entry)) console.log(operationsOf(readDocument(entry.document, path)).join('\n'))
  }
}

function page() {
  const path = join(root, 'docs', 'catalog.md')
  const list = listOf(
    entries().map(({ name, entry }) => ({
      name,
      entry,
      contract: readJson(join(folder, 'contracts', `${name}.json`)),
    })),
  )
  const [before] = readFileSync(path, 'utf8').split(/(?<=^## All entries$)/m)
  writeFileSync(path, `${before}\n\n${list}\n`)
}

function contractOfEntry(entry) {
  return [...documentsOf(entry)].map(([path, operations]) => {
    const { commit, ...source } = sourceOf(entry.document, path)
    const { contract, missing } = contractOf(readDocument(entry.document, path), operations)
    return { path, missing, document: { ...source, path, ...(commit && { commit }), ...contract } }
  })
}

/** The operations that an entry takes from each of its documents. */
function documentsOf(entry) {
  const documents = new Map()
  for (const { document = entry.document.path, operation } of Object.values(entry.tables)) {
    documents.set(document, [...new Set([...(documents.get(document) ?? []), operation])])
  }
  return documents
}

function entries() {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => basename(file, '.yaml'))
  const unknown = chosen.find((name) => !names.includes(name))
  if (unknown !== undefined) throw new Error(`The catalog has no ${unknown}.`)
  return names
    .filter((name) => chosen.length === 0 || chosen.includes(name))
    .map((name) => ({ name, entry: parse(readFileSync(join(folder, `${name}.yaml`), 'utf8')) }))
}

/** The newest copy of a repository or package, and which it is. */
function copyOf({ repository, package: packed }) {
  const name = repository ?? packed
  if (!copies.has(name)) copies.set(name, repository === undefined ? unpack(packed) : clone(repository))
  return copies.get(name)
}

function clone(repository) {
  const place =
    options.from === undefined ? join(scratch, repository.replace('/', '+')) : join(options.from, repository)
  if (options.from === undefined) {
    const address = `https://github.com/${repository}`
    run('git', ['clone', '--quiet', '--bare', '--depth', '1', '--filter=blob:none', address, place])
  }
  const commit = run('git', ['-C', place, 'rev-parse', 'HEAD']).trim()
  return { commit, read: (path) => run('git', ['-C', place, 'show', `HEAD:${path}`]) }
}

function unpack(name) {
  const packed = run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', scratch, name]).trim()
  const file = join(scratch, packed)
  const { version } = JSON.parse(run('tar', ['-xzOf', file, 'package/package.json']))
  return { commit: version, read: (path) => run('tar', ['-xzOf', file, `package/${path}`]) }
}

function sourceOf(document) {
  const { repository, package: packed } = document
  return { ...(repository && { repository }), ...(packed && { package: packed }), commit: copyOf(document).commit }
}

function readDocument(document, path) {
  const text = copyOf(document).read(path)
  return path.endsWith('.json') ? JSON.parse(text) : parse(text, { maxAliasCount: -1, uniqueKeys: false, merge: true })
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

/** A line for each parameter and for each field of the answer, as far as a line goes: what changed is read in the diff. */
function writeContract(contract) {
  const write = (value, indent) => {
    const flat = JSON.stringify(value)
    if (typeof value !== 'object' || value === null || flat.length + indent.length <= 120) return flat
    const inner = `${indent}  `
    const lines = Array.isArray(value)
      ? value.map((each) => inner + write(each, inner))
      : Object.entries(value).map(([key, each]) => `${inner}${JSON.stringify(key)}: ${write(each, inner)}`)
    const [open, close] = Array.isArray(value) ? '[]' : '{}'
    return `${open}\n${lines.join(',\n')}\n${indent}${close}`
  }
  return write(contract, '')
}

function run(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 30 })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
  return stdout
}
