import { DuckDBInstance } from '@duckdb/node-api'
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  closeInstance,
  createInstances,
  openInstance,
  prepare,
  withConnection,
  withStatement,
  type Instances,
} from '../../server/engine/executor/instance/instances.ts'
import type { ExecutorSettings, LocalCatalog } from '../../server/engine/executor/socket/protocol.ts'
import { executorSettings } from '../harness/engine-options.ts'

let folder: string
let settings: ExecutorSettings

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-instances-'))
  settings = executorSettings(folder)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const nothing: LocalCatalog = { version: '1', tables: [] }
const call = () => ({ cancelled: false, interrupt: null })

test.runIf(process.platform === 'linux')('a database that is closed lets go of its files at once', async () => {
  const nativePath = join(folder, 'data.duckdb')
  const maker = await DuckDBInstance.create(nativePath)
  const connection = await maker.connect()
  await connection.run('CREATE TABLE data AS SELECT range AS id FROM range(10)')
  connection.closeSync()
  maker.closeSync()
  const column = { name: 'id', type: 'INTEGER' as const }
  const table = { name: 'data', parquetPath: join(folder, 'none.parquet'), nativePath, columns: [column] }
  const instance = await openInstance({ version: '1', tables: [table] }, settings)
  const counted = await withConnection(instance, call(), async (lease) => {
    const kept = await (await prepare(lease, 'SELECT count(*) FROM data')).run()
    const once = await withStatement(lease.connection, 'SELECT max(id) FROM data', (statement) => statement.run())
    return [await kept.getRows(), await once.getRows()]
  })
  expect(counted).toEqual([[[10n]], [[9n]]])
  expect(await openFiles()).toContain(nativePath)
  closeInstance(instance)
  expect(await openFiles()).not.toContain(nativePath)
})

/** Of this process. One may be closed while they are listed. */
async function openFiles(): Promise<string[]> {
  const names = await readdir('/proc/self/fd')
  return Promise.all(names.map((name) => readlink(join('/proc/self/fd', name)).catch(() => '')))
}

describe('of the projects that are open', () => {
  const open = async (count: number): Promise<Instances> => {
    const instances = createInstances(settings)
    onTestFinished(instances.closeAll)
    for (let at = 0; at < count; at += 1) await instances.acquire(`project ${at}`, '1', nothing)
    return instances
  }
  const stillOpen = async (instances: Instances, count: number): Promise<number[]> => {
    const all = Array.from({ length: count }, (_, at) => at)
    const found = await Promise.all(all.map((at) => instances.acquire(`project ${at}`, '1', undefined)))
    return all.filter((at) => found[at] !== undefined)
  }

  test('eight rest until they were not called for long; those beyond that had one call close soon', async () => {
    const instances = await open(11)
    instances.sweep(performance.now())
    expect(await stillOpen(instances, 11)).toHaveLength(11)
    instances.sweep(performance.now() + 2_000)
    expect(await stillOpen(instances, 11)).toEqual([3, 4, 5, 6, 7, 8, 9, 10])
    instances.sweep(performance.now() + 30_000)
    expect(await stillOpen(instances, 11)).toHaveLength(8)
    instances.sweep(performance.now() + 61_000)
    expect(await stillOpen(instances, 11)).toEqual([])
  })

  test('one that is in use stays, and one that was called again and again rests longer', async () => {
    const instances = await open(10)
    const [busy, regular] = [
      await instances.acquire('project 0', '1', undefined),
      await instances.acquire('project 1', '1', undefined),
    ]
    if (busy === undefined || regular === undefined) throw new Error('both were opened')
    const ended = Promise.withResolvers<void>()
    const using = withConnection(busy, call(), () => ended.promise)
    regular.openedMs -= 5_000
    instances.sweep(performance.now() + 2_000)
    // Ten of which eight may rest: of the two that were used longest ago one is in use, the other was used for long.
    expect(await stillOpen(instances, 10)).toEqual(expect.arrayContaining([0, 1]))
    instances.sweep(performance.now() + 11_000)
    expect(await stillOpen(instances, 10)).not.toContain(1)
    instances.sweep(performance.now() + 61_000)
    expect(await stillOpen(instances, 10)).toEqual([0])
    ended.resolve()
    await using
  })

  test('there are 64 at most: the next one takes the place of the one that was used longest ago', async () => {
    const instances = await open(64)
    for (let at = 0; at < 64; at += 1) {
      const instance = await instances.acquire(`project ${at}`, '1', undefined)
      // Used for long: nothing else would close it now.
      if (instance !== undefined) instance.openedMs -= 5_000
    }
    const before = await stillOpen(instances, 64)
    for (const at of [64, 65]) await instances.acquire(`project ${at}`, '1', nothing)
    const after = await stillOpen(instances, 66)
    expect(before).toHaveLength(64)
    expect(after).toEqual([...before.slice(2), 64, 65])
  })
})
