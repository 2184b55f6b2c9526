// Drives real servers that are not ours through first load, refresh, outage, drift and recovery, and counts every row on
// both sides. They come from PyPI and npm into a folder outside the project that is kept between runs:
// `npm run test:upstreams [-- -t Datasette]`.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { findNode, installMissing, root } from './prepare.mjs'

const npmPackages = ['json-server@0.17.4', 'postgraphile@5.1.5']
const pythonPackages = join(root, 'test/upstreams/requirements.txt')

installMissing()
const node = findNode()
const env = { ...process.env, PATH: [dirname(node), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter) }
const installed = install()
const args = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--project',
  'upstreams',
  '--retry',
  '0',
  ...process.argv.slice(2),
]
const { status } = spawnSync(node, args, { cwd: root, stdio: 'inherit', env: { ...env, TEST_UPSTREAMS: installed } })
process.exitCode = status ?? 1

/** One folder for each list of packages, so that a change of it makes another. */
function install() {
  const print = createHash('sha256').update(readFileSync(pythonPackages)).update(npmPackages.join()).digest('hex')
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const folder = join(cache, 'sluice-upstreams', print.slice(0, 12))
  const marker = join(folder, 'complete')
  if (existsSync(marker)) return folder
  console.log(`Installing the servers (once) into ${folder} …`)
  mkdirSync(join(folder, 'npm'), { recursive: true })
  const python = join(folder, 'python/bin/python')
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--disable-pip-version-check', '-r', pythonPackages]
  const npm = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', '.']
  run('python3', ['-m', 'venv', '--clear', join(folder, 'python')], folder)
  run(python, pip, folder)
  run('npm', [...npm, ...npmPackages], join(folder, 'npm'))
  writeFileSync(marker, '')
  return folder
}

function run(command, args, cwd) {
  if (spawnSync(command, args, { cwd, stdio: 'inherit', env }).status !== 0) {
    throw new Error(`${command} failed. It needs Python 3.11 with venv, npm, and their registries.`)
  }
}
