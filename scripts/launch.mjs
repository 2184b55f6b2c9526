// Plain JavaScript on purpose: `npm start` runs it before anything is installed, `sluice start` out of the package, both
// under whatever Node from 20 on is there.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { serviceFlags, serviceVariables } from './memory.mjs'

const oldestNode = 24
const parentLookMs = 1_000
/** Variables of the command line, which people have in the same shell: to the server they would be misspelled settings. */
const ofCommandLine = new Set(['SLUICE_URL', 'SLUICE_TOKEN', 'SLUICE_PROJECT', 'SLUICE_API_KEY'])

/** The Node that the server runs on: this one if it is new enough, else the one that npm installed beside us. */
export function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= oldestNode) return process.execPath
  const system = process.platform === 'win32' ? 'win' : process.platform
  try {
    const manifest = createRequire(import.meta.url).resolve(`node-${system}-${process.arch}/package.json`)
    const node = join(dirname(manifest), 'bin', system === 'win' ? 'node.exe' : 'node')
    if (existsSync(node)) return node
  } catch {
    // There is none for this machine.
  }
  throw new Error(
    `Sluice needs Node ${oldestNode} or newer, and npm has none for this machine. Install it and try again.`,
  )
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
