import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readMigrations } from '../../../server/store/migrate.ts'

async function plant(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, sql] of Object.entries(files)) await writeFile(join(folder, name), sql)
  return folder
}

test('migrations are read in the order of their numbers', async () => {
  const folder = await plant({ '0002_b.sql': 'select 2', '0001_a.sql': 'select 1' })
  expect(await readMigrations(folder)).toMatchObject([
    { number: 1, name: 'a', sql: 'select 1' },
    { number: 2, name: 'b', sql: 'select 2' },
  ])
})

test('line ends do not change what a migration is', async () => {
  const [unix] = await readMigrations(await plant({ '0001_a.sql': 'select 1;\nselect 2;\n' }))
  const [windows] = await readMigrations(await plant({ '0001_a.sql': 'select 1;\r\nselect 2;\r\n' }))
  expect(windows?.sha256).toBe(unix?.sha256)
})

test.for([
  ['a gap', { '0001_a.sql': '', '0003_c.sql': '' }, /0003_c\.sql is where 2 is expected/],
  ['a number used twice', { '0001_a.sql': '', '0001_b.sql': '' }, /0001_b\.sql is where 2 is expected/],
  ['a file that is no migration', { '0001_a.sql': '', 'notes.txt': '' }, /notes\.txt is no migration/],
] as const)('%s is refused by name', async ([, files, message]) => {
  await expect(readMigrations(await plant(files))).rejects.toThrow(message)
})
