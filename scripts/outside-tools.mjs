// Programs of others that tests are run with, in a folder outside the project that is kept between runs.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Installs npm packages into `npm`, Python packages into `python` and a Go program into `go` of a folder, and says which. One folder for
 * each list of packages, so that a change of it makes another.
 */
export function installOutside(name, { npmPackages = [], pythonPackages = null, goProgram = '', env }) {
  const requirements = pythonPackages === null ? '' : readFileSync(pythonPackages)
  const print = createHash('sha256').update(requirements).update(npmPackages.join()).update(goProgram).digest('hex')
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const folder = join(cache, name, print.slice(0, 12))
  const marker = join(folder, 'complete')
  if (existsSync(marker)) return folder
  console.log(`Installing what the tests run with (once) into ${folder} …`)
  mkdirSync(join(folder, 'npm'), { recursive: true })
  if (pythonPackages !== null) {
    const python = join(folder, 'python/bin/python')
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--disable-pip-version-check', '-r', pythonPackages]
    run('python3', ['-m', 'venv', '--clear', join(folder, 'python')], folder, env)
    run(python, pip, folder, env)
  }
  if (npmPackages.length > 0) {
    const npm = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', '.']
    run('npm', [...npm, ...npmPackages], join(folder, 'npm'), env)
  }
  if (goProgram !== '') run('go', ['install', goProgram], folder, { ...env, GOBIN: join(folder, 'go') })
  writeFileSync(marker, '')
  return folder
}

function run(command, args, cwd, env) {
  if (spawnSync(command, args, { cwd, stdio: 'inherit', env }).status !== 0) {
    throw new Error(`${command} failed. It needs Python 3.11 with venv, npm, Go, and their registries.`)
  }
}
