import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, waitForPort } from '../../scripts/debian-server.mjs'

/** A real S3 server on loopback with one bucket, which can be killed and come back. */
export type ObjectServer = {
  endpoint: string
  /** Settings that make an app keep its data there. */
  environment: Record<string, string>
  /** The objects there are, by key. */
  keys(): Promise<string[]>
  /** Where an object lies, for tests that damage it. */
  pathOf(key: string): string
  kill(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

const bucket = 'sluice-data'
const prefix = 'objects'
const startLimitMs = 20_000

export async function openObjectServer(): Promise<ObjectServer> {
  const binary = process.env['TEST_OBJECTS'] ?? ''
  if (binary === '') throw new Error('Run these with `npm test -- objects`, which has the S3 server.')
  const folder = await mkdtemp(join(tmpdir(), 'sluice-objects-'))
  const root = join(folder, 'buckets')
  await mkdir(join(root, bucket), { recursive: true })
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}`
  let child: ChildProcess | undefined

  const start = async (): Promise<void> => {
    const args = ['--port', `127.0.0.1:${port}`, '--quiet', '--keep-alive', 'posix', root]
    const env = {
      ...process.env,
      ROOT_ACCESS_KEY_ID: process.env['AWS_ACCESS_KEY_ID'],
      ROOT_SECRET_ACCESS_KEY: process.env['AWS_SECRET_ACCESS_KEY'],
    }
    child = spawn(binary, args, { stdio: 'ignore', env })
    await waitForPort(port, startLimitMs)
  }
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  await start()
  return {
    endpoint,
    environment: {
      SLUICE_OBJECTS_URL: `s3://${bucket}/${prefix}`,
      SLUICE_OBJECTS_ENDPOINT: endpoint,
      SLUICE_OBJECTS_PATH_STYLE: 'on',
      SLUICE_OBJECT_TIMEOUT_MS: '2000',
    },
    async keys() {
      const entries = await readdir(join(root, bucket), { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('.sgwtmp'))
      return files.map((entry) => join(entry.parentPath, entry.name).slice(join(root, bucket).length + 1)).sort()
    },
    pathOf: (key) => join(root, bucket, key),
    kill,
    start,
    async close() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
