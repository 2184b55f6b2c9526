import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { canTraverse, hasBit, readFolderId } from '../../../server/store/postgres/places.ts'

const nobody = { uid: 65_534, gid: 65_534 }

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-places-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

test.for([
  ['the owner by the first digit', { uid: 65_534, gid: 0, mode: 0o100 }, true],
  ['the owner not by the others', { uid: 65_534, gid: 65_534, mode: 0o011 }, false],
  ['the group by the second', { uid: 0, gid: 65_534, mode: 0o010 }, true],
  ['a stranger by the third', { uid: 0, gid: 0, mode: 0o001 }, true],
  ['a stranger not by the first two', { uid: 0, gid: 0, mode: 0o770 }, false],
] as const)('permission is granted to %s', ([, file, granted]) => {
  expect(hasBit(file, nobody, 0o1)).toBe(granted)
})

test('a folder can be reached only if every folder above it can', async () => {
  const top = await makeFolder()
  await mkdir(join(top, 'inner'))
  await chmod(join(top, 'inner'), 0o755)
  await chmod(top, 0o711)
  expect(await canTraverse(join(top, 'inner'), nobody)).toBe(true)
  await chmod(top, 0o700)
  expect(await canTraverse(join(top, 'inner'), nobody)).toBe(false)
})

test('a data folder keeps one id, also when several processes ask at once', async () => {
  const folder = join(await makeFolder(), 'data')
  const ids = await Promise.all([readFolderId(folder), readFolderId(folder), readFolderId(folder)])
  expect(new Set(ids).size).toBe(1)
  expect(await readFolderId(folder)).toBe(ids[0])
  expect(await readdir(folder)).toEqual(['folder-id'])
})

test('a damaged id is named, not replaced', async () => {
  const folder = await makeFolder()
  await writeFile(join(folder, 'folder-id'), '')
  await expect(readFolderId(folder)).rejects.toThrow(/folder-id is damaged/)
})
