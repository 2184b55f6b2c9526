import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createInstances, withStreamConnection, type Instance } from '../../server/data/executor/instances.ts'
import { engineOptions } from '../harness/engine-options.ts'

let dir: string
let close: () => void
let instance: Instance

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'streams-'))
  const { threads, concurrencyPerExecutor: concurrency, memoryBytes, idleCloseMs, sqlLimits } = engineOptions
  const instances = createInstances({ tempDir: dir, threads, concurrency, memoryBytes, idleCloseMs, sqlLimits })
  close = () => instances.closeAll()
  const opened = await instances.acquire('project', '1', { version: '1', tables: [] })
  if (opened === undefined) throw new Error('There is no instance.')
  instance = opened
})
afterAll(async () => {
  close()
  await rm(dir, { recursive: true, force: true })
})

const stream = <Result>(use: Parameters<typeof withStreamConnection<Result>>[2]): Promise<Result> =>
  withStreamConnection(instance, { cancelled: false, interrupt: null }, use)

const bufferSize = () =>
  stream(async (connection) => {
    const rows = await connection.runAndReadAll("SELECT current_setting('streaming_buffer_size') AS size")
    return rows.getRowObjects()[0]?.['size']
  })

test('streams that are given up one after the other leave the next one as quick, and its rows its own', async () => {
  const small = await bufferSize()
  const { idleStreams } = instance
  const count = idleStreams.length
  for (let at = 0; at < 3 * count; at += 1) {
    await stream(async (connection) => {
      const statement = await connection.prepare('SELECT range AS n FROM range(1000000)')
      expect((await (await statement.stream()).fetchChunk())?.rowCount).toBeGreaterThan(0)
      throw new Error('The reader is gone.')
    }).catch(() => undefined)
  }
  expect(idleStreams).toHaveLength(count)
  expect(await bufferSize()).toBe(small)
})

test('more at once than are kept ready are served, and not kept', async () => {
  const count = instance.idleStreams.length
  const sizes = await Promise.all(Array.from({ length: 2 * count }, bufferSize))
  expect(new Set(sizes).size).toBe(2)
  expect(instance.idleStreams).toHaveLength(count)
})

test('no stream can set what the connection was given', async () => {
  await expect(stream((connection) => connection.run("SET streaming_buffer_size = '1GB'"))).rejects.toThrow(/locked/)
})
