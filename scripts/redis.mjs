import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePort, installPackage, waitForPort } from './debian-server.mjs'

const startLimitMs = 10_000

/** A Redis on a free loopback port that keeps nothing, or undefined where there is none and none can be installed. */
export async function startRedis() {
  const binary = findRedisServer()
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
    await waitForPort(port, startLimitMs)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `redis://127.0.0.1:${port}`, binary, stop }
}

/** The program, installed where that is possible; else undefined. */
export function findRedisServer() {
  return findServer() ?? (installPackage('redis-server') ? findServer() : undefined)
}

function findServer() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin']
  return folders.map((folder) => join(folder, 'redis-server')).find((path) => existsSync(path))
}
