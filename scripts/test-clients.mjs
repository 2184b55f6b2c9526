// Builds the wheel of the Python client, installs it beside pandas and Arrow into a folder outside the project that is
// kept between runs, and drives it against the service: `npm test -- clients`.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync, cpSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { findNode, installMissing, root } from './prepare.mjs'

const requirements = join(root, 'test/clients/requirements.txt')

installMissing()
const node = findNode()
const env = { ...process.env, PATH: [dirname(node), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter) }
const python = install()
installWheel()
const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'clients', ...process.argv.slice(2)]
const { status } = spawnSync(node, args, { cwd: root, stdio: 'inherit', env: { ...env, TEST_CLIENTS: python } })
process.exitCode = status ?? 1

/** One folder for each list of packages, so that a change of it makes another. */
function install() {
  const print = createHash('sha256').update(readFileSync(requirements)).digest('hex')
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const folder = join(cache, 'sluice-clients', print.slice(0, 12))
  const found = join(folder, 'bin/python')
  const marker = join(folder, 'complete')
  if (existsSync(marker)) return found
  console.log(`Installing pandas and Arrow (once) into ${folder} …`)
  mkdirSync(dirname(folder), { recursive: true })
  run('python3', ['-m', 'venv', '--clear', folder])
  run(found, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements])
  writeFileSync(marker, '')
  return found
}

/** As it is published: built from a copy, since building leaves files beside the sources. */
function installWheel() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-wheel-'))
  try {
    cpSync(join(root, 'clients/python'), join(folder, 'source'), { recursive: true })
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-deps']
    run(python, ['-m', 'pip', 'wheel', ...quiet, '--no-build-isolation', '-w', folder, join(folder, 'source')])
    const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'))
    run(python, ['-m', 'pip', 'install', ...quiet, '--force-reinstall', join(folder, wheel)])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(command, parts) {
  if (spawnSync(command, parts, { stdio: 'inherit', env }).status !== 0) {
    throw new Error(`${command} failed. It needs Python 3.11 with venv, and its registry.`)
  }
}
