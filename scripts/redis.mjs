import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const startLimitMs = 10_000

/** A Redis on a free loopback port that keeps nothing, or undefined where there is none and none can be installed. */
export async function startRedis() {
  const binary = findServer() ?? (installServer() ? findServer() : undefined)
  if (binary === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'))
  const port = await freePort()
  const options = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
  const child = spawn(binary, options.map(String), { stdio: 'ignore' })
  const stop = async () => {
    if (child.exitCode === null) {
      const stopped = once(child, 'exit')
      child.kill('SIGKILL')
      await stopped
    }
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await waitForPort(port)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `redis://127.0.0.1:${port}`, binary, stop }
}

function findServer() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin']
  return folders.map((folder) => join(folder, 'redis-server')).find((path) => existsSync(path))
}

function installServer() {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const args = ['install', '-y', '--no-install-recommends', 'redis-server']
  return spawnSync('apt-get', args, { stdio: 'inherit', env }).status === 0
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

async function waitForPort(port) {
  const deadline = performance.now() + startLimitMs
  while (performance.now() < deadline) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await wait(50)
  }
  throw new Error(`Redis does not listen on port ${port}.`)
}
