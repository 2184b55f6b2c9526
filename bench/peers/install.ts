import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const limit = { timeout: 300_000, maxBuffer: 16_777_216 }

/** Outside the repository: nothing of a peer is a dependency. */
export const peerCache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'sluice-bench')

/** A Python package in an environment of its own; gives the folder of its programs. */
export async function installPython(cache: string, requirement: string): Promise<string> {
  const folder = join(cache, requirement.replace('==', '-'))
  await once(folder, async () => {
    await run('python3', ['-m', 'venv', folder], limit)
    await run(join(folder, 'bin/pip'), ['install', '--quiet', requirement], limit)
  })
  return join(folder, 'bin')
}

/** Packages of npm in a folder of their own; gives that folder. */
export async function installNpm(cache: string, name: string, requirements: string[]): Promise<string> {
  const folder = join(cache, name)
  await once(folder, async () => {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'package.json'), '{ "private": true }')
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    await run('npm', ['install', ...options, ...requirements], { ...limit, cwd: folder })
  })
  return folder
}

/** Done again where it was not finished. */
async function once(folder: string, install: () => Promise<void>): Promise<void> {
  const marker = join(folder, '.installed')
  if (existsSync(marker)) return
  await install()
  await writeFile(marker, '')
}
