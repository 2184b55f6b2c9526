import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { buildWebIfStale, findNode, installMissing, root } from './prepare.mjs'

/** A smaller nursery: 20 MB less at rest; and what is only collected when asked for, see server/collect.ts. */
const memoryFlags = ['--max-semi-space-size=8', '--expose-gc']
const parentLookMs = 1_000

try {
  installMissing()
  const node = findNode()
  await buildWebIfStale(node)
  const env = {
    // A person reads this terminal: of the log only what went wrong, unless they ask for more.
    SLUICE_LOG_LEVEL: 'warn',
    // Types are stripped from each file once, not at every start.
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/sluice'),
    // Memory that is free goes back to the system: as glibc comes, each thread keeps a pool of its own.
    MALLOC_ARENA_MAX: '2',
    MALLOC_TRIM_THRESHOLD_: '1048576',
    ...process.env,
  }
  // The channel tells the server when this process is gone, however it went: it then stops instead of living on unseen.
  const server = spawn(node, [...memoryFlags, 'server/main.ts', '--welcome'], {
    cwd: root,
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
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
