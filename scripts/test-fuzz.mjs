// Fuzzes the whole API from its own OpenAPI document: every operation as owner, viewer, key and nobody, with the example
// project in place. `npm test -- fuzz [--seed 7 --examples 50 --only 'POST /v1/projects']`; without a seed, the ones
// of test/fuzz/seeds.txt. schemathesis comes from PyPI into a virtual environment that is kept.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort, waitForPort } from './debian-server.mjs'
import { findNode, installMissing, root } from './prepare.mjs'

const startLimitMs = 180_000
const stopLimitMs = 30_000
const operator = 'operator-token-of-the-fuzzer'
const { values: flags } = parseArgs({
  options: {
    seed: { type: 'string' },
    examples: { type: 'string', default: '6' },
    only: { type: 'string' },
    minutes: { type: 'string', default: '20' },
  },
})

installMissing()
const python = environment()
const seeds = flags.seed === undefined ? keptSeeds() : [flags.seed]
process.exitCode = 0
for (const seed of seeds) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-fuzz-'))
  const service = await startService(folder)
  try {
    const more = flags.only === undefined ? [] : ['--only', flags.only]
    const args = [join(root, 'test/fuzz/fuzz.py'), '--url', service.url, '--token', operator, '--link', service.link]
    const options = [
      '--upstream-port',
      String(service.upstreamPort),
      '--seed',
      seed,
      '--examples',
      flags.examples,
      '--minutes',
      flags.minutes,
      ...more,
    ]
    // Not at once: what the service prints is read meanwhile.
    const fuzzer = spawn(python, [...args, ...options], { cwd: root, stdio: 'inherit' })
    const [status] = await once(fuzzer, 'exit')
    if (status !== 0) process.exitCode = 1
  } finally {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One for each list of pinned packages, so that a change of it makes another. */
function environment() {
  const list = join(root, 'test/fuzz/requirements.txt')
  const print = createHash('sha256').update(readFileSync(list)).digest('hex').slice(0, 12)
  const folder = join(root, 'node_modules/.cache', `fuzz-${print}`)
  const found = join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
  const isComplete = () => spawnSync(found, ['-c', 'import schemathesis']).status === 0
  if (existsSync(found) && isComplete()) return found
  console.log('Installing schemathesis (once) …')
  const steps = [
    ['python3', ['-m', 'venv', '--clear', folder]],
    [found, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--disable-pip-version-check', '-r', list]],
  ]
  for (const [command, args] of steps) {
    if (spawnSync(command, args, { stdio: 'inherit' }).status !== 0)
      throw new Error(`${String(command)} failed; it needs Python 3.11`)
  }
  return found
}

/** Every seed that once found something stays, and one that has not. */
function keptSeeds() {
  const lines = readFileSync(join(root, 'test/fuzz/seeds.txt'), 'utf8').split('\n')
  return lines.map((line) => line.split('#')[0].trim()).filter((seed) => seed !== '')
}

async function startService(folder) {
  const [port, upstreamPort] = [await freePort(), await freePort()]
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    PORT: String(port),
    SLUICE_DATA_DIR: folder,
    SLUICE_MANAGEMENT_TOKEN: operator,
    SLUICE_LOG_LEVEL: 'error',
    // A fuzzer is wrong most of the time, and waits for nobody.
    SLUICE_FAILED_AUTHENTICATIONS_PER_MINUTE: '100000',
    SLUICE_FAILED_SIGN_INS_PER_MINUTE: '10000',
    SLUICE_OAUTH_REGISTRATIONS_PER_MINUTE: '10000',
    SLUICE_PROJECTS_PER_PERSON: '10000',
    SLUICE_ENVIRONMENTS_PER_PROJECT: '100',
    // Beside it there is an authorization server that connections are connected with.
    SLUICE_OUTBOUND_ALLOW: `127.0.0.1:${upstreamPort}`,
    SLUICE_TEST_TIMEOUT_MS: '10000',
    SLUICE_EXECUTE_TIMEOUT_MS: '20000',
  }
  const child = spawn(findNode(), ['--expose-gc', 'server/main.ts'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const printed = signInLink(child.stdout)
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const stop = async () => {
    const late = setTimeout(() => child.kill('SIGKILL'), stopLimitMs)
    child.kill('SIGTERM')
    await ended
    clearTimeout(late)
  }
  try {
    await waitForPort(port, startLimitMs)
    const link = await withLimit(printed, startLimitMs)
    return { url: `http://127.0.0.1:${port}`, link, upstreamPort, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The secret of the link that a first start prints; the rest goes on to be seen. */
function signInLink(stdout) {
  return new Promise((resolve, reject) => {
    let text = ''
    stdout.on('data', (piece) => {
      process.stdout.write(piece)
      if (text.length < 100_000) text += piece
      const found = /\/sign-in#(\S+)\s/.exec(text)
      if (found !== null) resolve(found[1])
    })
    stdout.once('end', () => reject(new Error('The service ended without a link to sign in with.')))
  })
}

async function withLimit(promise, limitMs) {
  let timer
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('The service printed no link to sign in with.')), limitMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
