import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabaseSnapshot, restoreTables } from '../../server/store/index.ts'
import { migrate, readMigrations } from '../../server/store/migrate.ts'
import { openDatabase } from '../../server/store/open-database.ts'
import { createEmptyDatabase, type TestDatabase } from '../harness/database.ts'

const migrationsDir = join(import.meta.dirname, '../../server/store/migrations')
/** An installation of some time ago. */
const olderMigrations = 12

let folder: string
let old: TestDatabase
let fresh: TestDatabase
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-copies-'))
  old = await createEmptyDatabase()
  fresh = await createEmptyDatabase()
  const client = new Client({ connectionString: old.url })
  await client.connect()
  await migrate(client, (await readMigrations(migrationsDir)).slice(0, olderMigrations))
  await client.query(`insert into users (id, name) values ('usr_1', 'A "name", with\ttabs
and lines \\N')`)
  await client.query(`insert into projects (id, name) values ('prj_1', 'Shop')`)
  await client.end()
})
afterEach(async () => {
  await old.drop()
  await fresh.drop()
  await rm(folder, { recursive: true, force: true })
})

function placeOf(database: TestDatabase, name: string) {
  const dataDir = join(folder, name)
  return { dataDir, databaseUrl: database.url, connections: 2, timeoutMs: 30_000, observe: () => undefined }
}

test('copies of an older version are restored as they were and brought forward', async () => {
  const snapshot = await openDatabaseSnapshot(placeOf(old, 'old'))
  const late = new Client({ connectionString: old.url })
  await late.connect()
  await late.query(`insert into projects (id, name) values ('prj_2', 'After the snapshot began')`)
  await late.end()
  const tables = await snapshot.copyTables(join(folder, 'tables'))
  const { migrations } = snapshot
  await snapshot.close()
  expect(migrations).toHaveLength(olderMigrations)
  const copies = { folder: join(folder, 'tables'), tables, migrations }
  await restoreTables(placeOf(fresh, 'fresh'), copies)
  const store = await openDatabase(placeOf(fresh, 'fresh'))
  try {
    const { rows: people } = await store.pool.query('select name from users')
    expect(people).toEqual([{ name: 'A "name", with\ttabs\nand lines \\N' }])
    const { rows: projects } = await store.pool.query('select id from projects')
    expect(projects).toEqual([{ id: 'prj_1' }])
    const { rows: applied } = await store.pool.query('select number from sluice_migrations')
    expect(applied).toHaveLength((await readMigrations(migrationsDir)).length)
  } finally {
    await store.close()
  }
  await expect(restoreTables(placeOf(fresh, 'fresh'), copies)).rejects.toThrow('has an installation already')
})

test('copies that were made by a version not known here are refused', async () => {
  const migrations = [{ number: 1, name: 'people_and_projects', sha256: 'another' }]
  await expect(restoreTables(placeOf(fresh, 'fresh'), { folder, tables: [], migrations })).rejects.toThrow(
    'newer or another version',
  )
})
