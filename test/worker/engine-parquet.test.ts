import { DuckDBInstance } from '@duckdb/node-api'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from 'vitest'
import { exportParquet } from '../../server/engine/executor/read/export-parquet.ts'
import { closeInstance, openInstance, type Instance } from '../../server/engine/executor/instance/instances.ts'
import type { ExecutorSettings } from '../../server/engine/executor/socket/protocol.ts'
import { executorSettings } from '../harness/engine-options.ts'

let folder: string
let settings: ExecutorSettings
let instance: Instance

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-exports-'))
  settings = executorSettings(folder)
})
afterAll(() => rm(folder, { recursive: true, force: true }))
beforeEach(async () => {
  instance = await openInstance({ version: '1', tables: [] }, settings)
})
afterEach(() => closeInstance(instance))

let exports = 0
/** Parts of the answer, one after the other; `slowly` waits before each is taken. */
async function exported(sql: string, { maxRows = 1_000_000, maxBytes = 1e8, slowly = Promise.resolve() } = {}) {
  const parts: Buffer[] = []
  const chunk = async (bytes: Buffer): Promise<void> => {
    await slowly
    parts.push(bytes)
  }
  const input = { sql, slots: [], format: 'parquet' as const, stream: true, maxRows, maxBytes }
  const at = { instance, settings, id: ++exports }
  const end = await exportParquet(
    at,
    { cancelled: false, interrupt: null },
    { input, sink: { opened: () => {}, chunk } },
  )
  return { ...end, bytes: Buffer.concat(parts) }
}

async function rowsOf(bytes: Buffer): Promise<unknown[]> {
  const path = join(folder, `read-${++exports}.bytes`)
  await writeFile(path, bytes)
  const reader = await DuckDBInstance.create()
  const connection = await reader.connect()
  const rows = await (await connection.run(`FROM read_parquet('${path}')`)).getRowsJson()
  connection.closeSync()
  reader.closeSync()
  await rm(path)
  return rows
}

const left = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.endsWith('.parquet'))

test('the database that writes a file writes the next one, too, and leaves none behind', async () => {
  const first = await exported('SELECT 1 AS n')
  const writer = instance.exporter?.writer
  expect(writer).toBeDefined()
  const second = await exported("SELECT 'two' AS word, 2 AS n")
  expect(instance.exporter?.writer).toBe(writer)
  expect(await rowsOf(first.bytes)).toEqual([[1]])
  expect(await rowsOf(second.bytes)).toEqual([['two', 2]])
  expect(await left()).toEqual([])
})

test('two at the same time have a file each, and one of their databases is kept', async () => {
  await exported('SELECT 1 AS n')
  const { promise, resolve } = Promise.withResolvers<void>()
  const slow = exported('SELECT range AS n FROM range(1000)', { slowly: promise })
  await expect.poll(() => instance.exporter).toBeNull()
  const quick = await exported('SELECT range + 5000 AS n FROM range(1000)')
  expect((await rowsOf(quick.bytes)).at(0)).toEqual(['5000'])
  resolve()
  const rows = await rowsOf((await slow).bytes)
  expect([rows.length, rows.at(-1)]).toEqual([1000, ['999']])
  expect(instance.exporter).not.toBeNull()
  expect(instance.activeCalls).toBe(0)
  expect(await left()).toEqual([])
})

test('one that was refused for its size spoils nothing for the next', async () => {
  const large = { code: 'result_too_large' }
  await expect(exported('SELECT range AS n FROM range(1000)', { maxRows: 10 })).rejects.toMatchObject(large)
  await expect(exported('SELECT random() AS n FROM range(10000)', { maxBytes: 1_000 })).rejects.toMatchObject(large)
  await expect(exported("SELECT error('planted') AS n")).rejects.toThrow('planted')
  expect(await rowsOf((await exported('SELECT 3 AS n')).bytes)).toEqual([[3]])
  expect(await left()).toEqual([])
})
