import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, type ReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { LRUCache } from 'lru-cache'

export type FileFormat = 'json' | 'parquet' | 'duckdb'
export type KeptFile = { hash: string; sizeBytes: number }

/**
 * Immutable files, named by the SHA-256 of their content. A folder; object storage fits behind the same five verbs.
 */
export type Files = {
  /** A path for something unfinished. What a crash leaves there is swept. */
  temporaryPath(extension: string): string
  /** Makes a finished file durable under the name of its content, before any row names it. Takes it away from `path`. */
  keep(path: string, format: FileFormat): Promise<KeptFile>
  /** Where the engine can read it. */
  pathOf(hash: string, format: FileFormat): string
  stream(hash: string, format: FileFormat): ReadStream
  /** Whether its content is still what its name says. Read once, and again when the file has changed or is doubted. */
  isIntact(hash: string, format: FileFormat): Promise<boolean>
  /** Something went wrong while it was read: what was known about it is no longer believed. */
  doubt(path: string): void
  remove(hash: string, format: FileFormat): Promise<void>
  /** Removes what no row names any more, and what was never finished. Returns how many files went. */
  sweep(isNamed: (hash: string) => boolean): Promise<number>
}

/** A younger file may belong to a transaction that has not committed yet. */
const orphanAgeMs = 60 * 60 * 1000
const maxSeenIntact = 50_000
/** A load that is told to wait for hours goes on with what it has. */
const unfinishedAgeMs = 24 * 60 * 60 * 1000

export async function openFiles({ dir, now }: { dir: string; now: () => number }): Promise<Files> {
  const temporary = join(dir, 'unfinished')
  await mkdir(temporary, { recursive: true, mode: 0o700 })
  const pathOf = (hash: string, format: FileFormat): string => join(dir, hash.slice(0, 2), `${hash}.${format}`)
  /** What each file looked like when its content was right. */
  const seenIntact = new LRUCache<string, string>({ max: maxSeenIntact })

  return {
    pathOf,
    doubt: (path) => void seenIntact.delete(path),
    async isIntact(hash, format) {
      const path = pathOf(hash, format)
      try {
        const look = await lookOf(path)
        if (seenIntact.get(path) === look) return true
        if ((await digest(path)).hash !== hash) return false
        seenIntact.set(path, look)
        return true
      } catch {
        // Gone, or a disk that does not give it.
        return false
      }
    },
    temporaryPath: (extension) => join(temporary, `${randomUUID()}.${extension}`),
    async keep(path, format) {
      const { hash, sizeBytes } = await digest(path)
      const home = pathOf(hash, format)
      await mkdir(join(home, '..'), { recursive: true, mode: 0o700 })
      await sync(path)
      await rename(path, home)
      // The rename itself must survive a power cut before a row may speak of it.
      await sync(join(home, '..'))
      await sync(dir)
      seenIntact.set(home, await lookOf(home))
      return { hash, sizeBytes }
    },
    stream: (hash, format) => createReadStream(pathOf(hash, format)),
    remove: (hash, format) => rm(pathOf(hash, format), { force: true }),
    async sweep(isNamed) {
      let swept = 0
      for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue
        const path = join(entry.parentPath, entry.name)
        const unfinished = entry.parentPath === temporary
        if (!unfinished && isNamed(entry.name.split('.', 1)[0] ?? '')) continue
        const found = await stat(path).catch(() => undefined)
        if (found === undefined || now() - found.mtimeMs < (unfinished ? unfinishedAgeMs : orphanAgeMs)) continue
        await rm(path, { force: true })
        swept += 1
      }
      return swept
    },
  }
}

async function digest(path: string): Promise<KeptFile> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash)
  return { hash: hash.digest('hex'), sizeBytes: (await stat(path)).size }
}

async function lookOf(path: string): Promise<string> {
  const { size, mtimeMs, ino } = await stat(path)
  return `${ino} ${size} ${mtimeMs}`
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
