import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createInstances,
  withStreamConnection,
  type Instance,
} from '../../server/engine/executor/instance/instances.ts'
import type { ReadCall } from '../../server/engine/executor/socket/protocol.ts'
import { readStream } from '../../server/engine/executor/read/stream.ts'
import { engineOptions } from '../harness/engine-options.ts'

let dir: string
let close: () => void
let instance: Instance
let streamCount: number

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'streams-'))
  const { threads, concurrencyPerExecutor: concurrency, memoryBytes, idleCloseMs, sqlLimits } = engineOptions
  const instances = createInstances({ tempDir: dir, threads, concurrency, memoryBytes, idleCloseMs, sqlLimits })
  close = () => instances.closeAll()
  const opened = await instances.acquire('project', '1', { version: '1', tables: [] })
  if (opened === undefined) throw new Error('There is no instance.')
  instance = opened
  streamCount = instance.idleStreams.length
})
afterAll(async () => {
  close()
  await rm(dir, { recursive: true, force: true })
})

const stream = <Result>(use: Parameters<typeof withStreamConnection<Result>>[2]): Promise<Result> =>
  withStreamConnection(instance, { cancelled: false, interrupt: null }, use)

const bufferSize = () =>
  stream(async ({ connection }) => {
    const rows = await connection.runAndReadAll("SELECT current_setting('streaming_buffer_size') AS size")
    return rows.getRowObjects()[0]?.['size']
  })

test('streams that are given up one after the other leave the next one as quick, and its rows its own', async () => {
  const small = await bufferSize()
  const { idleStreams } = instance
  for (let at = 0; at < 3 * streamCount; at += 1) {
    await stream(async ({ connection }) => {
      const statement = await connection.prepare('SELECT range AS n FROM range(1000000)')
      expect((await (await statement.stream()).fetchChunk())?.rowCount).toBeGreaterThan(0)
      throw new Error('The reader is gone.')
    }).catch(() => undefined)
  }
  await expect.poll(() => idleStreams.length).toBe(streamCount)
  expect(await bufferSize()).toBe(small)
})

test('more at once than are kept ready are served, and not kept', async () => {
  await expect.poll(() => instance.idleStreams.length).toBe(streamCount)
  const sizes = await Promise.all(Array.from({ length: 2 * streamCount }, bufferSize))
  expect(new Set(sizes).size).toBe(2)
  await expect.poll(() => instance.idleStreams.length).toBe(streamCount)
})

test('no stream can set what the connection was given', async () => {
  await expect(stream(({ connection }) => connection.run("SET streaming_buffer_size = '1GB'"))).rejects.toThrow(
    /locked/,
  )
})

/** The lines of a result, one after the other. */
async function linesOf(input: Pick<ReadCall, 'sql' | 'slots' | 'maxRows'>): Promise<string[]> {
  const parts: string[] = []
  const sink = { opened: () => undefined, chunk: async (bytes: Buffer) => void parts.push(bytes.toString()) }
  const call = { ...input, maxBytes: 1_000_000, format: 'csv' as const, stream: true }
  await readStream(instance, { cancelled: false, interrupt: null }, { input: call, sink })
  await expect.poll(() => instance.idleStreams.length).toBe(streamCount)
  return parts.join('').trimEnd().split('\r\n').slice(1)
}

const keptStatements = () => instance.idleStreams.reduce((sum, { statements }) => sum + statements.size, 0)

test('a statement whose rows all came is prepared once, and takes other values the next time', async () => {
  const sql = 'SELECT range AS n FROM range(100) WHERE range IN ($from, $from + 1) ORDER BY range'
  const from = (value: number) => ({ sql, slots: [{ name: 'from', type: 'number' as const, value }], maxRows: 100 })
  const before = keptStatements()
  expect(await linesOf(from(1))).toEqual(['1', '2'])
  expect(await linesOf(from(7))).toEqual(['7', '8'])
  expect(keptStatements()).toBe(before + 1)
})

test('what the engine has for rows that nobody wants any more is given back', async () => {
  const join = 'SELECT a.range AS n FROM range(300000) a JOIN range(300000) b ON a.range = b.range'
  expect(await linesOf({ sql: join, slots: [], maxRows: 3 })).toHaveLength(3)
  const connection = await instance.database.connect()
  const asked = 'SELECT sum(memory_usage_bytes)::DOUBLE AS bytes FROM duckdb_memory()'
  const held = async () => Number((await connection.runAndReadAll(asked)).getRowObjects()[0]?.['bytes'])
  await expect.poll(held, { timeout: 5_000 }).toBeLessThan(1_000_000)
  connection.closeSync()
})
