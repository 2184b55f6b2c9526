import { createHash } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import type { StreamAnswer } from './run-types.ts'

/** A whole result in a file: readers that come for parts of it find the same bytes each time. */
export type FileAnswer = Omit<StreamAnswer, 'chunks' | 'end' | 'findUnknown' | 'sizeBytes'> & {
  file: { handle: FileHandle; sizeBytes: number; etag: string }
  rowCount: number
  isNew: boolean
}

export type KeptFiles = {
  /** The file of `key`, made where there is none. Whoever is given it closes its handle. */
  open(key: string, make: () => Promise<StreamAnswer>): Promise<FileAnswer>
}

type Kept = Omit<FileAnswer, 'file' | 'isNew'> & { path: string; sizeBytes: number; etag: string }

/** Long enough for a reader that comes for a file part by part. */
const keptMs = 300_000
const mostFiles = 1_000

type Options = { maxBytes: number; temporaryPath: (extension: string) => string; now: () => number }

export function openKeptFiles({ maxBytes, temporaryPath, now }: Options): KeptFiles {
  const remove = ({ path }: Kept): void => {
    // Readers that have it open go on.
    void rm(path, { force: true }).catch(() => undefined)
  }
  const kept = new LRUCache<string, Kept>({
    max: mostFiles,
    maxSize: maxBytes,
    sizeCalculation: ({ sizeBytes }) => sizeBytes + 1_000,
    ttl: keptMs,
    ttlAutopurge: true,
    perf: { now },
    dispose: remove,
  })

  async function opened({ path, sizeBytes, etag, ...answer }: Kept, isNew: boolean): Promise<FileAnswer> {
    return { ...answer, isNew, file: { handle: await open(path, 'r'), sizeBytes, etag } }
  }

  return {
    async open(key, make) {
      const found = kept.get(key)
      if (found !== undefined) {
        // One that somebody has removed is made again.
        const again = await opened(found, false).catch(() => undefined)
        if (again !== undefined) return again
        kept.delete(key)
      }
      const made = await written(temporaryPath('export'), await make())
      const answer = await opened(made, true)
      kept.set(key, made)
      // One that is larger than all that may be kept serves this reader alone.
      if (kept.peek(key) !== made) remove(made)
      return answer
    },
  }
}

async function written(
  path: string,
  { chunks, end, findUnknown: _none, sizeBytes: _size, ...answer }: StreamAnswer,
): Promise<Kept> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  const handle = await open(path, 'wx', 0o600)
  try {
    for await (const { bytes } of chunks) {
      hash.update(bytes)
      await handle.writeFile(bytes)
      sizeBytes += bytes.length
    }
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await handle.close()
  }
  const { rowCount, truncated } = end()
  if (truncated) await rm(path, { force: true })
  return { ...answer, path, sizeBytes, rowCount, etag: `"${hash.digest('base64url').slice(0, 27)}"` }
}
