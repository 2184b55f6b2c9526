import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { openApp } from '../../server/app.ts'
import { readConfig, type Config } from '../../server/config.ts'
import { createDatabase, createEmptyDatabase } from '../harness/database.ts'
import { openObjectServer } from '../harness/object-server.ts'
import { openSharedEngine } from '../harness/shared-parts.ts'
import { orders, putTable } from '../harness/tables.ts'

const program = join(import.meta.dirname, '../../server/backup-program.ts')
const run = promisify(execFile)

function configOf(environment: Record<string, string>): Config {
  const config = readConfig({
    SLUICE_SECRET_KEY: 'the vault key of every app in tests',
    SLUICE_EXAMPLE: 'off',
    SLUICE_EXECUTOR_PROCESSES: '1',
    SLUICE_SPARE_EXECUTORS: '0',
    ...environment,
  })
  if ('mistakes' in config) throw new Error(config.mistakes.join('\n'))
  return config
}

const open = (environment: Record<string, string>) =>
  openApp(configOf(environment), { log: () => undefined, openEngine: openSharedEngine })

const limits = { slots: [], maxRows: 10, maxBytes: 10_000 }

async function rowsIn(environment: Record<string, string>, projectId: string): Promise<string> {
  const app = await open(environment)
  try {
    const catalog = await app.catalogs.get(projectId)
    const sql = 'SELECT count(*) AS n FROM orders'
    return (await app.engine.read(projectId, catalog, { ...limits, dialect: 'duckdb', sql })).bytes.toString()
  } finally {
    await app.close()
  }
}

test('a data folder moves into a bucket, a backup into another, and nothing starts beside its data', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-moving-'))
  const server = await openObjectServer()
  const [database, restored] = [await createDatabase(), await createEmptyDatabase()]
  onTestFinished(async () => {
    await server.close()
    await database.drop()
    await restored.drop()
    await rm(folder, { recursive: true, force: true })
  })
  const place = (name: string, url = database.url) => ({
    SLUICE_DATA_DIR: join(folder, name),
    SLUICE_DATABASE_URL: url,
  })

  const app = await open(place('laptop'))
  await app.store.pool.query("insert into projects (id, name) values ('prj_moving', 'Moving')")
  await putTable(app, 'prj_moving', { name: 'orders', rows: orders(30), native: true })
  await app.close()
  expect(await server.keys()).toEqual([])

  await expect(open({ ...place('elsewhere'), ...server.environment })).rejects.toThrow('not in the bucket yet')
  expect(await rowsIn({ ...place('laptop'), ...server.environment }, 'prj_moving')).toBe('[{"n":30}]')
  expect((await server.keys()).length).toBeGreaterThanOrEqual(2)

  // From here on any folder will do, and none without the bucket.
  expect(await rowsIn({ ...place('elsewhere'), ...server.environment }, 'prj_moving')).toBe('[{"n":30}]')
  await expect(open(place('laptop'))).rejects.toThrow('Set SLUICE_OBJECTS_URL to it')
  const other = { ...server.environment, SLUICE_OBJECTS_URL: 's3://sluice-data/other' }
  await expect(open({ ...place('laptop'), ...other })).rejects.toThrow('Set SLUICE_OBJECTS_URL to it')

  const copy = join(folder, 'copy')
  const backupEnv = { ...process.env, ...place('elsewhere'), ...server.environment }
  const told = JSON.parse((await run(process.execPath, [program, 'backup', copy], { env: backupEnv })).stdout)
  expect(told).toMatchObject({ files: 2, missing_files: [] })
  const target = { ...place('restored', restored.url), ...other }
  await run(process.execPath, [program, 'restore', copy], { env: { ...process.env, ...target } })
  expect((await server.keys()).filter((key) => key.startsWith('other/'))).toHaveLength(2)
  expect(await rowsIn({ ...target, ...place('third', restored.url) }, 'prj_moving')).toBe('[{"n":30}]')
})
