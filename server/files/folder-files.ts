import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import { streamBounds, digest, openFileFolder, orphanAgeMs, type FileFolder, type Files } from './stored-files.ts'
import { upTo } from '../flow/index.ts'

const maxSeenIntact = 50_000

/** Nothing is ever in the way of a read: every file is here, and goes only when no row names it. */
const held = { release: () => undefined }

/** A folder that holds every file of the installation. */
export async function openFolderFiles({ dir, now }: { dir: string; now: () => number }): Promise<Files> {
  const folder = await openFileFolder({ dir, now })
  const { pathOf } = folder
  /** Size and time of each file when its content was last found right. */
  const seenIntact = new LRUCache<string, string>(upTo(maxSeenIntact))

  return {
    holdsAll: true,
    pathOf,
    temporaryPath: folder.temporaryPath,
    async keep(path, format) {
      const { hash, sizeBytes } = await digest(path)
      await folder.settle(path, { hash, format })
      const home = pathOf({ hash, format })
      seenIntact.set(home, await lookOf(home))
      return { hash, sizeBytes }
    },
    lease: (file) => Promise.resolve({ path: pathOf(file), ...held }),
    leaseHere: () => held,
    read: (file, part) => Promise.resolve(createReadStream(pathOf(file), streamBounds(part))),
    sizeOf: async (file) => (await stat(pathOf(file)).catch(() => undefined))?.size,
    async isIntact(file) {
      const path = pathOf(file)
      try {
        const look = await lookOf(path)
        if (seenIntact.get(path) === look) return true
        if ((await digest(path)).hash !== file.hash) return false
        seenIntact.set(path, look)
        return true
      } catch {
        // Gone, or a disk that does not give it.
        return false
      }
    },
    doubt: (file) => void seenIntact.delete(pathOf(file)),
    // A file that is gone from the folder is gone.
    missed: () => Promise.resolve(false),
    sweepUnfinished: folder.sweepUnfinished,
    sweep: (named) => sweepOrphans(folder, named, now),
  }
}

async function sweepOrphans(folder: FileFolder, named: ReadonlySet<string>, now: () => number): Promise<number> {
  let swept = 0
  for (const { file, changedMs } of await folder.list()) {
    if (named.has(file.hash) || now() - changedMs < orphanAgeMs) continue
    await folder.remove(file)
    swept += 1
  }
  return swept
}

async function lookOf(path: string): Promise<string> {
  const { size, mtimeMs, ino } = await stat(path)
  return `${ino} ${size} ${mtimeMs}`
}
