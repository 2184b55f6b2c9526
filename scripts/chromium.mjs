import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { run } from './prepare.mjs'

// The shell first: it draws the same pages without a window's costs: a fifth of the browser tests' processor time.
const usual = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Makes sure there is a Chromium for the browser tests: one on the machine, else Debian's package, else Playwright's. */
export function ensureChromium(node) {
  const named = process.env.CHROMIUM_PATH
  if (named !== undefined && existsSync(named)) return named
  const found = usual.find(existsSync)
  if (found !== undefined) return found
  if (process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0) {
    console.log('Installing Chromium from the Debian package …')
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    run('apt-get', ['update', '-qq'], { env })
    run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', debianPackage()], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const installed = usual.find(existsSync)
    if (installed !== undefined) return installed
  }
  console.log("Installing Playwright's Chromium …")
  run(node, ['node_modules/playwright-core/cli.js', 'install', 'chromium'])
  return undefined
}

/** Older releases of Debian have no package of the shell alone. */
function debianPackage() {
  const { stdout } = spawnSync('apt-cache', ['show', '--no-all-versions', 'chromium-headless-shell'])
  return String(stdout).startsWith('Package:') ? 'chromium-headless-shell' : 'chromium'
}
