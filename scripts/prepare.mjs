// Plain JavaScript on purpose: this runs before anything is installed, under whatever Node from 20 on is there.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export { findNode } from './launch.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bundles = join(root, 'node_modules/.cache/sluice-server')
const maxBundles = 8

/** Installs what the lockfile names and node_modules lacks. Looks only at versions: milliseconds when all is there. */
export function installMissing() {
  if (isInstalled()) return
  console.log('Installing what is missing (once) …')
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  // `.npmrc` says that no install script runs.
  run(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { shell: process.platform === 'win32' })
}

/** Builds the web app when a file it is made from has changed since the last build. */
export async function buildWebIfStale(node) {
  const marker = join(root, 'web/dist/.built-from')
  const current = fingerprint(['web', 'clients/ask-element', 'api', 'docs', 'package-lock.json'])
  if (existsSync(marker) && readFileSync(marker, 'utf8') === current) return
  console.log('Building the web app …')
  const args = ['node_modules/vite/bin/vite.js', 'build', '--config', 'web/vite.config.ts', '--logLevel', 'warn']
  // Waits without blocking: the gate does other things meanwhile.
  const [code] = await once(spawn(node, args, { cwd: root, stdio: 'inherit' }), 'exit')
  if (code !== 0) throw new Error('The web app could not be built.')
  writeFileSync(marker, current)
}

/**
 * The server as a few files instead of two thousand, made when a file that it is made from has changed. Each state of the
 * sources has a folder of its own: a server that runs loads parts of its folder when they are first used.
 */
export async function bundleServerIfStale(node) {
  const current = fingerprint(['server', 'api', 'package-lock.json', 'scripts/bundle-server.mjs'])
  // The folder of the project is in it: files that are not bundled are named by their whole paths.
  const name = createHash('sha256').update(root).update(current).digest('hex').slice(0, 16)
  const folder = join(bundles, name)
  if (!existsSync(folder)) {
    console.log('Bundling the server …')
    const making = `${folder}.${process.pid}`
    const args = ['scripts/bundle-server.mjs', making, folder]
    const [code] = await once(spawn(node, args, { cwd: root, stdio: 'inherit' }), 'exit')
    if (code !== 0) throw new Error('The server could not be bundled.')
    keep(making, folder)
  }
  return { program: join(folder, 'server/main.mjs'), compileCache: join(folder, 'compiled') }
}

/** Runs a command in the project's folder and stops here if it fails. */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed.`)
}

/** Another start may have made the same meanwhile. Of the older ones, those that were made last stay: they may be in use. */
function keep(making, folder) {
  try {
    renameSync(making, folder)
  } catch {
    rmSync(making, { recursive: true, force: true })
  }
  const madeAt = (name) => statSync(join(bundles, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const oldest = readdirSync(bundles).sort((a, b) => madeAt(a) - madeAt(b))
  for (const name of oldest.slice(0, -maxBundles)) rmSync(join(bundles, name), { recursive: true, force: true })
}

function isInstalled() {
  const installed = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(installed)) return false
  const has = JSON.parse(readFileSync(installed, 'utf8')).packages
  const wants = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  return Object.entries(wants).every(
    ([path, { version, optional }]) => path === '' || optional === true || has[path]?.version === version,
  )
}

function fingerprint(places) {
  const hash = createHash('sha256')
  const add = (path) =>
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0')
  for (const place of places) {
    if (place.includes('.')) add(place)
    else {
      readdirSync(join(root, place), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
        .filter((path) => !path.startsWith(join('web', 'dist')))
        .sort()
        .forEach(add)
    }
  }
  return hash.digest('hex')
}
