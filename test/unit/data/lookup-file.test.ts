import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLookupFile } from '../../../server/engine/executor/lookup/lookup-file.ts'
import { openLookupWriter } from '../../../server/engine/executor/lookup/lookup-writer.ts'

let dir: string
let path: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lookups-'))
  path = join(dir, 'file')
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const about = { keys: ['id'], limit: null, columns: [{ name: 'id', type: 'BIGINT' }] }

async function write(count: number, maxBytes = 1e9): Promise<void> {
  const writer = await openLookupWriter(path, maxBytes)
  for (let key = 0; key < count; key += 1) {
    await writer.add(String(key), { lines: [`{"id":${key}}`, `{"é":"${key}"}`], isWhole: key % 2 === 0 })
  }
  await writer.finish(about)
}

test('every key is found with its rows, and no other', async () => {
  await write(5_000)
  const file = openLookupFile(path)
  expect(file?.about).toEqual({ ...about, keyCount: 5_000 })
  for (let key = 0; key < 5_000; key += 1) {
    const record = file?.find([String(key)])
    expect(record).toMatchObject({ rowCount: 2, isWhole: key % 2 === 0 })
    expect(record?.rows.toString()).toBe(`[{"id":${key}},\n{"é":"${key}"}]`)
  }
  for (const key of ['5000', '-1', '', 'x'.repeat(10_000)]) expect(file?.find([key])).toBeNull()
  file?.close()
  expect(file?.find(['1'])).toBeUndefined()
})

test('a file without keys has none', async () => {
  await write(0)
  const file = openLookupFile(path)
  expect(file?.find(['1'])).toBeNull()
  file?.close()
})

test('what would be too large is said, and nothing is left of it', async () => {
  const writer = await openLookupWriter(path, 200)
  let added = true
  for (let key = 0; added && key < 1_000; key += 1) added = await writer.add(String(key), { lines: [], isWhole: true })
  expect(added).toBe(false)
  await writer.discard()
  await expect(stat(path)).rejects.toThrow('ENOENT')
})

test('a file that was cut does not open; one that is cut while it is open gives nothing', async () => {
  await write(100)
  const file = openLookupFile(path)
  const { size } = await stat(path)
  await truncate(path, size - 1)
  expect(openLookupFile(path)).toBeUndefined()
  await truncate(path, 64)
  expect(file?.find(['7'])).toBeUndefined()
  expect(file?.isOpen()).toBe(false)
})

test('whichever byte is wrong: a key is found as it was, or the file says nothing', async () => {
  await write(12)
  const whole = await readFile(path)
  for (let at = 0; at < whole.length; at += 1) {
    const damaged = Buffer.from(whole)
    damaged[at] = (damaged[at] ?? 0) ^ 0x41
    await writeFile(path, damaged)
    const file = openLookupFile(path)
    for (const key of ['0', '7', '12']) {
      const record = file?.find([key])
      if (record === undefined) continue
      const expected = key === '12' ? null : `[{"id":${key}},\n{"é":"${key}"}]`
      expect(record === null ? null : record.rows.toString()).toBe(expected)
    }
    file?.close()
  }
})
