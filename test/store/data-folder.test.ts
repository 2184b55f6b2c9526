import { mkdtemp, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase, openDatabaseSnapshot, type Database } from '../../server/store/index.ts'
import { createDatabase } from '../harness/database.ts'

test('a database belongs to the first data folder that is opened on it, until somebody says that it is lost', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-folders-'))
  const database = await createDatabase()
  onTestFinished(async () => {
    await database.drop()
    await rm(folder, { recursive: true })
  })
  const placeOf = (name: string) => ({
    dataDir: join(folder, name),
    databaseUrl: database.url,
    connections: 2,
    timeoutMs: 5_000,
    observe: () => undefined,
  })
  const open = (name: string): Promise<Database> => openDatabase({ ...placeOf(name), claims: true })
  const isOpened = async (name: string): Promise<void> => (await open(name)).close()

  await isOpened('first')
  await isOpened('first')
  await expect(isOpened('second')).rejects.toThrow(
    `belongs to another data folder: ${join(folder, 'first')} on ${hostname()}`,
  )
  await expect(isOpened('second')).rejects.toThrow('SLUICE_DATABASE_URL')

  // What is restored belongs to the folder it is restored into.
  const snapshot = await openDatabaseSnapshot(placeOf('first'))
  const copied = await snapshot.copyTables(join(folder, 'tables'))
  await snapshot.close()
  expect(copied.map(({ name }) => name)).not.toContain('data_folder')

  const first = await open('first')
  await first.pool.query('delete from data_folder')
  await first.close()
  await isOpened('second')
  await expect(isOpened('first')).rejects.toThrow('belongs to another data folder')
})
