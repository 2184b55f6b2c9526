import { createWriteStream } from 'node:fs'
import { copyFile, link, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { syncPath, syncTree } from '../process/index.ts'
import { namedFiles } from '../data/index.ts'
import type { Bucket, StoredFile } from '../files/index.ts'
import { openDatabaseSnapshot, type DatabaseOptions } from '../store/index.ts'
import { keyFile, manifestFile, type Manifest } from './manifest.ts'

/** `bucket` is null where the files are in the data folder. */
type Installation = Omit<DatabaseOptions, 'migrationsDir'> & { bucket: Bucket | null }

/** A version of data that is let go between the snapshot and its copy: a later snapshot does not name it. */
const maxAttempts = 5

/**
 * Copies an installation into a new folder while it answers calls: every table at one moment, and the files that its
 * rows name. Files never change, so they are linked where the disk is the same, and copied where it is not.
 */
export async function makeBackup(place: Installation, folder: string, now: () => number): Promise<Manifest> {
  await mkdir(dirname(folder), { recursive: true })
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    throw new Error(`${folder} is there already, or cannot be made: name a new folder.`, { cause: error })
  })
  try {
    for (let attempt = 1; ; attempt += 1) {
      const made = await copyAll(place, folder, now)
      if (made.missing_files.length === 0 || attempt === maxAttempts) {
        await copyFile(join(place.dataDir, keyFile), join(folder, keyFile)).catch(() => undefined)
        const draft = join(folder, `${manifestFile}.draft`)
        await writeFile(draft, JSON.stringify(made, null, 2), { mode: 0o600 })
        // The list says that all of it is there, so it gets its name once all of it is on disk.
        await syncTree(folder)
        await rename(draft, join(folder, manifestFile))
        await syncPath(folder)
        await syncPath(dirname(folder))
        return made
      }
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function copyAll(place: Installation, folder: string, now: () => number): Promise<Manifest> {
  const snapshot = await openDatabaseSnapshot(place)
  try {
    const named = await namedFiles(snapshot)
    const to = join(folder, 'files')
    const files =
      place.bucket === null
        ? await takeFiles(join(place.dataDir, 'files'), to, new Set(named.map(({ hash }) => hash)))
        : await fetchFiles(place.bucket, to, named)
    const found = new Set(files.map(hashOf))
    const tables = await snapshot.copyTables(join(folder, 'tables'))
    return {
      format: 1,
      created_at: new Date(now()).toISOString(),
      migrations: snapshot.migrations,
      tables,
      files,
      missing_files: [...new Set(named.map(({ hash }) => hash))].filter((hash) => !found.has(hash)),
    }
  } finally {
    await snapshot.close()
  }
}

export function hashOf(path: string): string {
  return basename(path).split('.', 1)[0] ?? ''
}

/** Paths below the folder of files, of those that are named and there. */
async function takeFiles(from: string, to: string, named: Set<string>): Promise<string[]> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  const taken: string[] = []
  for (const folder of await readdir(from).catch(() => [])) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue
    for (const name of await readdir(join(from, folder))) {
      if (!named.has(hashOf(name))) continue
      await mkdir(join(to, folder), { recursive: true, mode: 0o700 })
      if (await take(join(from, folder, name), join(to, folder, name))) taken.push(`${folder}/${name}`)
    }
  }
  return taken.toSorted((left, right) => (left < right ? -1 : 1))
}

/** As `takeFiles`, of those that are in a bucket. What an earlier attempt fetched stays. */
async function fetchFiles(bucket: Bucket, to: string, named: StoredFile[]): Promise<string[]> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  const taken: string[] = []
  for (const file of named) {
    const path = `${file.hash.slice(0, 2)}/${file.hash}.${file.format}`
    const isThere = await stat(join(to, path)).then(
      () => true,
      () => false,
    )
    const source = isThere ? undefined : await bucket.get(file)
    if (!isThere && source === undefined) continue
    if (source !== undefined) {
      await mkdir(join(to, dirname(path)), { recursive: true, mode: 0o700 })
      const draft = join(to, `${path}.draft`)
      await pipeline(source.body, createWriteStream(draft, { mode: 0o600 }))
      await rename(draft, join(to, path))
    }
    taken.push(path)
  }
  return taken.toSorted((left, right) => (left < right ? -1 : 1))
}

/** Whether it is there now. Gone meanwhile is told by the answer, and a full disk by an error. */
async function take(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'EEXIST') return true
    if (code === 'ENOENT') return false
    await copyFile(from, to)
    return true
  }
}
