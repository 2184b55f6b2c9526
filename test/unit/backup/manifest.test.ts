import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readManifest } from '../../../server/backup/manifest.ts'

const hash = 'ab'.repeat(32)
const table = {
  schema: 'sluice_partitions',
  name: 'requests_20261118',
  columns: ['id', 'at'],
  rows: 1,
  file: '001-requests_20261118.copy',
  partition: {
    parent: 'requests',
    bound: "FOR VALUES FROM ('2026-11-18 00:00:00+00') TO ('2026-11-19 00:00:00+00')",
  },
}
const whole = {
  format: 1,
  created_at: '2026-11-18T00:00:00.000Z',
  migrations: [],
  tables: [table],
  files: [`ab/${hash}.parquet`, `ab/${hash}.duckdb`],
  missing_files: [],
}

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'sluice-manifest-'))))
afterAll(() => rm(folder, { recursive: true }))
const read = async (changes: object) => {
  await writeFile(join(folder, 'backup.json'), JSON.stringify({ ...whole, ...changes }))
  return readManifest(folder)
}

describe('the list of a back-up', () => {
  test('is read as it was made', async () => {
    expect(await read({})).toEqual(whole)
  })

  test.each<[string, object]>([
    ['a file outside', { files: [`../../evil/${hash}.duckdb`] }],
    ['a file behind a folder that looks right', { files: [`ab/../../${hash}.duckdb`] }],
    ['an absolute file', { files: [`/etc/${hash}.duckdb`] }],
    ['a copy of a table outside', { tables: [{ ...table, file: '../../etc/passwd' }] }],
    ['another schema', { tables: [{ ...table, schema: 'pg_catalog' }] }],
    ['a statement as a bound', { tables: [{ ...table, partition: { parent: 'requests', bound: 'default; drop' } }] }],
    [
      'a statement behind a bound',
      { tables: [{ ...table, partition: { ...table.partition, bound: `${table.partition.bound}; select 1` } }] },
    ],
  ])('is refused with %s', async (_name, changes) => {
    await expect(read(changes)).rejects.toThrow('not of this version, or damaged')
  })
})
