// Runs the tests that need a database on Debian's PostgreSQL instead of the embedded one: a throwaway cluster on a
// loopback port, with a password. `npm test -- external [vitest arguments]`
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, installPackage, waitForPort } from './debian-server.mjs'

const oldestVersion = 15
const startLimitMs = 20_000
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
const defaults = ['run', '--project', 'store', '--project', 'api', '--project', 'timing', '--passWithNoTests']

process.exitCode = await main(process.argv.slice(2))

async function main(given) {
  const binaries = findBinaries() ?? (installPackage('postgresql') ? findBinaries() : undefined)
  if (binaries === undefined) {
    console.error(`PostgreSQL ${oldestVersion} or newer is not installed; Debian has it as "postgresql".`)
    return 1
  }
  const folder = mkdtempSync(join(tmpdir(), 'sluice-external-'))
  const server = await startServer(binaries, folder)
  try {
    const env = { ...process.env, TEST_DATABASE_URL: server.url }
    return spawnSync('vitest', given.length > 0 ? given : defaults, { stdio: 'inherit', env }).status ?? 1
  } finally {
    const stopped = once(server.child, 'exit')
    server.child.kill('SIGINT')
    await stopped
    rmSync(folder, { recursive: true })
  }
}

function findBinaries() {
  const parent = '/usr/lib/postgresql'
  const versions = existsSync(parent) ? readdirSync(parent).map(Number) : []
  const newest = Math.max(...versions.filter((version) => version >= oldestVersion))
  return Number.isFinite(newest) ? join(parent, String(newest), 'bin') : undefined
}

async function startServer(binaries, folder) {
  const password = randomBytes(12).toString('hex')
  const [cluster, secret] = [join(folder, 'cluster'), join(folder, 'password')]
  chmodSync(folder, 0o711)
  mkdirSync(cluster, { mode: 0o700 })
  writeFileSync(secret, password, { mode: 0o600 })
  if (account.uid !== undefined) for (const path of [cluster, secret]) chownSync(path, account.uid, account.gid)
  const options = ['--username=sluice', '--auth=scram-sha-256', `--pwfile=${secret}`, '--encoding=UTF8', '--no-sync']
  const made = spawnSync(join(binaries, 'initdb'), ['-D', cluster, ...options], { ...account, cwd: '/' })
  if (made.status !== 0) throw new Error(`initdb failed: ${String(made.stderr)}`)
  const port = await freePort()
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'max_connections=200']
  const child = spawn(join(binaries, 'postgres'), ['-D', cluster, ...settings.flatMap((setting) => ['-c', setting])], {
    ...account,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  await waitForPort(port, startLimitMs).catch((error) => {
    child.kill('SIGQUIT')
    throw error
  })
  return { child, url: `postgresql://sluice:${password}@127.0.0.1:${port}/postgres` }
}
